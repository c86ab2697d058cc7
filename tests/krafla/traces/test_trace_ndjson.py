"""Traces as lines of JSON: nothing is lost, nothing wrong is accepted."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from tests.krafla.traces.trace_strategies import PARTIAL_TRACES, traces

from krafla.traces import (
    Observation,
    PartialTrace,
    Step,
    Trace,
    TraceFormatError,
    dumps,
    loads,
    loads_any,
    read_trace,
    read_whole_trace,
    write_trace,
)
from krafla.values import ModelValue, function, record, same
from krafla.verdict import KraflaError


@given(traces())
def test_every_trace_is_read_back_as_it_was(trace):
    again = loads(dumps(trace))

    assert again == trace
    assert dumps(again) == dumps(trace)
    assert all(
        same(one.state, other.state) for one, other in zip(again.steps, trace.steps, strict=True)
    )


@given(PARTIAL_TRACES)
def test_every_partial_trace_is_read_back_as_it_was(trace):
    again = loads_any(dumps(trace))

    assert again == trace
    assert dumps(again) == dumps(trace)


TRACE = Trace(
    "Counter",
    (Step("Init", (), record(x=0)), Step("Up", None, record(x=frozenset({1})), "Counter:7")),
    lasso=0,
)


def test_a_trace_is_kept_in_a_file_compressed_or_not(tmp_path):
    for name in ("trace.ndjson", "trace.ndjson.gz"):
        write_trace(TRACE, tmp_path / name)

        assert read_whole_trace(tmp_path / name) == TRACE
    assert {one.name for one in tmp_path.iterdir()} == {"trace.ndjson", "trace.ndjson.gz"}
    assert (tmp_path / "trace.ndjson.gz").read_bytes().startswith(b"\x1f\x8b")


def test_equal_traces_are_equal_files_also_when_compressed(tmp_path):
    for name in ("one.gz", "other.gz"):
        write_trace(TRACE, tmp_path / name)

    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "other.gz").read_bytes()


def step_lines(*states):
    trace = Trace("S", tuple(Step("A", (), state) for state in states))
    return [json.loads(line) for line in dumps(trace).splitlines()[1:]]


def test_a_step_is_written_by_what_it_changed():
    r1, r2 = ModelValue("r1"), ModelValue("r2")
    before = record(age=function({r1: 0, r2: 5}), log=(1, 2), epoch=3)
    after = record(age=function({r1: 1, r2: 5}), log=(1, 2, 9), epoch=3)

    assert "changed" not in step_lines(before, after)[0]
    assert step_lines(before, after)[1]["changed"] == {
        "age": {"#except": [[{"#model": "r1"}, 1]]},
        "log": [1, 2, 9],
    }
    assert step_lines(before, before)[1]["changed"] == {}


def test_a_place_in_a_sequence_changes_alone_and_true_is_not_one():
    lines = step_lines(record(x=(1, 1)), record(x=(1, True)))

    assert lines[1]["changed"] == {"x": {"#except": [[2, True]]}}


def test_a_function_all_of_whose_results_changed_is_written_whole():
    lines = step_lines(record(x=(1, 2)), record(x=(2, 1)))

    assert lines[1]["changed"] == {"x": [2, 1]}


def test_a_step_by_hand_may_give_its_whole_state():
    lines = dumps(TRACE).splitlines()
    second = json.loads(lines[2])
    second["state"] = second.pop("changed")

    assert loads("\n".join([*lines[:2], json.dumps(second)]) + "\n") == TRACE


def test_a_partial_trace_is_not_taken_for_a_whole_one(tmp_path):
    path = tmp_path / "seen.ndjson"
    seen = PartialTrace("S", (Observation("A"), Observation(None, seen=((("x", 1), 2),))))
    write_trace(seen, path)

    assert read_trace(path) == seen
    with pytest.raises(TraceFormatError, match="krafla validate"):
        read_whole_trace(path)


@pytest.mark.parametrize(
    ("trace", "problem"),
    [
        (Trace("S", ()), "the header: steps"),
        (Trace("../S", TRACE.steps), "the header: spec"),
        (Trace("S\n", TRACE.steps), "the header: spec"),
        (Trace("S", TRACE.steps, (("N", 1), ("N", 2))), "the header: 'N'"),
        (Trace("S", TRACE.steps, (("N", 2**31),)), "2147483648 is outside the 32 bits"),
        (Trace("S", (Step("A", (), record(x="\x1b[2J")),)), r"step 0: 'x'.*U\+001B"),
        (Trace("S", (Step("A", (), record(x=1)), Step("A", (), record(y=1)))), "step 1: the var"),
        (Trace("S", (Step("A", (), function({1: 1, 3: 3})),)), "step 0: 1 is no name"),
        (Trace("S", (Step("A", (), record(x=1), "\x00"),)), r"step 0:.*U\+0000"),
        (PartialTrace("S", (Observation("no action"),)), "observation 0: action"),
    ],
)
def test_a_trace_that_could_not_be_read_again_is_not_written(trace, problem):
    with pytest.raises(TraceFormatError, match=problem):
        dumps(trace)


def test_a_file_that_cannot_be_written_is_an_error_and_leaves_nothing(tmp_path):
    with pytest.raises(KraflaError, match="there is no such folder"):
        write_trace(TRACE, tmp_path / "no such folder" / "trace.ndjson")

    (tmp_path / "folder.ndjson").mkdir()
    with pytest.raises(KraflaError, match="this is a folder"):
        write_trace(TRACE, tmp_path / "folder.ndjson")
    assert [one.name for one in tmp_path.iterdir()] == ["folder.ndjson"]
