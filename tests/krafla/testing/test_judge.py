"""The judge of steps: what fits, what does not, and what is left to the spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from krafla.testing import Judge, ModelValue, PartialTrace, SpecViolation, Trace

if TYPE_CHECKING:
    from krafla.testing import Spec

C1, C2, C3 = (ModelValue(f"c{number}") for number in (1, 2, 3))


@pytest.fixture
def judge(lock_spec: Spec) -> Judge:
    return Judge(lock_spec)


def test_whole_observations_make_a_whole_trace(judge: Judge) -> None:
    judge.start({"holder": "Nobody", "queue": []})
    judge.step("Acquire", "c1", seen={"holder": "c1", "queue": []})
    judge.step("Acquire", "c2", seen={"holder": "c1", "queue": ["c2"]})
    trace = judge.trace
    assert isinstance(trace, Trace)
    assert [one.action for one in trace.steps] == ["Init", "Acquire", "Acquire"]
    assert trace.steps[-1].state["queue"] == (C2,)


def test_what_is_not_seen_is_the_specs_to_choose(judge: Judge) -> None:
    judge.start()
    judge.step("Acquire", ..., seen={})
    assert {state["holder"] for state in judge.states} == {C1, C2, C3}
    assert isinstance(judge.trace, PartialTrace)
    judge.step("Acquire", "c1", seen={("queue", 1): "c1"})
    assert {state["holder"] for state in judge.states} == {C2, C3}
    judge.step("Release", "c2", seen={"holder": "c1"})
    assert [dict(state) for state in judge.states] == [{"holder": C1, "queue": ()}]


def test_a_state_that_the_spec_does_not_lead_to_is_a_violation(judge: Judge) -> None:
    judge.start()
    judge.step("Acquire", "c1")
    judge.step("Acquire", "c2")
    judge.step("Acquire", "c3")
    with pytest.raises(SpecViolation, match="Release leads to another holder, queue") as caught:
        judge.step("Release", "c1", seen={"holder": "c3", "queue": ["c2"]})
    violation = caught.value
    assert (violation.action, violation.parameters) == ("Release", (C1,))
    assert violation.reason.reasons[0].text == "holder' = Head(queue)"


def test_an_action_that_is_not_enabled_is_a_violation(judge: Judge) -> None:
    judge.start()
    with pytest.raises(SpecViolation, match="holder = c"):
        judge.step("Release", "c1")


def test_the_code_may_refuse_only_what_the_spec_forbids(judge: Judge) -> None:
    judge.start()
    judge.step("Acquire", "c1")
    judge.refuse("Release", "c2")
    with pytest.raises(SpecViolation, match="the code refuses Release, which the spec allows"):
        judge.refuse("Release", "c1")


def test_enabled_parameters_are_those_of_the_state(judge: Judge) -> None:
    judge.start()
    assert judge.enabled("Acquire") == ((C1,), (C2,), (C3,))
    assert judge.enabled("Release") == ()
    judge.step("Acquire", "c2")
    assert judge.enabled("Acquire") == ((C1,), (C3,))


def test_the_code_begins_where_the_spec_does(judge: Judge) -> None:
    with pytest.raises(SpecViolation, match="the code does not begin where the spec does"):
        judge.start({"holder": "c1"})
