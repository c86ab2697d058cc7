"""The image that a metadata log or a checkpoint describes, and its end offset.

Kafka: SnapshotFileReader, MetadataBatchLoader.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.errors import CorruptRecordError
from kraft.image.errors import RefusedRecordError
from kraft.image.metadata_image import EMPTY_IMAGE, MetadataImage
from kraft.image.replay import replay
from kraft.log.checkpoint import BOOTSTRAP_NAME, checkpoint_at, read_checkpoint
from kraft.log.segment import iter_batches
from kraft.records.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kraft.records.batch import RecordBatch
    from kraft.records.typed_record import TypedRecord


@dataclass(frozen=True, slots=True)
class Provenance:
    """The last record that counts: its offset in the file, epoch, milliseconds since 1970.

    Kafka: MetadataProvenance.
    """

    offset: int = -1
    epoch: int = -1
    time_ms: int = -1


@dataclass(frozen=True, slots=True)
class Loaded:
    """The image of a file, and its end offset."""

    image: MetadataImage = EMPTY_IMAGE
    provenance: Provenance = Provenance()


@dataclass(slots=True)
class _Loading:
    """The image so far; `waiting` are the records of a transaction that has not ended."""

    image: MetadataImage
    provenance: Provenance
    waiting: list[TypedRecord] | None = None


def load(path: Path) -> Loaded:
    """Return the image of a checkpoint, or of a log that begins with its first record.

    A transaction that has not ended at the end of the file does not count.
    Raises UnreadableFileError, and CorruptRecordError and its kinds, also for a record that those
    before it rule out.
    """
    loading = _Loading(EMPTY_IMAGE, Provenance())
    for batch in _batches(path):
        if batch.is_control:
            batch.check()
        else:
            _load_batch(loading, batch)
    return Loaded(loading.image, loading.provenance)


def _batches(path: Path) -> Iterator[RecordBatch]:
    name = path.name.removesuffix(".gz")
    is_checkpoint = checkpoint_at(path) is not None or name == BOOTSTRAP_NAME
    return read_checkpoint(path) if is_checkpoint else iter_batches(path)


def _load_batch(loading: _Loading, batch: RecordBatch) -> None:
    records = batch.typed_records()
    counting: list[TypedRecord] = []
    for offset, record in enumerate(records, batch.base_offset):
        if isinstance(record, BeginTransactionRecord):
            if loading.waiting is not None:
                raise _refused(batch, offset, "a transaction begins inside a transaction")
            loading.waiting = []
            continue
        if isinstance(record, EndTransactionRecord | AbortTransactionRecord):
            if loading.waiting is None:
                raise _refused(batch, offset, "a transaction ends that has not begun")
            if isinstance(record, EndTransactionRecord):
                counting += loading.waiting
            loading.waiting = None
        elif loading.waiting is not None:
            loading.waiting.append(record)
            continue
        else:
            counting.append(record)
        loading.provenance = Provenance(offset, batch.leader_epoch, batch.max_timestamp)
    try:
        loading.image = replay(loading.image, counting)
    except RefusedRecordError as error:
        # A record of an earlier batch, of a transaction, was refused when that ended here.
        here = [n for n, record in enumerate(records) if record is error.record]
        offset = batch.base_offset + here[0] if here else batch.last_offset
        raise _refused(batch, offset, f"cannot be replayed, {error}") from None


def _refused(batch: RecordBatch, offset: int, reason: str) -> CorruptRecordError:
    return CorruptRecordError(reason, path=batch.path, position=batch.position, offset=offset)
