"""The spec of a lock server, loaded once."""

from __future__ import annotations

from pathlib import Path

import pytest

from krafla.testing import Spec

LOCK = Path(__file__).parent / "specs" / "Lock.tla"


@pytest.fixture(scope="session")
def lock_spec() -> Spec:
    return Spec.load(LOCK)
