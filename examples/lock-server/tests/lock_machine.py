"""A Hypothesis state machine of the lock server: the spec judges each step."""

from lock_server import Lock, LockError

from krafla.testing import SpecMachine, action, member_of


class LockMachine(SpecMachine):
    """The lock, used by clients in any order."""

    spec = "../specs/Lock.tla"
    lock_class = Lock

    def __init__(self):
        super().__init__()
        self.lock = self.lock_class()

    def observe(self):
        """Return the state of the lock, in the variables of the spec."""
        return {"holder": self.lock.holder or "Nobody", "queue": list(self.lock.queue)}

    @action("Acquire", client=member_of("Client"), refused=LockError)
    def acquire(self, client):
        """Let a client ask for the lock."""
        self.lock.acquire(client)

    @action("Release", client=member_of("Client"), refused=LockError)
    def release(self, client):
        """Let a client give the lock back."""
        self.lock.release(client)

    @action("Leave", client=member_of("Client"))
    def leave(self, client):
        """Break the connection of a client."""
        self.lock.leave(client)
