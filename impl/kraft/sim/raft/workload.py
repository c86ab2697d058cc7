"""What runs above Raft in a simulation: state machines, and the clients that they have.

This is what all workloads share, and what a simulation asks of one. `kraft.sim.raft.register` is
the one for Raft alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from kraft.ids import NodeId, ReplicaKey
from kraft.rpc.raft_voters import AddRaftVoterRequest, RemoveRaftVoterRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kraft.ids import OffsetAndEpoch
    from kraft.raft.effects import HandleCommit, HandleLeaderChange, HandleLoadSnapshot
    from kraft.raft.state import RaftState
    from kraft.raft.voters import VoterSet
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.faults import Fault
    from kraft.sim.raft.machines import Connection, Machine, Process
    from kraft.sim.raft.steps import Envelope

CLIENT_TIMEOUT_MS: Final = 5_000
CLUSTER_ID: Final = "simulated-quorum-AAAAA"


class Acknowledged(NamedTuple):
    """A value whose client was told that it is committed: where, by whom, and when (true ns)."""

    value: int
    offset: int
    epoch: int
    leader: ReplicaKey
    time: int


class Workload:
    """What a simulation asks of the state machines above Raft, and of their clients.

    `acknowledged` has what clients were told is committed, in the order in which they were told.
    """

    __slots__ = ("_sim", "acknowledged")

    handlers: ClassVar[Mapping[str, Callable[[Simulation, Fault], Callable[[], None] | None]]] = {}
    """How the faults take effect that only this workload knows, by kind."""

    def __init__(self, simulation: Simulation) -> None:
        self._sim = simulation
        self.acknowledged: dict[Any, Acknowledged] = {}

    def begin(self) -> None:
        """Plan what clients do by themselves; the machines are there, none of them runs yet."""

    def start(self, process: Process) -> None:
        """Give a process that starts its state machine."""

    def committed(self, process: Process, state: RaftState, effect: HandleCommit) -> None:
        """Give a state machine committed batches. Raises ValueError if they are not the next."""

    def load(self, process: Process, state: RaftState, effect: HandleLoadSnapshot) -> None:
        """Let a state machine begin anew from a snapshot. Raises ValueError if it is not there."""

    def leader_changed(self, process: Process, effect: HandleLeaderChange) -> None:
        """Tell a state machine who leads."""

    def append_refused(self, process: Process) -> None:
        """Tell a state machine that what it prepared is not taken."""

    def taken(self, process: Process, epoch: int, values: tuple[bytes, ...]) -> None:
        """Keep that this process was asked to append these values in an epoch."""

    def snapshot(self, process: Process) -> tuple[OffsetAndEpoch, tuple[bytes, ...]]:
        """Return a snapshot of a state machine: up to where it is, and its records."""
        raise ValueError(f"{process.key} was asked for a snapshot and has none")

    def receive(self, process: Process, connection: Connection) -> None:
        """Give a state machine a message that is none of Raft's."""

    def answered(self, request: Envelope, response: Any) -> None:
        """Hear that a client was answered."""

    def is_served(self, since: int) -> bool:  # noqa: ARG002 - a workload may ask for more
        """Return whether its clients have what they were promised, since a true time."""
        return True

    def due(self, process: Process) -> None:
        """Let a state machine do what is due at its `listener_deadline`."""

    def ended(self, process: Process) -> None:
        """Forget what a process will do no more."""

    def to_add(
        self, voters: VoterSet, machines: Sequence[Machine], chance: int
    ) -> AddRaftVoterRequest | None:
        """Return the request to add one of the machines whose node is no voter, if there is one."""
        nodes = set(voters.node_ids)
        outside = [machine for machine in machines if machine.runs and machine.node_id not in nodes]
        if not outside:
            return None
        machine = outside[chance % len(outside)]
        return AddRaftVoterRequest(
            CLUSTER_ID,
            CLIENT_TIMEOUT_MS,
            machine.node_id,
            machine.directory_id,
            machine.endpoints,
        )

    def to_remove(
        self, voters: VoterSet, damaged: frozenset[ReplicaKey], chance: int
    ) -> RemoveRaftVoterRequest | None:
        """Return the request to remove a voter, one whose disk is lost first, if any may go."""
        if len(voters) <= self._sim.configuration.voters_minimum:
            return None
        lost = [voter.key for voter in voters.voters if voter.key in damaged]
        keys = lost or [voter.key for voter in voters.voters]
        key = keys[chance % len(keys)]
        return RemoveRaftVoterRequest(CLUSTER_ID, NodeId(key.node_id), key.directory_id)
