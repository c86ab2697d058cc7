"""The workload for Raft alone: clients append numbers, and registers fold them.

Values are unique in a run. A value is acknowledged when the process that took it hears that it is
committed while it still leads the same epoch. From then on a quorum that keeps its promises must
not lose it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.chance import Stream
from kraft.ids import OffsetAndEpoch
from kraft.raft.configuration import MILLISECOND
from kraft.raft.roles import Leader
from kraft.sim.raft.machines import Local
from kraft.sim.raft.state_machine import StateMachine, value_bytes, value_number
from kraft.sim.raft.workload import Acknowledged, Workload

if TYPE_CHECKING:
    from kraft.raft.effects import HandleCommit, HandleLoadSnapshot
    from kraft.raft.state import RaftState
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.machines import Process


class Register(Workload):
    """Clients append unique numbers at every process that believes that it leads.

    `submitted` counts the values of all these requests.
    """

    __slots__ = ("_chance", "_open", "submitted")

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation)
        self._chance = Stream(simulation.seed, "workload")
        self._open: dict[int, tuple[int, int]] = {}
        self.submitted = 0

    def begin(self) -> None:
        """Schedule the first append."""
        self._sim.schedule(self._next_append(), self._append, None)

    def start(self, process: Process) -> None:
        """Give a starting process an empty register."""
        process.listener = StateMachine()

    def _next_append(self) -> int:
        return MILLISECOND + self._chance.exponential(self._sim.knobs.append_every)

    def _append(self, _nothing: None) -> None:
        """Let clients append at every process that believes that it leads."""
        sim = self._sim
        for machine in sim.nodes:
            process = machine.process
            if process is not None and process.leads_epoch is not None and machine.runs:
                sim.tell(process, self._values())
        sim.schedule(sim.time + self._next_append(), self._append, None)

    def _values(self) -> Local:
        knobs = self._sim.knobs
        many = 1 + self._chance.below(knobs.values_maximum)
        numbers = range(self.submitted + 1, self.submitted + 1 + many)
        self.submitted += many
        values = tuple(value_bytes(number, knobs.value_bytes) for number in numbers)
        return Local("append", 0, values)

    def taken(self, process: Process, epoch: int, values: tuple[bytes, ...]) -> None:
        """Note that this process was asked to append these values in an epoch."""
        for value in values:
            self._open[value_number(value)] = (process.incarnation, epoch)

    def committed(self, process: Process, state: RaftState, effect: HandleCommit) -> None:
        """Fold values, note which ones are now acknowledged, and ask for a snapshot if it is due.

        Raises ValueError if the batches are not the next ones.
        """
        process.listener.apply(effect.batches)
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
                            self._sim.time,
                        )
        listener = process.listener
        if listener.next_offset - listener.snapshot_end >= self._sim.knobs.snapshot_records:
            listener.snapshot_end = listener.next_offset
            process.inbox.append(Local("snapshot"))

    def load(self, process: Process, state: RaftState, effect: HandleLoadSnapshot) -> None:
        """Reset a register from a snapshot. Raises ValueError if there is no such snapshot."""
        process.listener.load(state.log, effect)

    def snapshot(self, process: Process) -> tuple[OffsetAndEpoch, tuple[bytes, ...]]:
        """Return a snapshot of a register: one record."""
        listener = process.listener
        return OffsetAndEpoch(listener.next_offset, listener.epoch), listener.snapshot()

    def ended(self, process: Process) -> None:
        """Forget the values that a process can no longer acknowledge."""
        incarnation = process.incarnation
        gone = [number for number, (who, _) in self._open.items() if who == incarnation]
        for number in gone:
            del self._open[number]
