"""A lock server, and mistakes that somebody could make in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.testing import Refused, SpecMachine, action, member_of

if TYPE_CHECKING:
    from collections.abc import Mapping

NOBODY = "Nobody"


class Lock:
    """A right lock server."""

    def __init__(self) -> None:
        self.holder = NOBODY
        self.queue: list[str] = []

    def acquire(self, client: str) -> None:
        if client == self.holder or client in self.queue:
            raise Refused
        if self.holder == NOBODY:
            self.holder = client
        else:
            self.queue.append(client)

    def release(self, client: str) -> None:
        if client != self.holder:
            raise Refused
        self.holder = self.queue.pop(0) if self.queue else NOBODY


class LastComes(Lock):
    """The client that came last gets the lock."""

    def release(self, client: str) -> None:
        if client != self.holder:
            raise Refused
        self.holder = self.queue.pop() if self.queue else NOBODY


class Overtakes(Lock):
    """A new client takes the place of the holder."""

    def acquire(self, client: str) -> None:
        if client == self.holder or client in self.queue:
            raise Refused
        self.holder = client


class Forgets(Lock):
    """A client that has to wait is forgotten."""

    def acquire(self, client: str) -> None:
        if client == self.holder or client in self.queue:
            raise Refused
        if self.holder == NOBODY:
            self.holder = client


class LeavesFree(Lock):
    """A lock that is given back is free, whoever waits."""

    def release(self, client: str) -> None:
        if client != self.holder:
            raise Refused
        self.holder = NOBODY


class KeepsWaiting(Lock):
    """The next holder stays in the queue."""

    def release(self, client: str) -> None:
        if client != self.holder:
            raise Refused
        self.holder = self.queue[0] if self.queue else NOBODY


class HolderWaits(Lock):
    """The holder may ask again, and waits for itself."""

    def acquire(self, client: str) -> None:
        if client in self.queue:
            raise Refused
        if self.holder == NOBODY:
            self.holder = client
        else:
            self.queue.append(client)


class WaitsTwice(Lock):
    """A client may wait twice."""

    def acquire(self, client: str) -> None:
        if client == self.holder:
            raise Refused
        if self.holder == NOBODY:
            self.holder = client
        else:
            self.queue.append(client)


class AnybodyReleases(Lock):
    """A client that does not hold the lock gives it back."""

    def release(self, client: str) -> None:
        super().release(self.holder if client else client)


class RefusesSecond(Lock):
    """Only one client may wait."""

    def acquire(self, client: str) -> None:
        if self.queue:
            raise Refused
        super().acquire(client)


class RefusesButWaits(Lock):
    """A client that already holds the lock is refused, and waits all the same."""

    def acquire(self, client: str) -> None:
        if client == self.holder:
            self.queue.append(client)
        super().acquire(client)


class BeginsHeld(Lock):
    """Some client has the lock from the beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.holder = "c1"


class LockMachine(SpecMachine):
    """Any client asks for the lock, and gives it back, at any time."""

    spec = "specs/Lock.tla"
    server: type[Lock] = Lock

    def __init__(self) -> None:
        super().__init__()
        self.lock = self.server()

    def observe(self) -> Mapping[Any, Any]:
        return {"holder": self.lock.holder, "queue": self.lock.queue}

    @action("Acquire", client=member_of("Client"))
    def acquire(self, client: str) -> None:
        self.lock.acquire(client)

    @action("Release", client=member_of("Client"))
    def release(self, client: str) -> None:
        self.lock.release(client)


def machine_of(lock: type[Lock]) -> type[LockMachine]:
    """Return the machine that drives a lock server."""
    return type(f"{lock.__name__}Machine", (LockMachine,), {"server": lock, "__module__": __name__})
