"""Arbitrary bytes give a trace that is written as it was read, or one error of the right kind."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from tests.krafla.traces.trace_strategies import PARTIAL_TRACES, traces

from krafla.traces import TraceFormatError, dumps, loads_any, read_trace

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
PIECES = st.sampled_from(
    [
        "",
        "\n",
        "[",
        "]",
        "{",
        "}",
        '"',
        ",",
        "null",
        "1e9",
        "-1",
        "true",
        "#set",
        "#except",
        "\\",
        "2",
    ]
)


def is_sound(read):
    """Return whether the data is read as a trace that survives being written, or is refused."""
    try:
        trace = read()
    except TraceFormatError as refused:
        return str(refused).isprintable()
    return loads_any(dumps(trace)) == trace


@given(st.binary(max_size=200))
def test_any_bytes_are_a_trace_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("fuzz") / "any.ndjson"
    path.write_bytes(data)

    assert is_sound(lambda: read_trace(path))


@given(traces() | PARTIAL_TRACES, st.data())
def test_any_piece_of_a_trace_may_be_replaced(trace, data):
    text = dumps(trace)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))

    assert is_sound(
        lambda: loads_any(text[:start] + data.draw(PIECES | st.text(max_size=3)) + text[end:])
    )


@given(traces() | PARTIAL_TRACES, st.data())
def test_any_field_of_a_trace_may_be_replaced(trace, data):
    lines = [json.loads(line) for line in dumps(trace).splitlines()]
    line = data.draw(st.sampled_from(lines))
    line[data.draw(st.sampled_from(sorted(line)))] = data.draw(JSON)

    assert is_sound(lambda: loads_any("".join(f"{json.dumps(line)}\n" for line in lines)))


@given(traces() | PARTIAL_TRACES, st.data())
def test_lines_may_be_lost_doubled_or_swapped(trace, data):
    lines = dumps(trace).splitlines(keepends=True)
    chosen = data.draw(st.lists(st.sampled_from(lines), max_size=6))

    assert is_sound(lambda: loads_any("".join(chosen)))
