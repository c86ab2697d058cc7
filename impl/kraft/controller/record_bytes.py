"""Records as bytes, and back: Raft stores the values of records, not records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from kraft.errors import CorruptRecordError
from kraft.image.versions import written_version
from kraft.records.batch import HEADER_BYTES
from kraft.records.limits import MAX_BATCH_BYTES
from kraft.records.metadata_records import typed_record
from kraft.records.record import records_bytes
from kraft.records.value import decode_value, encode_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kraft.records.typed_record import TypedRecord


_RECORD_OVERHEAD: Final = 24
"""The most bytes of a record besides its fields: four varints of 5, and four marks."""


def encode_records(records: Iterable[TypedRecord], metadata_version: int) -> tuple[bytes, ...]:
    """Return the value of each record, in the version in which Kafka's controller writes it.

    Raises ValueError for a record that does not exist under that metadata version, or that has a
    field which its version cannot carry. Kafka: MetadataRecordSerde.write.
    """
    values = []
    for record in records:
        version = written_version(record, metadata_version)
        api_key = record.SCHEMA.api_key
        values.append(encode_value(api_key, version, record.to_fields(version)))
    return tuple(values)


def fits_one_batch(records: Sequence[TypedRecord], metadata_version: int) -> bool:
    """Return whether these records together are no more than a batch may hold.

    Raises as `encode_records`. Kafka: BatchAccumulator.maybeAllocateBatch.
    """
    # No field of a record takes more than twice its bytes as JSON, and JSON is made fast.
    most = 2 * len(msgspec.json.encode(records)) + HEADER_BYTES
    if most + len(records) * _RECORD_OVERHEAD <= MAX_BATCH_BYTES:
        return True
    values = encode_records(records, metadata_version)
    return HEADER_BYTES + records_bytes(values) <= MAX_BATCH_BYTES


def decode_records(values: Sequence[bytes], base_offset: int) -> tuple[TypedRecord, ...]:
    """Return the records of a batch whose first record is at `base_offset`.

    Raises CorruptRecordError or UnsupportedVersionError, with the offset, for invalid bytes. Kafka:
    MetadataRecordSerde.read.
    """
    records = []
    for offset, value in enumerate(values, start=base_offset):
        try:
            api_key, _, fields = decode_value(value)
        except CorruptRecordError as error:
            raise error.located(offset=offset) from None
        records.append(typed_record(api_key, fields))
    return tuple(records)
