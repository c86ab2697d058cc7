"""How a leader begins its epoch, and what it settles when it stops leading.

Spec: KRaftElection!Lead.
Kafka: KafkaRaftClient.onBecomeLeader, LeaderState.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.raft import purgatory
from kraft.raft.accumulator import Accumulator
from kraft.raft.leader_log import append_controls
from kraft.raft.pending_changes import end_pending
from kraft.raft.roles import Leader
from kraft.raft.voter_records import (
    leader_change_record,
    local_voter,
    version_record,
    voters_record,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraft.ids import NodeId
    from kraft.raft.roles import Role
    from kraft.raft.turn import Turn
    from kraft.raft.voter_records import Control


def begin_epoch(turn: Turn, granting: Iterable[NodeId]) -> None:
    """Append the first batch of the epoch that `turn.role` leads, which names its leader.

    The quorum-state file says so already. It is flushed by the next Poll.

    Spec: KRaftElection!Lead.
    Kafka: KafkaRaftClient.onBecomeLeader, LeaderState.appendStartOfEpochControlRecords.
    """
    role = turn.role
    if not isinstance(role, Leader):
        raise TypeError("only a leader begins an epoch")
    end = turn.log.end_offset
    records = _epoch_records(turn, granting)
    turn.role = replace(role, accumulator=Accumulator(role.epoch, end, scheduled_end=end))
    append_controls(turn, records)


def end_leading(turn: Turn, next_role: Role) -> None:
    """Answer every request that waits for the leader in `turn.role`, and drop its prepared batches.

    The answers tell of the next role, so its quorum-state is written before.
    Kafka: KafkaRaftClient.resetVoteCollector, LeaderState.close.
    """
    role = turn.role
    if isinstance(role, Leader):
        purgatory.abort_all(turn, role, next_role)
        end_pending(turn, ErrorCode.NOT_LEADER_OR_FOLLOWER)


def _epoch_records(turn: Turn, granting: Iterable[NodeId]) -> list[Control]:
    """Return the control records of the first batch of a leader's epoch, the LeaderChange first.

    With kraft.version 1 the voters follow, if the log does not have them yet, or says otherwise of
    the leader itself than is true.

    Spec: KRaftElection!Lead.
    Kafka: LeaderState.appendStartOfEpochControlRecords.
    """
    controls, voters = turn.controls, turn.voters
    local = local_voter(turn.configuration)
    if local is None:
        return []
    records = [leader_change_record(local.key.node_id, voters.node_ids, granting)]
    offset = controls.last_voters_offset
    is_in_log = offset is not None and offset >= 0
    if controls.version > 0 and (not is_in_log or voters.needs_update(local)):
        updated = voters.update(local) or voters
        records += [version_record(controls.version), voters_record(updated)]
    return records
