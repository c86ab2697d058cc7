"""What TLC cannot evaluate is an error of the spec, neither for the code nor against it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from krafla.match import match
from krafla.match.claim_check import claim_shown
from krafla.match.property_checker import PropertyChecker
from krafla.match.step_order import find_order
from krafla.match.trace_check import check_trace
from krafla.oracle.properties import Properties
from krafla.testing import (
    Claim,
    ClaimKind,
    EvaluationError,
    Judge,
    Observation,
    PartialTrace,
    Spec,
    SpecViolation,
    Trace,
)

if TYPE_CHECKING:
    from collections.abc import Callable

HOLE = Path(__file__).parent / "specs" / "Hole.tla"
ACTIONS = {"Pop": "Tail to the empty sequence", "Choose": "no element", "Forbid": "never"}
CALLS: dict[str, Callable[[Judge, str], Any]] = {
    "step, whole": lambda judge, action: judge.step(action, seen={"queue": ()}),
    "step": lambda judge, action: judge.step(action),
    "refuse": lambda judge, action: judge.refuse(action),
    "allows": lambda judge, action: judge.allows(action),
    "enabled": lambda judge, action: judge.enabled(action),
}


@pytest.fixture(scope="module")
def hole() -> Spec:
    return Spec.load(HOLE, {})


@pytest.fixture
def judge(hole: Spec) -> Judge:
    found = Judge(hole)
    found.start()
    return found


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("call", CALLS)
def test_every_call_says_that_the_action_cannot_be_evaluated(
    judge: Judge, action: str, call: str
) -> None:
    place = "after the beginning" if call == "refuse" else "step 1"
    with pytest.raises(EvaluationError, match=f"{place}: .*{ACTIONS[action]}"):
        CALLS[call](judge, action)


def test_a_log_and_a_whole_trace_say_so_too(judge: Judge) -> None:
    log = PartialTrace("Hole", (Observation("Pop", (), ((("queue",), ()),), "log:1"),), ())
    with pytest.raises(EvaluationError, match=r"log:1: .*Tail"):
        match(judge.spec, log, only_next=True)
    judge.step("Push", 1)
    trace = judge.trace
    assert isinstance(trace, Trace)
    (first, step) = trace.steps
    popped = replace(step, action="Pop", parameters=(), state=first.state)
    with pytest.raises(EvaluationError, match=r"step 1: .*Tail"):
        check_trace(trace.with_steps((first, popped)))


def test_an_order_of_steps_is_not_looked_for_beyond_a_hole(hole: Spec) -> None:
    steps = (Observation("Pop", (), (), "b:1"), Observation("Push", (1,), (), "a:1"))
    with pytest.raises(EvaluationError, match=r"b:1: .*Tail"):
        find_order(hole, PartialTrace("Hole", steps, ()), [(0, 1), (1, 1)])


def test_parameters_that_next_does_not_give_need_no_value(judge: Judge) -> None:
    assert not judge.allows("Put", 4)
    judge.refuse("Put", 4)
    with pytest.raises(SpecViolation):
        judge.step("Put", 4)
    judge.step("Put", 3, seen={"queue": (6,)})


def test_a_value_of_another_kind_is_the_fault_of_the_code(judge: Judge) -> None:
    with pytest.raises(SpecViolation):
        judge.step("Push", 1, seen={"queue": "text"})


def test_an_invariant_that_cannot_be_evaluated_is_not_false(hole: Spec) -> None:
    told = "the beginning: FirstInv cannot be evaluated: Hole: "
    with pytest.raises(EvaluationError, match=told):
        Judge(hole, invariants=["FirstInv"]).start()
    late = hole.state({"queue": (7, 7)})
    checker = PropertyChecker(hole, Properties(("FirstInv", "ShortInv"), (), ()))
    found = checker.broken_by(late, late)
    assert found is not None
    assert found[0] == "FirstInv"
    assert checker.broken_by(hole.state({"queue": (1,)}), hole.state({"queue": (2,)})) is None


def test_a_property_that_is_false_counts_more_than_one_that_cannot_be_evaluated(
    hole: Spec,
) -> None:
    odd = hole.state({"queue": ("a", "b")})
    checker = PropertyChecker(hole, Properties(("FirstInv", "ShortInv"), (), ()))
    found = checker.broken_by(odd, odd)
    assert found is not None
    assert found[0] == "ShortInv"


def test_a_claim_about_such_a_property_cannot_be_shown(judge: Judge) -> None:
    judge.step("Push", 1)
    trace = judge.trace
    assert isinstance(trace, Trace)
    shown = claim_shown(replace(trace, claim=Claim(ClaimKind.INVARIANT, "FirstInv")))
    assert shown is not None
    assert shown.is_shown is None
    assert "claims FirstInv, which TLC cannot evaluate" in shown.sentence
