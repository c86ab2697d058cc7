"""The specs of a lock server and of letters, loaded once."""

from __future__ import annotations

from pathlib import Path

import pytest

from krafla.testing import Spec

SPECS = Path(__file__).parent / "specs"


@pytest.fixture(scope="session")
def lock_spec() -> Spec:
    return Spec.load(SPECS / "Lock.tla")


@pytest.fixture(scope="session")
def mail_spec() -> Spec:
    return Spec.load(SPECS / "Mail.tla", {"Person": {"ann", "bob"}, "Letter": {1, 2}})


@pytest.fixture(scope="session")
def climb_spec() -> Spec:
    return Spec.load(SPECS / "Climb.tla", constants={}, init="Init", next="Next")
