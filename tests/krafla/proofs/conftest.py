"""The sample modules, translated once for each test process, and how a claim about one is tried."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from krafla.collector import gc_paused
from krafla.manifest import find_specs
from krafla.oracle import Spec, explore
from krafla.proofs.solver import EFFORT
from krafla.proofs.theory import Theory
from krafla.proofs.trial import try_invariants
from krafla.values import ModelValue
from krafla.verdict import Verdict

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


@pytest.fixture
def tried(proof_specs, tmp_path):
    def run(module, *invariants, replaced=("", ""), is_assuming=True):
        """Try invariants of a module, with what it must assume and some text replaced."""
        text = (proof_specs / "unsound" / f"{module}.tla").read_text()
        assert replaced[0] in text
        if is_assuming and "Nil" in text and "ASSUME" not in text:
            assumed = "ASSUME Node # {} /\\ Nil \\notin [node : Node]\nTypeOK =="
            text = text.replace("TypeOK ==", assumed, 1)
        path = tmp_path / f"{module}.tla"
        path.write_text(text.replace(*replaced, 1))
        return try_invariants(
            find_specs(), path, invariants, effort=EFFORT, progress=lambda *_: None
        )

    return run


@pytest.fixture
def explored(tmp_path):
    """Return the function from the module that was tried last to the states that TLC reaches."""

    def run(module):
        path = tmp_path / f"{module}.tla"
        values = {"Node": {N1, N2}, "Nil": ModelValue("Nil"), "k": N1}
        named = re.search("^CONSTANTS? (.*)$", path.read_text(), re.MULTILINE)
        constants = {} if named is None else {one: values[one] for one in named[1].split(", ")}
        spec = Spec.load(module, constants, path=path)
        return explore(spec, limit=20).states

    return run


def not_held(found):
    return {one.obligation.name for one in found.report.answers if one.verdict is not Verdict.HELD}
