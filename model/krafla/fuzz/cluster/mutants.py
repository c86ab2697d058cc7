"""Seeded bugs of controllers, brokers and a partition over one log."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.mutant import Killer, seed_bug, wrong_answer, wrong_turn
from kraft.controller.effects import Append, Reply
from kraft.controller.operations import heartbeats
from kraft.controller.operations.cluster_control import ControllerResult
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.heartbeats import BrokerControlState
from kraft.controller.operations.leadership import fence_broker
from kraft.controller.operations.result import Generated, Result
from kraft.controller.state import Deferred, is_all_stable
from kraft.errors import ErrorCode
from kraft.ids import NO_OFFSET, BrokerEpoch, Offset
from kraft.records.lease import RegisterBrokerRecord
from kraft.rpc import BrokerRegistrationResponse

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant

__all__ = ["MUTANTS"]

_found: Final[list[Mutant]] = []
_seed = partial(seed_bug, _found, profile="two-and-two")
_ALTER: Final = "kraft.controller.operations.alter_partition"
_CONTROL: Final = "kraft.controller.operations.cluster_control"
_HEARTBEATS: Final = "kraft.controller.operations.heartbeats"
_LEADERSHIP: Final = "kraft.controller.operations.leadership"
_BROKERS: Final = "kraft.controller.operations.broker_heartbeats"
_RENOUNCE: Final = "kraft.controller.resignation:renounce"
_ANSWER: Final = "kraft.controller.write_path:answer"
_WRITES: Final = (
    "RegisterBroker", "AmendRegistration", "UnfenceBroker", "BeginControlledShutdown",
    "FenceOnRequest", "ShutDownNow", "AlterPartition",
)  # fmt: skip
_ANSWERS: Final = (
    "RefuseRegistration", "RejectHeartbeat", "KeepState", "RefuseAlterPartition",
    "AlterPartition",
)  # fmt: skip
_TAKES_OUT: Final = (
    "RegisterBroker", "BeginControlledShutdown", "FenceOnRequest", "ShutDownNow",
    "FenceStaleBroker",
)  # fmt: skip


@_seed("silent-brokers-are-fenced-at-once", "KAFKA-13173", f"{_BROKERS}:maybe_fence_stale_broker",
       "All silent brokers are fenced at once, each by the partitions as they were before.",
       killer=Killer(("FenceStaleBroker",), "written"))  # fmt: skip
@wrong_answer
def _fences_all_at_once(
    right: Any, written: Any, of_brokers: Any, defaults: Any, now_ms: int
) -> Any:
    overdue = heartbeats.overdue_brokers(of_brokers, now_ms)
    if len(overdue) < 2:
        return right(written, of_brokers, defaults, now_ms)
    records = [fence_broker(written.image, defaults, one, written.index) for one in overdue]
    ended = of_brokers
    for one in overdue:
        ended = heartbeats.end_session(ended, one)
    return Generated(Result(sum(records, ()), response=True, is_atomic=False), ended)


@_seed("fenced-replica-joins", "KAFKA-13916", f"{_ALTER}:_is_eligible",
       "A replica whose broker is fenced may join the ISR.", profile="whole",
       killer=Killer(("AlterPartition",), conjunct='AlterPartitionError(c, m) = "NONE"',
                     breaks="IsrJoinsByCurrentEpochProp"))  # fmt: skip
@wrong_answer
def _any_registered_may_join(_right: Any, image: Any, broker_id: Any, _epoch: int) -> bool:
    return broker_id in image.brokers


@_seed("leader-ahead-is-fenced", "KAFKA-14154", f"{_ALTER}:validate_alter_partition",
       "A leader that knows a later leader epoch than the controller is told it is fenced.",
       killer=Killer(("RefuseAlterPartition",)))  # fmt: skip
@wrong_answer
def _fences_who_is_ahead(right: Any, *arguments: Any) -> None:
    try:
        right(*arguments)
    except ControllerError as error:
        if error.code is ErrorCode.NOT_CONTROLLER:
            raise ControllerError(ErrorCode.FENCED_LEADER_EPOCH, error.reason) from error
        raise


@_seed("newcomer-inherits-leadership", "KAFKA-18106", f"{_LEADERSHIP}:register_broker",
       "A new incarnation stays leader and in sync where the old one was.",
       killer=Killer(("RegisterBroker",), "written"))  # fmt: skip
@wrong_answer
def _registers_only(
    _right: Any, _image: Any, _defaults: Any, record: Any, _index: Any = None, **_: Any
) -> tuple[Any]:
    return (record,)


@_seed("amending-takes-new-epoch", "KAFKA-16952", f"{_CONTROL}:_amend_registration",
       "A process that registers again gets a new broker epoch.",
       killer=Killer(("AmendRegistration",), "written"))  # fmt: skip
@wrong_answer
def _amends_with_new_epoch(right: Any, registration: Any, request: Any) -> ControllerResult:
    amended = right(registration, request)
    (record,) = amended.records
    assert isinstance(record, RegisterBrokerRecord)
    epoch = BrokerEpoch(record.broker_epoch + 1)
    bumped = RegisterBrokerRecord(
        record.broker_id,
        record.incarnation_id,
        epoch,
        fenced=record.fenced,
        in_controlled_shutdown=record.in_controlled_shutdown,
    )
    response = BrokerRegistrationResponse(broker_epoch=epoch)
    return ControllerResult(amended.decision, (bumped,), response)


@_seed("heartbeat-moves-shutdown-offset", "KAFKA-14292", f"{_HEARTBEATS}:touch",
       "Each heartbeat in a controlled shutdown raises the offset that the others must reach.",
       profile="one-controller",
       killer=Killer(("KeepState",), "controlled_shutdown_offset"))  # fmt: skip
@wrong_answer
def _raises_shutdown_offset(right: Any, of_brokers: Any, broker_id: Any, *arguments: Any) -> Any:
    touched = right(of_brokers, broker_id, *arguments)
    state = heartbeats.heartbeat_state(touched, broker_id)
    if state.controlled_shutdown_offset == NO_OFFSET:
        return touched
    later = replace(state, controlled_shutdown_offset=Offset(state.controlled_shutdown_offset + 1))
    return replace(touched, brokers=touched.brokers.set(broker_id, later))


@_seed("leaves-before-others-have-seen", "KIP-631", f"{_HEARTBEATS}:next_broker_state",
       "A broker that leads nothing may leave before the others have seen that it shuts down.",
       profile="one-controller",
       killer=Killer(("ShutDownNow",), conjunct="NextBrokerState"))  # fmt: skip
@wrong_answer
def _stops_at_once(right: Any, image: Any, of_brokers: Any, request: Any) -> Any:
    following = right(image, of_brokers, request)
    if following is BrokerControlState.CONTROLLED_SHUTDOWN and request.broker_id not in image.leads:
        return BrokerControlState.SHUTDOWN_NOW
    return following


@_seed("unfencing-wants-end-of-log", "KAFKA-13959", f"{_HEARTBEATS}:next_broker_state",
       "A broker is unfenced only once it has replayed the whole log.",
       killer=Killer(("KeepState",), conjunct="written[c].registrations[b].fenced"))  # fmt: skip
@wrong_answer
def _wants_end_of_log(right: Any, image: Any, of_brokers: Any, request: Any) -> Any:
    following = right(image, of_brokers, request)
    behind = request.current_metadata_offset < image.log_end - 1
    fenced = image.registrations[request.broker_id].fenced
    if following is BrokerControlState.UNFENCED and fenced and behind:
        return BrokerControlState.FENCED
    return following


@_seed("answered-when-appended", "KIP-631", _ANSWER,
       "A write is answered when its records are appended, not when they are committed.",
       killer=Killer(_WRITES, "messages"))  # fmt: skip
@wrong_turn
def _answers_at_once(_right: Any, turn: Any, token: Any, response: Any) -> None:
    turn.do(Reply(token, response))


@_seed("unchanged-is-answered-at-once", "DeferredEventQueue.highestPendingOffset", _ANSWER,
       "A request that writes nothing is answered before what it has read is committed.",
       killer=Killer(_ANSWERS, "messages"))  # fmt: skip
@wrong_turn
def _answers_unchanged_at_once(_right: Any, turn: Any, token: Any, response: Any) -> None:
    wrote = any(isinstance(one, Append) for one in turn.effects)
    if wrote and not is_all_stable(turn.state):
        parked = Deferred(token, turn.state.write_end, response)
        turn.change(deferred=(*turn.state.deferred, parked))
    else:
        turn.do(Reply(token, response))


@_seed("uncommitted-state-is-kept", "QuorumController.renounce", _RENOUNCE,
       "A controller that resigns keeps what it wrote and was never committed.",
       killer=Killer(("Renounce",), "written", breaks="RenouncedKeepsNothingInv"))  # fmt: skip
@wrong_turn
def _keeps_uncommitted(right: Any, turn: Any) -> None:
    written = turn.state.written
    right(turn)
    turn.change(written=written)


@_seed("waiting-requests-are-left-waiting", "QuorumController.renounce", _RENOUNCE,
       "A controller that resigns keeps the requests in its purgatory.",
       killer=Killer(("Renounce",), "tail", breaks="RenouncedKeepsNothingInv"))  # fmt: skip
@wrong_turn
def _leaves_waiting(right: Any, turn: Any) -> None:
    deferred = turn.state.deferred
    right(turn)
    turn.change(deferred=deferred)


@_seed("sessions-are-kept", "ClusterControlManager.deactivate", _RENOUNCE,
       "A controller that resigns keeps the sessions of brokers.",
       killer=Killer(("Renounce",), "contact_age", breaks="RenouncedKeepsNothingInv")
       )  # fmt: skip
@wrong_turn
def _keeps_sessions(right: Any, turn: Any) -> None:
    of_brokers = turn.state.heartbeats
    right(turn)
    turn.change(heartbeats=of_brokers)


@_seed("failover-starts-no-sessions", "KAFKA-18138", f"{_BROKERS}:heartbeats_on_activation",
       "A new active controller starts no sessions for unfenced brokers.",
       killer=Killer(("ElectLeader",), "contact_age", breaks="UnfencedHasSessionInv")
       )  # fmt: skip
@wrong_answer
def _claims_without_sessions(right: Any, *arguments: Any) -> Any:
    fresh = right(*arguments)
    states = {one: replace(state, contact_time_ms=None) for one, state in fresh.brokers.items()}
    return replace(fresh, brokers=fresh.brokers.update(states))


@_seed("session-outlives-process", "KAFKA-15053", f"{_HEARTBEATS}:after_record",
       "A new incarnation inherits the session of the one before.",
       killer=Killer(("RegisterBroker",), "contact_age"))  # fmt: skip
@wrong_answer
def _session_outlives_process(
    right: Any, of_brokers: Any, before: Any, after: Any, record: Any
) -> Any:
    changed = right(of_brokers, before, after, record)
    if not isinstance(record, RegisterBrokerRecord):
        return changed
    old = heartbeats.heartbeat_state(of_brokers, record.broker_id)
    new = heartbeats.heartbeat_state(changed, record.broker_id)
    kept = replace(new, contact_time_ms=old.contact_time_ms)
    return replace(changed, brokers=changed.brokers.set(record.broker_id, kept))


@_seed("former-process-is-heard", "ClusterControlManager.checkBrokerEpoch",
       f"{_CONTROL}:is_current_epoch",
       "A heartbeat of an earlier process of the broker counts.",
       killer=Killer(("KeepState", *_WRITES), conjunct="epoch = m.epoch"))  # fmt: skip
@wrong_answer
def _any_epoch_is_current(_right: Any, image: Any, broker_id: Any, _epoch: int) -> bool:
    return broker_id in image.registrations


@_seed("epoch-is-before-batch", "KIP-631", f"{_CONTROL}:epoch_for_new_incarnation",
       "The broker epoch of a new incarnation is the offset before its registration.",
       killer=Killer(("RegisterBroker",), "written"))  # fmt: skip
@wrong_answer
def _epoch_before_batch(_right: Any, image: Any) -> BrokerEpoch:
    return BrokerEpoch(max(0, image.log_end - 1))


@_seed("leaving-broker-leads-on", "ReplicationControlManager.handleBrokerFenced",
       f"{_LEADERSHIP}:take_out_of_isr",
       "A broker that leaves or is fenced stays leader and in sync.",
       killer=Killer(_TAKES_OUT, "written"))  # fmt: skip
@wrong_answer
def _takes_out_nothing(*_: Any, **__: Any) -> tuple[()]:
    return ()


MUTANTS: Final[tuple[Mutant, ...]] = tuple(_found)
"""Of what controllers write, answer and revert, and of sessions."""
