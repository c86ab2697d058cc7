"""Files that are no trace: the error is one line with the place and the reason."""

from __future__ import annotations

import gzip
import json

import pytest

from krafla.traces import (
    Observation,
    PartialTrace,
    Step,
    Trace,
    TraceFormatError,
    TruncatedTraceError,
    dumps,
    loads,
    loads_any,
    read_trace,
    read_whole_trace,
)
from krafla.values import record
from krafla.verdict import ExitCode

STEPS = (
    Step("Init", (), record(x=0, f=(7, 7))),
    Step("Up", None, record(x=frozenset({1}), f=(7, 8)), "Counter:7"),
    Step("Up", None, record(x=2, f=(7, 8)), "Counter:7"),
)
TRACE = Trace("Counter", STEPS, lasso=0)
TEXT = dumps(TRACE)
LINES = TEXT.splitlines()
TEXTLESS = {"root": "M", "modules": {"N": ""}}


def changed(number, **fields):
    """The text with changed fields in one line; the value ``...`` removes a field."""
    line = json.loads(LINES[number - 1]) | fields
    line = {key: value for key, value in line.items() if value is not ...}
    return "\n".join([*LINES[: number - 1], json.dumps(line), *LINES[number:]]) + "\n"


def header(**fields):
    return changed(1, **fields)


def state(value):
    return changed(2, state={"x": value, "f": [7, 7]})


