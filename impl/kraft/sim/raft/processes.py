"""How processes start, take one event after the other, and end.

A process does one thing at a time: what is due comes first, then the next message. What it does
takes time, most of it for its disk, and messages that come meanwhile wait.

Kafka: KafkaRaftClientDriver.doWork, KafkaRaftClient.poll.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final

from kraft.chance import Stream, mix
from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.ids import DirectoryId, NodeId
from kraft.raft.boot import BootError
from kraft.raft.configuration import MILLISECOND, Configuration
from kraft.raft.events import Poll
from kraft.raft.roles import NEVER
from kraft.raft.voters import Voter, VoterSet
from kraft.sim.raft.clocks import Clock
from kraft.sim.raft.disk import SimulatedDisk
from kraft.sim.raft.effects import Outcome, Performer
from kraft.sim.raft.handler_error import handler_error
from kraft.sim.raft.machines import Connection, Local, Machine, Process, directory_id_of
from kraft.sim.raft.process_events import RAFT_MESSAGES, local_event, message_event
from kraft.sim.raft.steps import SimStep
from kraft.sim.raft.workload import CLUSTER_ID

if TYPE_CHECKING:
    from kraft.raft.events import Event
    from kraft.raft.state import RaftState, Step
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.steps import Envelope, StepKind

POLLS_MAXIMUM: Final = 20_000
"""So many polls in a row are a handler that does not do what it says is due."""

_RETRY: Final = 500 * MILLISECOND
_REFUSALS: Final = (CorruptRecordError, UnreadableFileError, BootError)


class Processes:
    """The processes of one simulation."""

    __slots__ = ("_by_node", "_directories", "_incarnations", "_performer", "_sim", "first_voters")

    def __init__(self, simulation: Simulation) -> None:
        self._sim = simulation
        self._by_node: dict[NodeId, list[Machine]] = {}
        self._directories = self._incarnations = 0
        self._performer = Performer(
            simulation.send_request, simulation.send_response, simulation.workload
        )
        configuration = simulation.configuration
        for index in range(configuration.voters + configuration.observers):
            self.add_machine(NodeId(index))
        self.first_voters = self._first_voters()
        for machine in simulation.nodes:
            self.format(machine, is_first=machine.index < configuration.voters)
            simulation.schedule(machine.index * MILLISECOND, self.start, machine)

    # Machines

    def add_machine(self, node_id: NodeId) -> Machine:
        """Return one more machine, with an empty disk and a directory id of its own."""
        sim = self._sim
        index = len(sim.nodes)
        chance = Stream(sim.seed, "machine", index)
        disk = SimulatedDisk(f"machine-{index}", sim.knobs.flush_latency)
        machine = Machine(index, node_id, disk, Clock(10**12 + chance.below(10**15)))
        machine.directory_id = self.new_directory()
        sim.nodes.append(machine)
        self._by_node.setdefault(node_id, []).append(machine)
        return machine

    def new_directory(self) -> DirectoryId:
        """Return a directory id that nobody had."""
        self._directories += 1
        return directory_id_of(self._sim.seed, self._directories)

    def machine_at(self, node_id: NodeId, chance: int) -> Machine | None:
        """Return the machine that a request to a node reaches; several may claim to be it."""
        machines = self._by_node.get(node_id)
        if machines is None:
            return None
        if len(machines) == 1:
            return machines[0]
        alive = [machine for machine in machines if machine.process is not None]
        return alive[mix(chance) % len(alive)] if alive else machines[0]

    def remove_extra(self, machine: Machine, why: str) -> None:
        """Stop and take away a machine that came to share its node id with another."""
        if machine.is_extra and not machine.is_gone:
            self.stop(machine, why, power=False, chance=0)
            self._by_node[machine.node_id].remove(machine)
            machine.is_gone = True

    def format(self, machine: Machine, *, is_first: bool) -> None:
        """Put an empty log on a machine's disk; the first voters also know each other."""
        machine.disk.restore({})
        machine.disk.is_full, machine.disk.cut_after = False, None
        voters = self.first_voters if is_first else None
        if self._sim.configuration.kraft_version == 0:
            voters = None
        self._sim.core.format(machine.disk, self.configuration_of(machine), voters)
        machine.disk.settle()
        machine.refused = ""

    def _first_voters(self) -> VoterSet:
        configuration = self._sim.configuration
        knows_disks = configuration.kraft_version > 0
        return VoterSet.of(
            Voter(
                machine.key if knows_disks else machine.key._replace(directory_id=None),
                machine.endpoints,
            )
            for machine in self._sim.nodes[: configuration.voters]
        )

    def configuration_of(self, machine: Machine) -> Configuration:
        """Return what the process on a machine is told."""
        sim = self._sim
        is_dynamic = sim.configuration.kraft_version > 0
        return Configuration(
            CLUSTER_ID,
            machine.node_id,
            machine.directory_id,
            machine.endpoints,
            VoterSet() if is_dynamic else self.first_voters,
            self.first_voters.node_ids,
            sim.configuration.timeouts,
            maximum_fetch_bytes=sim.knobs.fetch_bytes,
            maximum_snapshot_bytes=sim.knobs.snapshot_bytes,
        )

    # Start and end

    def start(self, machine: Machine) -> None:
        """Start a process from what is on the disk, unless one runs; it may refuse to start."""
        sim = self._sim
        if machine.process is not None or machine.is_gone or not sim.may_run(machine):
            return
        machine.starts_at = None
        self._incarnations += 1
        process = Process(machine, self._incarnations, sim.seed)
        sim.workload.start(process)
        configuration = self.configuration_of(machine)
        own = machine.clock.restart(sim.time)
        try:
            opened = sim.core.open(machine.disk, configuration, sim.knobs.segment_bytes)
            step = sim.core.boot(
                configuration, opened.quorum_state, opened.log, own, process.chance()
            )
        except _REFUSALS as error:
            machine.refused = str(error)
            sim.tell_observers("start", machine.key, None, f"refused: {error}", error=error)
            return
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise handler_error(self._sim, machine, "boot", error) from error
            said = f"refused: {error.strerror}"
            sim.tell_observers("start", machine.key, None, said, error=error)
            self.start_later(machine, _RETRY)
            return
        except Exception as error:
            raise handler_error(self._sim, machine, "boot", error) from error
        process.perform = opened.perform
        machine.process = process
        machine.refused = ""
        machine.disk.cut_after = None
        self._conclude(process, "start", None, None, None, step)

    def start_later(self, machine: Machine, after: int) -> None:
        """Start a process after so many nanoseconds, unless that is planned for earlier."""
        time = self._sim.time + after
        if machine.starts_at is None or time < machine.starts_at:
            machine.starts_at = time
            self._sim.schedule(time, self._start_planned, machine)

    def _start_planned(self, machine: Machine) -> None:
        if machine.starts_at == self._sim.time:
            self.start(machine)

    def stop(self, machine: Machine, why: str, *, power: bool, chance: int) -> bool:
        """End the process of a machine between two events; False if none runs.

        With `power` the machine loses power as well, and its disk what it has not flushed.
        """
        process = machine.process
        if process is not None:
            self._sim.tell_observers("crash", machine.key, None, why, process)
            self._end(process)
        if power:
            self.lose_power(machine, chance)
        return process is not None

    def _end(self, process: Process) -> None:
        machine = process.machine
        machine.process = None
        machine.is_paused = False
        machine.last_state = process.state
        machine.disk.cut_after = None
        self._sim.workload.ended(process)
        for item in process.inbox:
            if isinstance(item, Connection):
                self._sim.lose(item.envelope, machine, "the process ended")

    def lose_power(self, machine: Machine, chance: int) -> None:
        """Take the power from a machine's disk, and count what that did."""
        tally = machine.disk.lose_power(Stream(chance, "power"))
        self._sim.count("lost-write", tally.lost)
        self._sim.count("torn-write", tally.torn)

    # One event after the other

    def knock(self, process: Process) -> None:
        """Let a process take what has come for it, now or when it has time."""
        if process.machine.is_paused:
            return
        if process.busy_until <= self._sim.time:
            self._run(process)
        else:
            self._wake_at(process, process.busy_until)

    def look_again(self, machine: Machine) -> None:
        """Let a machine's process look at its clock and its messages, after these have changed."""
        process = machine.process
        if process is not None and not machine.is_paused:
            process.wake_at = None
            self._wake_at(process, max(self._sim.time, process.busy_until))

    def _wake_at(self, process: Process, time: int) -> None:
        if process.wake_at is None or time < process.wake_at:
            process.wake_at = time
            self._sim.schedule(time, self._wake, process)

    def _wake(self, process: Process) -> None:
        sim = self._sim
        if process.wake_at != sim.time or process.machine.process is not process:
            return
        process.wake_at = None
        if process.machine.is_paused:
            return
        if process.busy_until > sim.time:
            self._wake_at(process, process.busy_until)
        else:
            self._run(process)

    def _run(self, process: Process) -> None:
        own = process.machine.clock.read(self._sim.time)
        event: Event | None = None
        received: Envelope | None = None
        if process.urgent:
            event = local_event(process, process.urgent.popleft(), own, self._sim.workload)
        elif process.is_busy or process.deadline <= own:
            event = Poll(own, process.chance())
            process.polls += 1
            if process.polls > POLLS_MAXIMUM:
                error = ValueError(f"what is due at {process.deadline} is never done")
                raise handler_error(self._sim, process.machine, event, error)
        elif process.listener_deadline <= own:
            self._sim.workload.due(process)
            self._listened(process)
            return
        else:
            process.polls = 0
            while process.inbox and event is None:
                item = process.inbox.popleft()
                if isinstance(item, Local):
                    event = local_event(process, item, own, self._sim.workload)
                elif item.envelope.payload.__class__ in RAFT_MESSAGES:
                    received = item.envelope
                    event = message_event(process, item, own)
                else:
                    self._sim.workload.receive(process, item)
                    self._listened(process)
                    return
        if event is None:
            self._rest(process)
            return
        before = process.state
        try:
            step = self._sim.core.on_event(before, event)
        except Exception as error:
            raise handler_error(self._sim, process.machine, event, error) from error
        try:
            self._conclude(process, "event", received, event, before, step)
        except OSError as error:
            raise handler_error(self._sim, process.machine, event, error) from error

    def _listened(self, process: Process) -> None:
        """Plan what comes next after a process's state machine has done something."""
        sim = self._sim
        sim.emit_listened()
        self._tell_of_the_network(process)
        process.busy_until = sim.time + sim.knobs.own_time
        self._rest(process)

    def _rest(self, process: Process) -> None:
        """Plan when a process is to be woken."""
        sim = self._sim
        busy_until = process.busy_until
        deadline = min(process.deadline, process.listener_deadline)
        if process.inbox or process.is_busy or process.urgent:
            self._wake_at(process, max(busy_until, sim.time))
        elif deadline < NEVER:
            due = process.machine.clock.true_time(deadline, sim.time)
            self._wake_at(process, max(busy_until, due))

    def _conclude(
        self,
        process: Process,
        kind: StepKind,
        received: Envelope | None,
        event: Event | None,
        before: RaftState | None,
        step: Step,
    ) -> None:
        """Perform the effects of a step, tell observers, and plan what comes next."""
        sim = self._sim
        disk = process.machine.disk
        state, effects = step.state, step.effects
        process.state = state
        outcome: Outcome | None = None
        sent: tuple[Envelope, ...] = ()
        if effects:
            sim.sent.clear()
            try:
                outcome = self._performer.perform(process, state, effects, sim.time)
            except Exception as error:
                raise handler_error(self._sim, process.machine, event or kind, error) from error
            sent = tuple(sim.sent)
        crashed = outcome if outcome is not None and not outcome.is_done else None
        fields = (
            sim.number,
            sim.time,
            kind,
            process.key,
            received,
            event,
            before,
            state if crashed is None else None,
            effects if crashed is None else effects[: crashed.done],
            None if crashed is None else step,
            sent,
            "" if crashed is None else crashed.ended,
            process.incarnation,
            "",
            None,
            None,
        )
        sim.emit(tuple.__new__(SimStep, fields))
        sim.emit_listened()
        if sent or sim.lost or sim.copies:
            self._tell_of_the_network(process)
        if outcome is not None:
            self._ended(process, outcome)
            return
        process.busy_until = sim.time + sim.knobs.own_time + disk.spent
        disk.spent = 0
        process.deadline = sim.core.next_deadline(state)
        process.is_busy = sim.core.is_busy(state)
        self._rest(process)

    def _tell_of_the_network(self, process: Process) -> None:
        """Tell observers what the network loses and doubles of what was sent just now."""
        sim = self._sim
        for envelope, why in sim.lost:
            sim.lose(envelope, process.machine, why)
        sim.lost.clear()
        for copy in sim.copies:
            sim.tell_observers("duplicate", process.key, copy)
        sim.copies.clear()

    def _ended(self, process: Process, outcome: Outcome) -> None:
        """Clear up after a process that ended in the middle of a step, or with it."""
        sim = self._sim
        machine = process.machine
        if outcome.is_done:
            sim.tell_observers("crash", machine.key, None, outcome.ended, process)
        self._end(process)
        if not outcome.has_power:
            self.lose_power(machine, process.chance())
        sim.count(outcome.ended.partition(":")[0])
        if outcome.ended.startswith("fatal"):
            sim.fatal.append(f"step {sim.number - 1}, {machine.key}: {outcome.ended}")
        self.start_later(machine, outcome.down or process.down)
