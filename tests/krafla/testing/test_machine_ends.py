"""What all runs of a machine end with: a finding, a doubt, a mistake of the test, an interrupt."""

from __future__ import annotations

import asyncio
import sys
import unittest
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.stateful import initialize
from tests.krafla.testing.lock_machines import Lock, LockMachine
from tests.krafla.testing.lock_traces import C1, NOBODY, of_lock

from krafla.interrupted import Terminated
from krafla.testing import PartialTrace, SpecViolation, action, drive, member_of
from krafla.testing.machine_replay import replay_on_machine
from krafla.testing.machine_search import Search, search
from krafla.testing.origins import MACHINE
from krafla.traces import read_trace
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from krafla.testing.machine_search import SearchReport

TAKEN = of_lock(("Acquire", C1, C1, ()), ("Release", C1, NOBODY, ()))


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    return tmp_path


def machine_that(does: Callable[[Lock], Any]) -> type[LockMachine]:
    """Return a machine whose lock does something before each release."""

    class Ending(LockMachine):
        @action("Release", client=member_of("Client"))
        def release(self, client: str) -> None:
            does(self.lock)
            self.lock.release(client)

    # The folder of its spec.
    Ending.__module__ = LockMachine.__module__
    return Ending


def raising(error: BaseException) -> Callable[[Lock], Any]:
    def fail(_: Lock) -> None:
        raise type(error)(*error.args)

    return fail


def ended(does: Callable[[Lock], Any]) -> SearchReport:
    return search(machine_that(does), Search(examples=10))


def once(does: Callable[[Lock], Any]) -> Callable[[Lock], Any]:
    """Return what is done the first time that a client waits, and never again."""
    left = [does]

    def maybe(lock: Lock) -> None:
        if lock.queue and left:
            left.pop()(lock)

    return maybe


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SystemExit(0), "SystemExit: 0"),
        (SystemExit(3), "SystemExit: 3"),
        (GeneratorExit("left"), "GeneratorExit: left"),
        (asyncio.CancelledError("gone"), "CancelledError: gone"),
        (ValueError("bad"), "ValueError: bad"),
    ],
)
def test_whatever_the_code_raises_is_a_finding(
    error: BaseException, told: str, found: Path
) -> None:
    report = ended(raising(error))
    assert report.verdict is Verdict.VIOLATED
    assert f"the code raised {told}, {__file__}:" in report.sentence
    assert report.tally.failed_in is not None
    file = found / "Ending-error.trace.ndjson"
    assert read_trace(file).spec == "Lock"
    assert any("release" in one for one in report.calls) or str(file) in report.sentence
    replayed = replay_on_machine(TAKEN, machine_that(raising(error)))
    assert replayed.verdict is Verdict.VIOLATED
    assert replayed.sentence == f"Ending raised {told}"


def test_a_skip_shows_nothing() -> None:
    for error in (unittest.SkipTest("no server"), pytest.skip.Exception("no server")):
        report = ended(raising(error))
        assert (report.verdict, report.tally.failed_in) == (Verdict.INCONCLUSIVE, None)
        assert report.sentence == "the test was skipped: no server"
        replayed = replay_on_machine(TAKEN, machine_that(raising(error)))
        assert replayed.verdict is Verdict.INCONCLUSIVE
        assert replayed.sentence == "Ending skips the test: no server"


def test_a_shorter_trace_on_which_the_code_leaves_is_not_the_failure() -> None:
    def leave_at_once(lock: Lock) -> None:
        if len(lock.queue) < 2:
            sys.exit(0)
        lock.queue.reverse()

    clients = [type(C1)(f"c{number}") for number in (1, 2, 3)]
    first, second, third = clients
    trace = of_lock(
        ("Acquire", first, first, ()),
        ("Acquire", second, first, (second,)),
        ("Acquire", third, first, (second, third)),
        ("Release", first, second, (third,)),
    )
    with pytest.raises(SpecViolation):
        drive(machine_that(leave_at_once), trace)


def test_a_teardown_that_leaves_does_not_hide_what_was_found() -> None:
    class Leaving(machine_that(lambda lock: lock.queue.append("c1"))):  # type: ignore[misc]  # no name
        def teardown(self) -> None:
            if "c1" in self.lock.queue:
                sys.exit(0)

    Leaving.__module__ = LockMachine.__module__
    report = search(Leaving, Search(examples=10))
    assert report.verdict is Verdict.VIOLATED
    assert report.sentence.endswith("does not allow; teardown raised SystemExit: 0")
    assert report.violation is not None
    with pytest.raises(SpecViolation):
        drive(Leaving, TAKEN)


