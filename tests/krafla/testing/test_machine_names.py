"""The names in a machine are its user's, but for those of the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from tests.krafla.testing.lock_machines import LockMachine

from krafla.testing import SpecMachine, action, member_of
from krafla.verdict import KraflaError

PAGE = Path(__file__).parents[3] / "docs" / "testing.md"


class Plain(RuleBasedStateMachine):
    """A machine of Hypothesis alone."""

    @rule()
    def nothing(self) -> None:
        """Do nothing."""


def names_of(machine: RuleBasedStateMachine) -> set[str]:
    return {*dir(machine), *vars(machine), *type(machine).__annotations__}


def test_the_page_names_each_attribute_that_a_machine_has() -> None:
    class Empty(SpecMachine):
        spec = LockMachine.spec

        @action("Acquire", client=member_of("Client"))
        def nothing(self, client: str) -> None:
            """Do nothing."""

        def observe(self) -> dict[str, Any]:
            return {}

    own = names_of(Empty()) | {*SpecMachine.__annotations__}
    own -= names_of(Plain())
    text = PAGE.read_text(encoding="utf-8").partition("## The machine")[2].partition("## What")[0]
    listed = set(re.findall(r"`(?:self\.)?(\w+)(?:[`(]| = )", text))
    assert {one for one in own if not one.startswith("_")} <= listed
    assert {one for one in own if one.startswith("_") and not one.startswith("__")} == {"_krafla"}


class Named(LockMachine):
    """A user's names, also those with which krafla does its work."""

    enabled = True
    _seen = 0

    def __init__(self) -> None:
        super().__init__()
        self.enabled_values = self.chose = self.members_of = self.judge_call = 1
        self.is_called = self._is_called = self._begin = self._enabled = self._judged = True
        self._chosen: list[str] = []
        self._has_begun = False

    @action("Acquire", client=st.runner().flatmap(lambda one: st.just(one.next_client())))
    def acquire(self, client: str) -> None:
        self._chosen.append(client)
        super().acquire(client)

    @action("Release", only_if_enabled=True)
    def release(self, client: str) -> None:
        self.is_called = not self.is_called
        super().release(client)

    def next_client(self) -> str:
        return f"c{len(self._chosen) % 3 + 1}"


def test_a_user_may_give_any_name_to_what_is_the_users() -> None:
    given = settings(LockMachine.TestCase.settings, max_examples=5, database=None)
    run_state_machine_as_test(Named, settings=given)
    machine = Named()
    machine.acquire(client="c1")
    machine.release(client="c1")
    assert machine.judge.steps == 2


def test_a_machine_that_forgets_its_constructor_is_told_so() -> None:
    class Forgets(LockMachine):
        def __init__(self) -> None:
            """It calls no other."""

    case: Any = Forgets.TestCase
    with pytest.raises(KraflaError, match=r"Forgets\.__init__ does not call super\(\)\.__init__"):
        case("runTest").runTest()
