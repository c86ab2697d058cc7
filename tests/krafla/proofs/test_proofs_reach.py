"""Searches for states that TLC cannot make, as an ASSUME has no meaning for their constants."""

from __future__ import annotations

import pytest

from krafla.manifest import find_specs
from krafla.oracle import Spec, SpecError
from krafla.proofs.reach import Reach
from krafla.proofs.solver import EFFORT
from krafla.proofs.theory import Theory
from krafla.proofs.trial import try_invariants
from krafla.verdict import Verdict

MODULE = """---- MODULE Undefined ----
EXTENDS Naturals
CONSTANTS c, f
ASSUME c \\in {1, 2} /\\ f \\in [{1} -> {0, 1}] /\\ f[c] = 1
VARIABLES x
TypeOK == x \\in Nat
Init == x = 0
Step == x' = IF x = 0 THEN 0 ELSE x + 1
Next == Step
Spec == Init /\\ [][Next]_x
OneInv == c = 1 => x < 2
TwoInv == c = 2 => x < 2
====
"""
OUTSIDE = {"c": 2, "f": (0,)}


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "Undefined.tla"
    path.write_text(MODULE)
    return path


def test_a_search_that_an_assume_stops_says_so(module):
    theory = Theory.load("Undefined", path=module)
    reach = Reach(theory, find_specs(), module)
    with pytest.raises(SpecError, match="out of domain"):
        Spec.load("Undefined", OUTSIDE, path=module)

    found = reach.search(OUTSIDE, {"x": 1})
    assert (found.path, found.is_complete) == (None, False)
    assert "as TLC stops there: " in str(found)
    assert reach.never_together(OUTSIDE, {"x": 1}) == ("x",)


def test_the_other_obligations_are_answered_all_the_same(module):
    found = try_invariants(
        find_specs(), module, ("OneInv", "TwoInv"), effort=EFFORT, progress=lambda *_: None
    )
    assert found.verdict is Verdict.INCONCLUSIVE
    answers = {one.obligation.name: one.verdict for one in found.report.answers}
    assert answers["OneInv/defined/ASSUME"] is Verdict.INCONCLUSIVE
    assert answers["OneInv/Step/OneInv"] is Verdict.VIOLATED


STOPS = """---- MODULE Stops ----
EXTENDS Integers
CONSTANT Nil
Record == [since : Int]
ASSUME Nil \\notin Record
VARIABLE r
TypeOK == r \\in Record \\cup {Nil}
Init == r = Nil
Set == r' = [since |-> 1]
Raise == r' = [r EXCEPT !.since = @ + 1]
Next == Set \\/ Raise
Spec == Init /\\ [][Next]_r
SetInv == r = Nil \\/ r.since >= 1
====
"""
NESTED = """---- MODULE Nested ----
EXTENDS Integers
VARIABLE f
TypeOK == f \\in [1 .. 2 -> [1 .. 2 -> Int]]
Init == f = [i \\in 1 .. 2 |-> [j \\in 1 .. 2 |-> 0]]
Up == f' = [f EXCEPT ![1][2] = @ + 1]
Next == Up
Spec == Init /\\ [][Next]_f
ZeroInv == f[1][2] = 0
====
"""


def tried(path, text, name):
    path.write_text(text)
    return try_invariants(find_specs(), path, (name,), effort=EFFORT, progress=lambda *_: None)


def test_an_initial_state_is_reached_though_tlc_stops_there(tmp_path):
    report = tried(tmp_path / "Stops.tla", STOPS, "SetInv")
    assert report.verdict is Verdict.VIOLATED


@pytest.mark.nightly
def test_a_false_claim_of_functions_of_functions_of_numbers_is_not_proved(tmp_path):
    report = tried(tmp_path / "Nested.tla", NESTED, "ZeroInv")
    assert report.verdict is not Verdict.HELD
