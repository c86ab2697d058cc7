"""What judged nothing is inconclusive: a trace without a step, code or runs that take none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, settings
from hypothesis.database import InMemoryExampleDatabase
from tests.krafla.testing.lock_machines import LockMachine
from tests.krafla.testing.lock_server import LockDriver
from tests.krafla.testing.lock_traces import C1, C2, NOBODY, of_lock

from krafla.counted import counted
from krafla.testing import Inconclusive, Refused, SpecViolation, Taken, action, drive, member_of
from krafla.testing.machine_replay import replay_on_machine
from krafla.testing.machine_search import Search, search
from krafla.testing.machine_tally import take_told
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.testing import SpecMachine, Trace


class DoesNothing(LockMachine):
    @action("Acquire", client=member_of("Client"))
    def acquire(self, client: str) -> Any:
        return Taken.nothing if client else None

    release = None  # type: ignore[assignment]  # it has no such method


class RefusesAll(LockMachine):
    @action("Acquire", client=member_of("Client"), may_refuse=True)
    def acquire(self, client: str) -> None:
        del client
        raise Refused

    @action("Release", client=member_of("Client"), may_refuse=True)
    def release(self, client: str) -> None:
        del client
        raise Refused


class OnlyRefuses(LockMachine):
    """Its only method is for an action that is never enabled, and calls any error a refusal."""

    acquire = None  # type: ignore[assignment]  # it has no such method

    @action("Release", client=member_of("Client"), refused=Exception)
    def release(self, client: str) -> None:
        raise RuntimeError(client)


class TellsNothing(LockMachine):
    """It takes some step, says of none which, and shows nothing."""

    observes = False
    acquire = release = None  # type: ignore[assignment]  # it has no such methods

    @action(None)
    def turn(self) -> None:
        """Do whatever it does."""


class Unseen(LockMachine):
    """It says of no step that it took it, but its state shows that it did."""

    hidden = ("Acquire",)

    @action("Acquire", client=member_of("Client"))
    def acquire(self, client: str) -> Any:
        self.lock.acquire(client)
        return Taken.nothing


ONE = of_lock(("Acquire", C1, C1, ()))
TWO = of_lock(("Acquire", C1, C1, ()), ("Release", C1, NOBODY, ()))
THREE = of_lock(("Acquire", C1, C1, ()), ("Acquire", C2, C1, (C2,)), ("Release", C1, C2, ()))


def test_a_trace_without_a_step_is_driven_for_nothing() -> None:
    with pytest.raises(Inconclusive, match="a trace of Lock without a step shows nothing"):
        drive(LockDriver, of_lock())
    # The code was asked for what it must refuse there.
    assert drive(LockDriver, of_lock(), refusals=True).refusals == 3


class TakesNothing(DoesNothing):
    @action("Release", client=member_of("Client"))
    def release(self, client: str) -> Any:  # type: ignore[override]  # the other has none
        return Taken.nothing if client else None


@pytest.mark.parametrize("trace", [ONE, TWO, THREE], ids=len)
@pytest.mark.parametrize("machine", [TakesNothing, RefusesAll])
def test_code_that_takes_no_step_of_a_trace_shows_nothing(
    machine: type[SpecMachine], trace: Trace
) -> None:
    with pytest.raises(Inconclusive) as doubt:
        drive(machine, trace)
    # A test of @spec_trace is skipped for a departure.
    assert type(doubt.value) is Inconclusive
    assert str(doubt.value) == "the code took no step of the trace; the first is Acquire(c1)"


def test_a_step_that_was_refused_as_it_may_is_not_told_as_taken() -> None:
    class RefusesOnce(LockMachine):
        is_asked = False

        @action("Acquire", client=member_of("Client"), may_refuse=True)
        def acquire(self, client: str) -> None:
            if not self.is_asked:
                self.is_asked = True
                raise Refused
            self.lock.acquire(client)

    told = replay_on_machine(of_lock(("Acquire", C1, C1, ()), ("Acquire", C1, C1, ())), RefusesOnce)
    assert (told.verdict, told.sentence) == (Verdict.HELD, "RefusesOnce takes 1 step")


def test_a_hidden_step_that_the_code_shows_was_judged() -> None:
    assert drive(Unseen, ONE).steps == 0


def doubt_of(machine: type[SpecMachine], examples: int, **more: Any) -> str:
    """Run the test of a machine as pytest does; return why it is inconclusive, if it is."""
    case: Any = machine.TestCase("runTest")
    given = {"database": None, "derandomize": True, **more}
    case.settings = settings(case.settings, max_examples=examples, **given)
    try:
        case.runTest()
    except Inconclusive as doubt:
        return str(doubt)
    finally:
        # The summary of the run that tests krafla is not about these.
        take_told()
    return ""


NOTHING = "no step was judged"
UNTOLD = r"no step named an action, and nothing was seen, so any would do: [\d,]+ steps"
REFUSED = r"no action was taken, the code only refused: [\d,]+ refusals judged"


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        (DoesNothing, NOTHING),
        (RefusesAll, NOTHING),
        (OnlyRefuses, REFUSED),
        (TellsNothing, UNTOLD),
    ],
)
def test_runs_that_take_no_step_are_inconclusive_for_fuzz_and_for_pytest(
    machine: type[SpecMachine], said: str
) -> None:
    report = search(machine, Search(examples=5))
    assert (report.verdict, len(report.tally.missed)) == (Verdict.INCONCLUSIVE, 2)
    assert re.fullmatch(said, report.sentence)
    assert re.fullmatch(rf"{machine.__name__}: {said} in \d+ runs", doubt_of(machine, 100))


def test_a_step_of_which_nothing_is_told_counts_when_something_is_seen_after_it() -> None:
    class Says(LockDriver):
        def acquire(self, client: str) -> Any:
            self.lock.acquire(client)
            return Taken(None)

    class SaysAndHides(Says):
        observes = False

    assert drive(Says, ONE).steps == 1
    with pytest.raises(Inconclusive, match="the code named no action and showed nothing, so any"):
        drive(SaysAndHides, ONE)


def test_refusals_are_told_apart_from_steps() -> None:
    tally = search(LockMachine, Search(examples=5)).tally
    assert 0 < tally.steps == tally.taken.total()
    assert 0 < tally.refusals == tally.refused.total()
    steps, refusals = counted(tally.steps, "step"), counted(tally.refusals, "refusal")
    assert tally.judged == f"{steps} and {refusals}"


def test_runs_whose_steps_are_hidden_are_judged() -> None:
    report = search(Unseen, Search(examples=20, steps=3))
    assert (report.verdict, report.sentence) == (Verdict.HELD, "")
    assert not doubt_of(Unseen, 50)


@pytest.mark.parametrize("examples", range(1, 6))
@pytest.mark.parametrize("machine", [LockMachine, OnlyRefuses])
def test_a_few_runs_may_take_no_step_by_chance(machine: type[SpecMachine], examples: int) -> None:
    assert not doubt_of(machine, examples)


@pytest.mark.parametrize(("examples", "is_doubted"), [(49, False), (50, True)])
def test_fifty_runs_that_only_refuse_are_no_chance(examples: int, *, is_doubted: bool) -> None:
    assert bool(doubt_of(OnlyRefuses, examples, stateful_step_count=1)) is is_doubted


def test_the_kept_examples_alone_may_take_no_step(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Mended(DoesNothing):
        says: Any = None
        asked = 0

        @action("Acquire", client=member_of("Client"))
        def acquire(self, client: str) -> Any:
            Mended.asked += bool(client)
            return Mended.says

    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    kept = {"database": InMemoryExampleDatabase(), "derandomize": False}
    with pytest.raises(SpecViolation):
        doubt_of(Mended, 100, **kept)
    Mended.says, Mended.asked = Taken.nothing, 0
    assert not doubt_of(Mended, 100, phases=[Phase.reuse], **kept)
    assert Mended.asked, "a kept example was played"


def test_that_nothing_is_even_refused_is_no_chance() -> None:
    assert "no step was judged" in doubt_of(DoesNothing, 2)


def test_one_run_of_many_that_takes_a_step_is_enough() -> None:
    class Once(DoesNothing):
        made = 0

        @action("Acquire", client=member_of("Client"))
        def acquire(self, client: str) -> Any:
            Once.made += 1
            if Once.made != 20:
                return Taken.nothing
            return self.lock.acquire(client)

    assert not doubt_of(Once, 50)
    assert Once.made > 40
