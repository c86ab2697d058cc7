"""The steps of traces as rows: what the trace says, and a trace with a fault by its name."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from krafla.pipeline.storage import storage_of
from krafla.spark.source_tables import Share, TableQuestion, file_batches
from krafla.spark.trace_rows import TRACE_SCHEMAS, trace_batches
from krafla.traces import loads
from krafla.values import fmt
from krafla.verdict import KraflaError
from kraft.records.limits import DEFAULT_LIMITS, Limits

TRACES = Path(__file__).parents[3] / "traces" / "accepted" / "lease"
ONE = TRACES / "register-and-unfence.ndjson"


def rows(place, table="steps", *, fails=False, limits=DEFAULT_LIMITS):
    storage = storage_of(str(place), {})
    found = []
    for source in storage.list(str(place)).sources:
        for batch in trace_batches(storage, source, table, fails, limits):
            assert batch.schema == TRACE_SCHEMAS[table]
            found += batch.to_pylist()
    return found


def test_each_step_has_its_action_its_parameters_and_the_whole_state():
    trace = loads(ONE.read_text())
    found = rows(ONE)
    assert [row["step"] for row in found] == list(range(len(trace.steps)))
    for row, step in zip(found, trace.steps, strict=True):
        assert (row["spec"], row["action"], row["path"]) == (trace.spec, step.action, str(ONE))
        assert dict(row["state"]) == {str(name): fmt(v) for name, v in step.state.items()}
    assert found[1]["parameters"] == [fmt(value) for value in trace.steps[1].parameters]
    assert any("STARTING" in change for change in found[1]["changes"])
    assert found[0]["changes"] == []


def test_the_steps_are_those_of_the_table_events_and_gzip_changes_nothing(tmp_path):
    storage = storage_of(str(ONE), {})
    (source,) = storage.list(str(ONE)).sources
    events = [
        row
        for batch in file_batches(storage, Share(source), TableQuestion("events"))
        for row in batch.to_pylist()
    ]
    found = rows(ONE)
    assert [json.loads(one["detail"])["changes"] for one in events] == [
        row["changes"] for row in found
    ]
    assert {row["file_id"] for row in found} == {one["file_id"] for one in events}
    packed = tmp_path / f"{ONE.name}.gz"
    packed.write_bytes(gzip.compress(ONE.read_bytes()))
    states = [row["state"] for row in found]
    assert [row["state"] for row in rows(packed)] == states


def test_a_trace_with_a_fault_has_no_steps_and_its_reason_in_quarantine(tmp_path):
    shutil.copy(ONE, tmp_path)
    bad = tmp_path / "cut.ndjson"
    bad.write_bytes(ONE.read_bytes()[:-30])
    assert rows(tmp_path) == rows(tmp_path / ONE.name)
    (fault,) = rows(tmp_path, "quarantine")
    assert (fault["path"], fault["stage"]) == (str(bad), "decode")
    with pytest.raises(KraflaError) as caught:
        rows(tmp_path, fails=True)
    assert caught.value.place == str(bad)
    (large, _) = rows(tmp_path, "quarantine", limits=Limits(file_bytes=100))
    assert "more than 100 bytes" in large["reason"]
