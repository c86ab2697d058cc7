"""A leader's own log: what it appends counts at once, and is flushed before anything else.

Spec: KRaft!AppendEntry. Kafka: KafkaRaftClient.appendAsLeader.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.raft.effects import AppendLog
from kraft.raft.high_watermark import update_leader_high_watermark
from kraft.raft.roles import Leader

if TYPE_CHECKING:
    from kraft.log.batches import LogBatch
    from kraft.raft.turn import Turn


def append_batch(turn: Turn, batch: LogBatch) -> None:
    """Append a batch that begins at the end of the leader's log; what is gathered comes after it.

    Spec: KRaft!AppendEntry, KRaftVoters!AppendVoters. Kafka: KafkaRaftClient.appendBatch.
    """
    role = turn.role
    if isinstance(role, Leader) and role.accumulator is not None:
        turn.role = replace(role, accumulator=role.accumulator.shifted(batch.count))
    append_batches(turn, (batch,))


def append_batches(turn: Turn, batches: tuple[LogBatch, ...]) -> None:
    """Append batches to the leader's log, to be flushed by a later Poll.

    The leader counts itself at once: a sole voter has committed them before they are flushed.

    Spec: KRaft!AppendEntry. Kafka: KafkaRaftClient.maybeAppendBatches, appendAsLeader.
    """
    turn.do(AppendLog(batches))
    turn.log = turn.log.append(batches)
    if any(batch.controls for batch in batches):
        turn.controls = turn.controls.with_batches(batches)
    role = turn.role
    if isinstance(role, Leader) and not role.must_flush:
        turn.role = replace(role, must_flush=True)
    update_leader_high_watermark(turn)
