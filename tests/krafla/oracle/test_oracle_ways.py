"""An action with which Next joins more: what it says of the parameters that were given."""

from __future__ import annotations

import re

import pytest

from krafla.match.engine import match
from krafla.oracle import NotEnabled, Spec, UnexpectedPostState
from krafla.testing import Judge, SpecViolation
from krafla.traces import Observation, PartialTrace

MODULE = r"""---- MODULE Ways ----
EXTENDS Naturals, FiniteSets
VARIABLES a, b, h
P == {"p", "q", "r"}
S == {1, 2, 3}
Init == a = [x \in P |-> 0] /\ b = 1 /\ h = 0
Send(x, y) == /\ a[x] < 1
              /\ a' = [a EXCEPT ![x] = @ + 1]
              /\ b' = b
Go(x) == a[x] > 0 /\ a' = [a EXCEPT ![x] = 0] /\ b' = b
Plus(k) == b + k < 8 /\ b' = b + k /\ a' = a
Pick(t) == b \in t /\ b' = b + Cardinality(t) /\ a' = a
Next == \/ NEXT
===="""
SEND = r"\E x, y \in P : x # y /\ Send(x, y) /\ UNCHANGED h"
GO = r"\E x \in P : Go(x) /\ UNCHANGED h"
PLUS = r"\E n \in S : n > 1 /\ Plus(n) /\ UNCHANGED h"
DOUBLE = r"\E n \in S : h = 0 /\ Plus(n * 2) /\ UNCHANGED h"
PICK = r"\E t \in SUBSET S : t # {} /\ Pick(t) /\ UNCHANGED h"
OTHERS = r"\E x \in P : \E y \in P \ {x} : Send(x, y) /\ UNCHANGED h"
STATED = r"\E x \in {y \in P : a[y] < 2}, z \in P : x # z /\ Send(x, z) /\ UNCHANGED h"


def spec_of(next_action, folder):
    (folder / "Ways.tla").write_text(MODULE.replace("NEXT", next_action))
    return Spec.load(folder / "Ways.tla", {}, init="Init", next="Next")


@pytest.mark.parametrize(
    ("next_action", "steps", "conjunct", "values"),
    [
        (SEND, [("Send", "q", "r"), ("Send", "q", "p")], "a[x] < 1", {"x": "q"}),
        (SEND, [("Send", "q", "q")], "x # y", {"x": "q", "y": "q"}),
        (GO, [("Go", "q")], "a[x] > 0", {"x": "q"}),
        (PLUS, [("Plus", 3), ("Plus", 3), ("Plus", 3)], "b + k < 8", {"b": 7, "k": 3}),
        (PLUS, [("Plus", 1)], "n > 1", {"n": 1}),
        (DOUBLE, [("Plus", 6), ("Plus", 6)], "b + k < 8", {"b": 7, "k": 6}),
        (PICK, [("Pick", frozenset({2}))], r"b \in t", {"t": frozenset({2})}),
        (OTHERS, [("Send", "q", "r"), ("Send", "q", "p")], "a[x] < 1", {"x": "q"}),
        (STATED, [("Send", "q", "r"), ("Send", "q", "p")], "a[x] < 1", {"x": "q"}),
    ],
)
def test_the_false_conjunct_is_that_of_the_given_parameters(
    next_action, steps, conjunct, values, tmp_path
):
    spec = spec_of(next_action, tmp_path)
    judge, (state,) = Judge(spec), spec.initial_states()
    for name, *parameters in steps[:-1]:
        judge.step(name, *parameters)
        state = spec.apply(state, name, *parameters)
    name, *parameters = steps[-1]
    with pytest.raises(SpecViolation) as denied:
        judge.step(name, *parameters)
    with pytest.raises(NotEnabled) as refused:
        spec.apply(state, name, *parameters)
    for explanation in (denied.value.reason, refused.value.explanation):
        (reason,) = explanation.reasons
        assert reason.text == conjunct
        assert values.items() <= dict(reason.values).items()
    observed = [Observation(one, tuple(given)) for one, *given in steps]
    (stuck, *_) = match(spec, PartialTrace(spec.name, tuple(observed), ())).stuck
    assert stuck.explanation.reasons == denied.value.reason.reasons
    judge.refuse(name, *parameters)


@pytest.mark.parametrize(
    ("next_action", "step", "wrong", "conjunct"),
    [
        (DOUBLE, ("Plus", 6), {"b": 5}, "b' = b + k"),
        (PICK, ("Pick", frozenset({1, 2})), {"b": 1}, "b' = b + Cardinality(t)"),
        (SEND, ("Send", "q", "r"), {"h": 3}, "UNCHANGED h"),
    ],
)
def test_a_wrong_state_after_it_is_told_with_its_conjunct(
    next_action, step, wrong, conjunct, tmp_path
):
    spec = spec_of(next_action, tmp_path)
    with pytest.raises(SpecViolation) as denied:
        Judge(spec).step(*step, seen=wrong)
    assert denied.value.conjunct == conjunct
    (state,) = spec.initial_states()
    with pytest.raises(UnexpectedPostState) as other:
        spec.apply(state, *step, expect=wrong)
    assert other.value.explanation.reasons[0].text == conjunct


def test_parameters_that_next_never_gives_are_told_with_those_it_gives(tmp_path):
    spec = spec_of(PICK, tmp_path)
    said = re.escape("Next has no Pick({4})")
    with pytest.raises(SpecViolation, match=rf"{said}; it has Pick"):
        Judge(spec).step("Pick", frozenset({4}))
    (state,) = spec.initial_states()
    with pytest.raises(NotEnabled, match=f"{said} in this state"):
        spec.apply(state, "Pick", frozenset({4}))
