"""The machines of a simulation, and the processes that run on them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.chance import MASK, derive
from kraft.ids import DirectoryId, NodeId, ReplicaKey, uuid_text
from kraft.raft.configuration import MILLISECOND
from kraft.raft.roles import NEVER
from kraft.rpc.endpoints import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.raft.effects import Durable
    from kraft.raft.state import RaftState
    from kraft.rpc.endpoints import Endpoints
    from kraft.sim.raft.clocks import Clock
    from kraft.sim.raft.disk import SimulatedDisk
    from kraft.sim.raft.steps import Envelope

# The code mixes the chance of an event itself, so a plain congruential sequence will do here.
# L'Ecuyer, "Tables of linear congruential generators of different sizes", 1999.
_MULTIPLIER: Final = 2862933555777941757
# The first port of a process.
_PORT: Final = 9093


class Armed(NamedTuple):
    """A crash that waits for its moment.

    That is the next step with an effect on the disk, or the next truncation of the log. `chance`
    determines after how many effects; with `inside` the disk determines the moment, in the middle
    of an effect. With `power` the machine loses power as well. The process stays down for `down`
    nanoseconds. The crash counts as a fault of `kind`.
    """

    kind: str
    chance: int
    power: bool
    inside: bool
    down: int


class Local(NamedTuple):
    """A request of a process's own state machine: "append", "snapshot" and so on."""

    what: str
    number: int = 0
    values: tuple[bytes, ...] = ()


class Connection(NamedTuple):
    """A request that a process may answer: the sending machine, and the message."""

    machine: int
    envelope: Envelope


class Process:
    """A running process: its state, and the messages that wait for it.

    `deadline` and `is_busy` are the answers of the code about `state`. The process works on its
    last step until `busy_until`. If it ends itself, it restarts after `down`. `leads_epoch` is the
    epoch that its state machine, the `listener`, was told to lead, if any; `listener_deadline` is
    when the listener has something to do. An `urgent` item goes before everything else, because it
    is the second half of a step.
    """

    __slots__ = (
        "_chance",
        "armed",
        "busy_until",
        "connections",
        "deadline",
        "down",
        "inbox",
        "incarnation",
        "is_busy",
        "key",
        "leads_epoch",
        "listener",
        "listener_deadline",
        "machine",
        "perform",
        "polls",
        "state",
        "urgent",
        "wake_at",
    )  # fmt: skip

    machine: Machine
    state: RaftState
    listener: Any

    def __init__(self, machine: Machine, incarnation: int, seed: int) -> None:
        self.machine = machine
        self.key = machine.key
        self.incarnation = incarnation
        self.inbox: deque[Connection | Local] = deque()
        self.urgent: deque[Local] = deque()
        self.connections: dict[int, Connection] = {}
        self.listener_deadline = NEVER
        self.leads_epoch: int | None = None
        self.armed: Armed | None = None
        self.down = 2_000 * MILLISECOND
        self.perform: Callable[[Durable], object] = _nothing_open
        self.deadline = NEVER
        self.is_busy = False
        self.busy_until = 0
        self.wake_at: int | None = None
        self.polls = 0
        self._chance = derive(seed, "process", incarnation)

    def chance(self) -> int:
        """Return the chance number for the next event."""
        self._chance = (self._chance * _MULTIPLIER + 1) & MASK
        return self._chance


def _nothing_open(_effect: Durable) -> None:
    raise ValueError("the process has not opened its disk")


class Machine:
    """One machine: its index in the network, its identity, its disk and its clock.

    `process` runs on it, if any; `armed_truncation` ends the next process that truncates its log.
    `refused` is why the last start was refused. `last_state` is the last state of its last process.
    While the machine has another disk, `swapped` holds the directory id, the files and the last
    state of its own.
    """

    __slots__ = (
        "armed_truncation", "clock", "directory_id", "disk", "index", "is_extra", "is_gone",
        "is_paused", "last_state", "node_id", "port", "process", "refused", "starts_at", "swapped",
    )  # fmt: skip

    def __init__(self, index: int, node_id: NodeId, disk: SimulatedDisk, clock: Clock) -> None:
        self.index = index
        self.node_id = node_id
        self.disk = disk
        self.clock = clock
        self.directory_id = DirectoryId("")
        self.port = _PORT
        self.process: Process | None = None
        self.is_paused = False
        self.is_extra = False
        self.is_gone = False
        self.refused = ""
        self.starts_at: int | None = None
        self.armed_truncation: Armed | None = None
        self.last_state: RaftState | None = None
        self.swapped: tuple[DirectoryId, dict[str, bytes], RaftState | None] | None = None

    @property
    def key(self) -> ReplicaKey:
        """The replica that the machine holds now."""
        return ReplicaKey(self.node_id, self.directory_id)

    @property
    def endpoints(self) -> Endpoints:
        """The endpoints of its process."""
        return endpoints_of(self.node_id, self.port)

    @property
    def runs(self) -> bool:
        """Whether a process runs on it and is not paused."""
        return self.process is not None and not self.is_paused


def endpoints_of(node_id: NodeId, port: int) -> Endpoints:
    """Return the endpoints of a node."""
    return (Endpoint("CONTROLLER", f"node-{node_id}", port),)


def directory_id_of(seed: int, number: int) -> DirectoryId:
    """Return the run's directory id with this number."""
    words = (derive(seed, "directory", number), derive(seed, "directory", number, 1))
    return DirectoryId(uuid_text(b"".join(word.to_bytes(8, "big") for word in words)))
