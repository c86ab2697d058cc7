"""A failure that needs what was seen without a step, or what was refused, stays a test."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st
from tests.krafla.testing.lease_machine import PERIOD, Lease

from krafla.match.validation import validate
from krafla.testing import (
    Departure,
    PartialTrace,
    Refused,
    SpecViolation,
    Taken,
    Trace,
    action,
    drive,
)
from krafla.testing.machine_judge import spec_of
from krafla.testing.recorded_trace import judge_recorded, schedule_of
from krafla.traces import read_trace
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from krafla.testing import Driven


class UsesWhatIsOver(Lease):
    """The end is seen, but not looked at."""

    @action("Use")
    def use(self) -> None:
        if not self.is_held and not self.is_wrong:
            raise Refused


class RefusesForEver(Lease):
    """What is over cannot be taken again."""

    @action("Take")
    def take(self) -> None:
        if self.is_held or (self.end and self.is_wrong):
            raise Refused
        self.end = self.now + PERIOD


class TakesByWaiting(Lease):
    """Waiting takes what is free."""

    @action(None, seconds=st.integers(1, PERIOD))
    def wait(self, seconds: float = PERIOD) -> Taken:
        self.now += seconds
        if self.is_wrong:
            self.end = self.now + PERIOD
        return Taken.nothing


class EndsByTaking(Lease):
    """A second client ends what the first has. No hidden step is needed, though one would do."""

    @action("Take")
    def take(self) -> None:
        if self.is_held and not self.is_wrong:
            raise Refused
        self.end = self.now if self.is_held else self.now + PERIOD


class Forgives(Lease):
    """It refuses rightly, but once only. Nothing is seen but that."""

    observes = False
    refusals = 0

    def observe(self) -> Mapping[str, Any]:
        return {}

    @action("Use")
    def use(self) -> None:
        if not self.is_held and (not self.refusals or not self.is_wrong):
            self.refusals += 1
            raise Refused


class TiresOfAsking(Lease):
    """It may be too busy to take; asked three times, it takes and says nothing."""

    hidden = ()
    asked = 0

    @action("Take", may_refuse=True)
    def take(self) -> None:
        self.asked += 1
        if self.is_wrong and self.asked == 3:
            self.end = self.now + PERIOD
        raise Refused


def mended(machine: type[Lease]) -> type[Lease]:
    return type(machine.__name__, (machine,), {"is_wrong": False, "__module__": __name__})


def found_by(
    machine: type[Lease], call: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> PartialTrace:
    """Return the trace that is saved where a machine fails."""
    monkeypatch.setenv("KRAFLA_FOUND", str(folder))
    with pytest.raises(SpecViolation) as caught:
        call(machine())
    (file,) = folder.glob("*.ndjson")
    assert f"krafla validate {file}" in str(caught.value)
    trace = read_trace(file)
    assert isinstance(trace, PartialTrace)
    return trace


def kept(trace: PartialTrace, machine: type[Lease]) -> Driven:
    """Judge and drive a trace as a file ``*.trace.ndjson`` is in pytest."""
    spec = spec_of(machine)
    with pytest.raises(SpecViolation) as denied:
        judge_recorded(trace, spec)
    return drive(machine, schedule_of(trace, spec, denied.value))


def use_late(one: Any) -> None:
    one.take()
    one.wait(seconds=PERIOD)
    one.use()


def take_again(one: Any) -> None:
    one.take()
    one.wait(seconds=PERIOD)
    one.take()


def take_twice(one: Any) -> None:
    one.take()
    one.wait(seconds=1)
    one.take()


def use_unseen(one: Any) -> None:
    one.take()
    one.wait(seconds=PERIOD)
    one.use()
    one.use()


def ask_thrice(one: Any) -> None:
    one.take()
    one.take()
    one.take()


@pytest.mark.parametrize(
    ("machine", "call", "kinds"),
    [
        (UsesWhatIsOver, use_late, ["step", "step", "stay", "step"]),
        (RefusesForEver, take_again, ["step", "step", "stay", "refusal"]),
        (TakesByWaiting, lambda one: one.wait(seconds=PERIOD), ["step", "stay"]),
        (EndsByTaking, take_twice, ["step", "step", "stay", "step"]),
        (Forgives, use_unseen, ["step", "step", "stay", "refusal", "stay", "step"]),
        (TiresOfAsking, ask_thrice, ["step", "stay", "stay", "stay"]),
    ],
)
def test_a_kept_failure_fails_until_the_code_is_mended(
    machine: type[Lease], call: Callable[[Any], None], kinds: list[str],
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    trace = found_by(machine, call, monkeypatch, tmp_path)
    assert [one.kind for one in trace.observations] == kinds
    report = validate(trace)
    assert (report.verdict, report.accepted) == (Verdict.VIOLATED, len(trace) - 1)
    with pytest.raises(SpecViolation):
        kept(trace, machine)
    kept(trace, mended(machine))


def test_a_failure_is_not_asked_for_where_the_code_is_in_another_state(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A call with a fraction is no call of TLA+: it cannot be made again, and the lease lasts."""

    def use_later(one: Any) -> None:
        one.take()
        one.wait(seconds=10.5)
        one.use()

    trace = found_by(UsesWhatIsOver, use_later, monkeypatch, tmp_path)
    assert [one.action for one in trace.observations] == ["Init", "Take", None, "Use"]
    for machine in (UsesWhatIsOver, mended(UsesWhatIsOver)):
        with pytest.raises(
            Departure, match="Expire was left out: a method for Expire could take it"
        ):
            kept(trace, machine)

    class Expiring(UsesWhatIsOver):
        def expire(self) -> None:
            self.end = self.now

    with pytest.raises(SpecViolation):
        kept(trace, Expiring)
    assert kept(trace, mended(Expiring)).refused == "Use"


