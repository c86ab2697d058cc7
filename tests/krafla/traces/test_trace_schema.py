"""The JSON Schema of traces: written lines satisfy it, and most refused lines do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from tests.krafla.traces.schema_validator import Validator
from tests.krafla.traces.trace_strategies import PARTIAL_TRACES, traces

from krafla.traces import dumps
from krafla.traces.schema import schema_text

ROOT = Path(__file__).resolve().parents[3]
RECORDED = sorted((ROOT / "traces").rglob("*.ndjson"))
VALIDATOR = Validator(json.loads(schema_text()))


@given(traces() | PARTIAL_TRACES)
def test_every_line_that_is_written_satisfies_the_schema(trace):
    for line in dumps(trace).splitlines():
        assert VALIDATOR.accepts(json.loads(line)), line


def test_every_line_of_the_recorded_traces_satisfies_the_schema():
    lines = [line for path in RECORDED for line in path.read_text(encoding="utf-8").splitlines()]

    assert len(lines) > 100
    assert [line for line in lines if not VALIDATOR.accepts(json.loads(line))] == []


HEADER = {"krafla_trace": 2, "spec": "S", "steps": 1}
STEP = {"step": 0, "action": "Init", "parameters": [], "state": {"x": 0}}


def state(value):
    return STEP | {"state": {"x": value}}


@pytest.mark.parametrize(
    "line",
    [
        HEADER | {"krafla_trace": 1},
        HEADER | {"spec": "../S"},
        HEADER | {"steps": 0},
        HEADER | {"steps": True},
        HEADER | {"extra": 1},
        HEADER | {"claim": {"kind": "nothing"}},
        STEP | {"action": "rm -rf"},
        STEP | {"state": {}},
        STEP | {"changed": {"x": {"#except": [[1]]}}},
        STEP | {"event": {"sent": [-1]}},
        state(None),
        state(1.5),
        state(2**31),
        state({}),
        state({"#set": 1}),
        state({"#set": [], "y": 1}),
        state({"#new": 1}),
        state({"#map": [[1]]}),
        state({"#except": []}),
        {"observation": 0, "seen": [[[], 1]]},
    ],
)
def test_a_line_that_is_refused_does_not_satisfy_the_schema(line):
    assert VALIDATOR.accepts(HEADER)
    assert VALIDATOR.accepts(STEP)
    assert not VALIDATOR.accepts(line)