def change(value):
    return changed(3, changed={"f": value})


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", None, "empty"),
        ("\n", 1, "not JSON"),
        ("{", 1, "not JSON"),
        ("[]\n", 1, "expected an object"),
        ('{"steps": 0}\n', 1, "no krafla_trace header"),
        (header(krafla_trace=1), 1, "trace format 1; this krafla reads format 2 and 3; it is from"),
        (header(krafla_trace=4), 1, "trace format 4; this krafla reads format 2 and 3"),
        (header(krafla_trace=[]), 1, "trace format []"),
        (header(krafla_trace=2, text=TEXTLESS), 1, "'text' is a field of a later format"),
        (header(text=TEXTLESS), 1, "there is no module M in it, which is to be loaded"),
        (header(text=TEXTLESS | {"modules": {}}), 1, "text.modules"),
        (header(text=TEXTLESS | {"root": "../M"}), 1, "text.root"),
        (header(text=TEXTLESS | {"modules": {"../N": ""}}), 1, "text.modules"),
        (header(krafla_trace=True), 1, "trace format True"),
        (header(krafla_trace="2"), 1, "trace format '2'"),
        (header(steps=2), 4, "announces 2 steps, more follow"),
        (header(steps=0), 1, "steps: Expected `int` >= 1"),
        (header(steps=True), 1, "steps: Expected `int`"),
        (header(steps=...), 1, "missing required field `steps`"),
        (header(extra=1), 1, "unknown field `extra`"),
        (header(lasso=3), 1, "lasso 3 is no step of 3"),
        (header(lasso=-1), 1, "lasso"),
        (header(lasso=False), 1, "lasso"),
        (header(spec=None), 1, "spec"),
        (header(spec="../../etc/passwd"), 1, "spec"),
        (header(spec="/etc/passwd"), 1, "spec"),
        (header(model="a\n"), 1, "model"),
        (header(claim={"kind": "nothing"}), 1, "claim.kind"),
        (header(claim=["kind"]), 1, "claim"),
        (header(claim={"kind": "invariant", "property": 1}), 1, "claim.property"),
        (header(constants=[]), 1, "constants"),
        (header(constants={"N": 2**31}), 1, "'N': 2147483648 is outside the 32 bits"),
        (header(constants={"N": None}), 1, "'N': None stands for no TLA+ value"),
        (header(origin={"made_by": "x", "digest": "abc"}), 1, "origin.digest"),
        (header(origin={"profile": "x"}), 1, "made_by"),
        (changed(2, state=None), 2, "state"),
        (changed(2, state={}), 2, "state"),
        (changed(2, state={"x y": 1}), 2, "state"),
        (changed(2, state=..., changed={}), 2, "must give its 'state' whole"),
        (changed(3, changed=...), 3, "one of 'state' and 'changed'"),
        (changed(3, state={"x": 1, "f": [7, 7]}), 3, "one of 'state' and 'changed'"),
        (changed(3, changed=..., state={"x": 1}), 3, "not the variables of the step before"),
        (changed(3, changed={"y": 1}), 3, "'y' is no variable of the step before"),
        (changed(3, step=2), 3, "step 1 is missing before step 2"),
        (changed(3, step=9), 3, "steps 1 to 8 are missing before step 9"),
        (changed(3, step=0), 3, "step 0 comes a second time, or late"),
        (changed(3, step=-1), 3, "step"),
        (changed(3, parameters=1), 3, "parameters"),
        (changed(3, parameters=...), 3, "missing required field `parameters`"),
        (changed(3, parameters=[None]), 3, "'parameters': None stands for no"),
        (changed(3, action=1), 3, "action"),
        (changed(3, action="rm -rf"), 3, "action"),
        (changed(3, event={"node": None}), 3, "'node': None stands for no"),
        (changed(3, event={"sent": [-1]}), 3, "event.sent"),
        (changed(3, event={"time_ms": 2**53}), 3, "event.time_ms"),
        (state([{"#set": [1, 1]}]), 2, "lists a member twice"),
        (state({"#set": [1, True]}), 2, "differs only in TRUE and 1"),
        (state({"#map": [[1]]}), 2, "list of pairs"),
        (state({"#map": [[1, 1], [1, 2]]}), 2, "an argument twice"),
        (state({"#map": [[0, 1], [False, 2]]}), 2, "differs only in TRUE and 1"),
        (state({"#set": [], "y": 1}), 2, "only key"),
        (state({"#new": 1}), 2, "#new"),
        (state({"#except": [[1, 1]]}), 2, "#except"),
        (state({"#model": 1}), 2, "#model"),
        (state({}), 2, "without fields"),
        (change({"#except": [[3, 1]]}), 3, "'f': '#except' gives a result to an argument outside"),
        (change({"#except": [[True, 1]]}), 3, "outside the domain"),
        (change({"#except": [[1, 1], [1, 2]]}), 3, "an argument twice"),
        (change({"#except": [1]}), 3, "list of pairs"),
        (change({"#except": 1}), 3, "takes a list"),
        (change({"#except": [], "y": 1}), 3, "only key"),
        (
            changed(3, changed={"x": {"#except": []}}),
            3,
            "'x': '#except' changes a value that is no",
        ),
        (TEXT.replace('"x":0', '"x":0,"x":1'), 2, "gives the key 'x' twice"),
        (TEXT.replace('"x":0', '"x":NaN'), 2, "NaN is no whole number"),
        (TEXT.replace('"x":0', '"x":-Infinity'), 2, "-Infinity is no whole number"),
        (TEXT.replace('"x":0', '"x":1.5'), 2, "1.5 is no whole number"),
        (TEXT.replace('"x":0', '"x":1e400'), 2, "1e400 is no whole number"),
        (TEXT.replace('"x":0', '"x":' + "9" * 40), 2, "a number of many digits is outside"),
        (TEXT.replace('"x":0', '"x":' + "9" * 5_000), 2, "a number has 5000 digits"),
        (TEXT.replace('"x":0', '"x":"\\ud800"'), 2, "U+D800"),
        (TEXT.replace('"x":0', '"x":"\\u0000"'), 2, "U+0000"),
        (TEXT.replace('"x":0', '"x":"\x00"'), 2, "control character"),
        (TEXT.replace('"x":0', '"x":"\\u001b[31m"'), 2, "U+001B"),
        (TEXT.replace('"x":0', '"x":"\x9b"'), 2, "U+009B"),
        (TEXT.replace('"x":0', '"\\u001b":0'), 2, "U+001B"),
        (TEXT.replace('"x":0', '"x":' + "[" * 50_000), 2, "not JSON: nested too deep"),
        (TEXT.replace("\n", "\r\n"), 1, "CR LF"),
        (f"\ufeff{TEXT}", 1, "BOM"),
        (TEXT.replace("\n", "\n\n", 1), 2, "not JSON"),
        (TEXT + "\n", 5, "announces 3 steps, more follow"),
        (TEXT + "{", 5, "announces 3 steps, more follow"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_a_text_that_is_no_trace_is_refused_with_its_line(text, line, problem):
    with pytest.raises(TraceFormatError) as refused:
        loads(text, "bad.ndjson")

    assert problem in str(refused.value)
    assert refused.value.place == ("bad.ndjson" if line is None else f"bad.ndjson:{line}")
    assert refused.value.exit_code is ExitCode.COULD_NOT_RUN
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ({"observation": 1}, 2, "observation 0 is missing before observation 1"),
        ({"observation": 0, "parameters": 1}, 2, "parameters"),
        ({"observation": 0, "parameters": [1.5]}, 2, "1.5 is no whole number"),
        ({"observation": 0, "seen": [[[], 1]]}, 2, "seen"),
        ({"observation": 0, "seen": [[[1], 1]]}, 2, "begins with the name of a variable"),
        ({"observation": 0, "seen": [[["x"], None]]}, 2, "stands for no TLA+ value"),
        ({"observation": 0, "when": 1}, 2, "unknown field `when`"),
        ({"observation": 0, "kind": "rest"}, 2, "kind"),
        ({"observation": 0, "kind": "refusal"}, 2, "a refusal names the action that was refused"),
        ({"observation": 0, "kind": "stay", "action": "Use"}, 2, "a stay takes no action"),
        ({"observation": 0, "kind": "stay", "parameters": []}, 2, "a stay takes no action"),
        ({"observation": 0, "action": "Init", "call": "same"}, 2, "no call is of Init"),
        ({"observation": 0, "call": "other"}, 2, "call"),
        ({"observation": 0, "call": {"parameters": []}}, 2, "method"),
        ({"observation": 0, "call": {"method": "f", "parameters": [None]}}, 2, "no TLA+ value"),
    ],
)
def test_an_observation_that_is_none_is_refused_with_its_line(text, line, problem):
    first = dumps(PartialTrace("S", (Observation("A"),))).splitlines()[0]

    with pytest.raises(TraceFormatError) as refused:
        loads_any(f"{first}\n{json.dumps(text)}\n", "bad.ndjson")
    assert problem in str(refused.value)
    assert refused.value.place == f"bad.ndjson:{line}"


