"""Processes start, do one thing after another, and end.

`kraft.hosting.order` says what a process does next. A step takes time, most of it for its disk, and
messages that arrive meanwhile wait.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final

from kraft.chance import Stream, mix
from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.hosting.order import is_waiting, next_deadline, take_turn
from kraft.hosting.process import ReplicaFunctions
from kraft.ids import DirectoryId, NodeId
from kraft.raft.boot import BootError
from kraft.raft.configuration import MILLISECOND, Configuration
from kraft.raft.events import Poll
from kraft.raft.roles import NEVER
from kraft.raft.voters import Voter, VoterSet
from kraft.sim.raft.clocks import Clock
from kraft.sim.raft.disk import SimulatedDisk
from kraft.sim.raft.effects import Outcome, perform_until_crash
from kraft.sim.raft.handler_error import handler_error
from kraft.sim.raft.machines import Machine, Process, directory_id_of
from kraft.sim.raft.steps import Envelope, SimStep
from kraft.sim.raft.workload import CLUSTER_ID

if TYPE_CHECKING:
    from kraft.hosting.order import Taken
    from kraft.raft.events import Event
    from kraft.raft.state import RaftState, Step
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.steps import StepKind

POLLS_MAXIMUM: Final = 20_000
"""This many polls in a row mean that a handler never does what it says is due."""

_RETRY: Final = 500 * MILLISECOND
_REFUSALS: Final = (CorruptRecordError, UnreadableFileError, BootError)


class Processes:
    """The processes of one simulation."""

    __slots__ = ("_by_node", "_directories", "_incarnations", "_replica", "_sim", "first_voters")

    def __init__(self, simulation: Simulation) -> None:
        self._sim = simulation
        self._by_node: dict[NodeId, list[Machine]] = {}
        self._directories = self._incarnations = 0
        core = simulation.core
        self._replica = ReplicaFunctions(core.on_event, core.next_deadline, core.is_busy)
        configuration = simulation.configuration
        for index in range(configuration.voters + configuration.observers):
            self.add_machine(NodeId(index))
        self.first_voters = self._first_voters()
        for machine in simulation.nodes:
            self.format(machine, is_first=machine.index < configuration.voters)
            simulation.schedule(machine.index * MILLISECOND, self.start, machine)

    # Machines

    def add_machine(self, node_id: NodeId) -> Machine:
        """Return a new machine, with an empty disk and its own directory id."""
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
        """Return an unused directory id."""
        self._directories += 1
        return directory_id_of(self._sim.seed, self._directories)

    def machine_at(self, node_id: NodeId, chance: int) -> Machine | None:
        """Return the machine that a request to a node reaches; several may claim the id."""
        machines = self._by_node.get(node_id)
        if machines is None:
            return None
        if len(machines) == 1:
            return machines[0]
        alive = [machine for machine in machines if machine.process is not None]
        return alive[mix(chance) % len(alive)] if alive else machines[0]

    def remove_extra(self, machine: Machine, why: str) -> None:
        """Stop and remove a machine that shares its node id with another one."""
        if machine.is_extra and not machine.is_gone:
            self.stop(machine, why, power=False, chance=0)
            self._by_node[machine.node_id].remove(machine)
            machine.is_gone = True

    def format(self, machine: Machine, *, is_first: bool) -> None:
        """Put an empty log on a machine's disk; the first voters also get the voter set."""
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
        """Return the configuration of the process on a machine."""
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
            maximum_snapshot_bytes=max(sim.knobs.snapshot_bytes, sim.workload.least_snapshot_bytes),
            followers_always_flush=sim.workload.may_vote(machine),
        )

    # Start and end

    def start(self, machine: Machine) -> None:
        """Start a process from its disk, unless one runs; it may refuse to start."""
        sim = self._sim
        if machine.process is not None or machine.is_gone or not sim.may_run(machine):
            return
        machine.starts_at = None
        self._incarnations += 1
        process = Process(sim, machine, self._incarnations, self._replica)
        own = machine.clock.restart(sim.time)
        sim.workload.start(process)
        configuration = self.configuration_of(machine)
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
        process.store = opened.perform
        machine.process = process
        machine.refused = ""
        machine.disk.cut_after = None
        process.become(step.state)
        self._conclude(process, "start", None, None, None, step)

    def start_later(self, machine: Machine, after: int) -> None:
        """Start a process after this many nanoseconds, unless an earlier start is scheduled."""
        time = self._sim.time + after
        if machine.starts_at is None or time < machine.starts_at:
            machine.starts_at = time
            self._sim.schedule(time, self._start_planned, machine)

    def _start_planned(self, machine: Machine) -> None:
        if machine.starts_at == self._sim.time:
            self.start(machine)

    def stop(self, machine: Machine, why: str, *, power: bool, chance: int) -> bool:
        """End the process of a machine between two events; return False if none runs.

        With `power` the machine loses power as well, and its disk everything not flushed.
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
            if isinstance(item, Envelope):
                self._sim.lose(item, machine, "the process ended")

    def lose_power(self, machine: Machine, chance: int) -> None:
        """Cut the power of a machine's disk, and count the effects."""
        tally = machine.disk.lose_power(Stream(chance, "power"))
        self._sim.count("lost-write", tally.lost)
        self._sim.count("torn-write", tally.torn)

    # One event after the other

    def knock(self, process: Process) -> None:
        """Let a process take its next message, now or when it is idle."""
        if process.machine.is_paused:
            return
        if process.busy_until <= self._sim.time:
            self._run(process)
        else:
            self._wake_at(process, process.busy_until)

    def look_again(self, machine: Machine) -> None:
        """Wake a machine's process after its clock or its messages have changed."""
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
        try:
            taken = take_turn(process)
        except Exception as error:
            raise handler_error(self._sim, process.machine, process.doing, error) from error
        if taken is None:
            process.polls = 0
            self._rest(process)
            return
        if taken.step is None:
            self._listened(process)
            return
        self._count_polls(process, taken)
        received = taken.message
        assert received is None or isinstance(received, Envelope), "messages are envelopes here"
        try:
            self._conclude(process, "event", received, taken.event, taken.before, taken.step)
        except OSError as error:
            raise handler_error(self._sim, process.machine, taken.event, error) from error

    def _count_polls(self, process: Process, taken: Taken) -> None:
        """Raise HandlerError if a process never does what it says is due."""
        if not isinstance(taken.event, Poll):
            if taken.message is not None:
                process.polls = 0
            return
        process.polls += 1
        if process.polls > POLLS_MAXIMUM:
            error = ValueError(f"what is due at {process.deadline} is never done")
            raise handler_error(self._sim, process.machine, taken.event, error)

    def _listened(self, process: Process) -> None:
        """Schedule the next wake-up after a process's state machine did something."""
        sim = self._sim
        sim.emit_listened()
        self._tell_of_the_network(process)
        process.busy_until = sim.time + sim.knobs.own_time
        self._rest(process)

    def _rest(self, process: Process) -> None:
        """Schedule the next wake-up of a process."""
        sim = self._sim
        busy_until = process.busy_until
        deadline = next_deadline(process)
        if is_waiting(process):
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
        """Perform the effects of a step, tell observers, and schedule the next wake-up."""
        sim = self._sim
        disk = process.machine.disk
        state, effects = step.state, step.effects
        outcome: Outcome | None = None
        sent: tuple[Envelope, ...] = ()
        if effects:
            sim.sent.clear()
            try:
                outcome = perform_until_crash(process, effects)
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
        self._rest(process)

    def _tell_of_the_network(self, process: Process) -> None:
        """Tell observers which sent messages the network loses or duplicates."""
        sim = self._sim
        for envelope, why in sim.lost:
            sim.lose(envelope, process.machine, why)
        sim.lost.clear()
        for copy in sim.copies:
            sim.tell_observers("duplicate", process.key, copy)
        sim.copies.clear()

    def _ended(self, process: Process, outcome: Outcome) -> None:
        """Clean up after a process that ended during a step, or at its end."""
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
