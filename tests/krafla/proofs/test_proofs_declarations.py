"""What a module declares: the sets of constants and variables, in any order."""

from __future__ import annotations

import re

import pytest

from krafla.manifest import find_specs
from krafla.oracle import Spec, explore
from krafla.proofs.errors import Untranslatable
from krafla.proofs.solver import EFFORT
from krafla.proofs.trial import try_invariants
from krafla.values import ModelValue, record

from .conftest import N1, not_held

MODULE = """---- MODULE Declared ----
EXTENDS Integers
{constants}
VARIABLES log, more
{named}
TypeOK == {types}
Init == log = {start} /\\ more = {start}
Stay == UNCHANGED <<log, more>>
Next == Stay
Spec == Init /\\ [][Next]_<<log, more>>
SameInv == log = more
TypesInv == TypeOK /\\ SameInv
====
"""
NUMBERS = "log \\in Nat /\\ more \\in Nat"
START = "start \\in [node : Node, since : Nat] \\cup {Nil}"
APART = "ASSUME Node # {} /\\ Nil \\notin [node : Node, since : Nat]"


@pytest.fixture
def proved(tmp_path):
    """Return the function to the obligations that are not shown of a module with declarations."""
    path = tmp_path / "Declared.tla"

    def run(constants="", types=NUMBERS, start="0", named="", invariant="SameInv"):
        path.write_text(MODULE.format(constants=constants, types=types, start=start, named=named))
        return not_held(
            try_invariants(
                find_specs(), path, (invariant,), effort=EFFORT, progress=lambda *_: None
            )
        )

    return run


@pytest.fixture
def states(tmp_path):
    """Return the function from values of the constants to the states that TLC reaches."""
    return lambda **constants: explore(Spec.load("Declared", constants, path=tmp_path)).states


@pytest.mark.parametrize(
    "constants",
    [
        "CONSTANTS Limit, Max\nASSUME Max \\in Nat /\\ Limit \\in 1 .. Max",
        "CONSTANTS Max, Limit\nASSUME Max \\in Nat /\\ Limit \\in 1 .. Max",
        "CONSTANTS Max, Limit\nASSUME Max \\in Nat /\\ Limit \\in 1 .. Max /\\ Max \\in Limit .. 9",
    ],
)
def test_constants_are_declared_in_any_order(proved, states, constants):
    assert proved(constants) == set()
    assert states(Limit=1, Max=2)


@pytest.mark.parametrize(
    ("constants", "reason", "line"),
    [
        (
            "CONSTANTS Max, Limit\nASSUME Max \\in 1 .. Limit /\\ Limit \\in 1 .. Max",
            "Max: the sets of Max, Limit depend on each other",
            3,
        ),
        (
            "CONSTANTS Node, w\nASSUME Node # {} /\\ w \\in [SUBSET Node -> Nat]",
            "w: a set of element of Node is no value that z3 can range over",
            3,
        ),
        (
            "CONSTANTS Nil, first\nASSUME first \\in {Nil} \\cup [a : Nat]",
            "nothing says that Nil differs from [a: Int]",
            4,
        ),
    ],
)
def test_a_constant_without_a_type_is_refused_with_its_place(proved, constants, reason, line):
    with pytest.raises(Untranslatable, match=re.escape(reason)) as caught:
        proved(constants)

    assert caught.value.place.endswith(f"Declared.tla:{line}")


@pytest.mark.parametrize(
    ("types", "start"),
    [
        ("log \\in Nat /\\ more \\in Nat /\\ more \\in 0 .. log", "0"),
        ("log \\in Nat /\\ more \\in 0 .. log /\\ more \\in Nat", "0"),
        ("log \\in SUBSET Nat /\\ more \\subseteq log /\\ more \\subseteq Nat", "{}"),
    ],
)
def test_a_set_with_variables_gives_no_type_beside_one_without(proved, states, types, start):
    assert proved(types=types, start=start) == set()
    assert states()


def test_a_variable_in_sets_with_variables_only_is_refused(proved):
    with pytest.raises(Untranslatable, match="more: TypeOK does not say what it is by a set with"):
        proved(types="log \\in Nat /\\ more \\in 0 .. log")


def test_types_that_all_have_names_are_one_clause(proved, states):
    named = "LogOK == log \\in Nat\nMoreOK == more \\in Nat"

    for invariant in ("SameInv", "TypesInv"):
        found = proved(types="LogOK /\\ MoreOK", named=named, invariant=invariant)
        assert found == set()
    assert states()


def test_an_assume_may_rely_on_those_before_it(proved, states):
    constants = f"CONSTANTS Node, Nil, start\n{APART}\nASSUME {START}\nASSUME "

    assert proved(f"{constants}start # Nil /\\ start.since >= 0") == set()
    assert states(Node={N1}, Nil=ModelValue("Nil"), start=record(node=N1, since=1))
    assert proved(f"{constants}start.since >= 0 /\\ start # Nil") == {"SameInv/defined/ASSUME"}
