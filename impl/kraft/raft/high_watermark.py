"""The high watermark: the end of the records that are known to be committed.

Spec: KRaftState!MajorityOffset, HighWatermarkOf.
Kafka: LeaderState.maybeUpdateHighWatermark, KafkaRaftClient.updateFollowerHighWatermark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.raft import pending_changes
from kraft.raft.roles import Leader

if TYPE_CHECKING:
    from kraft.raft.turn import Turn

_UNKNOWN = -1


def majority_offset(turn: Turn, leader: Leader) -> int:
    """Return the largest offset that a majority of the voters has reached, -1 if not known.

    The leader's own log counts up to its end, and only if it is a voter. Observers never count, and
    a voter that has not fetched from this leader has reached nothing.

    Spec: KRaftState!MajorityOffset.
    """
    voters = turn.controls.voters.voters
    if not voters:
        return _UNKNOWN
    own, progress = turn.configuration.node_id, leader.progress
    ends = []
    for voter in voters:
        if voter.key.node_id == own and turn.is_voter:
            ends.append(turn.log.end_offset)
        else:
            known = progress.get(voter.key)
            end = None if known is None else known.end_offset
            ends.append(_UNKNOWN if end is None else end)
    ends.sort(reverse=True)
    return ends[len(ends) // 2]


def update_leader_high_watermark(turn: Turn) -> None:
    """Advance a leader's high watermark as far as the logs of its voters allow.

    A record of its own epoch must be below it, because records of older epochs on a majority may
    still be replaced. The high watermark never goes back.

    Spec: KRaftState!UpdateHighWatermark.
    Kafka: LeaderState.maybeUpdateHighWatermark, KafkaRaftClient.onUpdateLeaderHighWatermark.
    """
    role = turn.role
    if not isinstance(role, Leader):
        return
    offset = majority_offset(turn, role)
    known = _UNKNOWN if turn.high_watermark is None else turn.high_watermark
    if offset > role.epoch_start and offset > known:
        turn.high_watermark = offset
        pending_changes.high_watermark_advanced(turn)


def update_follower_high_watermark(turn: Turn, value: int) -> None:
    """Advance to the leader's high watermark, at most to the end of this log; -1 is unknown.

    A lower one than before is ignored: a new leader knows less at first.

    Spec: KRaft!HighWatermarkFrom.
    Kafka: KafkaRaftClient.updateFollowerHighWatermark.
    """
    known = _UNKNOWN if turn.high_watermark is None else turn.high_watermark
    offset = min(value, turn.log.end_offset)
    if offset > known:
        turn.high_watermark = offset