def test_a_last_stay_that_cannot_be_asked_for_is_no_passed_test(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    call = lambda one: one.wait(seconds=0.5)  # noqa: E731 - one call
    trace = found_by(TakesByWaiting, call, monkeypatch, tmp_path)
    with pytest.raises(Departure, match="the trace does not say how the code is asked"):
        kept(trace, mended(TakesByWaiting))


def test_a_run_of_steps_alone_stays_a_whole_trace() -> None:
    class Seen(Lease):
        hidden = ()

    machine = Seen()
    machine.take()
    machine.use()
    assert isinstance(machine.judge.trace, Trace)
    machine.take()
    trace = machine.judge.trace
    assert isinstance(trace, PartialTrace)
    assert (len(trace), trace.steps, machine.judge.steps) == (5, 2, 2)


def test_a_passing_partial_trace_asks_again_for_what_was_refused() -> None:
    machine = Lease()
    machine.take()
    machine.take()
    machine.wait(seconds=PERIOD)
    machine.use()
    trace = machine.judge.trace
    assert isinstance(trace, PartialTrace)
    driven = drive(Lease, trace)
    assert (driven.steps, driven.skipped, driven.refusals) == (1, 1, 2)
    with pytest.raises(SpecViolation, match="Use is not enabled"):
        drive(UsesWhatIsOver, trace)


def test_the_place_of_a_trace_names_no_other_kind() -> None:
    machine = Lease()
    machine.take()
    machine.take()
    trace = machine.judge.trace
    assert isinstance(trace, PartialTrace)
    assert [one.place for one in trace.observations[2:]] == ["after step 1", "after step 1"]
    assert replace(trace, observations=trace.observations[:2]).steps == 1


class BeginsHeld(Lease):
    """The lease is held from the beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.end = PERIOD * self.is_wrong


def test_a_wrong_beginning_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trace = found_by(BeginsHeld, lambda one: one.take(), monkeypatch, tmp_path)
    assert len(trace) == 1
    with pytest.raises(SpecViolation, match="does not begin where the spec does"):
        kept(trace, BeginsHeld)
    assert kept(trace, mended(BeginsHeld)).steps == 0
