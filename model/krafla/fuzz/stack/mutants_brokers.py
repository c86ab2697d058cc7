"""Seeded bugs of how controllers treat brokers: registration, heartbeats, shutdown, directories."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from immutables import Map
from msgspec.structs import replace as with_fields

from krafla.fuzz.engine.mutant import seed_bug
from kraft.controller.operations import leadership
from kraft.controller.operations.cluster_control import Decision
from kraft.controller.operations.heartbeats import (
    BrokerControlState,
    HeartbeatState,
    end_session,
    is_shutting_down,
    overdue_brokers,
)
from kraft.controller.operations.result import Generated, Result
from kraft.records.lease import BrokerRegistrationChangeRecord, UnregisterBrokerRecord

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant, Probe

__all__ = ["BROKERS"]

BROKERS: Final[list[Mutant]] = []
_seed = partial(seed_bug, BROKERS)
_STOPS: Final = (("broker-shutdown", 700),)
_RESTARTS: Final = (("quick-restart", 1_000), ("duplication", 3_000), ("delay", 4_000))


@_seed(
    "fences-all-from-one-state",
    "KAFKA-13173",
    "kraft.controller.operations.broker_heartbeats:maybe_fence_stale_broker",
    "All brokers whose sessions ran out are fenced at once, each as if it were the only one.",
    (("partition", 3_000), ("kill", 1_500), ("cluster-power-loss", 9_000)),
)
def _fences_all(right: Any, probe: Probe) -> Any:
    def maybe_fence_stale_broker(written: Any, heartbeats: Any, defaults: Any, now_ms: int) -> Any:
        overdue = overdue_brokers(heartbeats, now_ms)
        probe.trigger(different=len(overdue) > 1)
        if len(overdue) < 2:
            return right(written, heartbeats, defaults, now_ms)
        records: tuple[Any, ...] = ()
        for broker_id in overdue:
            records += leadership.fence_broker(written.image, defaults, broker_id, written.index)
            heartbeats = end_session(heartbeats, broker_id)
        return Generated(Result(records, response=False, is_atomic=False), heartbeats)

    return maybe_fence_stale_broker


@_seed(
    "unfences-at-the-end-of-the-log",
    "KAFKA-13959",
    "kraft.controller.operations.heartbeats:next_broker_state",
    "A broker has caught up only once it has read everything written so far.",
)
def _end_of_log(right: Any, probe: Probe) -> Any:
    def next_broker_state(image: Any, heartbeats: Any, request: Any) -> Any:
        found = right(image, heartbeats, request)
        behind = request.current_metadata_offset < image.log_end - 1
        fenced = image.registrations[request.broker_id].fenced
        late = found is BrokerControlState.UNFENCED and fenced and behind
        return probe.choose(found, BrokerControlState.FENCED if late else found)

    return next_broker_state


@_seed(
    "unfences-too-soon",
    "UnfencedOnlyCaughtUpProp",
    "kraft.controller.operations.heartbeats:is_caught_up",
    "A broker counts as caught up before it has read its own registration.",
)
def _too_soon(right: Any, probe: Probe) -> Any:
    def is_caught_up(registration: Any, request: Any) -> Any:
        return probe.choose(right(registration, request), wrong=True)

    return is_caught_up


@_seed(
    "shutdown-offset-moves-on",
    "KAFKA-14292",
    "kraft.controller.operations.broker_heartbeats:touch",
    "Each heartbeat of a broker in controlled shutdown raises the offset that the others must "
    "reach.",
    _STOPS,
)
def _moves_on(right: Any, probe: Probe) -> Any:
    def touch(heartbeats: Any, broker_id: Any, metadata_offset: Any, now_ms: int) -> Any:
        found = right(heartbeats, broker_id, metadata_offset, now_ms)
        state = found.brokers[broker_id]
        newest = max(one.metadata_offset for one in found.brokers.values())
        leaving = is_shutting_down(found, broker_id)
        raised = max(newest + 1, state.controlled_shutdown_offset) if leaving else -1
        later = replace(state, controlled_shutdown_offset=raised)
        return probe.choose(found, replace(found, brokers=found.brokers.set(broker_id, later)))

    return touch


@_seed(
    "stops-before-all-have-seen",
    "ShutdownSeenByAllProp",
    "kraft.controller.operations.heartbeats:is_shutdown_seen",
    "A broker may shut down before the others have read that it leads nothing.",
    _STOPS,
)
def _before_all(right: Any, probe: Probe) -> Any:
    def is_shutdown_seen(image: Any, heartbeats: Any, broker_id: Any) -> Any:
        return probe.choose(right(image, heartbeats, broker_id), wrong=True)

    return is_shutdown_seen


@_seed(
    "stops-while-it-leads",
    "GrantedIsOutProp",
    "kraft.controller.operations.broker_heartbeats:_records_of",
    "A broker that may shut down is fenced but stays leader and in sync.",
    _STOPS,
)
def _stops_leading(right: Any, probe: Probe) -> Any:
    def _records_of(decision: Any, written: Any, defaults: Any, broker_id: Any) -> Any:
        found = right(decision, written, defaults, broker_id)
        stops = decision is Decision.SHUT_DOWN_NOW
        return probe.choose(found, found[-1:] if stops else found)

    return _records_of


@_seed(
    "shutdown-keeps-isr",
    "KIP-841",
    "kraft.controller.operations.leadership:begin_controlled_shutdown",
    "A broker in controlled shutdown stays leader and in sync until it is gone.",
    _STOPS,
)
def _keeps_isr(right: Any, probe: Probe) -> Any:
    def begin_controlled_shutdown(*given: Any) -> Any:
        found = right(*given)
        kept = tuple(one for one in found if isinstance(one, BrokerRegistrationChangeRecord))
        return probe.choose(found, kept)

    return begin_controlled_shutdown


@_seed(
    "epoch-anew-for-the-same-process",
    "KAFKA-16952",
    "kraft.controller.operations.cluster_control:_amend_registration",
    "A process that registers again gets another broker epoch.",
    _RESTARTS,
)
def _epoch_anew(right: Any, probe: Probe) -> Any:
    def _amend_registration(registration: Any, request: Any) -> Any:
        found = right(registration, request)
        epoch = registration.record_offset + 1
        probe.trigger()
        records = (with_fields(found.records[0], broker_epoch=epoch),)
        return replace(found, records=records, response=replace(found.response, broker_epoch=epoch))

    return _amend_registration


@_seed(
    "registers-again-fenced",
    "KAFKA-16757",
    "kraft.controller.operations.cluster_control:_amend_registration",
    "A process that registers again is fenced although it runs.",
    _RESTARTS,
)
def _fenced_again(right: Any, probe: Probe) -> Any:
    def _amend_registration(registration: Any, request: Any) -> Any:
        found = right(registration, request)
        records = (with_fields(found.records[0], fenced=True),)
        return replace(found, records=probe.choose(found.records, records))

    return _amend_registration


@_seed(
    "heartbeats-renew-nothing",
    "KAFKA-15019",
    "kraft.controller.operations.broker_heartbeats:touch",
    "A heartbeat during a session does not renew it.",
)
def _renews_nothing(right: Any, probe: Probe) -> Any:
    def touch(heartbeats: Any, broker_id: Any, metadata_offset: Any, now_ms: int) -> Any:
        before = heartbeats.brokers.get(broker_id, HeartbeatState())
        found = right(heartbeats, broker_id, metadata_offset, now_ms)
        if before.contact_time_ms is None:
            return found
        state = replace(found.brokers[broker_id], contact_time_ms=before.contact_time_ms)
        return probe.choose(found, replace(found, brokers=found.brokers.set(broker_id, state)))

    return touch


@_seed(
    "activates-without-sessions",
    "KAFKA-18138",
    "kraft.controller.operations.broker_heartbeats:fresh_heartbeats",
    "A new active controller knows no sessions, so a broker that stays silent is never fenced.",
    (("resign", 4_000), ("kill", 2_000), ("partition", 6_000)),
)
def _without_sessions(right: Any, probe: Probe) -> Any:
    def fresh_heartbeats(image: Any, session_timeout_ms: int, now_ms: int) -> Any:
        found = right(image, session_timeout_ms, now_ms)
        silent = {one: HeartbeatState() for one in found.brokers}
        return probe.choose(found, replace(found, brokers=Map(silent)))

    return fresh_heartbeats


@_seed(
    "second-process-takes-the-id",
    "KAFKA-19047",
    "kraft.controller.operations.cluster_control:has_valid_session",
    "A second process gets the id of a broker whose session is still open.",
    _RESTARTS,
)
def _takes_id(right: Any, probe: Probe) -> Any:
    def has_valid_session(heartbeats: Any, broker_id: Any, now_ms: int) -> Any:
        return probe.choose(right(heartbeats, broker_id, now_ms), wrong=False)

    return has_valid_session


@_seed(
    "quick-restart-is-refused",
    "KAFKA-19047",
    "kraft.controller.operations.cluster_control:has_valid_session",
    "The session of a process that ended long ago never runs out.",
    (("quick-restart", 4_000), ("kill", 3_000)),
)
def _never_ends(right: Any, probe: Probe) -> Any:
    def has_valid_session(heartbeats: Any, broker_id: Any, now_ms: int) -> Any:
        state = heartbeats.brokers.get(broker_id, HeartbeatState())
        found = right(heartbeats, broker_id, now_ms)
        return probe.choose(found, found or state.metadata_offset >= 0)

    return has_valid_session


@_seed(
    "registers-beside-its-leaderships",
    "KAFKA-18106",
    "kraft.controller.operations.leadership:register_broker",
    "A new process registers, and its broker stays leader and in sync.",
    _RESTARTS,
)
def _beside(right: Any, probe: Probe) -> Any:
    def register_broker(*given: Any, **named: Any) -> Any:
        found = right(*given, **named)
        return probe.choose(found, found[-1:])

    return register_broker


@_seed(
    "every-stop-was-clean",
    "KAFKA-18635",
    "kraft.controller.operations.leadership:register_broker",
    "A broker that crashed stays eligible to lead, though it may have lost data.",
    (("quick-restart", 1_500), ("power-loss", 3_000), ("kill", 3_000)),
)
def _always_clean(right: Any, probe: Probe) -> Any:
    def register_broker(*given: Any, clean: bool = False) -> Any:
        return probe.choose(right(*given, clean=clean), right(*given, clean=True))

    return register_broker


@_seed(
    "fence-keeps-isr",
    "sabotage",
    "kraft.controller.operations.leadership:fence_broker",
    "A fenced broker stays leader and in sync.",
)
def _fence_keeps(right: Any, probe: Probe) -> Any:
    def fence_broker(*given: Any) -> Any:
        found = right(*given)
        return probe.choose(found, found[-1:])

    return fence_broker


@_seed(
    "unfenced-is-told-fenced",
    "BrokerLease!HeedHeartbeat",
    "kraft.controller.operations.cluster_control:process_broker_heartbeat",
    "The answer to the heartbeat that unfences a broker still says that it is fenced.",
)
def _told_fenced(right: Any, probe: Probe) -> Any:
    def process_broker_heartbeat(image: Any, heartbeats: Any, request: Any) -> Any:
        found = right(image, heartbeats, request)
        if found.decision is not Decision.UNFENCE_BROKER:
            return found
        return replace(
            found, response=probe.choose(found.response, replace(found.response, is_fenced=True))
        )

    return process_broker_heartbeat


@_seed(
    "any-epoch-will-do",
    "KIP-631",
    "kraft.controller.operations.cluster_control:is_current_epoch",
    "The heartbeats of a process count for the process that replaced it.",
    (*_RESTARTS, ("clog", 1_500)),
)
def _any_epoch(right: Any, probe: Probe) -> Any:
    def is_current_epoch(image: Any, broker_id: Any, epoch: Any) -> Any:
        return probe.choose(right(image, broker_id, epoch), broker_id in image.registrations)

    return is_current_epoch


@_seed(
    "failed-directory-is-ignored",
    "KAFKA-15364",
    "kraft.controller.operations.broker_heartbeats:directories_offline",
    "Failed directories that a heartbeat reports are not recorded.",
    (("lost-directory", 2_000),),
)
def _directory_ignored(right: Any, probe: Probe) -> Any:
    def directories_offline(*given: Any) -> Any:
        return probe.choose(right(*given), ())

    return directories_offline


@_seed(
    "failed-directory-leads-on",
    "KIP-858",
    "kraft.controller.operations.broker_heartbeats:directories_offline",
    "Replicas in a directory that is known to have failed stay leaders and in sync.",
    (("lost-directory", 2_000),),
)
def _directory_leads(right: Any, probe: Probe) -> Any:
    def directories_offline(*given: Any) -> Any:
        found = right(*given)
        return probe.choose(found, found[-1:])

    return directories_offline


@_seed(
    "refusal-is-swallowed",
    "sabotage",
    "kraft.controller.operations.cluster_control:register_broker",
    "A process that is refused an id is answered with the broker epoch of the process that has it.",
    _RESTARTS,
)
def _refusal_swallowed(right: Any, probe: Probe) -> Any:
    def register_broker(image: Any, heartbeats: Any, request: Any, now_ms: int) -> Any:
        found = right(image, heartbeats, request, now_ms)
        if found.decision is not Decision.REFUSE_REGISTRATION:
            return found
        epoch = image.registrations[request.broker_id].epoch
        told = type(found.response)(broker_epoch=epoch)
        return replace(found, response=probe.choose(found.response, told))

    return register_broker


@_seed(
    "unregisters-beside-its-leaderships",
    "sabotage",
    "kraft.controller.operations.leadership:unregister_broker",
    "An unregistered broker stays leader and in sync.",
)
def _unregisters(right: Any, probe: Probe) -> Any:
    def unregister_broker(*given: Any) -> Any:
        found = right(*given)
        return probe.choose(
            found, tuple(one for one in found if isinstance(one, UnregisterBrokerRecord))
        )

    return unregister_broker
