"""A batch of the log as the Raft layer holds it: its place, its bytes, its records.

The bytes are those of the file: a leader makes them once, and every replica keeps them unchanged.

Kafka: MemoryRecords, DefaultRecordBatch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from kraft.errors import CorruptRecordError
from kraft.records.batch import HEADER, HEADER_BYTES, LOG_OVERHEAD, BatchHeader, parse_batch
from kraft.records.builder import control_batch, encode_batch
from kraft.records.compression import Compression
from kraft.records.primitives import Reader
from kraft.records.record import read_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.records.batch import RecordBatch
    from kraft.records.schema import Fields

_KNOWN_BYTES = 1024
"""Longer data is not kept to be known again: a follower would keep thousands of large batches."""


@dataclass(frozen=True, slots=True)
class LogBatch:
    """One batch: `count` records from `base_offset` on, appended by the leader of `epoch`.

    A control batch has `controls`, pairs of control type and fields; another has `values`, the
    bytes of each record's value. `raw` is the batch in format v2. Two batches are equal if their
    bytes are.
    """

    base_offset: int = field(compare=False)
    epoch: int = field(compare=False)
    count: int = field(compare=False)
    values: tuple[bytes, ...] = field(compare=False, repr=False)
    controls: tuple[tuple[int, Fields], ...] = field(compare=False)
    raw: bytes = field(repr=False)

    @property
    def end_offset(self) -> int:
        """The offset after the last record."""
        return self.base_offset + self.count

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp of a record, in milliseconds."""
        return BatchHeader._make(HEADER.unpack_from(self.raw)).max_timestamp


def data_batch(base_offset: int, epoch: int, timestamp: int, values: Sequence[bytes]) -> LogBatch:
    """Return the batch of these record values; `timestamp` is in milliseconds.

    Raises ValueError without values. Kafka: BatchAccumulator.
    """
    raw = encode_batch(base_offset, epoch, timestamp, values)
    return LogBatch(base_offset, epoch, len(values), tuple(values), (), raw)


def controls_batch(
    base_offset: int, epoch: int, timestamp: int, controls: Sequence[tuple[int, Fields]]
) -> LogBatch:
    """Return the batch of these control records, given as control type and fields.

    Kafka: BatchAccumulator.appendControlMessages.
    """
    raw = control_batch(base_offset, epoch, timestamp, controls)
    return LogBatch(base_offset, epoch, len(controls), (), tuple(controls), raw)


def read_batches(data: bytes) -> tuple[LogBatch, ...]:
    """Return the batches in these bytes, which must be whole and follow one another.

    The values of records are not decoded. The same bytes are decoded once, unless they are many.
    Raises CorruptRecordError or a subclass, with its place in `data`, for a batch that is cut
    short, whose CRC is wrong, or whose records contradict its header.
    Kafka: KafkaRaftClient.appendAsFollower, MemoryRecords.batches.
    """
    return _read_known(data) if len(data) <= _KNOWN_BYTES else _read_all(data)


def _read_all(data: bytes) -> tuple[LogBatch, ...]:
    batches: list[LogBatch] = []
    position = 0
    while position < len(data):
        if len(data) - position < HEADER_BYTES:
            raise CorruptRecordError(
                f"{len(data) - position} bytes of a batch header", position=position
            )
        length = HEADER.unpack_from(data, position)[1]
        end = position + LOG_OVERHEAD + max(length, HEADER_BYTES - LOG_OVERHEAD)
        if end > len(data):
            raise CorruptRecordError(
                f"{len(data) - position} of {end - position} bytes of a batch", position=position
            )
        batches.append(log_batch(parse_batch(data[position:end], position=position)))
        position = end
    return tuple(batches)


_read_known = lru_cache(maxsize=4096)(_read_all)


def log_batch(batch: RecordBatch) -> LogBatch:
    """Return a batch that was read from a file, with its records decoded.

    Raises CorruptRecordError or a subclass if the records contradict the header.
    """
    controls = tuple((r.control_type, r.fields) for r in batch.control_records())
    values = () if batch.is_control else _values(batch)
    return LogBatch(batch.base_offset, batch.leader_epoch, batch.count, values, controls, batch.raw)


def _values(batch: RecordBatch) -> tuple[bytes, ...]:
    """Return the values of the records of a batch, which have neither keys nor headers."""
    reader = Reader(batch.record_bytes())
    values = []
    try:
        for index in range(batch.count):
            start = reader.position
            frame = read_frame(reader, index)
            if frame.key is not None or frame.value is None or frame.headers:
                raise reader.corrupt("a record that is not just a value", start)
            values.append(reader.data[slice(*frame.value)])
        if reader.position != reader.end:
            raise reader.corrupt(f"{reader.end - reader.position} bytes after the last record")
    except CorruptRecordError as error:
        # Where it is in records that were compressed is not where it is in the file.
        if batch.compression is Compression.NONE:
            raise error.located(
                shift=batch.position + HEADER_BYTES, base_offset=batch.base_offset
            ) from None
        error.position = batch.position
        raise error.located(base_offset=batch.base_offset) from None
    return tuple(values)
