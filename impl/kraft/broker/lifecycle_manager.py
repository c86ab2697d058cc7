"""A broker process: when it sends requests to the controller, and what they contain.

The steps of its lease are those of `kraft.broker.lease`. Around them are the timers: when the next
request is due, how long to await a response, and how long the first registration and the report of
a failed directory may take. Its requests also carry listeners, features and log directories. A
chance number comes with each event that may begin a back-off, for the jitter.

Kafka: BrokerLifecycleManager, BrokerRegistrationTracker.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from kraft.broker import lease
from kraft.broker.lease import BrokerLifecycle, BrokerState, Disconnect, Send
from kraft.chance import backoff_ms
from kraft.errors import ErrorCode
from kraft.ids import NO_BROKER_EPOCH
from kraft.rpc import BrokerRegistrationRequest

if TYPE_CHECKING:
    from kraft.broker.settings import BrokerSettings
    from kraft.ids import BrokerEpoch, DirectoryId, Offset
    from kraft.image.entries import BrokerRegistration
    from kraft.rpc import BrokerHeartbeatResponse, BrokerRegistrationResponse

DIRECTORIES_LEVEL: Final = 17
"""The first metadata version whose registrations name directories: 3.7-IV2. KIP-858."""
_FIRST_BACKOFF_MS: Final = 100
# A starting broker hurries, and so does one whose first request to shut down was answered.
_STARTING_INTERVAL_MS: Final = 10
_FIRST_SHUTDOWN_INTERVAL_MS: Final = 50


@dataclass(frozen=True, slots=True)
class OfflineDirectory:
    """A failed directory, the deadline to report it, and whether it is reported."""

    directory_id: DirectoryId
    deadline_ms: int
    is_delivered: bool = False


@dataclass(frozen=True, slots=True)
class Halt:
    """End the process at once, so that its replicas in a failed directory do not lead."""

    reason: str


Effect = Send | Disconnect | Halt


@dataclass(frozen=True, slots=True)
class BrokerProcess:
    """The state of a broker process.

    `communication_ms` is when the next request is due; None while a response is awaited or the
    process does not run. `wants_sooner` says that a request is to follow the response at once.
    `registration_deadline_ms` is None once the process has registered. `broker_epoch` is the last
    assigned epoch; it stays while the process registers again. `reported` has the directories in
    the heartbeat that is under way.

    Kafka: BrokerLifecycleManager.
    """

    settings: BrokerSettings
    lifecycle: BrokerLifecycle
    broker_epoch: BrokerEpoch = NO_BROKER_EPOCH
    communication_ms: int | None = None
    wants_sooner: bool = False
    registration_deadline_ms: int | None = None
    failed_attempts: int = 0
    ready_to_unfence: bool = False
    got_controlled_shutdown_response: bool = False
    offline_directories: tuple[OfflineDirectory, ...] = ()
    reported: tuple[DirectoryId, ...] = ()


@dataclass(frozen=True, slots=True)
class ProcessStep:
    """The result of one event: the next process, and the effects to perform in order."""

    process: BrokerProcess
    effects: tuple[Effect, ...] = ()


def start(process: BrokerProcess, now_ms: int) -> ProcessStep:
    """Begin to run, and ask for a registration until the configured timeout.

    Kafka: BrokerLifecycleManager.StartupEvent.
    """
    deadline_ms = now_ms + process.settings.initial_broker_registration_timeout_ms
    started = replace(
        process,
        lifecycle=lease.start(process.lifecycle).state,
        registration_deadline_ms=deadline_ms,
    )
    return _communicate(started, now_ms)


def next_deadline(process: BrokerProcess) -> int | None:
    """Return when `on_due` has something to do; None if only an outside event can change that.

    Kafka: KafkaEventQueue.
    """
    if not lease.is_live(process.lifecycle):
        return None
    times = [process.communication_ms, _request_deadline(process), process.registration_deadline_ms]
    times += [one.deadline_ms for one in process.offline_directories if not one.is_delivered]
    return min((time for time in times if time is not None), default=None)


def on_due(process: BrokerProcess, now_ms: int, chance: int) -> ProcessStep:
    """Do everything that is due.

    A process that has not registered in time shuts down. A process whose controller has not heard
    of a failed directory in time halts. A request without a response in time counts as a failure.

    Kafka: BrokerLifecycleManager.RegistrationTimeoutEvent, CommunicationEvent,
    OfflineDirBrokerFailureEvent.
    """
    if not lease.is_live(process.lifecycle):
        return ProcessStep(process)
    if _is_past(process.registration_deadline_ms, now_ms):
        return _ended(process, lease.request_shutdown(process.lifecycle))
    for one in process.offline_directories:
        if not one.is_delivered and _is_past(one.deadline_ms, now_ms):
            return _halted(
                process, f"directory {one.directory_id} was not reported to the controller in time"
            )
    effects: tuple[Effect, ...] = ()
    if _is_past(_request_deadline(process), now_ms):
        given_up = lease.on_request_timeout(process.lifecycle)
        process = _after_failure(replace(process, lifecycle=given_up.state), now_ms, chance)
        effects = given_up.effects
    if _is_past(process.communication_ms, now_ms):
        turn = _communicate(process, now_ms)
        return ProcessStep(turn.process, effects + turn.effects)
    return ProcessStep(process, effects)


def on_registration_response(
    process: BrokerProcess,
    correlation_id: int,
    response: BrokerRegistrationResponse,
    now_ms: int,
    chance: int,
) -> ProcessStep:
    """Take the epoch and send a heartbeat at once; after any error try again later.

    Kafka: BrokerLifecycleManager.BrokerRegistrationResponseEvent.
    """
    if not lease.is_awaited(process.lifecycle, correlation_id):
        return ProcessStep(process)
    answered = lease.on_registration_response(process.lifecycle, correlation_id, response)
    process = replace(process, lifecycle=answered.state)
    if response.error_code is not ErrorCode.NONE:
        return ProcessStep(_after_failure(process, now_ms, chance), answered.effects)
    registered = replace(
        process,
        broker_epoch=response.broker_epoch,
        registration_deadline_ms=None,
        failed_attempts=0,
    )
    return ProcessStep(_scheduled(registered, now_ms, 0), answered.effects)


def on_heartbeat_response(
    process: BrokerProcess,
    correlation_id: int,
    response: BrokerHeartbeatResponse,
    now_ms: int,
    chance: int,
) -> ProcessStep:
    """Change state as the controller says.

    After any error, also for a stale epoch, try again later.

    Kafka: BrokerLifecycleManager.BrokerHeartbeatResponseEvent.
    """
    if not lease.is_awaited(process.lifecycle, correlation_id):
        return ProcessStep(process)
    before = process.lifecycle.state
    answered = lease.on_heartbeat_response(process.lifecycle, correlation_id, response)
    if not lease.is_live(answered.state):
        return _ended(process, answered)
    process = replace(process, lifecycle=answered.state)
    if response.error_code is not ErrorCode.NONE:
        return ProcessStep(_after_failure(process, now_ms, chance), answered.effects)
    process = replace(process, failed_attempts=0, offline_directories=_delivered(process))
    interval_ms = process.settings.broker_heartbeat_interval_ms
    if before is BrokerState.STARTING:
        interval_ms = _STARTING_INTERVAL_MS
    elif before is BrokerState.PENDING_CONTROLLED_SHUTDOWN:
        if not process.got_controlled_shutdown_response:
            interval_ms = _FIRST_SHUTDOWN_INTERVAL_MS
        process = replace(process, got_controlled_shutdown_response=True)
    return ProcessStep(_scheduled(process, now_ms, interval_ms), answered.effects)


def replay_metadata(process: BrokerProcess, offset: Offset) -> BrokerProcess:
    """Replay committed metadata up to and including `offset`; later heartbeats report it."""
    if not lease.can_replay_metadata(process.lifecycle, offset):
        return process
    return replace(process, lifecycle=lease.replay_metadata(process.lifecycle, offset).state)


def set_ready_to_unfence(process: BrokerProcess, now_ms: int) -> BrokerProcess:
    """Ask to be unfenced from now on, as soon as possible.

    Kafka: BrokerLifecycleManager.setReadyToUnfence.
    """
    return _sooner(replace(process, ready_to_unfence=True), now_ms)


def begin_controlled_shutdown(process: BrokerProcess, now_ms: int) -> ProcessStep:
    """Ask to shut down, as soon as possible; a process that is not RUNNING stops at once.

    Kafka: BrokerLifecycleManager.beginControlledShutdown.
    """
    if not lease.can_request_shutdown(process.lifecycle):
        return ProcessStep(process)
    asked = lease.request_shutdown(process.lifecycle)
    if not lease.is_live(asked.state):
        return _ended(process, asked)
    return ProcessStep(_sooner(replace(process, lifecycle=asked.state), now_ms), asked.effects)


def on_directory_failure(
    process: BrokerProcess, directory_id: DirectoryId, now_ms: int
) -> BrokerProcess:
    """Report a failed log directory in the next heartbeat and in every later one.

    Kafka: BrokerLifecycleManager.propagateDirectoryFailure. KIP-858.
    """
    if any(one.directory_id == directory_id for one in process.offline_directories):
        return process
    deadline_ms = now_ms + process.settings.log_dir_failure_timeout_ms
    failed = (*process.offline_directories, OfflineDirectory(directory_id, deadline_ms))
    process = replace(process, offline_directories=failed)
    return _sooner(process, now_ms) if is_registered(process) else process


def is_registered(process: BrokerProcess) -> bool:
    """Return whether the process has an epoch."""
    return process.lifecycle.broker_epoch != NO_BROKER_EPOCH


def needs_registration_again(
    metadata_version: int | None, registration: BrokerRegistration | None
) -> bool:
    """Return whether a process must register again because its registration has no directories.

    That happens after an upgrade to a metadata version that has directories.

    Kafka: BrokerRegistrationTracker.brokerRegistrationNeedsRefresh. KIP-858.
    """
    if registration is None or metadata_version is None:
        return False
    return metadata_version >= DIRECTORIES_LEVEL and not registration.directories


def register_again(process: BrokerProcess, now_ms: int) -> BrokerProcess:
    """Register once more as the same incarnation, as soon as possible.

    The lease has no such step: for the lease, the process is one without an epoch. A request under
    way is awaited first.

    Kafka: BrokerLifecycleManager.resendBrokerRegistration.
    """
    if not lease.is_live(process.lifecycle):
        return process
    lifecycle = replace(process.lifecycle, broker_epoch=NO_BROKER_EPOCH)
    return _sooner(replace(process, lifecycle=lifecycle), now_ms)


def _communicate(process: BrokerProcess, now_ms: int) -> ProcessStep:
    """Send the request that is due. Kafka: BrokerLifecycleManager.CommunicationEvent."""
    state = process.lifecycle
    if is_registered(process):
        sent = lease.send_heartbeat(state, want_fence=_wants_fence(process), now_ms=now_ms)
    else:
        sent = lease.send_registration(state, now_ms)
    reported = tuple(one.directory_id for one in process.offline_directories)
    waiting = replace(process, lifecycle=sent.state, communication_ms=None, reported=reported)
    effects = tuple(
        _completed(process.settings, reported, one) if isinstance(one, Send) else one
        for one in sent.effects
    )
    return ProcessStep(waiting, effects)


def _wants_fence(process: BrokerProcess) -> bool:
    """Return whether the process wants to be fenced.

    Kafka only checks whether it is ready, which it never is before RECOVERY and always is after it.
    """
    match process.lifecycle.state:
        case BrokerState.STARTING:
            return True
        case BrokerState.RECOVERY:
            return not process.ready_to_unfence
        case _:
            return False


def _completed(settings: BrokerSettings, offline: tuple[DirectoryId, ...], send: Send) -> Send:
    """Return a request with the fields that the lease does not know."""
    request = send.request
    if not isinstance(request, BrokerRegistrationRequest):
        return replace(send, request=replace(request, offline_log_dirs=tuple(sorted(offline))))
    return replace(
        send,
        request=replace(
            request,
            cluster_id=settings.cluster_id,
            listeners=settings.listeners,
            features=settings.features,
            rack=settings.rack,
            log_dirs=tuple(sorted(settings.log_dirs)),
            previous_broker_epoch=settings.previous_broker_epoch,
        ),
    )


def _scheduled(process: BrokerProcess, now_ms: int, interval_ms: int) -> BrokerProcess:
    due_ms = now_ms if process.wants_sooner else now_ms + interval_ms
    return replace(process, communication_ms=due_ms, wants_sooner=False)


def _after_failure(process: BrokerProcess, now_ms: int, chance: int) -> BrokerProcess:
    """Back off before the next request, so that requests do not flood a controller in trouble."""
    delay_ms = backoff_ms(
        _FIRST_BACKOFF_MS,
        process.settings.broker_session_timeout_ms,
        process.failed_attempts,
        chance,
    )
    failed = replace(process, failed_attempts=process.failed_attempts + 1, wants_sooner=False)
    return _scheduled(failed, now_ms, delay_ms)


def _sooner(process: BrokerProcess, now_ms: int) -> BrokerProcess:
    """Return the process with a request due at once, or as soon as the awaited response arrives."""
    if not lease.is_live(process.lifecycle):
        return process
    if lease.is_waiting(process.lifecycle):
        return replace(process, wants_sooner=True)
    return _scheduled(process, now_ms, 0)


def _delivered(process: BrokerProcess) -> tuple[OfflineDirectory, ...]:
    return tuple(
        replace(one, is_delivered=True) if one.directory_id in process.reported else one
        for one in process.offline_directories
    )


def _request_deadline(process: BrokerProcess) -> int | None:
    request = process.lifecycle.request
    if request is None:
        return None
    return request.sent_ms + process.settings.broker_session_timeout_ms


def _is_past(deadline_ms: int | None, now_ms: int) -> bool:
    return deadline_ms is not None and now_ms >= deadline_ms


def _ended(process: BrokerProcess, step: lease.LeaseStep) -> ProcessStep:
    return ProcessStep(BrokerProcess(process.settings, step.state), step.effects)


def _halted(process: BrokerProcess, reason: str) -> ProcessStep:
    nothing = lease.without_memory(process.lifecycle)
    ended = replace(nothing, state=BrokerState.SHUTTING_DOWN)
    return ProcessStep(BrokerProcess(process.settings, ended), (Disconnect(), Halt(reason)))
