"""One expression at a time: where TLC stops, nothing is proved of it.

Each false claim of a careless translation stands beside its neighbour that TLC evaluates.
"""

from __future__ import annotations

import re

import pytest

from krafla.manifest import find_specs
from krafla.oracle import EvaluationError, Spec, explore
from krafla.proofs.errors import Untranslatable
from krafla.proofs.solver import EFFORT
from krafla.proofs.trial import try_invariants
from krafla.values import record

from .conftest import not_held

MODULE = """---- MODULE Ask ----
EXTENDS Integers, FiniteSets, TLC
{constants}
VARIABLE y
TypeOK == y \\in BOOLEAN
Init == y = TRUE
Ask == y' = {asked}
Next == Ask
Spec == Init /\\ [][Next]_y
TrueInv == y \\in BOOLEAN
====
"""


@pytest.fixture
def proved(tmp_path):
    """Return the function to the obligations that are not shown of a step to an expression."""
    path = tmp_path / "Ask.tla"

    def run(asked, constants):
        named = f"CONSTANTS {', '.join(constants)}" if constants else ""
        path.write_text(MODULE.format(asked=asked, constants=named))
        return not_held(
            try_invariants(
                find_specs(), path, ("TrueInv",), effort=EFFORT, progress=lambda *_: None
            )
        )

    return run


@pytest.fixture
def states(tmp_path):
    """Return the function from values of the constants to the states that TLC reaches."""
    return lambda constants: explore(Spec.load("Ask", constants, path=tmp_path)).states


NESTED = "[n \\in {3} |-> [m \\in {1} |-> 2]]"
APART = {"A": 5, "B": "x"}
EITHER = "{IF b THEN A ELSE B : b \\in BOOLEAN}"
REFUSED = [
    ('(1 \\in DOMAIN [(1 :> 2) EXCEPT !["a"] = 3])', {}),
    ("([alpha |-> A, beta |-> 1] # [alpha |-> B, gamma |-> 1])", APART),
    ("([alpha |-> A, beta |-> 1] \\notin [alpha : {B}, gamma : {1}])", APART),
    ("({[alpha |-> A, beta |-> 1], [alpha |-> B, gamma |-> 1]} # {})", APART),
    ("({A, B} # {})", APART),
    ("({A} \\cup {B} # {})", APART),
    ("({<<A, 1>>, <<B, 1>>} # {})", APART),
    (f"({EITHER} # {{}})", APART),
    (f"(\\E v \\in {EITHER} : TRUE)", APART),
    (f"([n \\in {EITHER} |-> 1] # << >>)", APART),
    ("(\\E v \\in {{A} \\cap {B}} : TRUE)", APART),
    ("(\\E v \\in {{A} \\ {B}} : TRUE)", APART),
    ("(\\E v \\in {{A} \\ {5}} : TRUE)", {"A": "x"}),
    ("(\\E v \\in {(A :> 1) @@ (B :> 2)} : TRUE)", APART),
]
UNDEFINED = [
    '("a" \\in DOMAIN [<< >> EXCEPT !["a"] = 3])',
    "(1 \\in DOMAIN [[n \\in {1} |-> 2] EXCEPT ![1] = (1 :> 2)[4]])",
    f"(3 \\in DOMAIN [{NESTED} EXCEPT ![5][(1 :> 2)[4]] = 3])",
]
EVALUATED = [
    ("(1 \\in DOMAIN [(1 :> 2) EXCEPT ![5] = 3])", {}),
    ('("b" \\in DOMAIN [("b" :> 2) EXCEPT !["a"] = 3])', {}),
    ("(1 \\in DOMAIN [<< >> EXCEPT ![5] = 3])", {}),
    ("(1 \\in DOMAIN [[n \\in {1} |-> 2] EXCEPT ![5] = (1 :> 2)[4]])", {}),
    (f"(3 \\in DOMAIN [{NESTED} EXCEPT ![5][1] = 3])", {}),
    ("([alpha |-> A, beta |-> 1] # [alpha |-> A, gamma |-> 1])", APART),
    ("([alpha |-> A, beta |-> 1] # [alpha |-> B, gamma |-> 1, delta |-> 1])", APART),
    ("([alpha |-> A, beta |-> 1] \\notin [alpha : {A}, gamma : {1}])", APART),
    ("({A} \\cup {A} # {})", APART),
    ("(<<A>> # <<B, 1>>)", APART),
    ("({IF b THEN A ELSE B : b \\in {TRUE}} # {})", APART),
    ("(\\E v \\in {{A} \\cap {A}} : TRUE)", APART),
    ("({A} \\ {} # {})", APART),
]


