"""The seeded scheduler: it makes the choices of a realistic run, with the faults of a plan.

The agenda holds entries by due time, on the controller's clock. An entry that has become pointless
by its due time is dropped. All randomness of a run comes from here.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Final

from kraft.broker.lease import BrokerState, is_awaited
from kraft.controller.operations.heartbeats import overdue_brokers
from kraft.errors import ErrorCode
from kraft.ids import NO_BROKER_EPOCH, BrokerId, IncarnationId, Offset
from kraft.rpc import BrokerHeartbeatResponse, BrokerRegistrationResponse
from kraft.sim.lease import choices
from kraft.sim.lease.cluster import Cluster, Process, is_running
from kraft.sim.lease.configuration import broker_ids
from kraft.sim.lease.image import can_elect
from kraft.sim.lease.network import find, is_request

if TYPE_CHECKING:
    from random import Random

    from kraft.sim.common.step import StepResult
    from kraft.sim.lease.choices import Choice
    from kraft.sim.lease.configuration import Configuration
    from kraft.sim.lease.faults import FaultPlan
    from kraft.sim.lease.network import Envelope

PROMPT_MS: Final = (1, 20)  # the time in flight of a message that is not delayed
BACKOFF_MS: Final = 100  # after the first failure; each failure doubles it, up to a session
REPLAY_MS: Final = (20, 400)
FENCING_MS: Final = (100, 800)
ELECTION_MS: Final = (300, 3_000)
SHUTDOWN_HEARTBEAT_MS: Final = 50
IDLE_ENTRIES_MAX: Final = 50

Entry = tuple[int, int, Callable[[Cluster, Any], "Choice | None"], Any]


class Scheduler:
    """The scheduler of one run.

    Call `next_choice`, perform the choice, and pass the result to `observe`.
    """

    def __init__(self, configuration: Configuration, plan: FaultPlan, random: Random) -> None:
        self._configuration = configuration
        self._plan = plan
        self._random = random
        self._brokers = broker_ids(configuration)
        self._incarnations = sorted(each.incarnation_id for each in configuration.processes)
        self._agenda: list[Entry] = []
        self._entry_count = 0
        self._due_ms = 0  # of the current entry
        self._pending: Choice | None = None
        self._send_due_ms: dict[IncarnationId, int] = {}
        self._ready_ms: dict[IncarnationId, int] = {}
        self._failures: dict[IncarnationId, int] = {}
        self._cut_off_until_ms: dict[IncarnationId, int] = {}
        for broker_id in self._brokers:
            self._at(random.randint(0, 3_000), self._start, broker_id)
        self._at(random.randint(*FENCING_MS), self._fence, None)
        self._at(random.randint(*ELECTION_MS), self._elect, None)
        for every_ms, fault in (
            (plan.crash_every_ms, self._crash),
            (plan.shutdown_every_ms, self._shut_down),
            (plan.conflict_every_ms, self._conflict),
            (plan.fail_over_every_ms, self._fail_over),
            (plan.unregister_every_ms, self._unregister),
            (plan.cut_off_every_ms, self._cut_off),
        ):
            if every_ms:
                self._at(random.randint(1, 2 * every_ms), fault, None)

    def next_choice(self, cluster: Cluster) -> Choice:
        """Return the next choice: what is due now, or a tick until something is due."""
        if self._pending is not None:
            choice, self._pending = self._pending, None
            return choice
        now_ms = cluster.controller_time_ms
        idle_entries = 0
        while True:
            due_ms, _, choose, subject = heappop(self._agenda)
            self._due_ms = max(due_ms, now_ms)
            chosen = choose(cluster, subject)
            idle_entries += 1
            if due_ms <= now_ms:
                if chosen is not None:
                    return chosen
            elif chosen is not None or idle_entries > IDLE_ENTRIES_MAX:
                self._pending = chosen
                return self._tick(cluster, due_ms - now_ms)

    def observe(self, result: StepResult[Cluster, Choice]) -> None:
        """Schedule what follows from a step."""
        before, after = result.before, result.after
        self._due_ms = after.controller_time_ms
        if after.next_message_id > before.next_message_id:
            self._route(after.network[-1])
        match result.choice:
            case choices.Deliver(message_id):
                envelope = find(before.network, message_id)
                assert envelope is not None
                if not is_request(envelope):
                    self._after_response(after, envelope)
            case choices.StartBroker(incarnation_id):
                self._send_in(incarnation_id, self._random.randint(1, 50))
                self._at(self._random.randint(*REPLAY_MS), self._replay, incarnation_id)
            case choices.RequestTimeout(incarnation_id):
                self._back_off(incarnation_id)
            case choices.RequestShutdown(incarnation_id) | choices.Crash(incarnation_id):
                process = after.processes[incarnation_id]
                if is_running(process):
                    self._send_in(incarnation_id, 1)
                else:
                    self._after_end(process)

    def _at(
        self, delay_ms: int, choose: Callable[[Cluster, Any], Choice | None], subject: object
    ) -> None:
        self._entry_count += 1
        entry = (self._due_ms + delay_ms, self._entry_count, choose, subject)
        heappush(self._agenda, entry)

    def _happens(self, permille: int) -> bool:
        return permille > 0 and self._random.randrange(1_000) < permille

    # Due entries.

    def _tick(self, cluster: Cluster, by_controller_ms: int) -> Choice:
        if not self._happens(self._plan.skew_permille):
            return choices.Tick(by_controller_ms)
        by_broker_ms = []
        for incarnation_id in self._incarnations:
            process = cluster.processes[incarnation_id]
            if not is_running(process):
                continue
            slowest = max(0, process.clock_lead_ms - by_controller_ms)
            lead_ms = self._random.randint(slowest, self._configuration.max_skew_ms)
            elapsed_ms = by_controller_ms + lead_ms - process.clock_lead_ms
            by_broker_ms.append((incarnation_id, elapsed_ms))
        return choices.Tick(by_controller_ms, tuple(by_broker_ms))

    def _start(self, cluster: Cluster, broker_id: BrokerId) -> Choice | None:
        unused = self._unused(cluster, broker_id)
        return None if unused is None else choices.StartBroker(unused)

    def _send(self, cluster: Cluster, incarnation_id: IncarnationId) -> Choice | None:
        process = cluster.processes[incarnation_id]
        if self._send_due_ms.get(incarnation_id) != self._due_ms or not is_running(process):
            return None
        state = process.lifecycle
        if state.request is not None:
            return None
        if state.broker_epoch == NO_BROKER_EPOCH:
            return choices.SendRegistration(incarnation_id)
        want_fence = state.state is BrokerState.STARTING or (
            state.state is BrokerState.RECOVERY and self._due_ms < self._ready_ms[incarnation_id]
        )
        return choices.SendHeartbeat(incarnation_id, want_fence)

    def _give_up(self, cluster: Cluster, request: tuple[IncarnationId, int]) -> Choice | None:
        incarnation_id, correlation_id = request
        process = cluster.processes[incarnation_id]
        if not is_running(process) or not is_awaited(process.lifecycle, correlation_id):
            return None
        return choices.RequestTimeout(incarnation_id)

    def _replay(self, cluster: Cluster, incarnation_id: IncarnationId) -> Choice | None:
        process = cluster.processes[incarnation_id]
        if not is_running(process):
            return None
        self._at(self._random.randint(*REPLAY_MS), self._replay, incarnation_id)
        applied_offset, last_offset = process.lifecycle.applied_offset, len(cluster.log) - 1
        if last_offset <= applied_offset:
            return None
        if self._happens(200):
            last_offset = self._random.randint(applied_offset + 1, last_offset)
        return choices.ReplayMetadata(incarnation_id, Offset(last_offset))

    def _arrive(self, cluster: Cluster, message_id: int) -> Choice | None:
        return choices.Deliver(message_id) if find(cluster.network, message_id) else None

    def _get_lost(self, cluster: Cluster, message_id: int) -> Choice | None:
        return choices.LoseMessage(message_id) if find(cluster.network, message_id) else None

    def _arrive_again(self, cluster: Cluster, message_id: int) -> Choice | None:
        return choices.DuplicateMessage(message_id) if find(cluster.network, message_id) else None

    def _fence(self, cluster: Cluster, _: None) -> Choice | None:
        overdue = overdue_brokers(cluster.controller.heartbeats, self._due_ms)
        delay_ms = 1 if len(overdue) > 1 else self._random.randint(*FENCING_MS)
        self._at(delay_ms, self._fence, None)
        return choices.FenceStaleBroker(self._random.choice(overdue)) if overdue else None

    def _elect(self, cluster: Cluster, _: None) -> Choice | None:
        self._at(self._random.randint(*ELECTION_MS), self._elect, None)
        image = cluster.controller.image
        candidates = [broker_id for broker_id in self._brokers if can_elect(image, broker_id)]
        return choices.ElectLeader(self._random.choice(candidates)) if candidates else None

    # Faults.

    def _again(self, every_ms: int, fault: Callable[[Cluster, Any], Choice | None]) -> None:
        self._at(self._random.randint(1, 2 * every_ms), fault, None)

    def _crash(self, cluster: Cluster, _: None) -> Choice | None:
        self._again(self._plan.crash_every_ms, self._crash)
        victims = self._replaceable(cluster)
        return choices.Crash(_id_of(self._random.choice(victims))) if victims else None

    def _kill(self, cluster: Cluster, incarnation_id: IncarnationId) -> Choice | None:
        process = cluster.processes[incarnation_id]
        return choices.Crash(incarnation_id) if process in self._replaceable(cluster) else None

    def _shut_down(self, cluster: Cluster, _: None) -> Choice | None:
        self._again(self._plan.shutdown_every_ms, self._shut_down)
        victims = [
            process
            for process in self._replaceable(cluster)
            if process.lifecycle.state is not BrokerState.PENDING_CONTROLLED_SHUTDOWN
        ]
        return choices.RequestShutdown(_id_of(self._random.choice(victims))) if victims else None

    def _conflict(self, cluster: Cluster, _: None) -> Choice | None:
        self._again(self._plan.conflict_every_ms, self._conflict)
        return self._start(cluster, self._random.choice(self._brokers))

    def _fail_over(self, cluster: Cluster, _: None) -> Choice | None:  # noqa: ARG002 - an entry
        self._again(self._plan.fail_over_every_ms, self._fail_over)
        return choices.FailOver()

    def _unregister(self, cluster: Cluster, _: None) -> Choice | None:
        self._again(self._plan.unregister_every_ms, self._unregister)
        registered = sorted(cluster.controller.image.registrations)
        return choices.UnregisterBroker(self._random.choice(registered)) if registered else None

    def _cut_off(self, cluster: Cluster, _: None) -> Choice | None:
        self._again(self._plan.cut_off_every_ms, self._cut_off)
        running = [each for each in self._incarnations if is_running(cluster.processes[each])]
        if running:
            lasts_ms = self._random.randint(1, 2 * self._configuration.session_timeout_ms)
            self._cut_off_until_ms[self._random.choice(running)] = self._due_ms + lasts_ms
        return None

    def _unused(self, cluster: Cluster, broker_id: BrokerId) -> IncarnationId | None:
        """Return the next process of a broker id that never ran, if one is left."""
        for identity in self._configuration.processes:
            if identity.broker_id == broker_id:
                process = cluster.processes[identity.incarnation_id]
                if process.lifecycle.state is BrokerState.NOT_RUNNING and not process.crashed:
                    return identity.incarnation_id
        return None

    def _replaceable(self, cluster: Cluster) -> list[Process]:
        """Return the running processes that another one could follow."""
        running = [
            process
            for identity in self._configuration.processes
            if is_running(process := cluster.processes[identity.incarnation_id])
        ]
        return [
            process
            for process in running
            if self._unused(cluster, process.lifecycle.broker_id) is not None
        ]

    # Consequences of a step.

    def _route(self, envelope: Envelope) -> None:
        plan, message_id = self._plan, envelope.message_id
        delay_ms = self._random.randint(*PROMPT_MS)
        if self._happens(plan.delayed_permille):
            delay_ms = self._random.randint(20, 2 * self._configuration.request_timeout_ms)
        if is_request(envelope) and self._happens(plan.duplicated_permille):
            self._at(self._random.randint(0, delay_ms), self._arrive_again, message_id)
        is_cut_off = self._due_ms < self._cut_off_until_ms.get(envelope.incarnation_id, 0)
        arrives = not self._happens(plan.lost_permille) and not is_cut_off
        self._at(delay_ms, self._arrive if arrives else self._get_lost, message_id)
        if envelope.is_awaited and is_request(envelope):
            request = (envelope.incarnation_id, envelope.correlation_id)
            self._at(self._configuration.request_timeout_ms, self._give_up, request)

    def _send_in(self, incarnation_id: IncarnationId, delay_ms: int) -> None:
        self._send_due_ms[incarnation_id] = self._due_ms + delay_ms
        self._at(delay_ms, self._send, incarnation_id)

    def _back_off(self, incarnation_id: IncarnationId) -> None:
        failures = self._failures.get(incarnation_id, 0)
        self._failures[incarnation_id] = failures + 1
        delay_ms = min(BACKOFF_MS << min(failures, 10), self._configuration.session_timeout_ms)
        self._send_in(incarnation_id, delay_ms + self._random.randint(0, BACKOFF_MS))

    def _after_response(self, cluster: Cluster, response: Envelope) -> None:
        incarnation_id = response.incarnation_id
        process = cluster.processes[incarnation_id]
        interval_ms = self._configuration.heartbeat_interval_ms
        if not is_running(process):
            self._after_end(process)
            return
        if (error_code := _error_of(response)) is not ErrorCode.NONE:
            self._back_off(incarnation_id)
            if error_code is ErrorCode.STALE_BROKER_EPOCH:
                # A broker with a stale epoch sends heartbeats in vain for ever: it is restarted.
                delay_ms = self._random.randint(1, 2 * self._configuration.session_timeout_ms)
                self._at(delay_ms, self._kill, incarnation_id)
            return
        self._failures.pop(incarnation_id, None)
        match process.lifecycle.state:
            case BrokerState.STARTING:
                delay_ms = interval_ms // 20
            case BrokerState.RECOVERY:
                recovery_ms = self._random.randint(0, 2 * interval_ms)
                self._ready_ms.setdefault(incarnation_id, self._due_ms + recovery_ms)
                delay_ms = interval_ms // 10
            case BrokerState.PENDING_CONTROLLED_SHUTDOWN:
                delay_ms = SHUTDOWN_HEARTBEAT_MS
            case _:
                delay_ms = interval_ms
        self._send_in(incarnation_id, delay_ms)

    def _after_end(self, process: Process) -> None:
        delay_ms = self._random.randint(100, 2 * self._configuration.session_timeout_ms)
        self._at(delay_ms, self._start, process.lifecycle.broker_id)


def _error_of(response: Envelope) -> ErrorCode:
    match response.payload:
        case BrokerRegistrationResponse() | BrokerHeartbeatResponse() as payload:
            return payload.error_code
        case _:
            raise AssertionError("a request has no error code")


def _id_of(process: Process) -> IncarnationId:
    return process.lifecycle.incarnation_id
