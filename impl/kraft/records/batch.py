"""Record batches, format v2: the 61 byte header, its checks, and the records after it.

The CRC-32C covers everything from the attributes on. It does not cover base offset, length, leader
epoch and magic; those are caught by framing and by continuity between batches, or not at all.

Kafka: DefaultRecordBatch.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import google_crc32c

from kraft.errors import CorruptRecordError, LimitExceededError, UnsupportedVersionError
from kraft.records.compression import Compression, decompress
from kraft.records.limits import DEFAULT_LIMITS, Limits
from kraft.records.primitives import Reader
from kraft.records.record import (
    ControlRecord,
    MetadataRecord,
    read_control_record,
    read_metadata_record,
)
from kraft.records.scan import scan_metadata_records, scan_typed_records

if TYPE_CHECKING:
    from pathlib import Path

    from kraft.records.typed_record import TypedRecord

HEADER: Final = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES: Final = HEADER.size
LENGTH_OFFSET: Final = 8
LOG_OVERHEAD: Final = 12
"""Bytes of base offset and length, which the length does not count."""
CRC_START: Final = 17
ATTRIBUTES_START: Final = 21
MAGIC: Final = 2
MINIMUM_LENGTH: Final = HEADER_BYTES - LOG_OVERHEAD
SMALLEST_RECORD_BYTES: Final = 7

_COMPRESSION_BITS: Final = 0x07
_TIMESTAMP_TYPE_BIT: Final = 0x08
_TRANSACTIONAL_BIT: Final = 0x10
_CONTROL_BIT: Final = 0x20
_DELETE_HORIZON_BIT: Final = 0x40


class BatchHeader(NamedTuple):
    """The header's numbers as they stand in the file."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """One checked batch: header valid, CRC right; its records are decoded on demand.

    `position` and `size` are bytes in the file. Timestamps are in milliseconds.
    """

    header: BatchHeader
    position: int
    raw: bytes = field(repr=False)
    path: Path | None = None
    limits: Limits = DEFAULT_LIMITS

    @property
    def base_offset(self) -> int:
        """The offset of the first record."""
        return self.header.base_offset

    @property
    def last_offset(self) -> int:
        """The offset of the last record."""
        return self.header.base_offset + self.header.last_offset_delta

    @property
    def next_offset(self) -> int:
        """The offset the next batch starts with."""
        return self.last_offset + 1

    @property
    def leader_epoch(self) -> int:
        """The epoch of the leader that appended the batch."""
        return self.header.leader_epoch

    @property
    def crc(self) -> int:
        """The CRC-32C in the header, which was found right."""
        return self.header.crc

    @property
    def size(self) -> int:
        """Bytes of the whole batch in the file."""
        return len(self.raw)

    @property
    def count(self) -> int:
        """How many records the batch holds."""
        return self.header.record_count

    @property
    def compression(self) -> Compression:
        """How the records are compressed."""
        return Compression(self.header.attributes & _COMPRESSION_BITS)

    @property
    def is_control(self) -> bool:
        """Whether the records are control records."""
        return bool(self.header.attributes & _CONTROL_BIT)

    @property
    def is_transactional(self) -> bool:
        """Whether the producer's transactional bit is set; never in a metadata log."""
        return bool(self.header.attributes & _TRANSACTIONAL_BIT)

    @property
    def is_log_append_time(self) -> bool:
        """Whether the timestamps are the broker's append time."""
        return bool(self.header.attributes & _TIMESTAMP_TYPE_BIT)

    @property
    def has_delete_horizon(self) -> bool:
        """Whether the base timestamp is a delete horizon."""
        return bool(self.header.attributes & _DELETE_HORIZON_BIT)

    @property
    def base_timestamp(self) -> int:
        """The timestamp that the records' deltas add to."""
        return self.header.base_timestamp

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp, according to the header."""
        return self.header.max_timestamp

    def metadata_records(
        self,
        wanted: frozenset[int] | None = None,
        counts: dict[tuple[int, int], int] | None = None,
    ) -> list[MetadataRecord]:
        """Return the records whose api key is in `wanted` (None: all), after checking all of them.

        Adds to `counts`, if given, the number of records by (api key, version). A control batch has
        none. Raises CorruptRecordError or a subclass.
        """
        if self.is_control:
            return []
        data, start = self._records()
        try:
            return scan_metadata_records(
                data, start, self.header.record_count, self.base_offset, self.base_timestamp,
                position_shift=self._shift(), wanted=wanted, counts=counts,
            )  # fmt: skip
        except CorruptRecordError as error:
            raise self._located(error) from None

    def metadata_record_at(self, offset: int, place: int | None = None) -> MetadataRecord:
        """Return the record at an offset of a batch that is no control batch; read only that one.

        `place` is where it begins in `record_bytes`, if that is known. Raises CorruptRecordError or
        a subclass.
        """
        data, start = self._records()
        reader = Reader(data, start if place is None else start + place)
        index = offset - self.base_offset
        try:
            for _ in range(index if place is None else 0):
                length = reader.varint("record length")
                reader.position += length
            found = read_metadata_record(reader, index, self.base_offset, self.base_timestamp)
        except CorruptRecordError as error:
            raise self._located(error) from None
        return found._replace(position=found.position + self._shift())

    def typed_records(self) -> list[TypedRecord]:
        """Return all records as values, after checking them; a control batch has none.

        Raises CorruptRecordError and its kinds.
        """
        if self.is_control:
            return []
        data, start = self._records()
        try:
            return scan_typed_records(data, start, self.header.record_count, self.base_offset)
        except CorruptRecordError as error:
            raise self._located(error) from None

    def control_records(self) -> list[ControlRecord]:
        """Return the control records of a control batch, none for another batch.

        Raises CorruptRecordError and its kinds.
        """
        if not self.is_control:
            return []
        data, start = self._records()
        reader = Reader(data, start)
        shift = self._shift()
        records = []
        try:
            for index in range(self.header.record_count):
                record = read_control_record(reader, index, self.base_offset, self.base_timestamp)
                records.append(record._replace(position=record.position + shift))
            if reader.position != reader.end:
                raise reader.corrupt(
                    f"{reader.end - reader.position} bytes left over after the last record"
                )
        except CorruptRecordError as error:
            raise self._located(error) from None
        return records

    def check(self) -> None:
        """Check every record of the batch; raises as `metadata_records`."""
        if self.is_control:
            self.control_records()
        else:
            self.metadata_records(frozenset())

    def record_bytes(self) -> bytes:
        """Return the bytes of the records, decompressed.

        Raises CorruptRecordError for a broken stream, LimitExceededError for a bomb.
        """
        data, start = self._records()
        return data[start:]

    def _records(self) -> tuple[bytes, int]:
        if self.compression is Compression.NONE:
            return self.raw, HEADER_BYTES
        try:
            data = decompress(self.compression, self.raw[HEADER_BYTES:], self.limits)
        except CorruptRecordError as error:
            error.position = HEADER_BYTES
            raise error.located(
                path=self.path, shift=self.position, base_offset=self.base_offset
            ) from None
        if self.header.record_count * SMALLEST_RECORD_BYTES > len(data):
            reason = f"{self.header.record_count} records cannot fit {len(data)} decompressed bytes"
            raise CorruptRecordError(
                reason, path=self.path, position=self.position, base_offset=self.base_offset
            )
        return data, 0

    def _shift(self) -> int:
        return self.position if self.compression is Compression.NONE else 0

    def _located(self, error: CorruptRecordError) -> CorruptRecordError:
        if self.compression is not Compression.NONE and error.position is not None:
            error.reason += f" (at byte {error.position} of the decompressed records)"
            error.position = 0
            return error.located(path=self.path, shift=self.position, base_offset=self.base_offset)
        return error.located(path=self.path, shift=self.position, base_offset=self.base_offset)


def parse_batch(
    raw: bytes, *, position: int = 0, path: Path | None = None, limits: Limits = DEFAULT_LIMITS
) -> RecordBatch:
    """Return the one batch that fills `raw`; `position` is where it starts in `path`.

    Raises CorruptRecordError (and LimitExceededError, UnsupportedVersionError) unless length,
    magic, CRC, attributes, offsets and count are right.
    """
    if len(raw) < HEADER_BYTES:
        raise CorruptRecordError(
            f"a batch needs {HEADER_BYTES} bytes, {len(raw)} are there",
            path=path,
            position=position,
        )
    header = BatchHeader._make(HEADER.unpack_from(raw))
    try:
        check_framing(header.base_offset, header.length, header.magic, limits)
        _check_header(header, raw)
    except CorruptRecordError as error:
        raise error.located(path=path, shift=position, base_offset=header.base_offset) from None
    return RecordBatch(header, position, raw, path, limits)


def check_framing(base_offset: int, length: int, magic: int, limits: Limits) -> None:
    """Raise unless a batch may start like this; to be called before its bytes are read."""
    if length < 0:
        raise CorruptRecordError(f"negative batch length {length}", position=LENGTH_OFFSET)
    if magic < 0:
        raise CorruptRecordError(f"magic {magic}", position=CRC_START - 1)
    if magic != MAGIC:
        raise UnsupportedVersionError(
            f"magic {magic}, only {MAGIC} is known", position=CRC_START - 1
        )
    if length < MINIMUM_LENGTH:
        raise CorruptRecordError(
            f"batch length {length} is less than {MINIMUM_LENGTH}", position=LENGTH_OFFSET
        )
    if length + LOG_OVERHEAD > limits.batch_bytes:
        raise LimitExceededError(
            f"batch length {length} is above the cap of {limits.batch_bytes} bytes",
            position=LENGTH_OFFSET,
        )
    if base_offset < 0:
        raise CorruptRecordError(f"negative base offset {base_offset}", position=0)


def _check_header(header: BatchHeader, raw: bytes) -> None:
    if header.length + LOG_OVERHEAD != len(raw):
        raise CorruptRecordError(
            f"batch length {header.length}, {len(raw) - LOG_OVERHEAD} bytes are there",
            position=LENGTH_OFFSET,
        )
    crc = google_crc32c.value(memoryview(raw)[ATTRIBUTES_START:].tobytes())
    if crc != header.crc:
        raise CorruptRecordError(
            f"CRC-32C is {crc}, the header says {header.crc}", position=CRC_START
        )
    if header.leader_epoch < 0:
        raise CorruptRecordError(f"leader epoch {header.leader_epoch}", position=LOG_OVERHEAD)
    compression = header.attributes & _COMPRESSION_BITS
    if compression > max(Compression):
        raise UnsupportedVersionError(
            f"unknown compression {compression}", position=ATTRIBUTES_START
        )
    if header.record_count <= 0:
        raise CorruptRecordError(f"{header.record_count} records", position=HEADER_BYTES - 4)
    if header.last_offset_delta != header.record_count - 1:
        raise CorruptRecordError(
            f"last offset delta {header.last_offset_delta} with {header.record_count} records",
            position=ATTRIBUTES_START + 2,
        )
    room = len(raw) - HEADER_BYTES
    if compression == Compression.NONE and header.record_count * SMALLEST_RECORD_BYTES > room:
        raise CorruptRecordError(
            f"{header.record_count} records cannot fit {room} bytes", position=HEADER_BYTES - 4
        )
