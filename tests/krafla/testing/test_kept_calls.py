"""A mistake of a method that does not do what it is named for stays a test of that method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st
from tests.krafla.testing.lease_machine import PERIOD, Lease
from tests.krafla.testing.lock_machines import LockMachine
from tests.krafla.testing.test_kept_stays import found_by, kept, mended

from krafla.match.validation import validate
from krafla.report.explain.markdown import markdown_of
from krafla.report.explain.match_account import view_of_match
from krafla.testing import (
    Departure,
    Inconclusive,
    ModelValue,
    PartialTrace,
    Refused,
    SpecViolation,
    Taken,
    action,
    drive,
    member_of,
)
from krafla.traces import Call, read_trace
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class SaysAnother(Lease):
    """It takes the lease, and says that it used it."""

    @action("Take")
    def take(self) -> Taken:
        if self.is_held:
            raise Refused
        self.end = self.now + PERIOD
        return Taken("Use" if self.is_wrong else "Take")


class RefusesAnother(Lease):
    """Waiting refuses what the spec allows."""

    @action(None, seconds=st.just(PERIOD))
    def wait(self, seconds: float = PERIOD) -> Taken:
        if self.is_wrong and self.is_held:
            raise Refused("Use")
        self.now += seconds
        return Taken.nothing


class RefusesBoth(Lease):
    """What a word asks for, only the spec knows: it may be either, and the second is allowed."""

    hidden = ()

    @action(None)
    def hear_nothing(self) -> list[Refused] | tuple[Refused, ...]:
        if self.is_wrong:
            return [Refused("Use"), Refused("Take")]
        return (Refused("Use"),)


class RefusesAndMoves(Lease):
    """It refuses both rightly, and the first of its own calls tells the method; yet it moves."""

    hidden = ()

    @action("Use")
    def use(self) -> list[Refused] | None:
        if self.is_held:
            return None
        if self.is_wrong:
            self.end = self.now + PERIOD
        return [Refused("Use"), Refused("Use")]


class TakesTwo(Lease):
    """One call takes the lease and uses it, twice if it is wrong: a step ends the lease."""

    hidden = ()

    @action(None)
    def hurry(self) -> list[Taken]:
        if self.is_held:
            return []
        if not self.is_wrong:
            self.end = self.now + PERIOD
        return [Taken("Take"), Taken("Use")]


class UsesBetween(Lease):
    """The lease ends inside a call, by a hidden step, and the same call takes it again."""

    @action(None)
    def renew(self) -> list[Taken]:
        if not self.is_held:
            return []
        self.now = self.end
        if not self.is_wrong:
            self.end = self.now + PERIOD
        return [Taken("Use"), Taken("Take")]

    def expire(self) -> None:
        raise AssertionError("a step inside a call is not asked for")


class TakesInTwoWays(Lease):
    """The second method of an action forgets to take."""

    @action("Take")
    def a_take(self) -> None:
        self.take()

    @action("Take")
    def take_again(self) -> None:
        if self.is_held:
            raise Refused
        if not self.is_wrong:
            self.end = self.now + PERIOD


class AnyAction(Lease):
    """What a letter does, only the spec tells."""

    hidden = ()

    @action(None, word=st.text())
    def hear(self, word: str = "") -> Taken | None:
        if word == "take" and not self.is_held:
            self.end = self.now + PERIOD
            return None
        if word == "use":
            return Taken("Use")
        return Taken("Take") if self.is_wrong else Taken.nothing


class NamesAnother(LockMachine):
    """What the first client asks for is answered for the second."""

    # Whether the mistake is there.
    is_wrong = True

    @action("Acquire", client=member_of("Client"))
    def acquire(self, client: str) -> Taken:  # type: ignore[override]  # it says more
        self.lock.acquire(client)
        return Taken("Acquire", "c2" if self.is_wrong and client == "c1" else client)

    @action("Release", client=member_of("Client"))
    def release(self, client: str) -> None:
        if self.is_wrong and client == "c1":
            raise Refused("Release", "c2")
        self.lock.release(client)


def hear(*words: str) -> Callable[[Any], None]:
    def call(one: Any) -> None:
        for word in words:
            one.hear(word=word)

    return call


def acquire_and_release(one: Any) -> None:
    one.acquire(client="c2")
    one.release(client="c1")


def renew(one: Any) -> None:
    one.take()
    one.renew()


def wait(one: Any) -> None:
    one.take()
    one.wait(seconds=1)


CASES = [
    (SaysAnother, lambda one: one.take(), [None, Call("Take", ())]),
    (RefusesAnother, wait, [None, None, Call("wait", (1,)), "same"]),
    (RefusesBoth, lambda one: one.hear_nothing(), [None, Call("hear_nothing", ()), "same"]),
    (RefusesAndMoves, lambda one: one.use(), [None, None, "same", "same"]),
    (TakesTwo, lambda one: one.hurry(), [None, Call("hurry", ()), "same"]),
    (UsesBetween, renew, [None, None, Call("renew", ()), "same"]),
    (TakesInTwoWays, lambda one: one.take_again(), [None, Call("take_again", ())]),
    (
        NamesAnother,
        lambda one: one.acquire(client="c1"),
        [None, Call("Acquire", (ModelValue("c1"),))],
    ),
    (
        NamesAnother,
        acquire_and_release,
        [None, None, Call("Release", (ModelValue("c1"),))],
    ),
    (
        AnyAction,
        hear("take", "use", "what"),
        [None, *(Call("hear", (word,)) for word in ("take", "use", "what"))],
    ),
]


@pytest.mark.parametrize(
    ("machine", "call", "calls"), CASES, ids=[one[0].__name__ for one in CASES]
)
def test_the_call_that_failed_is_made_again(
    machine: type[Lease] | type[LockMachine],
    call: Callable[[Any], None],
    calls: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    trace = found_by(machine, call, monkeypatch, tmp_path)
    assert [one.call for one in trace.observations] == calls
    with pytest.raises(SpecViolation):
        kept(trace, machine)
    kept(trace, mended(machine))


def test_a_call_that_cannot_come_again_is_a_departure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Measured(SaysAnother):
        @action("Take", by=st.floats())
        def take(self, by: float = 0.5) -> Taken:
            self.end = self.now + PERIOD + by
            return Taken("Use" if self.is_wrong else "Take")

    trace = found_by(Measured, lambda one: one.take(by=0.5), monkeypatch, tmp_path)
    assert trace.observations[1].call == Call("Take")
    with pytest.raises(Departure, match="does not say how the code is asked for it again"):
        kept(trace, mended(Measured))


def test_a_method_that_is_no_more_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Renamed(Lease):
        @action(None, seconds=st.just(PERIOD))
        def pause(self, seconds: float = PERIOD) -> Taken:
            self.now += seconds
            return Taken.nothing

        @action("Use")
        def use(self) -> None:
            if not self.is_held and not self.is_wrong:
                raise Refused

        @action("Take")
        def take(self) -> None:
            self.end = self.now + PERIOD

    def pause(one: Any) -> None:
        one.take()
        one.pause(seconds=PERIOD)
        one.use()

    trace = found_by(Renamed, pause, monkeypatch, tmp_path)
    gone = type("Renamed", (Renamed,), {"pause": None})
    with pytest.raises(KraflaError, match="after step 1 came of a call of pause: Renamed has no"):
        kept(trace, gone)


def test_the_story_names_the_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))
    with pytest.raises(SpecViolation) as caught:
        TakesTwo().hurry()
    story = str(caught.value)
    assert "  1 Take   by hurry()   Lease:9\n" in story
    assert "<- the spec does not have this step   in the same call   Lease:12\n" in story
    with pytest.raises(SpecViolation) as caught:
        hear("take", "a|b")(AnyAction())
    story = str(caught.value)
    assert '<- the spec does not have this step   by hear("a|b")' in story
    trace = read_trace(tmp_path / "AnyAction.trace.ndjson")
    assert isinstance(trace, PartialTrace)
    shown = view_of_match(validate(trace))
    assert shown is not None
    assert '| `Take`, by hear("a\\|b") |' in markdown_of(shown, "found")


def test_code_that_is_elsewhere_when_it_is_called_has_shown_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Waits(Lease):
        hidden = ()

        @action(None)
        def wait_and_take(self) -> list[Taken]:
            if self.is_wrong:
                return [Taken("Use")]
            return [Taken.nothing]

        @action("Take", may_refuse=True)
        def take(self) -> None:
            if not self.is_wrong:
                raise Refused
            self.end = self.now + PERIOD

    def twice(one: Any) -> None:
        one.take()
        one.end = 0.0
        one.wait_and_take()

    trace = found_by(Waits, twice, monkeypatch, tmp_path)
    with pytest.raises(Inconclusive):
        kept(trace, mended(Waits))


def test_a_saved_failure_is_driven_without_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trace = found_by(TakesTwo, lambda one: one.hurry(), monkeypatch, tmp_path)
    with pytest.raises(SpecViolation):
        drive(TakesTwo, trace)
    drive(mended(TakesTwo), trace)
