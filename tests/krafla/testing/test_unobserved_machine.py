"""A machine that shows nothing of its code says that this is meant, or is warned of."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from tests.krafla.testing.conftest import SPECS
from tests.krafla.testing.lock_machines import LockMachine
from tests.krafla.testing.test_trace_drive import C1, of_lock

from krafla.testing import SpecMachine, UnobservedWarning, action, drive
from krafla.testing.trace_drive import Driven


class Unobserved(SpecMachine):
    """It has a method of another name."""

    spec = SPECS / "Lock.tla"

    def observed(self) -> dict[str, Any]:
        """Return what nobody asks for."""
        return {"holder": "c3"}

    @action("Acquire", only_if_enabled=True)
    def acquire(self, client: str) -> None:
        """Do nothing."""


def warned_of(machine: type[SpecMachine], times: int = 1) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(times):
            machine()
    return [str(one.message) for one in caught if one.category is UnobservedWarning]


def test_a_machine_without_observe_is_warned_of_once() -> None:
    (said,) = warned_of(Unobserved, times=2)
    assert said.startswith("Unobserved has no observe(): nothing of the code's state is compared")


def test_a_machine_that_means_it_or_observes_after_an_action_is_not_warned_of() -> None:
    class Meant(Unobserved):
        observes = False

    class AfterAction(Unobserved):
        @action("Release", only_if_enabled=True, observe=lambda _: {"holder": "Nobody"})
        def release(self, client: str) -> None:
            """Do nothing."""

    class Blind(LockMachine):
        observes = False

    assert [warned_of(one) for one in (Meant, AfterAction, Blind, LockMachine)] == [[]] * 4
    machine = Meant()
    machine.acquire(client="c1")
    assert machine.judge.steps == 1
    assert drive(Meant, of_lock(("Acquire", C1, C1, ()))) == Driven(1)
    blind = Blind()
    blind.lock.holder = "c3"
    blind.acquire(client="c1")
    assert blind.judge.steps == 1, "the holder c3 is not seen"


class Plain:
    """Code without a machine, which shows nothing."""

    spec = SPECS / "Lock.tla"

    def acquire(self, client: str) -> None:
        """Do nothing."""

    def observed(self) -> dict[str, Any]:
        """Return what nobody asks for."""
        return {"holder": "c3"}


class PlainAndMeant(Plain):
    """It says that nothing shall be seen."""

    observes = False


class PlainAndSeen(Plain):
    """It begins as the spec does."""

    def observe(self) -> dict[str, Any]:
        """Return a part of the state."""
        return {"queue": []}


@pytest.mark.parametrize(("code", "said"), [(Plain, 1), (PlainAndMeant, 0), (PlainAndSeen, 0)])
def test_a_driven_class_without_observe_is_warned_of_once(code: type, said: int) -> None:
    trace = of_lock(("Acquire", C1, C1, ()))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert drive(code, trace) == drive(code(), trace) == Driven(1)
    told = [str(one.message) for one in caught if one.category is UnobservedWarning]
    assert [one.partition(":")[0] for one in told] == [f"{code.__name__} has no observe()"] * said


def test_the_warning_makes_a_strict_test_fail() -> None:
    class Strict(Unobserved):
        """Of this test alone."""

    with pytest.warns(UnobservedWarning, match="Strict has no observe"):
        Strict()
