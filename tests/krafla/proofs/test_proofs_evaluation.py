"""Modules at which TLC stops, or reads a formula in its own way: none of their claims is proved.

Each has a neighbour that TLC evaluates, of which the same claim is proved.
"""

from __future__ import annotations

import re

import pytest

from krafla.oracle import EvaluationError, SpecError
from krafla.proofs.errors import Untranslatable

from .conftest import not_held

IN_RANGE = ("holder.since > 0 /\\ holder # Nil", "holder # Nil /\\ holder.since > 0")
FIRST_S = (
    "\\E s \\in {holder.since} : \\E n \\in Others",
    "\\E n \\in Others, s \\in {holder.since}",
)
FIRST_N = (
    "\\E s \\in {holder.since} : \\E n \\in Others",
    "\\E n \\in Others : \\E s \\in {holder.since}",
)
EVERY = "(\\A n \\in Node : IsOld)"
NO_GUARDS = [
    "(holder = Nil => IsOld)",
    "[IsOld]_holder",
    "Holds(Old)",
    "Holds(IF done THEN [n \\in Node |-> TRUE] ELSE Old)",
    "(\\E n \\in Node : [of |-> Old].of[n])",
    "Holds([n \\in Node |-> [m \\in Node |-> IsOld]][CHOOSE n \\in Node : TRUE])",
]
STEP = "(x = 1)'"
NO_ASSIGNMENTS = [
    STEP,
    "Id(x)' = 1",
    "Id(x') = 1",
    "(LET y == x IN y)' = 1",
    "UNCHANGED (x + 1) /\\ x' = x",
    "UNCHANGED Id(x)",
    "UNCHANGED <<Id(x)>>",
    "UNCHANGED (LET y == x IN y)",
]
ASKED = "(r # [alpha |-> TRUE, gamma |-> 1])"
NOT_COMPARED = [
    ASKED,
    "([alpha |-> 1, beta |-> 2] # [alpha |-> TRUE, gamma |-> 1])",
    "(r \\notin [alpha : BOOLEAN, gamma : Nat])",
    "([alpha |-> 1, beta |-> 2] \\notin [alpha : BOOLEAN, gamma : Nat])",
    "(r \\in {r} \\cup {[alpha |-> TRUE, gamma |-> 1]})",
]
TYPE = "beta : Nat]"
SIZE = "Cardinality(Nat)"
INFINITE = [
    "Nat",
    "Int",
    "STRING",
    "{n \\in Nat : n < 2}",
    "{n + 1 : n \\in Nat}",
    "Nat \\cup {-1}",
    "Nat \\ {0}",
    "SUBSET Nat",
    "[a : Nat]",
    "[{1} -> Nat]",
    "IF x THEN Nat ELSE {1}",
    "DOMAIN [n \\in Nat |-> n]",
]
CHANGE = "Cardinality(Nat) >= 1) /\\ s' = {1}"
INFINITE_VALUES = [
    "s' = Nat",
    "s' = {n \\in Nat : n < 2}",
    "s' \\in {{1}, Nat}",
    "s' \\in SUBSET Nat",
    "s' \\in SUBSET {1} \\cup {Nat}",
    "s' \\in {Nat : n \\in {1}}",
    "s' \\in {t \\in {Nat, {1}} : TRUE}",
    "s' \\in {Nat, {1}} \\ {{1}}",
    "s' = (1 :> Nat)[1]",
    "s' = [a |-> Nat].a",
]
TAKEN = "Ask(t) == x' = TRUE /\\ s' = t\nNext == \\E t \\in {} : Ask(t)\nOther == TRUE"
ASK = "Ask == x' = (Cardinality(Nat) >= 1) /\\ s' = {1}\nNext == Ask"


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("module", "invariant", "action", "replaced"),
    [
        ("Range", "SinceInv", "Renew", ("", "")),
        ("Around", "SinceInv", "Renew", ("", "")),
        ("Around", "SinceInv", "Renew", FIRST_S),
        ("Each", "NilInv", "Drop", ("", "")),
        *(("Each", "NilInv", "Drop", (EVERY, text)) for text in NO_GUARDS),
    ],
)
def test_an_action_at_which_tlc_stops_is_not_shown_to_have_a_meaning(
    tried, explored, module, invariant, action, replaced
):
    found = tried(module, invariant, replaced=replaced)

    assert not_held(found) == {f"{invariant}/{action}/defined"}
    with pytest.raises(EvaluationError, match="Attempted to select field"):
        explored(module)


