"""A failure is driven again through shorter traces, and stays the failure that was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.krafla.testing.lock_machines import LastComes, LeavesFree, Lock, LockMachine, machine_of
from tests.krafla.testing.lock_traces import C1, C2, NOBODY, of_lock

from krafla.testing import ModelValue, Refused, SpecViolation, Trace, action, drive, read_trace
from krafla.testing.machine_judge import spec_of
from krafla.testing.recorded_trace import judge_recorded

if TYPE_CHECKING:
    from pathlib import Path

C3 = ModelValue("c3")
THREE = (("Acquire", C1, C1, ()), ("Acquire", C2, C1, (C2,)), ("Acquire", C3, C1, (C2, C3)))


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this test alone for the traces of failures."""
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    return tmp_path


class Trusts(LockMachine):
    """Only the holder gives the lock back, so nothing looks whether it is the holder."""

    @action("Release", only_if_enabled=True)
    def release(self, client: str) -> None:
        self.lock.release(self.lock.holder if client else client)


class TrustsLastComes(Trusts):
    server = LastComes


def failure(machine: type[LockMachine], trace: Trace) -> SpecViolation:
    with pytest.raises(SpecViolation) as caught:
        drive(machine, trace)
    return caught.value


def test_no_shorter_trace_asks_for_what_the_spec_does_not_allow(found: Path) -> None:
    """The way there is twice as long as it must be."""
    free = ("Release", C1, NOBODY, ())
    trace = of_lock(THREE[0], free, *THREE, ("Release", C1, C2, (C3,)))
    violation = failure(TrustsLastComes, trace)
    assert violation.conjunct == "holder' = Head(queue)"
    assert isinstance(violation.trace, Trace)
    assert [one.action for one in violation.trace.steps[1:]] == ["Acquire"] * 3 + ["Release"]
    (file,) = found.glob("*.ndjson")
    kept = read_trace(file)
    assert isinstance(kept, Trace)
    # What pytest does with the file.
    judge_recorded(kept, spec_of(Trusts))
    assert drive(Trusts, kept).steps == 4
    assert failure(TrustsLastComes, kept).conjunct == violation.conjunct


class TwoFaults(LastComes):
    """Where only one client waits, the next holder stays in the queue."""

    def release(self, client: str) -> None:
        if len(self.queue) == 1:
            self.holder = self.queue[0]
        else:
            super().release(client)


class Refuses(LastComes):
    """Where only one client waits, the holder may not go."""

    def release(self, client: str) -> None:
        if len(self.queue) < 2:
            raise Refused
        super().release(client)


@pytest.mark.parametrize("lock", [TwoFaults, Refuses])
def test_a_failure_of_the_same_action_with_another_reason_is_another(lock: type[Lock]) -> None:
    other = failure(machine_of(lock), of_lock(*THREE[:2], ("Release", C1, C2, ())))
    assert other.conjunct != "holder' = Head(queue)"
    trace = of_lock(*THREE, ("Release", C1, C2, (C3,)))
    violation = failure(machine_of(lock), trace)
    assert violation.conjunct == "holder' = Head(queue)"
    assert isinstance(violation.trace, Trace)
    assert len(violation.trace) == len(trace)


def test_steps_that_lead_back_to_where_they_began_are_left_out() -> None:
    """No other steps in a row can be: each way back has six of them."""
    take, free = ("Acquire", C1, C1, ()), ("Release", C3, NOBODY, ())
    back = (
        *(take, ("Acquire", C2, C1, (C2,)), ("Release", C1, C2, ()), ("Acquire", C3, C2, (C3,))),
        *(("Release", C2, C3, ()), free),
    )
    trace = of_lock(*back, *THREE, ("Release", C1, C2, (C3,)))
    violation = failure(TrustsLastComes, trace)
    assert isinstance(violation.trace, Trace)
    assert [one.action for one in violation.trace.steps[1:]] == ["Acquire"] * 3 + ["Release"]


# One of the two that wait is needed.
NEEDLESS = of_lock(*THREE, ("Release", C1, C2, (C3,)))


def test_a_single_step_that_is_not_needed_is_left_out() -> None:
    violation = failure(machine_of(LeavesFree), NEEDLESS)
    assert isinstance(violation.trace, Trace)
    assert [one.parameters for one in violation.trace.steps[1:]] == [(C1,), (C3,), (C1,)]


@pytest.mark.parametrize(("shrinks", "steps"), [(0, 4), (1, 3)])
def test_no_more_shorter_traces_are_driven_than_was_asked_for(shrinks: int, steps: int) -> None:
    class Counted(LockMachine):
        server = LeavesFree
        made = 0

        def __init__(self) -> None:
            Counted.made += 1
            super().__init__()

    with pytest.raises(SpecViolation) as caught:
        drive(Counted, NEEDLESS, shrinks=shrinks)
    assert isinstance(caught.value.trace, Trace)
    assert (len(caught.value.trace.steps) - 1, Counted.made) == (steps, 1 + shrinks)


def test_a_trial_of_a_shorter_trace_writes_nothing(found: Path) -> None:
    class Raises(LastComes):
        def release(self, client: str) -> None:
            if len(self.queue) < 2:
                raise ZeroDivisionError
            super().release(client)

    failure(machine_of(Raises), of_lock(*THREE, ("Release", C1, C2, (C3,))))
    assert [one.name for one in found.glob("*.ndjson")] == ["RaisesMachine.trace.ndjson"]


def test_a_method_that_asks_the_judge_is_driven_again_with_it() -> None:
    class Asks(LockMachine):
        server = LastComes

        @action("Release", only_if_enabled=True)
        def release(self, client: str) -> Any:
            assert self.judge.states[0]["holder"] == ModelValue(client)
            self.lock.release(client)

    free = ("Release", C1, NOBODY, ())
    trace = of_lock(THREE[0], free, *THREE, ("Release", C1, C2, (C3,)))
    violation = failure(Asks, trace)
    assert isinstance(violation.trace, Trace)
    assert len(violation.trace) == 5
