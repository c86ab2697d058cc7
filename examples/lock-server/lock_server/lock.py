"""The lock: its holder, and the clients that wait for it."""

from __future__ import annotations

from collections import deque

__all__ = ["Lock", "LockError"]


class LockError(Exception):
    """A client asked for something that it may not have now."""


class Lock:
    """A lock that passes from client to client in the order in which they asked."""

    def __init__(self) -> None:
        self.holder: str | None = None
        self.queue: deque[str] = deque()

    def acquire(self, client: str) -> bool:
        """Return whether the client holds the lock now; if not, it waits.

        ``LockError`` if it holds the lock or waits already.
        """
        if client == self.holder or client in self.queue:
            raise LockError(f"{client} has asked before")
        if self.holder is None:
            self.holder = client
            return True
        self.queue.append(client)
        return False

    def release(self, client: str) -> str | None:
        """Take the lock back from a client, and return who holds it now.

        ``LockError`` if the client does not hold it.
        """
        if client != self.holder:
            raise LockError(f"{client} does not hold the lock")
        return self._pass_on()

    def leave(self, client: str) -> str | None:
        """Forget a client whose connection broke, and return who holds the lock now."""
        if client == self.holder:
            return self._pass_on()
        if client in self.queue:
            self.queue.remove(client)
        return self.holder

    def _pass_on(self) -> str | None:
        self.holder = self.queue.popleft() if self.queue else None
        return self.holder
