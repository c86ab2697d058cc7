"""A refusal may name what was refused, with parameters that the method does not have."""

from __future__ import annotations

from typing import Any

import pytest
from tests.krafla.testing.lock_machines import Lock, LockMachine

from krafla.testing import Refused, SpecViolation, Taken, action, member_of
from krafla.verdict import KraflaError


class Anybody(LockMachine):
    """A client asks for the lock, whichever it is: the code chooses."""

    refusal: Any = Refused("Acquire", ...)

    @action("Acquire")
    def acquire(self) -> Any:  # type: ignore[override]  # the code chooses the client
        free = [one for one in ("c1", "c2", "c3") if one not in self.asked]
        if not free:
            raise self.refusal
        self.lock.acquire(free[0])
        return Taken("Acquire", free[0])

    @property
    def asked(self) -> tuple[str, ...]:
        """Return the clients that hold the lock or wait for it."""
        return (self.lock.holder, *self.lock.queue)

    @action(None, client=member_of("Client"))
    def ask_again(self, client: str) -> Any:
        return Refused("Acquire", client) if client in self.asked else Taken.nothing


def test_an_action_is_refused_for_all_parameters_that_are_not_known() -> None:
    machine = Anybody()
    for _ in range(3):
        machine.acquire()
    machine.acquire()
    assert machine.judge.steps == 3


def test_a_refusal_for_unknown_parameters_is_wrong_if_the_spec_allows_some() -> None:
    class Short(Anybody):
        @property
        def asked(self) -> tuple[str, ...]:
            return ("c1", "c2", "c3") if self.lock.queue else super().asked

    machine = Short()
    machine.acquire()
    machine.acquire()
    with pytest.raises(SpecViolation, match="the code refuses Acquire") as found:
        machine.acquire()
    assert (found.value.action, found.value.parameters) == ("Acquire", (...,))


def test_a_method_of_no_action_refuses_what_it_names() -> None:
    machine = Anybody()
    machine.acquire()
    machine.ask_again(client="c1")
    machine.lock = Lock()
    machine.lock.holder = "c2"
    with pytest.raises(SpecViolation, match="the code refuses Acquire"):
        machine.ask_again(client="c2")


def test_a_refusal_of_no_action_of_the_spec_is_an_error() -> None:
    class Misspelt(Anybody):
        refusal = Refused("Aquire", ...)

    machine = Misspelt()
    for _ in range(3):
        machine.acquire()
    with pytest.raises(KraflaError, match="Aquire: no action of Lock; did you mean Acquire"):
        machine.acquire()
