"""What clients and state machines ask of the quorum, and what they were told.

Values are unique in a run. A value is acknowledged when the process that took it, still leading the
same epoch, is told that it is committed: from then on no promise-keeping quorum may lose it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.chance import Stream
from kraft.ids import NodeId, ReplicaKey
from kraft.raft.configuration import MILLISECOND
from kraft.raft.roles import Leader
from kraft.rpc.raft_voters import AddRaftVoterRequest, RemoveRaftVoterRequest
from kraft.sim.quorum.machines import Local, Machine, Process
from kraft.sim.quorum.state_machine import value_bytes, value_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.raft.effects import HandleCommit
    from kraft.raft.state import RaftState
    from kraft.raft.voters import VoterSet
    from kraft.sim.quorum.configuration import Knobs, QuorumConfiguration

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
    """The clients of a run.

    `acknowledged` has every acknowledged value in the order of the acknowledgements; `submitted`
    counts the values that somebody was asked to append.
    """

    __slots__ = ("_chance", "_configuration", "_knobs", "_open", "acknowledged", "submitted")

    def __init__(self, seed: int, configuration: QuorumConfiguration, knobs: Knobs) -> None:
        self._chance = Stream(seed, "workload")
        self._configuration = configuration
        self._knobs = knobs
        self._open: dict[int, tuple[int, int]] = {}
        self.submitted = 0
        self.acknowledged: dict[int, Acknowledged] = {}

    def next_append(self) -> int:
        """Return how long until clients append again, in nanoseconds."""
        return MILLISECOND + self._chance.exponential(self._knobs.append_every)

    def append(self) -> Local:
        """Return new values to append."""
        many = 1 + self._chance.below(self._knobs.values_maximum)
        numbers = range(self.submitted + 1, self.submitted + 1 + many)
        self.submitted += many
        values = tuple(value_bytes(number, self._knobs.value_bytes) for number in numbers)
        return Local("append", 0, values)

    def taken(self, process: Process, epoch: int, values: tuple[bytes, ...]) -> None:
        """Keep that this process was asked to append these values in an epoch."""
        for value in values:
            self._open[value_number(value)] = (process.incarnation, epoch)

    def committed(
        self, process: Process, state: RaftState, effect: HandleCommit, now: int
    ) -> Local | None:
        """Note what was acknowledged by this; return what its state machine asks for in turn."""
        role = state.role
        if isinstance(role, Leader):
            mine = (process.incarnation, role.epoch)
            for batch in effect.batches:
                for index, value in enumerate(batch.values):
                    number = value_number(value)
                    if self._open.get(number) == mine:
                        del self._open[number]
                        self.acknowledged[number] = Acknowledged(
                            number,
                            batch.base_offset + index,
                            role.epoch,
                            process.machine.key,
                            now,
                        )
        listener = process.listener
        if listener.next_offset - listener.snapshot_end < self._knobs.snapshot_records:
            return None
        listener.snapshot_end = listener.next_offset
        return Local("snapshot")

    def ended(self, process: Process) -> None:
        """Forget what a process will acknowledge no more."""
        incarnation = process.incarnation
        gone = [number for number, (who, _) in self._open.items() if who == incarnation]
        for number in gone:
            del self._open[number]

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
        if len(voters) <= self._configuration.voters_minimum:
            return None
        lost = [voter.key for voter in voters.voters if voter.key in damaged]
        keys = lost or [voter.key for voter in voters.voters]
        key = keys[chance % len(keys)]
        return RemoveRaftVoterRequest(CLUSTER_ID, NodeId(key.node_id), key.directory_id)
