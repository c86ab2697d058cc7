"""How a leader describes its quorum.

Kafka: KafkaRaftClient.handleDescribeQuorumRequest, LeaderState.describeQuorum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.raft.configuration import MILLISECOND
from kraft.raft.effects import SendResponse
from kraft.raft.roles import Leader, ReplicaProgress
from kraft.raft.state import Step
from kraft.rpc.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    ReplicaDescription,
)

if TYPE_CHECKING:
    from kraft.ids import ReplicaKey
    from kraft.raft.events import RequestReceived
    from kraft.raft.state import RaftState

_METADATA = DescribeQuorumRequest()


def on_describe_quorum_request(
    state: RaftState, event: RequestReceived, request: DescribeQuorumRequest
) -> Step:
    """Answer with the replicas of the quorum and their log end offsets; only a leader knows them.

    An observer whose fetches have stopped is left out; the next Poll forgets it.

    Kafka: KafkaRaftClient.handleDescribeQuorumRequest, LeaderState.describeQuorum.
    """
    return Step(state, (SendResponse(event.source, _describe(state, event.now, request)),))


def _describe(state: RaftState, now: int, request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    if request != _METADATA:
        return DescribeQuorumResponse(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    role = state.role
    if not isinstance(role, Leader):
        return DescribeQuorumResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    own = state.configuration.key
    voters = state.controls.voters
    keys = tuple(voter.key for voter in voters.voters)
    silent_since = now - state.configuration.timeouts.observer_session
    observers = {
        key: _describe_progress(progress)
        for key, progress in role.progress.items()
        if key not in keys and progress.last_fetch_time > max(silent_since, -1)
    }
    if own is not None and not voters.is_voter(own):
        observers[own] = _of_leader(state, own, now)
    return DescribeQuorumResponse(
        ErrorCode.NONE,
        role.epoch,
        role.leader_id,
        -1 if state.high_watermark is None else state.high_watermark,
        tuple(
            # At kraft.version 0 the voters' directories are not known to the quorum.
            _of_leader(state, own if key.directory_id else key, now)
            if own is not None and own.node_id == key.node_id
            else _describe_progress(role.progress.get(key) or ReplicaProgress(key))
            for key in keys
        ),
        tuple(observers[key] for key in sorted(observers, key=_order)),
    )


def _of_leader(state: RaftState, key: ReplicaKey, now: int) -> ReplicaDescription:
    milliseconds = now // MILLISECOND
    return ReplicaDescription(key, state.log.end_offset, milliseconds, milliseconds)


def _describe_progress(progress: ReplicaProgress) -> ReplicaDescription:
    return ReplicaDescription(
        progress.key,
        -1 if progress.end_offset is None else progress.end_offset,
        _milliseconds(progress.last_fetch_time),
        _milliseconds(progress.last_caught_up_time),
    )


def _milliseconds(time: int) -> int:
    return -1 if time < 0 else time // MILLISECOND


def _order(key: ReplicaKey) -> tuple[int, str]:
    return key.node_id, key.directory_id or ""
