"""Refusals of the code by its own errors, and what a violation says for programs."""

from __future__ import annotations

import re
import unittest
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption
from hypothesis.stateful import run_state_machine_as_test
from tests.krafla.testing.lock_machines import NOBODY, LockMachine

from krafla.testing import (
    Inconclusive,
    Refused,
    SpecMachine,
    SpecViolation,
    Taken,
    action,
    member_of,
)
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from krafla.testing import Judge


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))


def run(machine: type[SpecMachine]) -> None:
    given = settings(machine.TestCase.settings, database=None, derandomize=True, max_examples=50)
    run_state_machine_as_test(machine, settings=given)


def test_an_error_of_the_code_may_be_a_refusal() -> None:
    class Raising(LockMachine):
        @action("Release", client=member_of("Client"), refused=(KeyError, PermissionError))
        def release(self, client: str) -> None:
            if client != self.lock.holder:
                raise PermissionError(client)
            raise KeyError("the holder is refused, too")

    with pytest.raises(SpecViolation, match="the code refuses Release") as found:
        run(Raising)
    assert (found.value.conjunct, found.value.place) == (None, None)


def test_the_story_tells_the_refused_call_that_the_failure_needs() -> None:
    class Loses(LockMachine):
        is_broken = False

        @action("Release", client=member_of("Client"))
        def release(self, client: str) -> None:
            self.is_broken = self.is_broken or client != self.lock.holder
            super().release(client)
            if self.is_broken:
                self.lock.holder = NOBODY

    with pytest.raises(SpecViolation) as found:
        run(Loses)
    story = str(found.value)
    refused = re.search(r"\n  - Release\(c\d\)   refused   Lock:24\n  [123] ", story)
    assert refused is not None, story
    assert "and what was observed without a step" in story


def test_a_call_that_may_be_one_of_two_actions_refuses_both() -> None:
    class Either(LockMachine):
        @action(None, client=member_of("Client"))
        def ask(self, client: str) -> list[Refused] | tuple[Refused, ...]:
            both = Refused("Acquire", client), Refused("Release", client)
            return both if client == "c3" else list(both)

    machine = Either()
    machine.acquire(client="c1")
    machine.acquire(client="c2")
    machine.ask(client="c2")
    assert machine.judge.refusals == 2
    with pytest.raises(SpecViolation, match=r"after step 2 the code refuses Acquire\(c3\), which"):
        machine.ask(client="c3")
    with pytest.raises(
        SpecViolation, match=r"after step 2 the code refuses Release\(c1\)"
    ) as found:
        machine.ask(client="c1")
    story = str(found.value)
    assert story.count("refused by ask(c") == 2, story
    assert "  - Acquire(c1)   refused by ask(c1)" in story
    assert "3 Release(c1)   <- the code refuses this   in the same call" in story


@pytest.mark.parametrize(
    "answer",
    [
        [Refused("Release", "c2"), Taken("Acquire", "c2")],
        [Refused("Release", "c2"), Refused()],
        [Refused],
        [Refused("Release", "c2"), None],
    ],
)
def test_a_list_that_is_not_of_one_kind_is_an_error_of_the_method(answer: object) -> None:
    class Mixed(LockMachine):
        @action("Release", client=member_of("Client"))
        def release(self, client: str) -> object:
            assert client
            return answer

    machine = Mixed()
    with pytest.raises(KraflaError, match=r"^release of Mixed returned \["):
        machine.release(client="c1")


def test_an_error_of_another_type_is_no_refusal() -> None:
    class Raising(LockMachine):
        @action("Release", client=member_of("Client"), refused=KeyError)
        def release(self, client: str) -> None:
            raise PermissionError(client)

    with pytest.raises(PermissionError):
        run(Raising)


def never_enabled(judge: Judge) -> None:
    judge.enabled("Relase")


def denied(judge: Judge) -> None:
    judge.fresh().step("Release", "c1")


def unknown(_: Judge) -> None:
    raise Inconclusive


def asserted(_: Judge) -> None:
    raise AssertionError


def skipped(_: Judge) -> None:
    raise unittest.SkipTest("for want of a server")


def assumed(_: Judge) -> None:
    raise UnsatisfiedAssumption


@pytest.mark.parametrize(
    ("ask", "kind"),
    [
        (never_enabled, KraflaError),
        (denied, SpecViolation),
        (unknown, Inconclusive),
        (asserted, AssertionError),
        (skipped, unittest.SkipTest),
        (assumed, UnsatisfiedAssumption),
    ],
)
@pytest.mark.parametrize("refused", [Exception, (ValueError, Exception)])
def test_what_is_no_error_of_the_code_is_no_refusal(
    ask: Callable[[Judge], object], kind: type[Exception], refused: type[Exception]
) -> None:
    class Asks(LockMachine):
        @action("Release", client=member_of("Client"), refused=refused)
        def release(self, client: str) -> None:
            assert client == "c1"
            ask(self.judge)

    machine = Asks()
    with pytest.raises(kind):
        machine.release(client="c1")
    assert machine.judge.refusals == 0


class WrongError(AssertionError):
    """What the code raises to refuse."""


@pytest.mark.parametrize("refused", [AssertionError, (ValueError, WrongError), WrongError])
def test_an_assertion_that_is_named_is_a_refusal(refused: type[Exception]) -> None:
    class Asserts(LockMachine):
        @action("Release", client=member_of("Client"), refused=refused)
        def release(self, client: str) -> None:
            raise WrongError(client)

    machine = Asserts()
    machine.release(client="c1")
    assert machine.judge.refusals == 1


def test_a_violation_names_the_false_conjunct_and_its_place() -> None:
    class Anybody(LockMachine):
        @action("Release", client=member_of("Client"))
        def release(self, client: str) -> None:
            assert client in {"c1", "c2", "c3"}
            self.lock.holder = NOBODY

    with pytest.raises(SpecViolation) as found:
        run(Anybody)
    assert found.value.conjunct == "holder = c"
    assert found.value.place is not None
    assert found.value.place.startswith("Lock.tla:")


class Misspelt(LockMachine):
    @action("Release", client=st.just("C1"))
    def release(self, client: str) -> None:
        assert client == "C1"
        raise Refused


def test_a_refusal_by_a_misspelt_name_is_an_error_of_the_test() -> None:
    with pytest.raises(KraflaError, match='"C1" is no value that Next gives to Release'):
        run(Misspelt)
