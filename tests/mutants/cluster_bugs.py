"""The wrong functions that the mutants of a whole cluster put in place of the right ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kraft.controller import resignation
from kraft.controller.effects import Append, Reply
from kraft.controller.operations import (
    alter_partition,
    broker_heartbeats,
    cluster_control,
    heartbeats,
)
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

# The right functions, kept before any of them is replaced.
_renounce = resignation.renounce
_fence_stale_broker = broker_heartbeats.maybe_fence_stale_broker
_amend_registration = cluster_control._amend_registration
_next_broker_state = cluster_control.next_broker_state
_touch = heartbeats.touch
_after_record = heartbeats.after_record
_fresh_heartbeats = broker_heartbeats.heartbeats_on_activation
_validate = alter_partition.validate_alter_partition


def nothing(*_: Any, **__: Any) -> tuple[()]:
    return ()


def fences_all_at_once(
    written: Any, of_brokers: Any, defaults: Any, now_ms: int
) -> Generated[bool]:
    """Fence each by the partitions as they were before all of it."""
    fenced = _fence_stale_broker(written, of_brokers, defaults, now_ms)
    overdue = heartbeats.overdue_brokers(of_brokers, now_ms)
    if len(overdue) < 2:
        return fenced
    records = [fence_broker(written.image, defaults, one, written.index) for one in overdue]
    ended = of_brokers
    for one in overdue:
        ended = heartbeats.end_session(ended, one)
    return Generated(Result(sum(records, ()), response=True, is_atomic=False), ended)


def any_registered_may_join(image: Any, broker_id: Any, _: int) -> bool:
    return broker_id in image.brokers


def who_is_ahead_is_fenced(*arguments: Any) -> None:
    try:
        _validate(*arguments)
    except ControllerError as error:
        if error.code is ErrorCode.NOT_CONTROLLER:
            raise ControllerError(ErrorCode.FENCED_LEADER_EPOCH, error.reason) from error
        raise


def registers_only(
    _image: Any, _defaults: Any, record: Any, _index: Any = None, **__: Any
) -> tuple[Any]:
    return (record,)


def amends_with_another_epoch(registration: Any, request: Any) -> ControllerResult:
    amended = _amend_registration(registration, request)
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


def raises_the_offset_to_wait_for(
    of_brokers: Any, broker_id: Any, metadata_offset: Any, now_ms: int
) -> Any:
    touched = _touch(of_brokers, broker_id, metadata_offset, now_ms)
    state = heartbeats.heartbeat_state(touched, broker_id)
    if state.controlled_shutdown_offset == NO_OFFSET:
        return touched
    later = replace(state, controlled_shutdown_offset=Offset(state.controlled_shutdown_offset + 1))
    return replace(touched, brokers=touched.brokers.set(broker_id, later))


def wants_the_end_of_the_log(image: Any, of_brokers: Any, request: Any) -> BrokerControlState:
    following = _next_broker_state(image, of_brokers, request)
    behind = request.current_metadata_offset < image.log_end - 1
    fenced = image.registrations[request.broker_id].fenced
    if following is BrokerControlState.UNFENCED and fenced and behind:
        return BrokerControlState.FENCED
    return following


def stops_at_once(image: Any, of_brokers: Any, request: Any) -> BrokerControlState:
    following = _next_broker_state(image, of_brokers, request)
    if following is BrokerControlState.CONTROLLED_SHUTDOWN and request.broker_id not in image.leads:
        return BrokerControlState.SHUTDOWN_NOW
    return following


def answers_at_once(turn: Any, token: Any, response: Any) -> None:
    turn.do(Reply(token, response))


def answers_what_wrote_nothing_at_once(turn: Any, token: Any, response: Any) -> None:
    wrote = any(isinstance(one, Append) for one in turn.effects)
    if wrote and not is_all_stable(turn.state):
        parked = Deferred(token, turn.state.write_end, response)
        turn.change(deferred=(*turn.state.deferred, parked))
    else:
        turn.do(Reply(token, response))


def renounces_and_keeps_the_future(turn: Any) -> None:
    written = turn.state.written
    _renounce(turn)
    turn.change(written=written)


def renounces_and_leaves_who_waits(turn: Any) -> None:
    deferred = turn.state.deferred
    _renounce(turn)
    turn.change(deferred=deferred)


def renounces_and_keeps_its_sessions(turn: Any) -> None:
    of_brokers = turn.state.heartbeats
    _renounce(turn)
    turn.change(heartbeats=of_brokers)


def claims_without_sessions(*arguments: Any) -> Any:
    fresh = _fresh_heartbeats(*arguments)
    states = {one: replace(state, contact_time_ms=None) for one, state in fresh.brokers.items()}
    return replace(fresh, brokers=fresh.brokers.update(states))


def a_session_outlives_its_process(of_brokers: Any, before: Any, after: Any, record: Any) -> Any:
    changed = _after_record(of_brokers, before, after, record)
    if not isinstance(record, RegisterBrokerRecord):
        return changed
    old = heartbeats.heartbeat_state(of_brokers, record.broker_id)
    new = heartbeats.heartbeat_state(changed, record.broker_id)
    kept = replace(new, contact_time_ms=old.contact_time_ms)
    return replace(changed, brokers=changed.brokers.set(record.broker_id, kept))


def any_epoch_is_current(image: Any, broker_id: Any, _: int) -> bool:
    return broker_id in image.registrations


def epoch_before_the_batch(image: Any) -> BrokerEpoch:
    return BrokerEpoch(max(0, image.log_end - 1))
