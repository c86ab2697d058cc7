"""The sample modules, translated once for each test process, and TLC's evaluator."""

from __future__ import annotations

from pathlib import Path

import pytest

from krafla.collector import gc_paused
from krafla.oracle import Spec
from krafla.proofs.theory import Theory
from krafla.values import ModelValue

SPECS = Path(__file__).parent / "specs"
N1, N2 = ModelValue("n1"), ModelValue("n2")
CONSTANTS = {"Node": {N1, N2}, "Limit": 2, "None": ModelValue("None")}


@pytest.fixture(autouse=True)
def no_formula_is_freed_while_z3_reads_it():
    """The tests also call z3 outside the functions that do this themselves."""
    with gc_paused():
        yield


@pytest.fixture(scope="session")
def proof_specs() -> Path:
    return SPECS


@pytest.fixture(scope="session")
def constructs() -> Theory:
    return Theory.load("Constructs", path=SPECS)


@pytest.fixture(scope="session")
def constructs_spec() -> Spec:
    return Spec.load("Constructs", CONSTANTS, path=SPECS, init="Start")


@pytest.fixture(scope="session")
def lease() -> Theory:
    return Theory.load("BrokerLeaseInductive")
