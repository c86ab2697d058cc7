"""A lock server of a few lines, right and with mistakes, and what drives it through traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.testing import Refused, SpecMachine, action, member_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MISTAKES", "LockDriver", "LockServer", "LockServerMachine", "driver_of"]


class LockServer:
    """A right lock server."""

    def __init__(self) -> None:
        self.holder = "Nobody"
        self.queue: list[str] = []

    def acquire(self, client: str) -> None:
        """Give a free lock, or a place at the end of the queue."""
        if client == self.holder:
            raise Refused
        if client in self.queue:
            raise Refused
        if self.holder == "Nobody":
            self.holder = client
        else:
            self.queue.append(client)

    def release(self, client: str) -> None:
        """Give the lock to the first in the queue."""
        if client != self.holder:
            raise Refused
        self.holder = self.queue.pop(0) if self.queue else "Nobody"


class _GivesItTwice(LockServer):
    """Forgets that the holder has the lock."""

    def acquire(self, client: str) -> None:
        if client in self.queue:
            raise Refused
        if self.holder == "Nobody":
            self.holder = client
        else:
            self.queue.append(client)


class _QueuesTwice(LockServer):
    """Forgets that a client waits already."""

    def acquire(self, client: str) -> None:
        if client == self.holder:
            raise Refused
        if self.holder == "Nobody":
            self.holder = client
        else:
            self.queue.append(client)


class _FreesForAnyone(LockServer):
    """Forgets that only the holder may release."""

    def release(self, client: str) -> None:
        del client
        self.holder = self.queue.pop(0) if self.queue else "Nobody"


class _LastComes(LockServer):
    """Gives the lock to the last of the queue."""

    def release(self, client: str) -> None:
        if client != self.holder:
            raise Refused
        self.holder = self.queue.pop() if self.queue else "Nobody"


class _ForgetsTheQueue(LockServer):
    """Frees the lock though clients wait."""

    def release(self, client: str) -> None:
        if client != self.holder:
            raise Refused
        self.holder = "Nobody"


class _RefusesTheThird(LockServer):
    """Refuses a client where two wait."""

    def acquire(self, client: str) -> None:
        if self.queue:
            raise Refused
        super().acquire(client)


# Each with the text of the false conjunct, or of the finding, that tells it.
MISTAKES: dict[type[LockServer], str] = {
    _GivesItTwice: "holder # c",
    _QueuesTwice: "c \\notin Waiting",
    _FreesForAnyone: "holder = c",
    _LastComes: "holder' = Head(queue)",
    _ForgetsTheQueue: "holder' = Head(queue)",
    _RefusesTheThird: "the code refuses Acquire(c",
}


class LockDriver:
    """Knows nothing of Hypothesis: a method for each action, and what can be seen."""

    spec = "specs/Lock.tla"
    server: type[LockServer] = LockServer

    def __init__(self) -> None:
        self.lock = self.server()

    def acquire(self, client: str) -> None:
        """Take the action of this name."""
        self.lock.acquire(client)

    def release(self, client: str) -> None:
        """Take the action of this name."""
        self.lock.release(client)

    def observe(self) -> Mapping[str, Any]:
        """Return the whole state."""
        return {"holder": self.lock.holder, "queue": self.lock.queue}


def driver_of(wrong: type[LockServer]) -> type[LockDriver]:
    """Return a driver of a lock server with a mistake."""
    return type(f"{wrong.__name__.strip('_')}Driver", (LockDriver,), {"server": wrong})


class LockServerMachine(SpecMachine):
    """The machine that Hypothesis drives."""

    spec = "specs/Lock.tla"

    def __init__(self) -> None:
        super().__init__()
        self.lock = LockServer()

    def observe(self) -> Mapping[str, Any]:
        """Return the whole state."""
        return {"holder": self.lock.holder, "queue": self.lock.queue}

    @action("Acquire", client=member_of("Client"))
    def acquire(self, client: str) -> None:
        """Take the action of this name."""
        self.lock.acquire(client)

    @action("Release", only_if_enabled=True)
    def release(self, client: str) -> None:
        """Take the action of this name."""
        self.lock.release(client)
