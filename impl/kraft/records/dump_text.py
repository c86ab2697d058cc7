"""A batch and its records as text: the lines Kafka's dump tool prints for them.

Kafka: DumpLogSegments with `--cluster-metadata-decoder`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.records.control_schemas import CONTROL_SCHEMAS, LEADER_CHANGE
from kraft.records.json_text import fields_json
from kraft.records.metadata_schemas import METADATA_SCHEMAS

if TYPE_CHECKING:
    from kraft.records.batch import RecordBatch
    from kraft.records.record import ControlRecord, MetadataRecord
    from kraft.records.schema import Fields

_MAX_SEQUENCE: Final = 2**31 - 1


def payload_text(record: MetadataRecord, fields: Fields | None = None) -> str:
    """Return `{"type": ..., "version": ..., "data": {...}}` on one line.

    `fields` are shown in place of the record's own, so that the caller may withhold some of them.
    """
    schema = METADATA_SCHEMAS[record.api_key]
    data = fields_json(schema.fields, record.version, record.fields if fields is None else fields)
    return f'{{"type":"{schema.name}","version":{record.version},"data":{data}}}'


def control_text(record: ControlRecord) -> str:
    """Return the name of a control record and its fields as JSON, on one line."""
    schema = CONTROL_SCHEMAS[record.control_type]
    colon = ":" if schema is LEADER_CHANGE else ""
    return f"{schema.name}{colon} {fields_json(schema.fields, record.version, record.fields)}"


def record_start(
    batch: RecordBatch, record: MetadataRecord | ControlRecord, key_bytes: int = -1
) -> str:
    """Return the beginning of a record's line, from `| offset:` to its header keys.

    `key_bytes` is the length of its key, -1 if it has none.
    """
    time = "LogAppendTime" if batch.is_log_append_time else "CreateTime"
    return (
        f"| offset: {record.offset} {time}: {record.timestamp} keySize: {key_bytes}"
        f" valueSize: {len(record.value)}"
        f" sequence: {_sequence(batch, record.offset - batch.base_offset)} headerKeys: []"
    )


def batch_line(batch: RecordBatch) -> str:
    """Return the line Kafka's dump tool prints for a batch."""
    header = batch.header
    horizon = f"OptionalLong[{batch.base_timestamp}]" if batch.has_delete_horizon else ""
    return (
        f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset} count: {batch.count}"
        f" baseSequence: {header.base_sequence}"
        f" lastSequence: {_sequence(batch, header.last_offset_delta)}"
        f" producerId: {header.producer_id} producerEpoch: {header.producer_epoch}"
        f" partitionLeaderEpoch: {batch.leader_epoch}"
        f" isTransactional: {str(batch.is_transactional).lower()}"
        f" isControl: {str(batch.is_control).lower()}"
        f" deleteHorizonMs: {horizon or 'OptionalLong.empty'} position: {batch.position}"
        f" {'LogAppendTime' if batch.is_log_append_time else 'CreateTime'}: {batch.max_timestamp}"
        f" size: {batch.size} magic: {header.magic}"
        f" compresscodec: {batch.compression.name.lower()} crc: {batch.crc} isvalid: true"
    )


def _sequence(batch: RecordBatch, delta: int) -> int:
    base = batch.header.base_sequence
    if base == -1:
        return base
    return (base + delta) % (_MAX_SEQUENCE + 1)
