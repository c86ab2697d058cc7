"""An action counts only with parameters that Next gives it in the state at hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from krafla.match import match
from krafla.match.step_order import find_order
from krafla.match.trace_check import check_trace
from krafla.match.whole import Whole
from krafla.shrink.behaviour import shrink_behaviour
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
from krafla.testing.trace_reduction import Failure, shortest_failure
from krafla.verdict import Verdict

CLUB = Path(__file__).parent / "specs" / "Club.tla"
ANN = frozenset({"ann"})
BOTH = frozenset({"ann", "bob"})

# With ann as the only member: what Next gives, and what only the action would allow.
GIVEN: list[tuple[Any, ...]] = [
    ("Visit", "host"), ("Visit", "ann"), ("Count", 5), ("Count", "none"), ("Pair", "ann", 6),
    ("Leave", 7), ("Pay", "ann", 1), ("Greet", "ann"), ("Rise", 6),
]  # fmt: skip
NOT_GIVEN: list[tuple[Any, ...]] = [
    ("Visit", "bob"), ("Visit", 1), ("Meet", "ann", "ann"), ("Meet", "ann", "bob"), ("Count", -7),
    ("Count", "text"), ("Pair", "bob", 3), ("Pair", "ann", 4), ("Leave", 9), ("Pay", "ann", 3),
    ("Pay", "bob", 1), ("Greet", "bob"), ("Rise", 5), ("Rise", "text"),
]  # fmt: skip
AFTER = {"Visit": 1, "Meet": 2, "Greet": 4}


@pytest.fixture(scope="module")
def club() -> Spec:
    return Spec.load(CLUB, {"Person": {"ann", "bob", "cy"}})


@pytest.fixture
def judge(club: Spec) -> Judge:
    """Return a judge of a run in which ann has joined."""
    found = Judge(club)
    found.start()
    found.step("Join", "ann")
    return found


def after(action: str, *parameters: Any) -> dict[str, Any]:
    members = frozenset() if action == "Leave" else ANN
    return {"members": members, "visits": AFTER.get(action, parameters[-1])}


@pytest.mark.parametrize("call", GIVEN)
@pytest.mark.parametrize("is_shown", [True, False])
def test_a_step_with_parameters_that_next_gives_is_held(
    judge: Judge, call: tuple[Any, ...], is_shown: bool
) -> None:
    assert judge.allows(*call)
    with pytest.raises(SpecViolation, match="the code refuses"):
        judge.refuse(*call)
    judge.step(*call, seen=after(*call) if is_shown else None)
    assert dict(judge.states[0]) == after(*call)


@pytest.mark.parametrize("call", NOT_GIVEN)
@pytest.mark.parametrize("is_shown", [True, False])
def test_a_step_with_other_parameters_is_a_violation_and_its_refusal_is_right(
    judge: Judge, call: tuple[Any, ...], is_shown: bool
) -> None:
    assert not judge.allows(*call)
    judge.refuse(*call)
    with pytest.raises(SpecViolation) as found:
        judge.step(*call, seen=after(*call) if is_shown else None)
    assert call[0] in str(found.value)


def test_the_story_names_the_parameters_that_next_gives_there(judge: Judge) -> None:
    told = r'Next has no Visit\("bob"\) in this state; it has Visit\("host"\),\s+Visit\("ann"\)'
    with pytest.raises(SpecViolation, match=told):
        judge.step("Visit", "bob", seen=after("Visit", "bob"))
    with pytest.raises(SpecViolation, match=r"Next has no Count\(-7\) in this state"):
        judge.step("Count", -7)


def test_what_is_enabled_is_what_is_allowed(judge: Judge) -> None:
    judge.step("Join", "bob")
    assert set(judge.enabled("Visit")) == {("host",), ("ann",), ("bob",)}
    assert set(judge.enabled("Meet")) == {("ann", "bob"), ("bob", "ann")}
    assert set(judge.enabled("Pair")) == {(one, n) for one in BOTH for n in (3, 6)}
    assert set(judge.enabled("Pay")) == {(one, n) for one in BOTH for n in (1, 2)}
    assert judge.enabled("Leave") == ((7,), (8,))


def test_a_known_parameter_is_enough_where_the_other_has_a_set_with_an_end(judge: Judge) -> None:
    judge.step("Join", "bob")
    judge.step("Meet", ..., "ann", seen={"visits": 2})
    judge.step("Pay", "ann", ..., seen={"visits": 2})
    with pytest.raises(SpecViolation):
        judge.step("Meet", "cy", ...)
    with pytest.raises(
        EvaluationError, match=r"step 5: .*not both enumerable.*give every parameter"
    ):
        judge.step("Count", ...)


def test_a_part_of_next_without_a_name_is_judged_as_that_part(judge: Judge) -> None:
    assert not judge.allows("Next")
    judge.refuse("Next")
    with pytest.raises(SpecViolation, match="visits > 90"):
        judge.step("Next", seen=after("Visit", "ann"))
    judge.step("Count", 91)
    judge.step("Next", seen={"visits": 0})


def observed(*call: Any) -> PartialTrace:
    """Return a log in which ann joins, and somebody takes a step."""
    name, *parameters = call
    steps = (
        Observation("Join", ("ann",), ((("members",), ANN),), "log:1"),
        Observation(name, tuple(parameters), ((("visits",), after(*call)["visits"]),), "log:2"),
    )
    return PartialTrace("Club", steps, ())


@pytest.mark.parametrize("call", GIVEN)
def test_a_log_and_a_whole_trace_are_held_with_parameters_that_next_gives(
    club: Spec, judge: Judge, call: tuple[Any, ...]
) -> None:
    assert match(club, observed(*call), only_next=True).verdict is Verdict.HELD
    judge.step(*call)
    trace = judge.trace
    assert isinstance(trace, Trace)
    assert check_trace(trace).verdict is Verdict.HELD


@pytest.mark.parametrize("call", NOT_GIVEN)
def test_a_log_is_violated_with_others(club: Spec, call: tuple[Any, ...]) -> None:
    report = match(club, observed(*call), only_next=True)
    assert (report.verdict, report.accepted) == (Verdict.VIOLATED, 1)


def test_a_whole_trace_is_rejected_with_others(judge: Judge) -> None:
    judge.step("Visit", "ann")
    trace = judge.trace
    assert isinstance(trace, Trace)
    steps = (*trace.steps[:-1], replace(trace.steps[-1], parameters=("bob",)))
    report = check_trace(trace.with_steps(steps))
    assert report.rejection is not None
    assert 'Next has no Visit("bob") in this state' in str(report.rejection)


def test_an_order_of_steps_is_one_that_next_offers(club: Spec) -> None:
    """Only the first of two processes makes the second one's step possible."""
    steps = (
        Observation("Visit", ("ann",), (), "b:1"),
        Observation("Join", ("ann",), (), "a:1"),
    )
    order = find_order(club, PartialTrace("Club", steps, ()), [(0, 1), (1, 1)])
    assert order.numbers == (1, 0)