@pytest.mark.parametrize("end", range(len(LINES[0]) + 1, len(TEXT) - 1))
def test_a_file_cut_anywhere_gives_the_steps_before_the_cut(end):
    with pytest.raises(TruncatedTraceError) as refused:
        loads(TEXT[:end], "cut.ndjson")

    whole = TEXT[: end + 1].count("\n") - 1
    assert f"{whole} of 3 steps are whole" in str(refused.value)
    assert refused.value.exit_code is ExitCode.INCONCLUSIVE
    begun = refused.value.trace
    assert (begun.steps if begun else ()) == STEPS[:whole]
    assert begun is None or (begun.lasso is None and begun.claim is None)


@pytest.mark.parametrize("end", range(16, len(LINES[0])))
def test_a_file_cut_within_its_header_has_no_steps(end):
    with pytest.raises(TruncatedTraceError, match="first line") as refused:
        loads(TEXT[:end], "cut.ndjson")

    assert refused.value.trace is None


def test_a_last_line_without_its_end_is_whole_if_it_is_json():
    assert loads(TEXT.rstrip("\n")) == TRACE


def test_a_file_cut_within_a_character_is_cut(tmp_path):
    text = dumps(Trace("S", (Step("A", (), record(x="\u00e9")),)))
    path = tmp_path / "cut.ndjson"
    path.write_bytes(text.encode()[: text.index("\u00e9") + 1])

    with pytest.raises(TruncatedTraceError, match="0 of 1 steps"):
        read_whole_trace(path)


def test_a_partial_trace_cut_short_gives_its_observations():
    trace = PartialTrace("S", (Observation("A"), Observation("B")))

    with pytest.raises(TruncatedTraceError, match="1 of 2 observations") as refused:
        loads_any(dumps(trace)[:-5])
    assert refused.value.trace.observations == (Observation("A"),)


def test_a_compressed_file_cut_short_gives_the_steps_that_can_be_unpacked(tmp_path):
    path = tmp_path / "cut.gz"
    packed = gzip.compress(TEXT.encode())
    path.write_bytes(packed[:-20])

    with pytest.raises(TruncatedTraceError, match="of 3 steps are whole"):
        read_whole_trace(path)
    # All steps are there, but not the checksum.
    path.write_bytes(packed[:-4])
    with pytest.raises(TruncatedTraceError, match="3 of 3 steps are whole") as refused:
        read_whole_trace(path)
    assert refused.value.trace.steps == STEPS


# Without the time: it would give the tests different names in each process.
PACKED = gzip.compress(TEXT.encode(), mtime=0)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"{\xff", "byte 1"),
        (bytes(range(256)), "not UTF-8"),
        (b"PK\x03\x04", "not JSON"),
        (b"\x1f\x8b\x08garbage", "damaged gzip"),
        (PACKED[:-8] + bytes(8), "damaged gzip"),
        (PACKED + b"more", "more follows"),
        (PACKED * 2, "more follows"),
        (gzip.compress(b"\xff", mtime=0), "byte 0"),
    ],
)
def test_bytes_that_are_no_trace_are_refused_with_the_file(tmp_path, data, problem):
    path = tmp_path / "bad.ndjson"
    path.write_bytes(data)

    with pytest.raises(TraceFormatError, match=problem) as refused:
        read_trace(path)
    assert "bad.ndjson" in refused.value.place


def test_a_file_that_is_not_there_or_no_file_is_refused_with_its_name(tmp_path):
    with pytest.raises(TraceFormatError, match=r"none\.ndjson"):
        read_whole_trace(tmp_path / "none.ndjson")
    with pytest.raises(TraceFormatError, match="directory"):
        read_whole_trace(tmp_path)


def test_a_trace_of_the_format_without_text_loads_and_is_written_in_the_present_one():
    old = loads(changed(1, krafla_trace=2))
    assert old == TRACE
    assert dumps(old) == TEXT
    assert json.loads(LINES[0])["krafla_trace"] == 3
