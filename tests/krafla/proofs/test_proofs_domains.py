"""Counterexamples with functions and sets over booleans, numbers, strings, records and tuples."""

from __future__ import annotations

import pytest

from krafla.manifest import find_specs
from krafla.proofs.solver import EFFORT
from krafla.proofs.trial import try_invariants
from krafla.verdict import Verdict

MODULE = """---- MODULE One ----
EXTENDS Integers, FiniteSets
VARIABLE v
TypeOK == v \\in {type_}
Init == v = {start}
Step == v' = {after}
Next == Step
Spec == Init /\\ [][Next]_v
ClaimInv == {claim}
====
"""


@pytest.fixture
def tried(tmp_path):
    def run(type_, start, after, claim):
        path = tmp_path / "One.tla"
        path.write_text(MODULE.format(type_=type_, start=start, after=after, claim=claim))
        return try_invariants(
            find_specs(), path, ("ClaimInv",), effort=EFFORT, progress=lambda *_: None
        )

    return run


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("type_", "start", "after", "claim"),
    [
        ("[BOOLEAN -> Int]", "[b \\in BOOLEAN |-> 0]",
         "[v EXCEPT ![TRUE] = IF @ < 2 THEN @ + 1 ELSE @]", "v[TRUE] < 2"),
        ("[1 .. 2 -> Int]", "[n \\in 1 .. 2 |-> 0]",
         "[v EXCEPT ![1] = IF @ < 2 THEN @ + 1 ELSE @]", "v[1] < 2"),
        ("[{<<1, 2>>} -> Int]", "[p \\in {<<1, 2>>} |-> 0]", "[v EXCEPT ![<<1, 2>>] = 1]",
         "v[<<1, 2>>] = 0"),
        ("SUBSET STRING", "{}", 'v \\cup {"red"}', "v = {}"),
        ("SUBSET Int", "{}", "v \\cup {3}", "3 \\notin v"),
        ("SUBSET Int", "{}", "{0, 1, 2}", "Cardinality(v) <= 2"),
        ("SUBSET BOOLEAN", "{}", "v \\cup {TRUE}", "v = {}"),
        ("SUBSET {<<1, 2>>}", "{}", "{<<1, 2>>}", "v = {}"),
        ("SUBSET [a : BOOLEAN]", "{}", "v \\cup {[a |-> TRUE]}", "v = {}"),
        ("SUBSET [a : [b : BOOLEAN, c : 0 .. 1]]", "{}", "{[a |-> [b |-> TRUE, c |-> 1]]}",
         "v = {}"),
    ],
)  # fmt: skip
def test_a_false_claim_is_refuted(tried, type_, start, after, claim):
    assert tried(type_, start, after, claim).verdict is Verdict.VIOLATED
    assert tried(type_, start, after, "TRUE /\\ v = v").verdict is Verdict.HELD


@pytest.mark.parametrize(
    ("type_", "start", "reason"),
    [
        (
            "SUBSET [a : Int, b : Int, c : Int, d : Int, e : Int]",
            "{}",
            "there are too many values of",
        ),
    ],
)
def test_what_no_small_world_lists_is_inconclusive(tried, type_, start, reason):
    found = tried(type_, start, "v", f"v # {start}")

    assert found.verdict is Verdict.INCONCLUSIVE
    assert any(reason in one.reason for one in found.report.answers)


def test_a_constant_that_is_no_value_of_tlc_is_inconclusive(tried, monkeypatch):
    constant = "CONSTANT w\nASSUME w \\in [Int -> Int]\nVARIABLE v"
    monkeypatch.setattr(f"{__name__}.MODULE", MODULE.replace("VARIABLE v", constant))
    found = tried("Int", "0", "v", "w[v] = 0")

    assert found.verdict is Verdict.INCONCLUSIVE
    reason = "a function of every Int is no value of TLC"
    assert any(reason in one.reason for one in found.report.answers)
