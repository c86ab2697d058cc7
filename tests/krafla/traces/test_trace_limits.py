"""The limits of a trace: exceeding each gives an error of one line with the place."""

from __future__ import annotations

import gzip

import pytest

from krafla.traces import (
    Step,
    Trace,
    TraceFormatError,
    dumps,
    files,
    loads,
    read_whole_trace,
    states,
)
from krafla.traces.limits import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_LINE,
    MAX_MEMBERS,
    MAX_NAME,
    MAX_RATIO,
    MAX_STEPS,
    MAX_TEXT,
    RATIO_FROM_BYTES,
)
from krafla.values import record

HEADER = '{"krafla_trace":2,"spec":"S","steps":1}\n'


def of(value):
    return f'{HEADER}{{"step":0,"action":"Init","parameters":[],"state":{{"x":{value}}}}}\n'


def nested(levels):
    return "[" * levels + "]" * levels


def test_values_within_the_limits_are_read():
    for value in (nested(MAX_DEPTH), f"[{'0,' * (MAX_MEMBERS - 1)}0]", f'"{"a" * MAX_TEXT}"'):
        trace = loads(of(value))

        assert loads(dumps(trace)) == trace


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (of(nested(MAX_DEPTH + 1)), 2, f"deeper than {MAX_DEPTH} levels"),
        (of(f"[{'0,' * MAX_MEMBERS}0]"), 2, f"the most is {MAX_MEMBERS}"),
        (of(f'{{"#set":[{",".join(map(str, range(MAX_MEMBERS + 1)))}]}}'), 2, "65537 parts"),
        (of(f'"{"a" * (MAX_TEXT + 1)}"'), 2, f"the most is {MAX_TEXT}"),
        (of("2147483648"), 2, "outside the 32 bits"),
        (of("-2147483649"), 2, "outside the 32 bits"),
        (of(f'"{"a" * MAX_LINE}"'), 2, f"the most is {MAX_LINE}"),
        (HEADER.replace("S", "S" * (MAX_NAME + 1)), 1, f"length <= {MAX_NAME}"),
        (HEADER.replace("1}", f"{MAX_STEPS + 1}}}"), 1, f"<= {MAX_STEPS}"),
        ("\n" * (MAX_STEPS + 3), None, f"more than {MAX_STEPS} lines"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_data_beyond_a_limit_is_refused_with_its_line(text, line, problem):
    with pytest.raises(TraceFormatError) as refused:
        loads(text, "large.ndjson")

    assert problem in str(refused.value)
    assert refused.value.place == ("large.ndjson" if line is None else f"large.ndjson:{line}")
    assert len(str(refused.value)) < 400


def test_short_lines_cannot_copy_a_huge_function_for_ever(monkeypatch):
    monkeypatch.setattr(states, "MAX_CELLS", 1_000)
    steps = [Step("A", (), record(x=(0,) * 99 + (number,))) for number in range(11)]

    assert loads(dumps(Trace("S", tuple(steps[:10])))).steps == tuple(steps[:10])
    with pytest.raises(TraceFormatError, match=r"trace:12: 'x': .* copy more than 1000 parts"):
        loads(dumps(Trace("S", tuple(steps))))


def test_a_trace_too_large_for_a_line_is_not_written():
    state = record(x=("a" * MAX_TEXT,) * (MAX_LINE // MAX_TEXT))

    with pytest.raises(TraceFormatError, match=f"step 0: takes .* the most is {MAX_LINE}"):
        dumps(Trace("S", (Step("Init", (), state),)))


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    unpacked = []
    monkeypatch.setattr(
        files, "bytearray", lambda: unpacked.append(bytearray()) or unpacked[0], raising=False
    )
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(RATIO_FROM_BYTES * 3)))

    with pytest.raises(TraceFormatError, match=f"unpacks to more than {RATIO_FROM_BYTES} bytes"):
        read_whole_trace(path)
    assert len(unpacked[0]) <= RATIO_FROM_BYTES + 1024 * 1024
    assert path.stat().st_size * MAX_RATIO < RATIO_FROM_BYTES * 3


def test_a_file_larger_than_any_trace_is_not_read(tmp_path):
    path = tmp_path / "large.ndjson"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)

    with pytest.raises(TraceFormatError, match=f"larger than {MAX_BYTES} bytes"):
        read_whole_trace(path)
