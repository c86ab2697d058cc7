"""Building record batches: for simulated logs, and for tests that edit real ones.

Kafka: MemoryRecordsBuilder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import google_crc32c

from kraft.records.batch import (
    ATTRIBUTES_START,
    CRC_START,
    HEADER,
    HEADER_BYTES,
    LOG_OVERHEAD,
    MAGIC,
)
from kraft.records.compression import Compression, compress
from kraft.records.control import encode_control_key, encode_control_value
from kraft.records.record import encode_record
from kraft.records.value import encode_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kraft.records.schema import Fields

_CONTROL_BIT = 0x20


def encode_batch(
    base_offset: int,
    leader_epoch: int,
    timestamp: int,
    values: Sequence[bytes],
    *,
    keys: Sequence[bytes] | None = None,
    compression: Compression = Compression.NONE,
) -> bytes:
    """Return the bytes of a batch of records that all have the same timestamp (milliseconds).

    With `keys` (as many as values) it is a control batch. Raises ValueError without values.
    """
    if not values:
        raise ValueError("a batch holds at least one record")
    owners: Iterable[bytes | None] = [None] * len(values) if keys is None else keys
    records = b"".join(
        encode_record(index, value, key=key)
        for index, (key, value) in enumerate(zip(owners, values, strict=True))
    )
    attributes = compression | (0 if keys is None else _CONTROL_BIT)
    count = len(values)
    body = compress(compression, records)
    head = HEADER.pack(
        base_offset,
        HEADER_BYTES - LOG_OVERHEAD + len(body),
        leader_epoch,
        MAGIC,
        0,
        attributes,
        count - 1,
        timestamp,
        timestamp,
        -1,
        -1,
        -1,
        count,
    )
    return with_crc(head + body)


def metadata_batch(
    base_offset: int,
    leader_epoch: int,
    timestamp: int,
    records: Sequence[tuple[int, int, Fields]],
    *,
    compression: Compression = Compression.NONE,
) -> bytes:
    """Return the bytes of a batch of metadata records given as (api key, version, fields)."""
    values = [encode_value(api_key, version, fields) for api_key, version, fields in records]
    return encode_batch(base_offset, leader_epoch, timestamp, values, compression=compression)


def control_batch(
    base_offset: int, leader_epoch: int, timestamp: int, records: Sequence[tuple[int, Fields]]
) -> bytes:
    """Return the bytes of a batch of control records given as (control type, fields)."""
    keys = [encode_control_key(kind) for kind, _ in records]
    values = [encode_control_value(kind, fields) for kind, fields in records]
    return encode_batch(base_offset, leader_epoch, timestamp, values, keys=keys)


def with_crc(raw: bytes) -> bytes:
    """Return the batch `raw` with its CRC made right."""
    crc: int = google_crc32c.value(raw[ATTRIBUTES_START:])
    return raw[:CRC_START] + crc.to_bytes(4, "big") + raw[ATTRIBUTES_START:]
