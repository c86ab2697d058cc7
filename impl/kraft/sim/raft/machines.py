"""The machines of a simulation, and the processes that run on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.chance import derive
from kraft.hosting.process import HostedProcess, ReplicaFunctions
from kraft.ids import DirectoryId, NodeId, ReplicaKey, uuid_text
from kraft.raft.configuration import MILLISECOND
from kraft.rpc.endpoints import Endpoint
from kraft.sim.raft.outside import SimulatedOutside

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.raft.effects import Durable
    from kraft.raft.state import RaftState
    from kraft.rpc.endpoints import Endpoints
    from kraft.sim.raft.clocks import Clock
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.disk import SimulatedDisk
    from kraft.sim.raft.steps import Envelope

SHUTDOWN_TIMEOUT: Final = 5_000 * MILLISECOND
"""How long a process takes to end in order, at most."""

_PORT: Final = 9093
"""The first port of a process."""


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


class Connection(NamedTuple):
    """A request that a process may answer: the sending machine, and the message."""

    machine: int
    envelope: Envelope


class Process(HostedProcess):
    """A running process of a simulation.

    `connections` are the requests that it can still answer, by message id. It works on its last
    step until `busy_until`, and will be woken at `wake_at`. If it ends itself, it restarts after
    `down`. `store` performs a durable effect on its disk. `polls` counts the Polls since it last
    had none to do.
    """

    __slots__ = (
        "armed", "busy_until", "connections", "down", "incarnation", "key", "machine", "polls",
        "store", "wake_at",
    )  # fmt: skip

    listener: Any

    def __init__(
        self, sim: Simulation, machine: Machine, incarnation: int, replica: ReplicaFunctions
    ) -> None:
        super().__init__(replica)
        self.machine = machine
        self.key = machine.key
        self.incarnation = incarnation
        self.outside = SimulatedOutside(sim, self)
        self.connections: dict[int, Connection] = {}
        self.armed: Armed | None = None
        self.down = 2_000 * MILLISECOND
        self.store: Callable[[Durable], object] = _nothing_open
        self.busy_until = 0
        self.wake_at: int | None = None
        self.polls = 0

    def chance(self) -> int:
        """Return the next chance number of the process."""
        return self.outside.chance()


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
