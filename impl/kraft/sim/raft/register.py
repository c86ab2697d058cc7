"""The workload for Raft alone: clients append numbers, and registers fold them.

Values are unique in a run. A value is acknowledged when the process that took it hears that it is
committed while it still leads the same epoch. From then on a quorum that keeps its promises must
not lose it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.chance import Stream
from kraft.hosting.own_requests import Schedule, TakeSnapshot
from kraft.hosting.process import OwnRequest
from kraft.ids import OffsetAndEpoch
from kraft.raft.configuration import MILLISECOND
from kraft.raft.events import PrepareAppend
from kraft.raft.roles import Leader
from kraft.sim.raft.state_machine import StateMachine, value_bytes, value_number
from kraft.sim.raft.workload import Acknowledged, Workload

if TYPE_CHECKING:
    from kraft.hosting.outside import Message
    from kraft.hosting.process import HostedProcess
    from kraft.raft.effects import HandleCommit, HandleLeaderChange, HandleLoadSnapshot
    from kraft.raft.events import SnapshotCreated
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.machines import Process


@dataclass(frozen=True, slots=True)
class AppendValues(OwnRequest):
    """Append values in the epoch that the process leads by then, if it leads."""

    values: tuple[bytes, ...]

    def event(self, process: HostedProcess, now: int, chance: int) -> PrepareAppend | None:
        """Return the event; the append is scheduled next."""
        host = process.listener
        assert isinstance(host, RegisterHost), "only registers append so"
        if host.leads_epoch is None:
            return None
        host.take(self.values, host.leads_epoch)
        process.inbox.appendleft(Schedule())
        return PrepareAppend(now, chance, host.leads_epoch, self.values)


class SnapshotRegister(OwnRequest):
    """Take a snapshot of the register as it is by then."""

    __slots__ = ()

    def event(self, process: HostedProcess, now: int, chance: int) -> SnapshotCreated:
        """Return the event."""
        host = process.listener
        assert isinstance(host, RegisterHost), "only registers are folded"
        machine = host.machine
        snapshot_id = OffsetAndEpoch(machine.next_offset, machine.epoch)
        return TakeSnapshot(snapshot_id, machine.snapshot()).event(process, now, chance)


class RegisterHost:
    """The listener of a process: its register is `machine`.

    `leads_epoch` is the epoch in which it was told that its node leads, None while another does.
    """

    __slots__ = ("_process", "_register", "leads_epoch", "machine")

    def __init__(self, register: Register, process: Process) -> None:
        self._register = register
        self._process = process
        self.machine = StateMachine()
        self.leads_epoch: int | None = None

    def take(self, values: tuple[bytes, ...], epoch: int) -> None:
        """Note that the process was asked to append these values in an epoch."""
        self._register.take(self._process, values, epoch)

    def committed(self, effect: HandleCommit) -> None:
        """Fold values, note which ones are now acknowledged, and ask for a snapshot if it is due.

        Raises ValueError if the batches are not the next ones.
        """
        machine = self.machine
        machine.apply(effect.batches)
        self._register.acknowledge(self._process, effect)
        if machine.next_offset - machine.snapshot_end >= self._register.snapshot_records:
            machine.snapshot_end = machine.next_offset
            self._process.inbox.append(SnapshotRegister())

    def load(self, effect: HandleLoadSnapshot) -> None:
        """Reset the register from a snapshot. Raises ValueError if there is no such snapshot."""
        self.machine.load(self._process.state.log, effect)

    def leader_changed(self, effect: HandleLeaderChange) -> None:
        """Note whether the node leads."""
        leads = effect.leader_id == self._process.machine.node_id
        self.leads_epoch = effect.epoch if leads else None

    def append_refused(self) -> None:
        """Do nothing: the values are never acknowledged."""

    def receive(self, message: Message) -> None:
        """Do nothing: clients append without messages."""

    def due(self) -> None:
        """Do nothing: a register has no deadlines."""


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

    @property
    def snapshot_records(self) -> int:
        """How many records after its last snapshot a register takes the next one."""
        return self._sim.knobs.snapshot_records

    def begin(self) -> None:
        """Schedule the first append."""
        self._sim.schedule(self._next_append(), self._append, None)

    def start(self, process: Process) -> None:
        """Give a starting process an empty register."""
        process.listener = RegisterHost(self, process)

    def _next_append(self) -> int:
        return MILLISECOND + self._chance.exponential(self._sim.knobs.append_every)

    def _append(self, _nothing: None) -> None:
        """Let clients append at every process that believes that it leads."""
        sim = self._sim
        for machine in sim.nodes:
            process = machine.process
            if process is not None and process.listener.leads_epoch is not None and machine.runs:
                sim.tell(process, self._values())
        sim.schedule(sim.time + self._next_append(), self._append, None)

    def _values(self) -> AppendValues:
        knobs = self._sim.knobs
        many = 1 + self._chance.below(knobs.values_maximum)
        numbers = range(self.submitted + 1, self.submitted + 1 + many)
        self.submitted += many
        return AppendValues(tuple(value_bytes(number, knobs.value_bytes) for number in numbers))

    def take(self, process: Process, values: tuple[bytes, ...], epoch: int) -> None:
        """Note that this process was asked to append these values in an epoch."""
        for value in values:
            self._open[value_number(value)] = (process.incarnation, epoch)

    def acknowledge(self, process: Process, effect: HandleCommit) -> None:
        """Note the values that the process took in the epoch which it leads, and that it heard."""
        role = process.state.role
        if not isinstance(role, Leader):
            return
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

    def ended(self, process: Process) -> None:
        """Forget the values that a process can no longer acknowledge."""
        incarnation = process.incarnation
        gone = [number for number, (who, _) in self._open.items() if who == incarnation]
        for number in gone:
            del self._open[number]
