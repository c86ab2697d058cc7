"""A process: a replica of the log, the state machine above it, and what waits for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from kraft.raft.machine import is_busy, next_deadline, on_event
from kraft.raft.roles import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.hosting.outside import Message, Outside
    from kraft.raft.effects import (
        Fatal,
        HandleCommit,
        HandleLeaderChange,
        HandleLoadSnapshot,
        ShutdownCompleted,
    )
    from kraft.raft.events import Event
    from kraft.raft.state import RaftState, Step


class ReplicaFunctions(NamedTuple):
    """The functions of a replica; a test may replace one by a broken one."""

    on_event: Callable[[RaftState, Event], Step] = on_event
    next_deadline: Callable[[RaftState], int] = next_deadline
    is_busy: Callable[[RaftState], bool] = is_busy


REPLICA: Final = ReplicaFunctions()
"""A replica of `kraft.raft`."""


class StateMachine(Protocol):
    """The state machine above Raft: it replays the log, and gets the messages that are not Raft's.

    It may set the `listener_deadline` of its process, and add to its `urgent` and `inbox`.

    Kafka: RaftClient.Listener.
    """

    def committed(self, effect: HandleCommit) -> None:
        """Take committed batches, which are the next ones."""

    def load(self, effect: HandleLoadSnapshot) -> None:
        """Begin anew from a snapshot in the log. Raises ValueError if it is not there."""

    def leader_changed(self, effect: HandleLeaderChange) -> None:
        """Note the leader of an epoch."""

    def append_refused(self) -> None:
        """Note that Raft refused what was prepared."""

    def receive(self, message: Message) -> None:
        """Take a message that is not Raft's."""

    def due(self) -> None:
        """Do what is due: the `listener_deadline` of the process has passed."""


class OwnRequest(ABC):
    """A request of the process's own state machine, or of the system that it runs on."""

    __slots__ = ()

    @abstractmethod
    def event(self, process: HostedProcess, now: int, chance: int) -> Event | None:
        """Return the request as an event of Raft; None if it no longer applies."""


class HostedProcess:
    """A running process: the `state` of its replica, the `listener` above it, and what waits.

    `deadline` and `is_busy` are the replica's answers about `state`; `listener_deadline` is when
    the listener has something to do. Times are nanoseconds of the process's clock. An `urgent`
    request goes before everything else, because it is the second half of a step. `doing` is the
    event or message that the process took last. `ended` is the effect that ended it, if any.

    The runner sets `outside` and `listener`, and gives it the state at boot by `become`.
    """

    __slots__ = (
        "deadline", "doing", "ended", "inbox", "is_busy", "listener", "listener_deadline",
        "outside", "replica", "state", "urgent",
    )  # fmt: skip

    state: RaftState
    listener: StateMachine
    outside: Outside

    def __init__(self, replica: ReplicaFunctions = REPLICA) -> None:
        self.replica = replica
        self.urgent: deque[OwnRequest] = deque()
        self.inbox: deque[Message | OwnRequest] = deque()
        self.deadline = self.listener_deadline = NEVER
        self.is_busy = False
        self.doing: Any = None
        self.ended: Fatal | ShutdownCompleted | None = None

    def become(self, state: RaftState) -> None:
        """Give the process the next state of its replica; the effects of that step come next."""
        self.state = state
        self.deadline = self.replica.next_deadline(state)
        self.is_busy = self.replica.is_busy(state)
