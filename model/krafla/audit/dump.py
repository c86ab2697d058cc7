"""A metadata log as text: line by line what Kafka's dump tool prints for it.

Unlike that tool, secrets are hidden unless asked for, no byte can steer a terminal, and the log is
checked strictly on the way: a broken one ends in a typed error, a torn one in TornTailError.

Kafka: DumpLogSegments with `--cluster-metadata-decoder`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.record_json import fields_json
from krafla.audit.redact import redacted
from krafla.verdict import KraflaError
from kraft.errors import CorruptRecordError, UnreadableFileError, printable
from kraft.log.checkpoint import BOOTSTRAP_NAME, checkpoint_at, read_checkpoint
from kraft.log.directory import find_metadata_logs
from kraft.log.segment import iter_batches, segment_at
from kraft.records.control_schemas import CONTROL_SCHEMAS, LEADER_CHANGE
from kraft.records.metadata_schemas import METADATA_SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kraft.records.batch import RecordBatch
    from kraft.records.record import ControlRecord, MetadataRecord

BROKEN_INPUT: Final = (CorruptRecordError, UnreadableFileError)
"""What a dump raises, with all its kinds, if the input is at fault."""
_MAX_SEQUENCE: Final = 2**31 - 1


def dump_lines(path: Path, *, show_secrets: bool = False) -> Iterator[str]:
    """Yield the lines of a dump, without line ends.

    `path` is a segment, a checkpoint, or a directory with metadata logs below it, of which every
    checkpoint and segment is dumped. Raises one of BROKEN_INPUT, after the lines of what came
    before.
    """
    if path.is_dir():
        logs = find_metadata_logs(path)
        if not logs:
            raise KraflaError("no metadata log: no .log or .checkpoint in it or below", str(path))
        for log in logs:
            checkpoints = [checkpoint.path for checkpoint in log.checkpoints]
            for file in sorted([*checkpoints, *(segment.path for segment in log.segments)]):
                yield from _file_lines(file, show_secrets=show_secrets)
    else:
        yield from _file_lines(path, show_secrets=show_secrets)


def _file_lines(path: Path, *, show_secrets: bool) -> Iterator[str]:
    segment, checkpoint = segment_at(path), checkpoint_at(path)
    yield f"Dumping {printable(str(path))}"
    if checkpoint is not None:
        yield f"Snapshot end offset: {checkpoint.end_offset}, epoch: {checkpoint.epoch}"
        batches = read_checkpoint(path)
    elif segment is not None:
        yield f"Log starting offset: {segment.base_offset}"
        batches = iter_batches(path)
    elif path.name == BOOTSTRAP_NAME:
        yield "KRaft bootstrap snapshot"
        batches = read_checkpoint(path)
    else:
        raise CorruptRecordError("not the name of a log segment or a checkpoint", path=path)
    for batch in batches:
        yield batch_line(batch)
        prefix = "LogAppendTime" if batch.is_log_append_time else "CreateTime"
        for control in batch.control_records():
            yield _control_line(batch, control, prefix)
        for record in batch.metadata_records():
            yield _metadata_line(batch, record, prefix, show_secrets=show_secrets)


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


def _metadata_line(
    batch: RecordBatch, record: MetadataRecord, time: str, *, show_secrets: bool
) -> str:
    schema = METADATA_SCHEMAS[record.api_key]
    fields = record.fields if show_secrets else redacted(record.api_key, record.fields)
    return (
        f"| offset: {record.offset} {time}: {record.timestamp} keySize: -1"
        f" valueSize: {len(record.value)}"
        f" sequence: {_sequence(batch, record.offset - batch.base_offset)}"
        f' headerKeys: [] payload: {{"type":"{schema.name}","version":{record.version},'
        f'"data":{fields_json(schema.fields, record.version, fields)}}}'
    )


def _control_line(batch: RecordBatch, record: ControlRecord, time: str) -> str:
    schema = CONTROL_SCHEMAS[record.control_type]
    colon = ":" if schema is LEADER_CHANGE else ""
    return (
        f"| offset: {record.offset} {time}: {record.timestamp} keySize: {len(record.key)}"
        f" valueSize: {len(record.value)}"
        f" sequence: {_sequence(batch, record.offset - batch.base_offset)}"
        f" headerKeys: [] {schema.name}{colon}"
        f" {fields_json(schema.fields, record.version, record.fields)}"
    )


def _sequence(batch: RecordBatch, delta: int) -> int:
    base = batch.header.base_sequence
    if base == -1:
        return base
    return (base + delta) % (_MAX_SEQUENCE + 1)
