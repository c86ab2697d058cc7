"""The state at one end of the log: the image, and the open transaction if there is one.

Everything that depends on the offset is in one value, so a controller that goes back to an earlier
offset goes back with all of it. Kafka keeps the start of a transaction beside its timeline and does
not reset it (specs/broken/metadata/DeadStandby.cfg).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from kraft.controller.operations.written import NOTHING_WRITTEN, Written, replay_batch
from kraft.ids import NO_OFFSET, Offset
from kraft.image.errors import RefusedRecordError
from kraft.records.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.image.metadata_image import MetadataImage
    from kraft.records.typed_record import TypedRecord

_MARKERS: Final = (BeginTransactionRecord, EndTransactionRecord, AbortTransactionRecord)


class FaultError(Exception):
    """The reason to end the process: its memory would differ from the log.

    Kafka: FaultHandler, ProcessTerminatingFaultHandler.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Memory:
    """All that was replayed up to `end`, and where the open transaction began.

    `epoch` is the epoch of the last batch. `before` is the state before the open transaction began.
    `is_aligned` says whether the end is the end of a batch.

    Spec: MetadataLog!Between. Kafka: OffsetControlManager.
    """

    written: Written = NOTHING_WRITTEN
    epoch: int = 0
    transaction_start: Offset = NO_OFFSET
    before: Memory | None = None
    is_aligned: bool = True

    @property
    def end(self) -> Offset:
        """The first offset that was not replayed."""
        return self.written.end

    @property
    def image(self) -> MetadataImage:
        """The image of everything that was replayed, an open transaction included."""
        return self.written.image


EMPTY: Final = Memory()


def in_transaction(memory: Memory) -> bool:
    """Return whether a transaction is open.

    Spec: MetadataLog!InTransaction. Kafka: OffsetControlManager.transactionStartOffset.
    """
    return memory.transaction_start != NO_OFFSET


def stable_end_of(memory: Memory) -> Offset:
    """Return the end of the part that belongs to no open transaction.

    Spec: MetadataLog!StableEnd. Kafka: OffsetControlManager.maybeAdvanceLastStableOffset.
    """
    return memory.transaction_start if in_transaction(memory) else memory.end


def visible_of(memory: Memory) -> Memory:
    """Return the state that may be read: the one before the open transaction, if there is one.

    Spec: MetadataLog!VisibleOf.
    """
    return memory if memory.before is None else memory.before


def after_batch(
    memory: Memory, records: Sequence[TypedRecord], base_offset: Offset, epoch: int
) -> Memory:
    """Return the state after a batch.

    Raises FaultError, with the offset, if the records before it rule a record out.
    Spec: MetadataLog!ReplayRecords.
    Kafka: QuorumController.replay, OffsetControlManager.replay.
    """
    memory = replace(memory, written=replace(memory.written, end=base_offset))
    plain_from = 0
    for index, record in enumerate(records):
        if isinstance(record, _MARKERS):
            memory = _replayed(memory, records[plain_from:index], epoch)
            memory = _marked(memory, record, epoch)
            plain_from = index + 1
    memory = _replayed(memory, records[plain_from:], epoch)
    return replace(memory, epoch=epoch, is_aligned=True)


def after_control_batch(memory: Memory, end: Offset, epoch: int) -> Memory:
    """Return the state after one of Raft's control batches: only the end moves."""
    return replace(memory, written=replace(memory.written, end=end), epoch=epoch)


def _replayed(memory: Memory, records: Sequence[TypedRecord], epoch: int) -> Memory:
    if not records:
        return memory
    try:
        written = replay_batch(memory.written, records, memory.end)
    except RefusedRecordError as error:
        offset = memory.end + next(i for i, one in enumerate(records) if one is error.record)
        raise FaultError(f"offset {offset}: {error}") from error
    return replace(memory, written=written, epoch=epoch, is_aligned=False)


def _marked(memory: Memory, record: TypedRecord, epoch: int) -> Memory:
    """Return the state after the record that begins, ends or aborts a transaction.

    Spec: MetadataLog!ReplayRecord, MetadataLog!CannotReplay.
    """
    offset, name = memory.end, type(record).__name__
    end = Offset(offset + 1)
    if isinstance(record, BeginTransactionRecord):
        if in_transaction(memory):
            start = memory.transaction_start
            raise FaultError(f"offset {offset}: {name} in the transaction begun at {start}")
        return Memory(replace(memory.written, end=end), epoch, offset, memory, is_aligned=False)
    if memory.before is None:
        raise FaultError(f"offset {offset}: {name} without a transaction")
    left = memory if isinstance(record, EndTransactionRecord) else memory.before
    return Memory(replace(left.written, end=end), epoch, is_aligned=False)
