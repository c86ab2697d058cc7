"""Seeded bugs of the lease implementation, each with what must notice it.

A mutant replaces small functions of kraft by wrong ones. Most are bugs that Kafka had, or that the
KIPs warn of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from krafla.refinement.judgement import Divergence
from kraft.broker import lifecycle
from kraft.broker.lifecycle import BrokerState
from kraft.controller import active, cluster_control, heartbeats
from kraft.controller.cluster_control import Decision
from kraft.controller.heartbeats import Heartbeats, HeartbeatState, heartbeat_state
from kraft.controller.replay import replay
from kraft.errors import ErrorCode
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

    from krafla.refinement.judgement import Finding
    from kraft.controller.image import ClusterImage


@dataclass(frozen=True)
class Mutant:
    """A bug, and its only accepted killer: a divergence at one of these actions that names it.

    `variable` is one that must differ; None where the spec does not have the action at all.
    `conjunct` is a piece of the false conjunct's text. `breaks` is a property that the
    implementation's state must break.
    """

    id: str
    source: str
    patches: dict[str, Any]
    actions: tuple[str, ...]
    variable: str | None = None
    conjunct: str | None = None
    breaks: str | None = None
    profile: str = "restless"


def objection(mutant: Mutant, finding: Finding | None) -> str | None:
    """Return why a finding is not what must kill a mutant; None if it is."""
    if finding is None:
        return "survived"
    if not isinstance(finding, Divergence):
        return f"killed by something else: {finding}"
    texts = [reason.text for reason in finding.explanation.reasons]
    if finding.action.name not in mutant.actions:
        return f"killed at {finding.action.name}, not at {' or '.join(mutant.actions)}: {finding}"
    if mutant.variable is not None and mutant.variable not in finding.variables:
        return f"{mutant.variable} does not differ: {finding}"
    if mutant.conjunct is not None and not any(mutant.conjunct in text for text in texts):
        return f"{mutant.conjunct} is not what is false: {finding}"
    if mutant.breaks is not None and mutant.breaks not in finding.breaks:
        return f"{mutant.breaks} is not broken: {finding}"
    return None


_register_broker = cluster_control.register_broker
_on_heartbeat = active.on_broker_heartbeat_request
_after_record = heartbeats.after_record
_touch = heartbeats.touch
_state_after = lifecycle.state_after
_on_heartbeat_response = lifecycle.on_heartbeat_response
_can_send_heartbeat = lifecycle.can_send_heartbeat
_is_overdue = heartbeats.is_overdue
_without_memory = lifecycle.without_memory


def _always(answer: Any) -> Callable[..., Any]:
    return lambda *_: answer


def _with_broker(beats: Heartbeats, broker_id: Any, state: HeartbeatState) -> Heartbeats:
    return replace(beats, brokers=beats.brokers.set(broker_id, state))


def _registering(change: Callable[[Any, Any], Any], decision: Decision) -> Callable[..., Any]:
    """Return register_broker with the record of one decision changed, and the answer with it."""

    def register_broker(image: Any, beats: Any, request: Any, now_ms: int) -> Any:
        result = _register_broker(image, beats, request, now_ms)
        if result.decision is not decision:
            return result
        record = change(result.records[0], image)
        response = BrokerRegistrationResponse(broker_epoch=record.broker_epoch)
        return replace(result, records=(record,), response=response)

    return register_broker


def _newcomer_displaces_fenced(image: Any, beats: Any, request: Any, now_ms: int) -> Any:
    registration = image.registrations.get(request.broker_id)
    if registration is not None and registration.fenced:
        beats = _with_broker(beats, request.broker_id, HeartbeatState())
    return _register_broker(image, beats, request, now_ms)


def _refused_with_the_epoch(image: Any, beats: Any, request: Any, now_ms: int) -> Any:
    result = _register_broker(image, beats, request, now_ms)
    if result.decision is not Decision.REFUSE_REGISTRATION:
        return result
    epoch = image.registrations[request.broker_id].epoch
    return replace(result, response=replace(result.response, broker_epoch=epoch))


def _any_registered(image: Any, broker_id: Any, _epoch: Any) -> bool:
    return broker_id in image.registrations


def _touch_without_contact(beats: Any, broker_id: Any, offset: Any, now_ms: int) -> Any:
    contact_time_ms = heartbeat_state(beats, broker_id).contact_time_ms
    touched = _touch(beats, broker_id, offset, now_ms)
    state = heartbeat_state(touched, broker_id)
    return _with_broker(touched, broker_id, replace(state, contact_time_ms=contact_time_ms))


def _touch_without_offset(beats: Any, broker_id: Any, _offset: Any, now_ms: int) -> Any:
    return _touch(beats, broker_id, heartbeat_state(beats, broker_id).metadata_offset, now_ms)


def _overwrites_shutdown_offset(state: Any, request: Any, now_ms: int) -> Any:
    step = _on_heartbeat(state, request, now_ms)
    if step.decision is not Decision.CONTINUE_CONTROLLED_SHUTDOWN:
        return step
    beats = step.state.heartbeats
    kept = heartbeat_state(beats, request.broker_id)
    last_offset = Offset(step.state.image.log_end - 1)
    beats = _with_broker(
        beats, request.broker_id, replace(kept, controlled_shutdown_offset=last_offset)
    )
    return replace(step, state=replace(step.state, heartbeats=beats))


def _activation(contact: Callable[[Any, int], int | None]) -> Callable[..., Any]:
    def fresh_heartbeats(image: Any, session_timeout_ms: int, now_ms: int) -> Heartbeats:
        states = {
            broker_id: HeartbeatState(contact(registration, now_ms))
            for broker_id, registration in image.registrations.items()
        }
        empty = Heartbeats(session_timeout_ms)
        return replace(empty, brokers=empty.brokers.update(states))

    return fresh_heartbeats


def _session_ends_at_timeout(beats: Any, contact_time_ms: int, now_ms: int) -> bool:
    return now_ms - contact_time_ms < beats.session_timeout_ms


def _keeps_after(kinds: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    """Return after_record that leaves all soft state alone after some records."""

    def after_record(beats: Any, before: Any, after: Any, record: Any) -> Any:
        changed = _after_record(beats, before, after, record)
        return beats if kinds(record, before) else changed

    return after_record


def _is_amendment(record: Any, before: ClusterImage) -> bool:
    return _registers_again(record, before) and not _is_displacement(record, before)


def _is_displacement(record: Any, before: ClusterImage) -> bool:
    return _registers_again(record, before) and (
        before.registrations[record.broker_id].incarnation_id != record.incarnation_id
    )


def _registers_again(record: Any, before: ClusterImage) -> bool:
    return isinstance(record, RegisterBrokerRecord) and record.broker_id in before.registrations


def _fence_keeps_shutdown(beats: Any, before: Any, after: Any, record: Any) -> Any:
    changed = _after_record(beats, before, after, record)
    if isinstance(record, BrokerRegistrationChangeRecord) and record.fenced == FENCE:
        kept = heartbeat_state(beats, record.broker_id).controlled_shutdown_offset
        state = heartbeat_state(changed, record.broker_id)
        return _with_broker(
            changed, record.broker_id, replace(state, controlled_shutdown_offset=kept)
        )
    return changed


def _fence_keeps_leaderships(image: Any, record: Any, offset: Any) -> Any:
    after = replay(image, record, offset)
    if isinstance(record, BrokerRegistrationChangeRecord) and record.fenced == FENCE:
        return replace(after, leads=image.leads)
    return after


def _replay_ignores_unfence(image: Any, record: Any, offset: Any) -> Any:
    if isinstance(record, BrokerRegistrationChangeRecord) and record.fenced == UNFENCE:
        return replace(image, log_end=Offset(offset + 1))
    return replay(image, record, offset)


def _stays_connected(state: Any) -> Any:
    return lifecycle.Step(replace(state, request=None))


def _sends_while_waiting(state: Any, *, want_fence: bool) -> bool:
    return _can_send_heartbeat(replace(state, request=None), want_fence=want_fence)


def _runs_on_any_reply(current: Any, response: Any) -> Any:
    if current is BrokerState.RECOVERY and response.error_code is ErrorCode.NONE:
        return BrokerState.RUNNING
    return _state_after(current, response)


def _leaves_when_told_stale(current: Any, response: Any) -> Any:
    if current is BrokerState.PENDING_CONTROLLED_SHUTDOWN and response.error_code:
        return BrokerState.SHUTTING_DOWN
    return _state_after(current, response)


def _stale_answer_is_success(state: Any, correlation_id: int, response: Any) -> Any:
    return _on_heartbeat_response(
        state, correlation_id, replace(response, error_code=ErrorCode.NONE)
    )


def _remembers_its_epoch(state: Any) -> Any:
    return replace(_without_memory(state), broker_epoch=state.broker_epoch)


_HEEDING = (
    "KeepFenced", "UnfenceBroker", "KeepUnfenced", "FenceOnRequest", "BeginControlledShutdown",
    "ContinueControlledShutdown", "ShutDownNow",
)  # fmt: skip
_FENCING = ("ShutDownNow", "FenceStaleBroker", "FenceOnRequest")
_LIFECYCLE = "kraft.broker.lifecycle"
_ACTIVE = "kraft.controller.active"
_CONTROL = "kraft.controller.cluster_control"
_HEARTBEATS = "kraft.controller.heartbeats"

MUTANTS = (
    Mutant(
        "unfence before catching up", "KAFKA-13959",
        {f"{_HEARTBEATS}.is_caught_up": _always(True)},
        ("UnfenceBroker",),
        conjunct="NextBrokerState(b, m) = next", breaks="UnfencedSawOwnRegistrationProp",
    ),
    Mutant(
        "amending takes a new epoch", "KAFKA-16952",
        {
            f"{_CONTROL}.register_broker": _registering(
                lambda record, image: replace(record, broker_epoch=image.log_end),
                Decision.AMEND_REGISTRATION,
            )
        },
        ("AmendRegistration",), "registrations", breaks="EpochFollowsIncarnationProp",
    ),
    Mutant(
        "amending fences again", "KAFKA-16757",
        {
            f"{_CONTROL}.register_broker": _registering(
                lambda record, _: replace(record, fenced=True), Decision.AMEND_REGISTRATION
            )
        },
        ("AmendRegistration",), "registrations", breaks="AmendKeepsStateProp",
    ),
    Mutant(
        "amending keeps what was reported", "BrokerHeartbeatManager.register",
        {f"{_ACTIVE}.after_record": _keeps_after(_is_amendment)},
        ("AmendRegistration",), "metadata_offset",
    ),
    Mutant(
        "a newcomer displaces a live session", "KIP-631",
        {f"{_CONTROL}.has_valid_session": _always(False)},
        ("RegisterBroker",), conjunct="HasValidSession(b)", breaks="SessionProtectsProp",
    ),
    Mutant(
        "only unfenced brokers have sessions", "Kafka before BrokerHeartbeatTracker",
        {f"{_CONTROL}.register_broker": _newcomer_displaces_fenced},
        ("RegisterBroker",), conjunct="HasValidSession(b)", breaks="SessionProtectsProp",
    ),
    Mutant(
        "a new registration inherits the session", "BrokerHeartbeatManager.register",
        {f"{_ACTIVE}.after_record": _keeps_after(_is_displacement)},
        ("RegisterBroker",), "contact_age",
    ),
    Mutant(
        "a new registration is not fenced", "KIP-631",
        {
            f"{_CONTROL}.register_broker": _registering(
                lambda record, _: replace(record, fenced=False), Decision.REGISTER_BROKER
            )
        },
        ("RegisterBroker",), "registrations", breaks="NewRegistrationIsFencedProp",
    ),
    Mutant(
        "a refusal carries the epoch of the other", "KIP-631, DUPLICATE_BROKER_REGISTRATION",
        {f"{_CONTROL}.register_broker": _refused_with_the_epoch},
        ("RefuseRegistration",), "messages",
    ),
    Mutant(
        "any epoch is heard", "ClusterControlManager.checkBrokerEpoch",
        {f"{_CONTROL}.is_current_epoch": _any_registered},
        ("KeepFenced", "KeepUnfenced", "ContinueControlledShutdown"),
        conjunct="registrations[b].epoch = m.epoch",
    ),
    Mutant(
        "a heartbeat does not renew the session", "BrokerHeartbeatManager.touch",
        {f"{_ACTIVE}.touch": _touch_without_contact},
        _HEEDING, "contact_age",
    ),
    Mutant(
        "a heartbeat does not report its offset", "BrokerHeartbeatManager.touch",
        {f"{_ACTIVE}.touch": _touch_without_offset},
        _HEEDING, "metadata_offset",
    ),
    Mutant(
        "a broker leaves before the others have seen it", "KIP-841",
        {f"{_HEARTBEATS}.is_shutdown_seen": _always(True)},
        ("ShutDownNow",), conjunct="NextBrokerState(b, m) = next",
        breaks="LeaveAwaitsOthersProp", profile="shutdowns",
    ),
    Mutant(
        "each heartbeat moves the shutdown offset", "KAFKA-14292",
        {f"{_ACTIVE}.on_broker_heartbeat_request": _overwrites_shutdown_offset},
        ("ContinueControlledShutdown",), "controlled_shutdown_offset", profile="shutdowns",
    ),
    Mutant(
        "a failover starts no sessions", "KAFKA-18138",
        {f"{_ACTIVE}.fresh_heartbeats": _activation(_always(None))},
        ("FailOver",), "contact_age", breaks="UnfencedHasSessionInv",
    ),
    Mutant(
        "a failover counts the time before it", "ClusterControlManager.activate",
        {
            f"{_ACTIVE}.fresh_heartbeats": _activation(
                lambda registration, now_ms: None if registration.fenced else now_ms - 1
            )
        },
        ("FailOver",), "contact_age",
    ),
    Mutant(
        "a failover gives fenced brokers sessions", "ClusterControlManager.activate",
        {f"{_ACTIVE}.fresh_heartbeats": _activation(lambda _, now_ms: now_ms)},
        ("FailOver",), "contact_age",
    ),
    Mutant(
        "a session ends at its timeout", "BrokerHeartbeatTracker.hasValidSession",
        {f"{_HEARTBEATS}.is_within_session": _session_ends_at_timeout},
        ("FenceStaleBroker",), conjunct="contact_age[b] > SessionTimeout",
    ),
    Mutant(
        "fencing does not end a controlled shutdown", "BrokerHeartbeatManager.fence",
        {f"{_ACTIVE}.after_record": _fence_keeps_shutdown},
        _FENCING, "controlled_shutdown_offset", breaks="ShuttingDownIsUnfencedInv",
    ),
    Mutant(
        "fencing leaves the leaderships", "ReplicationControlManager.handleBrokerFenced",
        {f"{_ACTIVE}.replay": _fence_keeps_leaderships},
        _FENCING, "leads", breaks="OnlyActiveBrokersLeadInv",
    ),
    Mutant(
        "unregistering keeps the soft state", "BrokerHeartbeatManager.remove",
        {
            f"{_ACTIVE}.after_record": _keeps_after(
                lambda record, _: isinstance(record, UnregisterBrokerRecord)
            )
        },
        ("UnregisterBroker",), "contact_age", breaks="SoftStateOfRegisteredInv",
    ),
    Mutant(
        "replay ignores a change", "ClusterControlManager.replayRegistrationChange",
        {f"{_ACTIVE}.replay": _replay_ignores_unfence},
        ("UnfenceBroker",), "registrations",
    ),
    Mutant(
        "a broker takes late answers", "BrokerLifecycleManager",
        {f"{_LIFECYCLE}.on_request_timeout": _stays_connected},
        ("RequestTimeout",), "messages", breaks="OneRequestInFlightInv",
    ),
    Mutant(
        "two requests in flight", "KAFKA-15950",
        {f"{_LIFECYCLE}.can_send_heartbeat": _sends_while_waiting},
        ("SendHeartbeat",), conjunct="~Waiting(i)",
    ),
    Mutant(
        "a fenced broker runs", "BrokerLifecycleManager.BrokerHeartbeatResponseEvent",
        {f"{_LIFECYCLE}.state_after": _runs_on_any_reply},
        ("HandleHeartbeatResponse",), "status",
    ),
    Mutant(
        "a broker of a stale epoch leaves", "BrokerLifecycleManager.BrokerHeartbeatResponseEvent",
        {f"{_LIFECYCLE}.state_after": _leaves_when_told_stale},
        ("HandleHeartbeatResponse",), "status",
    ),
    Mutant(
        "a stale epoch renews the lease", "KIP-343",
        {f"{_LIFECYCLE}.on_heartbeat_response": _stale_answer_is_success},
        ("HandleHeartbeatResponse",), "lease_age", profile="restless-self-fencing",
    ),
    Mutant(
        "the lease begins after the request was sent", "KIP-343",
        {f"{_LIFECYCLE}.lease_start_of": lambda _, request: request.sent_ms + 1},
        ("HandleHeartbeatResponse",), "lease_age", profile="restless-self-fencing",
    ),
    Mutant(
        "a process that ended keeps its epoch", "BrokerLease!Exit",
        {f"{_LIFECYCLE}.without_memory": _remembers_its_epoch},
        ("RequestShutdown", "HandleHeartbeatResponse"), "broker_epoch",
        breaks="EndedKeepsNothingInv",
    ),
)  # fmt: skip
