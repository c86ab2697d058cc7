"""The simulation of Raft as a heap of future events, by time and then by the order of scheduling.

There are no ticks: a message wakes a machine, or a deadline of its code.
"""

from __future__ import annotations

from collections import Counter, deque
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Final

from kraft.hosting.outside import RAFT_MESSAGES
from kraft.ids import ReplicaKey
from kraft.raft.roles import Leader
from kraft.raft.voters import VoterSet
from kraft.sim.raft.configuration import Knobs, RaftConfiguration, draw_knobs
from kraft.sim.raft.damage_log import DamageLog
from kraft.sim.raft.faults import LEADER, Plan, draw_plan
from kraft.sim.raft.injection import Injector
from kraft.sim.raft.kraft_core import KRAFT, Core
from kraft.sim.raft.liveness import Liveness
from kraft.sim.raft.machines import Connection, Machine, Process
from kraft.sim.raft.network import Network
from kraft.sim.raft.processes import Processes
from kraft.sim.raft.register import Register
from kraft.sim.raft.steps import CLIENT, NO_MESSAGE, Envelope, SimStep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kraft.hosting.process import OwnRequest
    from kraft.ids import NodeId
    from kraft.sim.raft.faults import Fault
    from kraft.sim.raft.network import Fate
    from kraft.sim.raft.steps import ListenerStep, StepKind
    from kraft.sim.raft.workload import Workload

NO_REPLICA: Final = ReplicaKey(CLIENT)