def test_the_moves_of_an_action_alone_stay_free_for_those_who_ask(club: Spec) -> None:
    """Models of a spec may offer fewer parameters than a log of its code shows."""
    (state,) = club.initial_states()
    moves = Whole(club).moves
    assert len(moves.outcomes(state, "Visit", ("bob",))) == 1
    assert moves.outcomes(state, "Visit", ("bob",), only_next=True) == ()


def test_a_shrunk_behaviour_keeps_the_steps_that_make_next_give_a_parameter(judge: Judge) -> None:
    judge.step("Join", "bob")
    judge.step("Pay", "ann", 1)
    trace = judge.trace
    assert isinstance(trace, Trace)
    shrunk = shrink_behaviour(replace(trace, claim=Claim(ClaimKind.INVARIANT, "QuietInv"))).result
    assert check_trace(shrunk).rejection is None
    assert [(one.action, one.parameters) for one in shrunk.steps[1:]] == [
        ("Join", ("ann",)), ("Pay", ("ann", 1)),
    ]  # fmt: skip


def test_a_failure_is_looked_for_in_behaviours_of_the_spec_only(judge: Judge, club: Spec) -> None:
    judge.step("Visit", "ann")
    judge.step("Count", 5)
    behaviour = judge.trace
    assert isinstance(behaviour, Trace)
    with pytest.raises(SpecViolation) as wrong:
        judge.step("Count", -1)
    driven: list[Trace] = []

    def fails(trace: Trace) -> Failure:
        driven.append(trace)
        return Failure(wrong.value, trace, is_allowed=True)

    first = Failure(wrong.value, behaviour, is_allowed=True)
    shortest_failure(club, first, fails, runs_max=20)
    assert driven
    for trace in driven:
        alone = trace.with_steps(trace.steps[:-1])
        assert check_trace(replace(alone, claim=None)).rejection is None