@pytest.mark.by_day(2)
@pytest.mark.parametrize(("asked", "constants"), REFUSED)
def test_what_tlc_cannot_compare_is_refused(proved, states, asked, constants):
    with pytest.raises(Untranslatable, match=re.escape("Ask.tla:7: ")):
        proved(asked, constants)
    with pytest.raises(EvaluationError):
        states(constants)


@pytest.mark.by_day(1)
@pytest.mark.parametrize("asked", UNDEFINED)
def test_what_has_no_meaning_is_not_shown_to_have_one(proved, states, asked):
    assert proved(asked, {}) == {"TrueInv/Ask/defined"}
    with pytest.raises(EvaluationError):
        states({})


@pytest.mark.by_day(4)
@pytest.mark.parametrize(("asked", "constants"), EVALUATED)
def test_what_tlc_evaluates_is_proved(proved, states, asked, constants):
    assert proved(asked, constants) == set()
    assert states(constants)


@pytest.mark.parametrize("guard", ["n \\in DOMAIN f /\\ ", "DOMAIN f # {} /\\ "])
def test_an_index_of_the_empty_function_is_a_number(tried, explored, guard):
    assert not_held(tried("EmptyFunction", "ZeroInv")) == {"ZeroInv/Set/defined"}
    with pytest.raises(EvaluationError, match="apply tuple to a non-integer argument"):
        explored("EmptyFunction")

    assert not_held(tried("EmptyFunction", "ZeroInv", replaced=("f' =", f"{guard}f' ="))) == set()
    assert explored("EmptyFunction")


NIL_APART = "Nil\nASSUME Nil \\notin [a : {}]"
OTHER_RECORD = [
    "{Nil, [a |-> 2]}",
    "({Nil} \\cup {[a |-> 2]})",
    "{{Nil} \\cap {[a |-> 2]}}",
    "{{Nil} \\ {[a |-> 2]}}",
    "{IF b THEN Nil ELSE [a |-> 2] : b \\in BOOLEAN}",
]


@pytest.mark.by_day(1)
@pytest.mark.parametrize("members", OTHER_RECORD)
def test_a_constant_is_a_member_beside_records_that_it_is_known_to_differ_from(
    proved, states, members
):
    asked, nil = f"(\\E v \\in {members} : TRUE)", {"Nil": record(a="x")}

    assert proved(asked, [NIL_APART.format("1 .. 0")]) == {"TrueInv/Ask/defined"}
    with pytest.raises(EvaluationError, match=r"Attempted to (compare|check equality)"):
        states(nil)

    assert proved(asked, [NIL_APART.format("1 .. 2")]) == set()


NIL_INSIDE = "Nil \\notin [a : {Nil} \\cup [b : {1}]]"
LOOK = "(k \\in {n \\in Node : f[n].since > 0})"
EACH = "{{m} : m \\in Node}"


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("members", "is_listed"),
    [
        (EACH, True),
        (f"({EACH} \\cup {{{{k}}}})", True),
        (f"({EACH} \\ {{{{}}}})", True),
        (f"(SUBSET Node \\cap {EACH})", True),
        ("SUBSET Node", False),
        ("{s \\in SUBSET Node : k \\in s}", False),
        ("((SUBSET Node) \\ {{}})", False),
        (f"({EACH} \\cup SUBSET Node)", False),
        ("{{k}}", False),
    ],
)
def test_the_condition_of_a_subset_of_listed_sets_is_asked_of_each(
    tried, explored, members, is_listed
):
    asked = f"({{k}} \\in {{t \\in {members} : \\A n \\in t : f[n].since > 0}})"
    if is_listed:
        with pytest.raises(Untranslatable, match="is no value that z3 can range over"):
            tried("Filtered", "HeldInv", replaced=(LOOK, asked))
        with pytest.raises(EvaluationError, match="Attempted to select field"):
            explored("Filtered")
    else:
        assert not_held(tried("Filtered", "HeldInv", replaced=(LOOK, asked))) == set()
        assert explored("Filtered")


def test_a_constant_outside_of_a_set_that_has_it_says_nothing_of_it(tried):
    with pytest.raises(Untranslatable, match="nothing says that Nil differs from"):
        tried("Outside", "TrueInv", replaced=("Nil \\notin [a : {1}]", NIL_INSIDE))
