"""Fetches that wait at the leader for something new.

A fetch is answered when there are records for it, when the high watermark is above the one its
sender knows, when its time is over, or when the leader stops leading. A leader answers with records
that it has appended and not yet flushed.

Spec: KRaft!AnswerFetch.
Kafka: KafkaRaftClient.fetchPurgatory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.raft import fetch_answers
from kraft.raft.configuration import MILLISECOND
from kraft.raft.effects import SendResponse
from kraft.raft.pending_requests import ParkedFetch
from kraft.raft.roles import NEVER, Leader, leader_of
from kraft.rpc.fetch import FetchResponse

if TYPE_CHECKING:
    from kraft.raft.events import Source
    from kraft.raft.roles import Role
    from kraft.raft.state import RaftState
    from kraft.raft.turn import Turn
    from kraft.rpc.fetch import FetchRequest


def may_wait(turn: Turn, request: FetchRequest) -> bool:
    """Return whether there is nothing new for the sender of a fetch, and it is willing to wait."""
    return (
        request.maximum_wait > 0
        and isinstance(turn.role, Leader)
        and not _has_news(request, turn.log.end_offset, turn.high_watermark)
    )


def park(turn: Turn, source: Source, request: FetchRequest) -> None:
    """Let a fetch wait. Kafka: ThresholdPurgatory.await."""
    role = turn.role
    if isinstance(role, Leader):
        deadline = turn.now + request.maximum_wait * MILLISECOND
        turn.role = with_parked(role, (*role.parked, ParkedFetch(source, request, deadline)))


def answer_news(turn: Turn) -> bool:
    """Answer the first waiting fetch that has something new; return whether there was one.

    The leader noted the end of the sender's log when the fetch arrived.

    Spec: KRaft!AnswerFetch. Kafka: ThresholdPurgatory.maybeComplete.
    """
    role = turn.role
    if not isinstance(role, Leader):
        return False
    end, known = turn.log.end_offset, turn.high_watermark
    for index, parked in enumerate(role.parked):
        if _has_news(parked.request, end, known) and _may_answer(turn, role, parked):
            _answer(turn, role, index)
            return True
    return False


def answer_expired(turn: Turn) -> bool:
    """Answer the first waiting fetch whose time is over, without records; False: there is none.

    Kafka: ThresholdPurgatory.await.
    """
    role = turn.role
    if not isinstance(role, Leader):
        return False
    for index, parked in enumerate(role.parked):
        if parked.deadline <= turn.now and _may_answer(turn, role, parked):
            _answer(turn, role, index)
            return True
    return False


def abort_all(turn: Turn, left: Leader, role: Role) -> None:
    """Answer all parked fetches of a leader that takes another role: an older epoch is fenced.

    Spec: KRaft!RefuseFetch, KRaftElection!FenceRequest.
    Kafka: ThresholdPurgatory.completeAllExceptionally.
    """
    fenced = role.epoch > left.epoch
    error = ErrorCode.FENCED_LEADER_EPOCH if fenced else ErrorCode.NOT_LEADER_OR_FOLLOWER
    response = FetchResponse(error, role.epoch, leader_of(role))
    for parked in left.parked:
        turn.do(SendResponse(parked.source, response))


def parked_deadline(state: RaftState) -> int:
    """Return when a parked fetch is to be answered: 0 if one is now, NEVER without one."""
    role = state.role
    if not isinstance(role, Leader) or not role.parked:
        return NEVER
    end, known = state.log.end_offset, state.high_watermark
    for parked in role.parked:
        if _has_news(parked.request, end, known):
            return 0
    return min(parked.deadline for parked in role.parked)


def with_parked(role: Leader, parked: tuple[ParkedFetch, ...]) -> Leader:
    """Return the leader with other parked fetches."""
    return replace(role, parked=parked)


def _has_news(request: FetchRequest, end: int, high_watermark: int | None) -> bool:
    return request.fetch_offset < end or (
        high_watermark is not None and request.high_watermark < high_watermark
    )


def _may_answer(turn: Turn, role: Leader, parked: ParkedFetch) -> bool:
    """Return whether a fetch can be answered before the flush: not if it now needs a snapshot."""
    request = parked.request
    return (
        not role.must_flush
        or fetch_answers.needed_snapshot(turn.log, request.fetch_offset, request.last_fetched_epoch)
        is None
    )


def _answer(turn: Turn, role: Leader, index: int) -> None:
    """Answer a parked fetch, by the log as it is now: it may have been cleaned meanwhile."""
    parked = role.parked[index]
    request = parked.request
    role = with_parked(role, role.parked[:index] + role.parked[index + 1 :])
    turn.role = role
    offset, last_epoch = request.fetch_offset, request.last_fetched_epoch
    snapshot_id = fetch_answers.needed_snapshot(turn.log, offset, last_epoch)
    if snapshot_id is None:
        response = fetch_answers.answer(turn, role, request)
    else:
        response = FetchResponse(
            ErrorCode.NONE,
            role.epoch,
            role.leader_id,
            log_start_offset=turn.log.start_offset,
            snapshot_id=snapshot_id,
        )
    turn.do(SendResponse(parked.source, response))
