"""Traces of a spec, driven on code that is right and on code with a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.krafla.testing.lock_server import (
    LockDriver,
    LockServerMachine,
)

from krafla.testing import (
    drive,
    random_walks,
    shortest_paths,
    spec_trace,
)

if TYPE_CHECKING:
    from krafla.testing import Trace


@spec_trace(
    LockDriver, random_walks(5, 20, seed=1), shortest_paths("actions"), shortest_paths("conjuncts")
)
@pytest.mark.parametrize("machine", [LockDriver, LockServerMachine])
def test_a_right_lock_server_follows_every_trace(trace: Trace, machine: type) -> None:
    driven = drive(machine, trace)
    assert driven.steps == len(trace) - 1
    assert (driven.refused is not None) == trace.claims_violation
