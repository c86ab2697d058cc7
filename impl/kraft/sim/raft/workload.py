"""The workload above Raft in a simulation: state machines, and their clients.

This is the part that all workloads share, and their interface to the simulation.
`kraft.sim.raft.register` is the workload for Raft alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from kraft.ids import NodeId, ReplicaKey
from kraft.rpc.raft_voters import AddRaftVoterRequest, RemoveRaftVoterRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kraft.raft.voters import VoterSet
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.faults import Fault
    from kraft.sim.raft.machines import Machine, Process
    from kraft.sim.raft.steps import Envelope

CLIENT_TIMEOUT_MS: Final = 5_000
CLUSTER_ID: Final = "simulated-quorum-AAAAA"


class Acknowledged(NamedTuple):
    """A value that a client heard to be committed: where, from which replica, when (true ns)."""

    value: int
    offset: int
    epoch: int
    leader: ReplicaKey
    time: int


class Workload:
    """The interface of a simulation to the state machines above Raft, and to their clients.

    `acknowledged` lists what clients heard to be committed, in that order.
    """

    __slots__ = ("_sim", "acknowledged")

    handlers: ClassVar[Mapping[str, Callable[[Simulation, Fault], Callable[[], None] | None]]] = {}
    """The handlers of faults that only this workload knows, by kind."""
    least_snapshot_bytes: ClassVar[int] = 1
    """The bytes that a response has of a snapshot, at least, if the knobs say fewer."""

    def __init__(self, simulation: Simulation) -> None:
        self._sim = simulation
        self.acknowledged: dict[Any, Acknowledged] = {}

    def begin(self) -> None:
        """Schedule what clients do by themselves; the machines exist, and none runs yet."""

    def may_vote(self, _machine: Machine) -> bool:
        """Return whether a machine's replica may become a voter: False for a broker."""
        return True

    def start(self, process: Process) -> None:
        """Give a starting process its state machine: `process.listener`."""

    def answered(self, request: Envelope, response: Any) -> None:
        """Note that a client got a response."""

    def is_served(self, since: int) -> bool:  # noqa: ARG002 - another workload may use it
        """Return whether the clients got what they were promised since a true time."""
        return True

    def ended(self, process: Process) -> None:
        """Forget what a process can no longer do."""

    def to_add(
        self, voters: VoterSet, machines: Sequence[Machine], chance: int
    ) -> AddRaftVoterRequest | None:
        """Return a request to add a machine whose node is not a voter, None without one."""
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
        """Return a request to remove a voter, first one with a lost disk; None if none may go."""
        if len(voters) <= self._sim.configuration.voters_minimum:
            return None
        lost = [voter.key for voter in voters.voters if voter.key in damaged]
        keys = lost or [voter.key for voter in voters.voters]
        key = keys[chance % len(keys)]
        return RemoveRaftVoterRequest(CLUSTER_ID, NodeId(key.node_id), key.directory_id)