class Simulation:
    """A run of the simulation of Raft, step by step.

    `time` is in true nanoseconds; `nodes` are the machines. `plan` and `knobs` are drawn from the
    seed unless given. `faults` counts the effects of faults, by kind. `workload` runs above Raft.
    """

    def __init__(
        self,
        configuration: RaftConfiguration,
        seed: int,
        plan: Plan | None = None,
        knobs: Knobs | None = None,
        core: Core = KRAFT,
        workload: Callable[[Simulation], Workload] = Register,
    ) -> None:
        self.configuration = configuration
        self.seed = seed
        self.knobs = draw_knobs(seed, configuration) if knobs is None else knobs
        self.plan = draw_plan(seed, configuration, self.knobs) if plan is None else plan
        self.core = core
        self.time = 0
        self.is_over = False
        self.faults: Counter[str] = Counter()
        self.damage_log = DamageLog(spare=configuration.spare)
        self.network = Network(seed, self.knobs.latency)
        self.workload = workload(self)
        self.nodes: list[Machine] = []
        self.liveness: Liveness | None = None
        self.fatal: list[str] = []
        self._heap: list[tuple[int, int, Callable[[Any], None], Any]] = []
        self._ready: deque[SimStep] = deque()
        self.number = self._planned = self._messages = 0
        self._listened: list[SimStep] = []
        self.sent: list[Envelope] = []
        self.lost: list[tuple[Envelope, str]] = []
        self.copies: list[Envelope] = []
        self.processes = Processes(self)
        self.injector = Injector(self)
        self.workload.begin()
        for number, fault in enumerate(self.plan):
            self.schedule(fault.time, self.injector.begin, number)
        self.schedule(configuration.calm + configuration.chaos, self._heal, None)

    # Steps

    def step(self) -> SimStep | None:
        """Return the next step, or None if the run is over.

        Raises HandlerError if the simulated code raises.
        """
        return self._next(None)

    def step_before(self, time: int) -> SimStep | None:
        """Return the next step that happens before a true time; None once it is that time.

        Raises HandlerError if the simulated code raises.
        """
        step = self._next(time)
        if step is None and not self.is_over:
            self.time = max(self.time, time)
        return step

    def _next(self, time: int | None) -> SimStep | None:
        ready, heap = self._ready, self._heap
        while not ready:
            if self.is_over or not heap or (time is not None and heap[0][0] >= time):
                return None
            self.time, _, function, argument = heappop(heap)
            function(argument)
        return ready.popleft()

    def inject(self, fault: Fault) -> None:
        """Begin a fault now, and add it to the plan.

        Its time is the simulation's. The run is the one whose plan has the fault from the start, if
        `step_before` has led here: in both, a fault comes before everything else of its time.
        """
        assert fault.time == self.time, f"it is {self.time}: {fault}"
        self.plan = (*self.plan, fault)
        self.injector.begin(len(self.plan) - 1)

    def steps(self) -> Iterator[SimStep]:
        """Yield the steps until the run is over."""
        while (step := self.step()) is not None:
            yield step

    def schedule(self, time: int, function: Callable[[Any], None], argument: object) -> None:
        """Call a function at a true time, after everything scheduled for that time before."""
        self._planned += 1
        heappush(self._heap, (time, self._planned, function, argument))

    def emit(self, step: SimStep) -> None:
        """Pass one more step to the observers; it has number `number` and time `time`."""
        self._ready.append(step)
        self.number += 1

    def emit_listener(
        self, process: Process, listener: ListenerStep, received: Envelope | None
    ) -> None:
        """Pass a state machine's step to the observers, after the Raft step under way."""
        event, effects = type(listener.event).__name__, len(listener.effects)
        detail = f"{listener.kind} {event} {effects} {listener.said}"
        step = SimStep(
            self.number,
            self.time,
            "listener",
            process.key,
            received,
            detail=detail,
            incarnation=process.incarnation,
            listener=listener,
        )
        self._listened.append(step)

    def emit_listened(self) -> None:
        """Pass to the observers what state machines did during the last step."""
        for step in self._listened:
            self.emit(step._replace(number=self.number))
        self._listened.clear()

    def tell_observers(
        self,
        kind: StepKind,
        replica: ReplicaKey,
        received: Envelope | None = None,
        detail: str = "",
        process: Process | None = None,
        fault: str = "",
        error: Exception | None = None,
    ) -> None:
        """Pass a step to the observers in which no process handles an event."""
        before = None if process is None else process.state
        incarnation = NO_MESSAGE if process is None else process.incarnation
        self.emit(
            SimStep(
                self.number,
                self.time,
                kind,
                replica,
                received,
                before=before,
                detail=detail,
                incarnation=incarnation,
                fault=fault,
                error=error,
            )
        )

    def report(self, kind: str, replica: ReplicaKey = NO_REPLICA, detail: str = "") -> None:
        """Tell the observers that a fault takes effect, with details."""
        said = f"{kind} {detail}" if detail else kind
        self.tell_observers("fault", replica, None, said, fault=kind)

    def report_end(self, kind: str, replica: ReplicaKey = NO_REPLICA) -> None:
        """Tell the observers that a fault has ended."""
        self.tell_observers("fault", replica, None, f"{kind} is over")

    def count(self, kind: str, many: int = 1) -> None:
        """Count one effect of a fault."""
        if many:
            self.faults[kind] += many

    # Questions

    def may_run(self, machine: Machine) -> bool:
        """Return whether a process may start on a machine: after the chaos, only on the core."""
        return self.liveness is None or machine.index in self.liveness.core

    def leader(self) -> Machine | None:
        """Return the machine whose process leads the highest epoch, None without one."""
        best: Machine | None = None
        best_epoch = -1
        for machine in self.nodes:
            if machine.process is not None:
                role = machine.process.state.role
                if isinstance(role, Leader) and role.epoch > best_epoch:
                    best, best_epoch = machine, role.epoch
        return best

    def machine_of(self, target: int) -> Machine | None:
        """Return the target machine of a fault: by its number, or the leader."""
        if target == LEADER:
            return self.leader()
        machine = self.nodes[target % len(self.nodes)]
        return None if machine.is_gone else machine

    def voter_sets(self) -> tuple[VoterSet, ...]:
        """Return the voter sets that any replica uses, or used when it ended.

        Without any, return the first voters.
        """
        found: dict[VoterSet, None] = {}
        for machine in self.nodes:
            state = machine.last_state if machine.process is None else machine.process.state
            if state is not None:
                for entry in state.controls.voter_sets[-2:]:
                    found[entry.voters] = None
                found[state.controls.voters] = None
        found.pop(VoterSet(), None)
        return tuple(found) or (self.processes.first_voters,)

    def _heal(self, _nothing: None) -> None:
        """End the chaos, heal a core, and set its deadline."""
        self.liveness = Liveness(self)
        self.schedule(self.liveness.deadline, self._end, None)

    def _end(self, _nothing: None) -> None:
        self.is_over = True

    # Messages

    def ask(self, machine: Machine, request: Any) -> int:
        """Send a client's request to a machine; return the id of the message."""
        self._messages += 1
        envelope = Envelope(
            self._messages, CLIENT, machine.node_id, self._messages, request, True, -1
        )
        self.schedule(self.time, self._arrive, (Connection(-1, envelope), machine))
        return self._messages

    def tell(self, process: Process, request: OwnRequest) -> None:
        """Pass a process its own request, or one of its system."""
        process.inbox.append(request)
        self.processes.knock(process)

    def send_request(
        self, process: Process, destination: NodeId, correlation_id: int, request: Any
    ) -> None:
        """Send a process's request to a machine that answers for the destination node."""
        self._messages += 1
        machine = process.machine
        fields = (
            self._messages,
            machine.node_id,
            destination,
            correlation_id,
            request,
            True,
            process.incarnation,
            NO_MESSAGE,
            NO_MESSAGE,
        )
        envelope = tuple.__new__(Envelope, fields)
        target = self.processes.machine_at(destination, self._messages)
        self._transmit(process, envelope, target)

    def send_response(self, process: Process, token: int, response: Any) -> None:
        """Send a response back to the sender of its request.

        The response to a duplicated request is lost, because its sender awaits only one response.
        Raises ValueError if the request never arrived.

        Spec: KRaft!DuplicateMessage.
        """
        connection = process.connections.pop(token, None)
        if connection is None:
            raise ValueError(f"a response to a request that never arrived: {token}: {response!r}")
        request = connection.envelope
        self._messages += 1
        fields = (
            self._messages,
            process.machine.node_id,
            request.source,
            request.correlation_id,
            response,
            False,
            request.incarnation,
            request.message_id,
            NO_MESSAGE,
        )
        envelope = tuple.__new__(Envelope, fields)
        is_raft = response.__class__ in RAFT_MESSAGES
        if connection.machine < 0:
            if is_raft:
                self.sent.append(envelope)
            else:
                self.workload.answered(request, response)
            return
        if request.copy_of != NO_MESSAGE:
            if is_raft:
                self.sent.append(envelope)
            self.lost.append((envelope, "no request awaits the answer to a copy"))
            return
        self._transmit(process, envelope, self.nodes[connection.machine])

    def _transmit(self, process: Process, envelope: Envelope, target: Machine | None) -> None:
        if envelope.payload.__class__ in RAFT_MESSAGES:
            self.sent.append(envelope)
        if target is None:
            self.lost.append((envelope, "no such node"))
            return
        source = process.machine
        leaves = self.time + self.knobs.own_time + source.disk.spent
        fate = self.network.fate(leaves, source.index, target.index)
        if isinstance(fate, int):
            self._planned += 1
            arrival = (Connection(source.index, envelope), target)
            heappush(self._heap, (fate, self._planned, self._arrive, arrival))
        else:
            self._deliver(source, envelope, target, fate)

    def _deliver(self, source: Machine, envelope: Envelope, target: Machine, fate: Fate) -> None:
        if fate.arrival is None:
            self.lost.append((envelope, fate.lost_by))
            return
        self.schedule(fate.arrival, self._arrive, (Connection(source.index, envelope), target))
        if fate.copy is not None:
            self._messages += 1
            copy = envelope._replace(message_id=self._messages, copy_of=envelope.message_id)
            self.copies.append(copy)
            self.schedule(fate.copy, self._arrive, (Connection(source.index, copy), target))

    def _arrive(self, arrival: tuple[Connection, Machine]) -> None:
        connection, machine = arrival
        envelope = connection.envelope
        process = machine.process
        if process is None or not (
            envelope.is_request or envelope.incarnation == process.incarnation
        ):
            self.lose(envelope, machine, "no process runs there that awaits it")
            return
        if envelope.is_request:
            process.connections[envelope.message_id] = connection
        process.inbox.append(envelope)
        self.processes.knock(process)

    def lose(self, envelope: Envelope, machine: Machine, why: str) -> None:
        """Tell the observers that a message is lost."""
        self.tell_observers("lose", machine.key, envelope, why)
