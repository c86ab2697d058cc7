"""Locks with one mistake each, which the machine must find."""

from lock_server import Lock


class AnyoneReleases(Lock):
    """It does not ask whether the client that releases the lock is its holder."""

    def release(self, client):
        """Pass the lock on, whichever client asks."""
        return self._pass_on()


class ForgetsToLeave(Lock):
    """A client that is gone stays in the queue, and gets the lock one day."""

    def leave(self, client):
        """Forget a client only if it holds the lock."""
        return self._pass_on() if client == self.holder else self.holder


class LastComeFirstServed(Lock):
    """The lock goes to the client that came last."""

    def _pass_on(self):
        self.holder = self.queue.pop() if self.queue else None
        return self.holder
