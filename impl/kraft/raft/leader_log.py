"""A leader's own log: an append counts at once, and is flushed before anything else.

Spec: KRaft!AppendEntry. Kafka: KafkaRaftClient.appendAsLeader.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.log.batches import controls_batch, data_batch
from kraft.raft.accumulator import Accumulator
from kraft.raft.configuration import MILLISECOND
from kraft.raft.effects import AppendLog, FlushLog
from kraft.raft.high_watermark import update_leader_high_watermark
from kraft.raft.roles import Leader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.log.batches import LogBatch
    from kraft.raft.turn import Turn
    from kraft.raft.voter_records import Control


def append_controls(turn: Turn, records: Sequence[Control]) -> None:
    """Append control records as one batch, after the prepared batches, which keep their offsets.

    The state machine knows those offsets and has replayed its records there. A leader flushes one
    append before the next.

    Spec: KRaft!AppendEntry, KRaftVoters!AppendVoters.
    Kafka: BatchAccumulator.appendControlMessages.
    """
    role = turn.role
    if not isinstance(role, Leader) or role.accumulator is None:
        raise TypeError("only a leader appends control records")
    gathered = role.accumulator
    now = turn.now // MILLISECOND
    batches = tuple(
        data_batch(batch.base_offset, gathered.epoch, now, batch.values)
        for batch in gathered.batches
    )
    if batches:
        append_batches(turn, batches)
        turn.do(FlushLog())
    end = turn.log.end_offset
    next_offset = end + len(records)
    emptied = Accumulator(gathered.epoch, next_offset, scheduled_end=next_offset)
    if isinstance(turn.role, Leader):
        turn.role = replace(turn.role, accumulator=emptied)
    append_batches(turn, (controls_batch(end, role.epoch, now, records),))


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
