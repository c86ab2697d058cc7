"""How the values of a leader's state machine are gathered, released, and put into the log.

Values that are prepared together stay in one batch. A prepared batch waits until it is scheduled,
and then lingers for a moment in case more values follow.

Kafka: BatchAccumulator, KafkaRaftClient.prepareAppend, schedulePreparedAppend.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.log.batches import data_batch
from kraft.raft.accumulator import AccumulatedBatch, Accumulator
from kraft.raft.configuration import MILLISECOND
from kraft.raft.effects import AppendRefused
from kraft.raft.leader_log import append_batches
from kraft.raft.roles import NEVER, Leader
from kraft.raft.state import Step
from kraft.raft.turn import Turn
from kraft.records.batch import HEADER_BYTES
from kraft.records.record import records_bytes

if TYPE_CHECKING:
    from kraft.raft.events import PrepareAppend, ScheduleAppend
    from kraft.raft.state import RaftState


def on_prepare_append(state: RaftState, event: PrepareAppend) -> Step:
    """Gather values as one atomic batch, or refuse them: AppendRefused has the reason.

    Values are refused from a replica that does not lead, for another epoch, if they are too large
    for a batch, or if too many batches are waiting.

    Kafka: KafkaRaftClient.prepareAppend, BatchAccumulator.append.
    """
    role = state.role
    gathered = role.accumulator if isinstance(role, Leader) else None
    if gathered is None:
        return _refuse(state, "not the leader")
    if event.epoch < gathered.epoch:
        return _refuse(state, f"not the leader of epoch {event.epoch}, which is over")
    if event.epoch > gathered.epoch:
        return _refuse(state, f"epoch {event.epoch} is to come, this is epoch {gathered.epoch}")
    if not event.values:
        return Step(state)
    limits = state.configuration
    if records_bytes(event.values, 0) + HEADER_BYTES > limits.maximum_batch_bytes:
        return _refuse(state, f"the batch is larger than {limits.maximum_batch_bytes} bytes")
    grown = _grow(gathered, event.values, limits.maximum_batch_bytes)
    if len(grown) > limits.maximum_completed_batches + 1:
        return _refuse(state, f"{limits.maximum_completed_batches} batches are waiting already")
    deadline = gathered.drain_deadline
    if deadline is None:
        deadline = event.now + limits.timeouts.append_linger
    turn = Turn.begin(state, event.now, event.chance)
    _put(
        turn,
        Accumulator(
            gathered.epoch,
            gathered.next_offset + len(event.values),
            grown,
            deadline,
            gathered.scheduled_end,
        ),
    )
    return turn.step()


def on_schedule_append(state: RaftState, event: ScheduleAppend) -> Step:
    """Release every prepared batch into the log, after its linger.

    Kafka: KafkaRaftClient.schedulePreparedAppend, BatchAccumulator.allowDrain.
    """
    role = state.role
    gathered = role.accumulator if isinstance(role, Leader) else None
    if gathered is None:
        return _refuse(state, "not the leader")
    turn = Turn.begin(state, event.now, event.chance)
    joined = _join(gathered, state.configuration.maximum_batch_bytes)
    _put(turn, replace(gathered, batches=joined, scheduled_end=gathered.next_offset))
    return turn.step()


def drain(turn: Turn) -> bool:
    """Append the scheduled batches that have lingered to the log; return whether there were any.

    Spec: KRaft!AppendRecord. Kafka: KafkaRaftClient.maybeAppendBatches.
    """
    role = turn.role
    if not isinstance(role, Leader) or role.accumulator is None or drain_deadline(role) > turn.now:
        return False
    gathered = role.accumulator
    count = _scheduled_count(gathered)
    milliseconds = turn.now // MILLISECOND
    batches = tuple(
        data_batch(batch.base_offset, gathered.epoch, milliseconds, batch.values)
        for batch in gathered.batches[:count]
    )
    rest = gathered.batches[count:]
    lingers = turn.now + turn.configuration.timeouts.append_linger if rest else None
    _put(
        turn,
        Accumulator(gathered.epoch, gathered.next_offset, rest, lingers, gathered.scheduled_end),
    )
    append_batches(turn, batches)
    return True


def drain_deadline(role: Leader) -> int:
    """Return when the next batch goes into the log, NEVER if none is scheduled.

    Kafka: BatchAccumulator.timeUntilDrain.
    """
    gathered = role.accumulator
    if gathered is None or gathered.drain_deadline is None or not _scheduled_count(gathered):
        return NEVER
    return gathered.drain_deadline


def _refuse(state: RaftState, reason: str) -> Step:
    return Step(state, (AppendRefused(reason),))


def _put(turn: Turn, gathered: Accumulator) -> None:
    role = turn.role
    if isinstance(role, Leader):
        turn.role = replace(role, accumulator=gathered)


def _grow(
    gathered: Accumulator, values: tuple[bytes, ...], maximum: int
) -> tuple[AccumulatedBatch, ...]:
    """Return the batches with these values, in the last one if it is not scheduled and has room."""
    batches = gathered.batches
    if batches and batches[-1].base_offset >= gathered.scheduled_end:
        joined = _joined(batches[-1], values, maximum)
        if joined is not None:
            return (*batches[:-1], joined)
    size = HEADER_BYTES + records_bytes(values, 0)
    return (*batches, AccumulatedBatch(gathered.next_offset, values, size))


def _join(gathered: Accumulator, maximum: int) -> tuple[AccumulatedBatch, ...]:
    """Return the batches, those that are scheduled now joined to the one before if it has room."""
    batches: list[AccumulatedBatch] = []
    for batch in gathered.batches:
        joined = _joined(batches[-1], batch.values, maximum) if batches else None
        if joined is None:
            batches.append(batch)
        else:
            batches[-1] = joined
    return tuple(batches)


def _joined(
    batch: AccumulatedBatch, values: tuple[bytes, ...], maximum: int
) -> AccumulatedBatch | None:
    size = batch.size + records_bytes(values, len(batch.values))
    if size > maximum:
        return None
    return AccumulatedBatch(batch.base_offset, batch.values + values, size)


def _scheduled_count(gathered: Accumulator) -> int:
    """Return how many batches are scheduled; a batch is scheduled whole or not at all."""
    if gathered.batches and gathered.scheduled_end == gathered.next_offset:
        return len(gathered.batches)
    return sum(batch.base_offset < gathered.scheduled_end for batch in gathered.batches)
