"""The class of tests of a machine: it keeps the settings that it has."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine
from tests.krafla.testing.lock_machines import LockMachine

from krafla.testing import Inconclusive, Taken, action

if TYPE_CHECKING:
    from collections.abc import Mapping


def test_settings_of_a_user_bring_no_deadline_and_no_list_of_lines() -> None:
    @settings(max_examples=3)
    class Few(LockMachine):
        pass

    case = Few.TestCase()
    case.runTest()
    assert case.settings.max_examples == 3
    assert case.settings.deadline is None
    assert Phase.explain not in case.settings.phases
    assert HealthCheck.too_slow in case.settings.suppress_health_check


def test_a_deadline_of_a_user_stays() -> None:
    @settings(deadline=90_000, max_examples=1)
    class Slow(LockMachine):
        pass

    case = Slow.TestCase()
    case.runTest()
    assert case.settings.deadline == timedelta(seconds=90)


def test_a_machine_keeps_its_class_of_tests_however_many_others_there_are() -> None:
    class Early(LockMachine):
        def observe(self) -> Mapping[Any, Any]:
            return {}

        acquire = release = None  # type: ignore[assignment]  # it has no such methods

        @action("Release")
        def turn(self) -> Taken:
            return Taken.nothing

    class Later(Early):
        pass

    case = Early.TestCase
    case.settings = settings(case.settings, max_examples=2)
    # Hypothesis remembers the classes of the last 128.
    others = {_other().TestCase for _ in range(200)}
    assert len(others) == 200
    assert Early.TestCase is case
    assert Later.TestCase not in {case, LockMachine.TestCase}
    with pytest.raises(Inconclusive, match="Early: no step was judged in 2 runs"):
        Early.TestCase("runTest").runTest()


def _other() -> type[RuleBasedStateMachine]:
    class Other(RuleBasedStateMachine):
        pass

    return Other
