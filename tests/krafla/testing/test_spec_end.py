"""A machine whose rules are all ``only_if_enabled``, where the spec allows none of its actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.krafla.testing.lock_machines import Lock, LockMachine

import krafla.testing.machine
from krafla.testing import SpecMachine, SpecViolation, action
from krafla.testing.machine_search import Search, search
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRAFLA_FOUND", str(tmp_path))


class Asks(SpecMachine):
    """Each client asks once, and then none may any more."""

    spec = "specs/Lock.tla"
    __module__ = LockMachine.__module__

    def __init__(self) -> None:
        super().__init__()
        self.lock = Lock()
        self.looks = 0

    def observe(self) -> Mapping[Any, Any]:
        self.looks += 1
        return {"holder": self.lock.holder, "queue": self.lock.queue}

    @action("Acquire", only_if_enabled=True)
    def acquire(self, client: str) -> None:
        self.lock.acquire(client)


def test_a_run_goes_on_where_the_spec_has_ended_and_counts_no_step_there() -> None:
    report = search(Asks, Search(examples=5, steps=9))
    assert (report.verdict, report.sentence) == (Verdict.HELD, "")
    tally = report.tally
    assert (tally.steps, tally.refusals) == (3 * tally.runs, 0)


def test_code_that_does_not_stay_where_the_spec_has_ended_is_found() -> None:
    class Restless(Asks):
        def observe(self) -> Mapping[Any, Any]:
            if len(self.lock.queue) == 2 and self.looks > 6:
                self.lock.queue.pop()
            return super().observe()

    with pytest.raises(SpecViolation, match="says that it took no step") as caught:
        run(Restless)
    told = "\n".join(caught.value.__notes__)
    assert "# the spec allows no action here: nothing is called\nstate.teardown()" in told


def run(machine: type[RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            database=None, derandomize=True, max_examples=5, deadline=None,
            suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink),
        ),
    )  # fmt: skip


def test_a_machine_of_which_an_action_is_allowed_but_not_offered_is_a_mistake_as_ever() -> None:
    class Shy(Asks):
        acquire = precondition(lambda self: self.looks < 2)(Asks.acquire)

    with pytest.raises(KraflaError, match="No progress can be made from state"):
        search(Shy, Search(examples=5))
    with pytest.raises(InvalidDefinition, match="No progress can be made from state"):
        run(Shy)


def test_a_machine_without_a_rule_or_without_an_action_is_a_mistake_as_ever() -> None:
    class Idle(Asks):
        acquire = None  # type: ignore[assignment]  # as a subclass takes a rule away

    class Silent(Idle):
        @precondition(lambda _: False)
        @rule()
        def wait(self) -> None:
            raise AssertionError

    for machine, said in ((Idle, "defines no rules"), (Silent, "No progress can be made")):
        with pytest.raises(KraflaError, match=said):
            search(machine, Search(examples=5))


def test_what_other_machines_draw_is_as_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Logged(Asks):
        log: list[tuple[str, Any]] = []  # noqa: RUF012 - of the class, to outlive its runs

        @action("Acquire", only_if_enabled=True)
        def acquire(self, client: str) -> None:
            self.log.append(("acquire", client))
            super().acquire(client)

        @action("Release", only_if_enabled=True)
        def release(self, client: str) -> None:
            self.log.append(("release", client))
            self.lock.release(client)
            if self.lock.queue:
                raise ValueError("spoilt")

        @rule(number=st.integers())
        def other(self, number: int) -> None:
            self.log.append(("other", number))

    def drawn() -> list[tuple[str, Any]]:
        Logged.log.clear()
        with pytest.raises(ValueError, match="spoilt"):
            run(Logged)
        return [*Logged.log]

    once = drawn()
    monkeypatch.setattr(krafla.testing.machine, "let_stay", lambda _: None)
    assert drawn() == once