@pytest.mark.by_day(3)
@pytest.mark.parametrize(
    ("module", "invariant", "replaced", "reason"),
    [
        ("NoSet", "ZeroInv", ("", ""), "has a set from which Stay takes nothing"),
        *(
            ("Primed", "SmallInv", (STEP, text), "x': is used before it has a value")
            for text in NO_ASSIGNMENTS
        ),
        *(("Fields", "YesInv", (ASKED, text), "have no type in common") for text in NOT_COMPARED),
        (
            "Fields",
            "YesInv",
            (TYPE, f"{TYPE} \\cup [alpha : BOOLEAN, gamma : Nat]"),
            "have no type in common",
        ),
        *(
            ("Infinite", "TrueInv", (CHANGE, f"s = {{}}) /\\ {text}"), "s: gets what may be")
            for text in INFINITE_VALUES
        ),
        *(
            ("Infinite", "TrueInv", (SIZE, f"Cardinality({text})"), "may be an infinite set")
            for text in INFINITE
        ),
        ("Infinite", "TrueInv", (ASK, TAKEN.replace("{}", "{Nat, {1}}")), "Ask: takes what may be"),
    ],
)
def test_what_tlc_does_not_evaluate_is_refused(
    tried, explored, module, invariant, replaced, reason
):
    with pytest.raises(Untranslatable, match=re.escape(reason)):
        tried(module, invariant, replaced=replaced)
    with pytest.raises((EvaluationError, SpecError)):
        explored(module)


def test_a_change_that_tlc_forgets_is_refused(tried, explored):
    with pytest.raises(Untranslatable, match=re.escape("applied as a formula, is forgotten by")):
        tried("Forgotten", "ZeroInv")
    # In TLA+ no step sets x.
    assert {state["x"] for state in explored("Forgotten")} == {0, 1}


@pytest.mark.by_day(3)
@pytest.mark.parametrize(
    ("module", "invariant", "replaced"),
    [
        ("Range", "SinceInv", IN_RANGE),
        ("Around", "SinceInv", FIRST_N),
        ("Each", "NilInv", (EVERY, "(\\A n \\in Node : ~ ~ IsOld)")),
        ("Each", "NilInv", (EVERY, "(IsOld => TRUE)")),
        ("Each", "NilInv", (EVERY, "Holds([n \\in Node |-> ~ ~ IsOld])")),
        ("Primed", "SmallInv", (STEP, "x' = 1")),
        ("Primed", "SmallInv", (STEP, "UNCHANGED <<x>>")),
        ("Primed", "SmallInv", (STEP, "x' = x /\\ UNCHANGED (x + 1)")),
        ("Primed", "SmallInv", (f"One == {STEP}", "Set(v) == v' = 1\nOne == Set(x)")),
        ("Primed", "SmallInv", (f"One == {STEP}", "y == x'\nOne == y = 1")),
        ("Primed", "SmallInv", (f"One == {STEP}", "Keep(v) == UNCHANGED <<v>>\nOne == Keep(x)")),
        ("Fields", "YesInv", (ASKED, "(r # [alpha |-> 3, gamma |-> 1])")),
        ("Fields", "YesInv", (ASKED, "(r # [alpha |-> TRUE])")),
        ("Fields", "YesInv", (ASKED, "(r \\notin [alpha : Nat, gamma : Nat])")),
        ("Infinite", "TrueInv", (SIZE, "Cardinality({n \\in {1} : n < 2})")),
        ("Infinite", "TrueInv", (SIZE, "Cardinality(Nat \\cap {1})")),
        ("Infinite", "TrueInv", (CHANGE, "x) /\\ s' \\in SUBSET Nat \\cap {{1}}")),
        ("Infinite", "TrueInv", (CHANGE, "x) /\\ s' \\in SUBSET {1} \\cup {{2}}")),
        ("Infinite", "TrueInv", (ASK, TAKEN.replace("{}", "{{1}, {2}}"))),
        ("Forgotten", "ZeroInv", ("Node : [[m", "Node : ~ ~[[m")),
        ("NoSet", "ZeroInv", ("\\in v :", "\\in Node :")),
    ],
)
def test_what_tlc_evaluates_is_proved(tried, explored, module, invariant, replaced):
    found = tried(module, invariant, replaced=replaced)

    assert not_held(found) == set()
    assert explored(module)


def test_an_infinite_function_is_no_value_of_a_variable(tried, explored):
    with pytest.raises(Untranslatable, match="f: gets what may be an infinite set or function"):
        tried("InfiniteFunction", "ZeroInv")
    with pytest.raises(EvaluationError):
        explored("InfiniteFunction")

    found = tried("InfiniteFunction", "ZeroInv", replaced=("n \\in Nat", "n \\in 1 .. 2"))
    assert not_held(found) == set()
    assert explored("InfiniteFunction")
