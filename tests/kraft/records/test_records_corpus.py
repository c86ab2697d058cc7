"""Every record of real logs: read, agreed on by both decoders, and written back byte for byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kraft.log.checkpoint import read_checkpoint
from kraft.log.directory import find_metadata_logs, read_metadata_log
from kraft.log.text_files import read_leader_epochs, read_meta_properties, read_quorum_state
from kraft.records.builder import encode_batch
from kraft.records.control import encode_control_key, encode_control_value
from kraft.records.value import decode_value, encode_value

CORPUS = os.environ.get("KRAFLA_CORPUS")
pytestmark = pytest.mark.skipif(
    CORPUS is None, reason="KRAFLA_CORPUS names no directory of real logs"
)


def corpus_logs():
    logs = find_metadata_logs(Path(CORPUS or ""))
    assert logs
    return logs


def corpus_batches():
    for log in corpus_logs():
        yield from read_metadata_log(log, findings=[])
        for checkpoint in log.checkpoints:
            yield from read_checkpoint(checkpoint.path)
        if log.bootstrap is not None:
            yield from read_checkpoint(log.bootstrap)


def test_every_batch_and_record_is_written_back_as_it_was():
    seen: set[bytes] = set()
    batches = 0
    for batch in corpus_batches():
        batches += 1
        records = batch.metadata_records()
        controls = batch.control_records()
        assert len(records) + len(controls) == batch.count
        for record in records:
            if record.value in seen:
                continue
            seen.add(record.value)
            assert decode_value(record.value) == record[2:5]
            assert encode_value(record.api_key, record.version, record.fields) == record.value
        for control in controls:
            assert encode_control_key(control.control_type) == control.key
            assert encode_control_value(control.control_type, control.fields) == control.value
        if all(r.timestamp == batch.base_timestamp for r in (*records, *controls)):
            values = [record.value for record in (*records, *controls)]
            keys = [control.key for control in controls] or None
            start = (batch.base_offset, batch.leader_epoch, batch.base_timestamp)
            assert encode_batch(*start, values, keys=keys) == batch.raw
    assert batches > len(corpus_logs())
    assert len(seen) > 1


def test_the_small_files_of_every_node_are_read():
    for log in corpus_logs():
        assert log.meta_properties is not None
        assert read_meta_properties(log.meta_properties).version == 1
        if log.quorum_state is not None:
            assert read_quorum_state(log.quorum_state).leader_epoch > 0
        if log.leader_epochs is not None:
            assert read_leader_epochs(log.leader_epochs)
