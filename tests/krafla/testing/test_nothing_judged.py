"""What judged nothing is inconclusive: a trace without a step, code that takes none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.krafla.testing.lock_machines import LockMachine
from tests.krafla.testing.lock_server import LockDriver
from tests.krafla.testing.lock_traces import C1, of_lock

from krafla.testing import Inconclusive, Refused, Taken, action, drive, member_of
from krafla.testing.machine_replay import replay_on_machine
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from krafla.testing import SpecMachine


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


class Unseen(LockMachine):
    """It says of no step that it took it, but its state shows that it did."""

    hidden = ("Acquire",)

    @action("Acquire", client=member_of("Client"))
    def acquire(self, client: str) -> Any:
        self.lock.acquire(client)
        return Taken.nothing


ONE = of_lock(("Acquire", C1, C1, ()))


def test_a_trace_without_a_step_is_driven_for_nothing() -> None:
    with pytest.raises(Inconclusive, match="a trace of Lock without a step shows nothing"):
        drive(LockDriver, of_lock())
    # The code was asked for what it must refuse there.
    assert drive(LockDriver, of_lock(), refusals=True).refusals == 3


@pytest.mark.parametrize("machine", [DoesNothing, RefusesAll])
def test_code_that_takes_no_step_of_a_trace_shows_nothing(machine: type[SpecMachine]) -> None:
    with pytest.raises(Inconclusive, match=r"the code took no step .*; the first is Acquire\(c1\)"):
        drive(machine, ONE)


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
