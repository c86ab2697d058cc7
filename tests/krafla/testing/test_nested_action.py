"""A method with ``@action`` that another one calls is a plain method: the caller is judged."""

from __future__ import annotations

from typing import Any

import pytest
from tests.krafla.testing.lock_machines import LastComes, Lock, LockMachine
from tests.krafla.testing.test_trace_drive import C1, NOBODY, of_lock

from krafla.testing import SpecViolation, Taken, action, drive, member_of


class Counting(LockMachine):
    """It counts what the machine that it extends does."""

    count = 0

    @action("Acquire", client=member_of("Client"))
    def acquire(self, client: str) -> None:
        self.count += 1
        super().acquire(client)

    @action("Release", client=member_of("Client"))
    def release(self, client: str) -> None:
        self.count += 1
        super().release(client=client)

    @action(None, client=member_of("Client"))
    def borrow(self, client: str) -> Any:
        self.acquire(client)
        self.release(client)
        return [Taken("Acquire", client), Taken("Release", client)]


def test_each_step_is_judged_once_however_many_methods_take_it() -> None:
    machine = Counting()
    machine.acquire("c1")
    machine.release(client="c1")
    machine.borrow("c2")
    assert (machine.judge.steps, machine.count) == (4, 4)


def test_a_refusal_passes_through_the_caller_and_is_judged_there() -> None:
    machine = Counting()
    machine.acquire("c1")
    machine.acquire("c1")
    assert machine.judge.steps == 1
    machine.lock = Lock()
    machine.lock.queue = ["c2"]
    with pytest.raises(SpecViolation, match="the code refuses Acquire"):
        machine.acquire("c2")
    with pytest.raises(SpecViolation, match="the code refuses Acquire"):
        machine.acquire("c2")  # judged again


def test_a_mistake_is_found_through_the_caller() -> None:
    class Wrong(Counting):
        server = LastComes

    machine = Wrong()
    for client in ("c1", "c2", "c3"):
        machine.acquire(client)
    with pytest.raises(SpecViolation):
        machine.release("c1")


def test_a_driven_method_calls_others_plainly_too() -> None:
    trace = of_lock(("Acquire", C1, C1, ()), ("Release", C1, NOBODY, ()))
    assert drive(Counting, trace).steps == 2