def test_a_strategy_without_values_is_a_mistake_of_the_test() -> None:
    class Empty(LockMachine):
        @action("Acquire", client=st.sampled_from([]))
        def acquire(self, client: str) -> None:
            self.lock.acquire(client)

    Empty.__module__ = LockMachine.__module__
    said = r"Empty: is no machine that can be run: .* sequence, while generating 'client'"
    with pytest.raises(KraflaError, match=said):
        search(Empty, Search(examples=10))


def test_an_assumption_that_never_holds_is_a_doubt() -> None:
    class Never(LockMachine):
        @initialize()
        def begin(self) -> None:
            assume(False)

    Never.__module__ = LockMachine.__module__
    report = search(Never, Search(examples=10))
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.sentence.startswith("Hypothesis found no run to judge: Unable to satisfy")


def test_a_violation_that_does_not_come_again_is_told_and_saved(found: Path) -> None:
    report = ended(once(lambda lock: lock.queue.append("c1")))
    assert report.verdict is Verdict.VIOLATED
    assert report.sentence == (
        "the code does what the spec does not allow; it did not come again when the same calls "
        "were made"
    )
    assert report.violation is not None
    assert "krafla explain" in str(report.violation)
    told = report.violation.trace
    assert isinstance(told, PartialTrace)
    assert read_trace(found / "Ending.trace.ndjson") == replace(told, made_by=MACHINE)


def test_an_error_of_the_code_that_does_not_come_again_is_told() -> None:
    for error in (ValueError("bad"), SystemExit("bad")):
        report = ended(once(raising(error)))
        assert report.verdict is Verdict.VIOLATED
        assert report.sentence.startswith(f"the code raised {type(error).__name__}: bad, ")
        assert report.sentence.endswith("; it did not come again when the same calls were made")


def test_a_finding_is_told_where_the_same_calls_end_with_a_mistake_of_the_test() -> None:
    spoil = once(lambda lock: lock.queue.append("c1"))
    seen: list[Lock] = []

    def does(lock: Lock) -> None:
        spoil(lock)
        if seen:
            raise KraflaError("lost", "the test")
        if lock.queue:
            seen.append(lock)

    report = search(machine_that(does), Search(examples=10, shrinks=False))
    assert report.verdict is Verdict.VIOLATED
    assert report.sentence.endswith("; it did not come again when the same calls were made")


def test_pytest_is_given_the_violation_that_does_not_come_again(found: Path) -> None:
    machine = machine_that(once(lambda lock: lock.queue.append("c1")))
    with pytest.raises(SpecViolation) as caught:
        machine.TestCase().runTest()
    assert "krafla explain" in str(caught.value)
    assert "the code did this once; it did not come again" in "\n".join(caught.value.__notes__)
    assert (found / "Ending.trace.ndjson").is_file()


def test_an_error_that_comes_of_an_interrupt_is_one() -> None:
    def fail_by(interrupt: BaseException) -> Callable[[Lock], Any]:
        def fail(_: Lock) -> None:
            error = AssertionError()
            # As Hypothesis fails where it is interrupted before its first run.
            error.__context__ = interrupt
            raise error

        return fail

    report = ended(fail_by(KeyboardInterrupt()))
    assert (report.verdict, report.is_interrupted) == (Verdict.INCONCLUSIVE, True)
    assert (report.sentence, report.tally.failed_in) == ("it was interrupted", None)
    with pytest.raises(KeyboardInterrupt):
        replay_on_machine(TAKEN, machine_that(fail_by(KeyboardInterrupt())))
    with pytest.raises(Terminated):
        ended(once(fail_by(Terminated(143))))


def test_an_interrupt_does_not_lose_what_was_found() -> None:
    found: list[Lock] = []

    def does(lock: Lock) -> None:
        if found:
            raise KeyboardInterrupt
        if lock.queue:
            lock.queue.append("c1")
            found.append(lock)

    report = ended(does)
    assert (report.verdict, report.is_interrupted) == (Verdict.VIOLATED, True)
    assert report.sentence.endswith("; it was interrupted before the run was made smaller")
    assert report.violation is not None
