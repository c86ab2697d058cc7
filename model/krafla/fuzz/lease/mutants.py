"""Seeded bugs of the lease: of the controller's registrations and sessions, and of brokers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs

from krafla.fuzz.engine.mutant import Killer, Mutant, seed_bug, wrong_answer
from krafla.fuzz.lease.mutants_broker import BROKER
from kraft.controller.operations.cluster_control import Decision
from kraft.controller.operations.heartbeats import Heartbeats, HeartbeatState, heartbeat_state
from kraft.ids import Offset
from kraft.records.lease import (
    FENCE,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)
from kraft.rpc import BrokerRegistrationResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.fuzz.engine.mutant import Probe
    from kraft.sim.lease.image import ClusterImage

__all__ = ["MUTANTS"]

_CONTROLLER: Final[list[Mutant]] = []
_seed = partial(seed_bug, _CONTROLLER, profile="restless")
_CONTROL: Final = "kraft.controller.operations.cluster_control"
_HEARTBEATS: Final = "kraft.controller.operations.heartbeats"
_HEEDING: Final = (
    "KeepFenced", "UnfenceBroker", "KeepUnfenced", "FenceOnRequest", "BeginControlledShutdown",
    "ContinueControlledShutdown", "ShutDownNow",
)  # fmt: skip
_FENCING: Final = ("ShutDownNow", "FenceStaleBroker", "FenceOnRequest")


def _with_broker(beats: Heartbeats, broker_id: Any, state: HeartbeatState) -> Heartbeats:
    return replace(beats, brokers=beats.brokers.set(broker_id, state))


@_seed("unfences-before-catching-up", "KAFKA-13959", f"{_HEARTBEATS}:_next_state_of_fenced",
       "A broker is unfenced before it has replayed its own registration.",
       killer=Killer(("UnfenceBroker",), conjunct="NextBrokerState(b, m) = next",
                     breaks="UnfencedSawOwnRegistrationProp"))  # fmt: skip
@wrong_answer
def _always_caught_up(right: Any, registration: Any, request: Any) -> Any:
    return right(replace(registration, record_offset=request.current_metadata_offset), request)


def _registering(
    change: Callable[[Any, Any], Any], decision: Decision
) -> Callable[[Any, Probe], Any]:
    """Return the mistake that changes the record of one decision, and the answer with it."""

    def register_broker(right: Any, image: Any, *arguments: Any) -> Any:
        result = right(image, *arguments)
        if result.decision is not decision:
            return result
        record = change(result.records[0], image)
        response = BrokerRegistrationResponse(broker_epoch=record.broker_epoch)
        return replace(result, records=(record,), response=response)

    return wrong_answer(register_broker)


_seed("amending-takes-new-epoch", "KAFKA-16952", f"{_CONTROL}:register_broker",
      "A process that registers again gets a new broker epoch.",
      killer=Killer(("AmendRegistration",), "registrations",
                    breaks="EpochFollowsIncarnationProp"))(
    _registering(lambda record, image: structs.replace(record, broker_epoch=image.log_end),
                 Decision.AMEND_REGISTRATION))  # fmt: skip
_seed("amending-fences-again", "KAFKA-16757", f"{_CONTROL}:register_broker",
      "A process that registers again is fenced.",
      killer=Killer(("AmendRegistration",), "registrations", breaks="AmendKeepsStateProp"))(
    _registering(lambda record, _: structs.replace(record, fenced=True),
                 Decision.AMEND_REGISTRATION))  # fmt: skip
_seed("registration-is-not-fenced", "KIP-631", f"{_CONTROL}:register_broker",
      "A new registration is not fenced.",
      killer=Killer(("RegisterBroker",), "registrations", breaks="NewRegistrationIsFencedProp"))(
    _registering(lambda record, _: structs.replace(record, fenced=False),
                 Decision.REGISTER_BROKER))  # fmt: skip


def _unchanged_after(kinds: Callable[[Any, Any], bool]) -> Callable[[Any, Probe], Any]:
    """Return the mistake that leaves all soft state as it is after some kinds of records."""

    def after_record(right: Any, beats: Any, before: Any, after: Any, record: Any) -> Any:
        return beats if kinds(record, before) else right(beats, before, after, record)

    return wrong_answer(after_record)


def _registers_again(record: Any, before: ClusterImage) -> bool:
    return isinstance(record, RegisterBrokerRecord) and record.broker_id in before.registrations


def _is_displacement(record: Any, before: ClusterImage) -> bool:
    return _registers_again(record, before) and (
        before.registrations[record.broker_id].incarnation_id != record.incarnation_id
    )


def _is_amendment(record: Any, before: ClusterImage) -> bool:
    return _registers_again(record, before) and not _is_displacement(record, before)


_seed("amending-keeps-reported-offset", "BrokerHeartbeatManager.register",
      f"{_HEARTBEATS}:after_record",
      "The metadata offset that a process reported outlives its second registration.",
      killer=Killer(("AmendRegistration",), "metadata_offset"))(
    _unchanged_after(_is_amendment))  # fmt: skip
_seed("registration-inherits-session", "BrokerHeartbeatManager.register",
      f"{_HEARTBEATS}:after_record",
      "A new incarnation inherits the session of the one before.",
      killer=Killer(("RegisterBroker",), "contact_age"))(
    _unchanged_after(_is_displacement))  # fmt: skip
_seed("unregistering-keeps-soft-state", "BrokerHeartbeatManager.remove",
      f"{_HEARTBEATS}:after_record",
      "The controller keeps the session of a broker that was unregistered.",
      killer=Killer(("UnregisterBroker",), "contact_age", breaks="SoftStateOfRegisteredInv"))(
    _unchanged_after(lambda record, _: isinstance(record, UnregisterBrokerRecord)))  # fmt: skip


@_seed("newcomer-displaces-live-session", "KIP-631", f"{_HEARTBEATS}:has_valid_session",
       "A new incarnation registers while the session of the old one is valid.",
       killer=Killer(("RegisterBroker",), conjunct="HasValidSession(b)",
                     breaks="SessionProtectsProp"))  # fmt: skip
@wrong_answer
def _no_valid_session(*_: Any) -> bool:
    return False


@_seed("only-unfenced-have-sessions", "Kafka before BrokerHeartbeatTracker",
       f"{_CONTROL}:register_broker",
       "The session of a fenced broker does not protect its registration.",
       killer=Killer(("RegisterBroker",), conjunct="HasValidSession(b)",
                     breaks="SessionProtectsProp"))  # fmt: skip
@wrong_answer
def _displaces_fenced(right: Any, image: Any, beats: Any, request: Any, now_ms: int) -> Any:
    registration = image.registrations.get(request.broker_id)
    if registration is not None and registration.fenced:
        beats = _with_broker(beats, request.broker_id, HeartbeatState())
    return right(image, beats, request, now_ms)


@_seed("refusal-carries-other-epoch", "KIP-631, DUPLICATE_BROKER_REGISTRATION",
       f"{_CONTROL}:register_broker",
       "A refused registration is told the epoch of the incarnation that is registered.",
       killer=Killer(("RefuseRegistration",), "messages"))  # fmt: skip
@wrong_answer
def _refused_with_epoch(right: Any, image: Any, beats: Any, request: Any, now_ms: int) -> Any:
    result = right(image, beats, request, now_ms)
    if result.decision is not Decision.REFUSE_REGISTRATION:
        return result
    epoch = image.registrations[request.broker_id].epoch
    return replace(result, response=replace(result.response, broker_epoch=epoch))


@_seed("any-epoch-is-heard", "ClusterControlManager.checkBrokerEpoch",
       f"{_CONTROL}:is_current_epoch",
       "A heartbeat counts whatever its broker epoch is.",
       killer=Killer(("KeepFenced", "KeepUnfenced", "ContinueControlledShutdown"),
                     conjunct="registrations[b].epoch = m.epoch"))  # fmt: skip
@wrong_answer
def _any_registered(_right: Any, image: Any, broker_id: Any, _epoch: Any) -> bool:
    return broker_id in image.registrations


@_seed("heartbeat-does-not-renew-session", "BrokerHeartbeatManager.touch", f"{_HEARTBEATS}:touch",
       "A heartbeat does not renew the session of its broker.",
       killer=Killer(_HEEDING, "contact_age"))  # fmt: skip
@wrong_answer
def _touch_without_contact(right: Any, beats: Any, broker_id: Any, *arguments: Any) -> Any:
    contact_time_ms = heartbeat_state(beats, broker_id).contact_time_ms
    touched = right(beats, broker_id, *arguments)
    state = heartbeat_state(touched, broker_id)
    return _with_broker(touched, broker_id, replace(state, contact_time_ms=contact_time_ms))


@_seed("heartbeat-does-not-report-offset", "BrokerHeartbeatManager.touch", f"{_HEARTBEATS}:touch",
       "The controller ignores the metadata offset in a heartbeat.",
       killer=Killer(_HEEDING, "metadata_offset"))  # fmt: skip
@wrong_answer
def _touch_without_offset(right: Any, beats: Any, broker_id: Any, _offset: Any, now_ms: int) -> Any:
    return right(beats, broker_id, heartbeat_state(beats, broker_id).metadata_offset, now_ms)


@_seed("leaves-before-others-have-seen", "KIP-841", f"{_HEARTBEATS}:is_shutdown_seen",
       "A broker may leave before the others have seen that it shuts down.", profile="shutdowns",
       killer=Killer(("ShutDownNow",), conjunct="NextBrokerState(b, m) = next",
                     breaks="LeaveAwaitsOthersProp"))  # fmt: skip
@wrong_answer
def _always_seen(*_: Any) -> bool:
    return True


@_seed("heartbeat-moves-shutdown-offset", "KAFKA-14292",
       "kraft.sim.lease.active_controller:on_broker_heartbeat_request",
       "Each heartbeat in a controlled shutdown raises the offset that the others must reach.",
       profile="shutdowns",
       killer=Killer(("ContinueControlledShutdown",), "controlled_shutdown_offset"))  # fmt: skip
@wrong_answer
def _overwrites_shutdown_offset(right: Any, state: Any, request: Any, now_ms: int) -> Any:
    step = right(state, request, now_ms)
    if step.decision is not Decision.CONTINUE_CONTROLLED_SHUTDOWN:
        return step
    last = Offset(step.state.image.log_end - 1)
    old = heartbeat_state(step.state.heartbeats, request.broker_id)
    moved = replace(old, controlled_shutdown_offset=last)
    beats = _with_broker(step.state.heartbeats, request.broker_id, moved)
    return replace(step, state=replace(step.state, heartbeats=beats))


def _activation(contact: Callable[[Any, int], int | None]) -> Callable[[Any, Probe], Any]:
    """Return the mistake of a failover that gives registrations other contact times."""

    def fresh_heartbeats(_right: Any, image: Any, timeout_ms: int, now_ms: int) -> Heartbeats:
        states = {
            broker_id: HeartbeatState(contact(registration, now_ms))
            for broker_id, registration in image.registrations.items()
        }
        empty = Heartbeats(timeout_ms)
        return replace(empty, brokers=empty.brokers.update(states))

    return wrong_answer(fresh_heartbeats)


_seed("failover-starts-no-sessions", "KAFKA-18138", f"{_HEARTBEATS}:fresh_heartbeats",
      "A new active controller starts no sessions for unfenced brokers.",
      killer=Killer(("FailOver",), "contact_age", breaks="UnfencedHasSessionInv"))(
    _activation(lambda _, _now: None))  # fmt: skip
_seed("failover-counts-time-before", "ClusterControlManager.activate",
      f"{_HEARTBEATS}:fresh_heartbeats",
      "The sessions that a new active controller starts began before it was active.",
      killer=Killer(("FailOver",), "contact_age"))(
    _activation(lambda registration, now_ms: None if registration.fenced else now_ms - 1)
)  # fmt: skip
_seed("failover-gives-fenced-sessions", "ClusterControlManager.activate",
      f"{_HEARTBEATS}:fresh_heartbeats",
      "A new active controller starts sessions for fenced brokers, too.",
      killer=Killer(("FailOver",), "contact_age"))(
    _activation(lambda _, now_ms: now_ms))  # fmt: skip


@_seed("session-ends-at-timeout", "BrokerHeartbeatTracker.hasValidSession",
       f"{_HEARTBEATS}:is_within_session",
       "A session ends at its timeout, not after it.",
       killer=Killer(("FenceStaleBroker",), conjunct="contact_age[b] > SessionTimeout")
       )  # fmt: skip
@wrong_answer
def _session_ends_at_timeout(_right: Any, beats: Any, contact_time_ms: int, now_ms: int) -> bool:
    return bool(now_ms - contact_time_ms < beats.session_timeout_ms)


def _fences(record: Any) -> bool:
    return isinstance(record, BrokerRegistrationChangeRecord) and record.fenced == FENCE


@_seed("fencing-keeps-controlled-shutdown", "BrokerHeartbeatManager.fence",
       f"{_HEARTBEATS}:after_record",
       "A broker that is fenced stays in its controlled shutdown.",
       killer=Killer(_FENCING, "controlled_shutdown_offset", breaks="ShuttingDownIsUnfencedInv")
       )  # fmt: skip
@wrong_answer
def _fence_keeps_shutdown(right: Any, beats: Any, before: Any, after: Any, record: Any) -> Any:
    changed = right(beats, before, after, record)
    if not _fences(record):
        return changed
    kept = heartbeat_state(beats, record.broker_id).controlled_shutdown_offset
    state = heartbeat_state(changed, record.broker_id)
    return _with_broker(changed, record.broker_id, replace(state, controlled_shutdown_offset=kept))


@_seed("fencing-leaves-leaderships", "ReplicationControlManager.handleBrokerFenced",
       "kraft.sim.lease.replay:replay",
       "A broker that is fenced stays the leader of its partitions.",
       killer=Killer(_FENCING, "leads", breaks="OnlyActiveBrokersLeadInv"))  # fmt: skip
@wrong_answer
def _fence_keeps_leaderships(right: Any, image: Any, record: Any, offset: Any) -> Any:
    after = right(image, record, offset)
    return replace(after, leads=image.leads) if _fences(record) else after


@_seed("replay-ignores-change", "ClusterControlManager.replayRegistrationChange",
       "kraft.sim.lease.replay:replay",
       "Replay ignores the record that unfences a broker.",
       killer=Killer(("UnfenceBroker",), "registrations"))  # fmt: skip
@wrong_answer
def _replay_ignores_unfence(right: Any, image: Any, record: Any, offset: Any) -> Any:
    if isinstance(record, BrokerRegistrationChangeRecord) and record.fenced == UNFENCE:
        return replace(image, log_end=Offset(offset + 1))
    return right(image, record, offset)


MUTANTS: Final[tuple[Mutant, ...]] = (*_CONTROLLER, *BROKER)
"""Of the controller, and of brokers."""
