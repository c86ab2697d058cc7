"""Traces as lines of JSON: nothing is lost, nothing wrong is accepted."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krafla.traces import Claim, ClaimKind, Step, Trace, TraceFormatError, dumps, loads, read, write
from krafla.values import ModelValue, function, record, same, sort_key

scalars = st.one_of(
    st.booleans(),
    st.integers(),
    st.text(max_size=4),
    st.sampled_from(["r1", "Nil"]).map(ModelValue),
)


def distinct(members):
    return len({sort_key(member) for member in members}) == len(set(members))


values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.lists(inner, max_size=3).filter(distinct).map(frozenset),
        st.dictionaries(inner, inner, max_size=3).map(function),
    ),
    max_leaves=6,
)
states = st.dictionaries(st.sampled_from(["epoch", "log"]), values, min_size=1).map(function)
steps = st.builds(
    Step,
    action=st.text(max_size=5),
    parameters=st.none() | st.lists(values, max_size=2).map(tuple),
    state=states,
    location=st.text(max_size=5),
)


@st.composite
def traces(draw):
    taken = tuple(draw(st.lists(steps, min_size=1, max_size=4)))
    return Trace(
        spec=draw(st.text(max_size=5)),
        steps=taken,
        constants=tuple(draw(st.dictionaries(st.text(max_size=3), values, max_size=2)).items()),
        claim=draw(st.none() | st.builds(Claim, st.sampled_from(ClaimKind), st.none() | st.text())),
        lasso=draw(st.none() | st.integers(0, len(taken) - 1)),
        back=draw(st.text(max_size=3)),
        model=draw(st.none() | st.text(max_size=3)),
    )


@given(traces())
def test_every_trace_is_read_back_as_it_was(trace):
    again = loads(dumps(trace))

    assert again == trace
    assert dumps(again) == dumps(trace)
    assert all(
        same(one.state, other.state) for one, other in zip(again.steps, trace.steps, strict=True)
    )


TRACE = Trace(
    "Counter",
    (Step("Init", (), record(x=0)), Step("Up", None, record(x=frozenset({1})), "Counter:7")),
    lasso=0,
)


def test_a_trace_is_kept_in_a_file(tmp_path):
    path = tmp_path / "trace.ndjson"
    write(TRACE, path)

    assert read(path) == TRACE
    assert [one.name for one in tmp_path.iterdir()] == ["trace.ndjson"]


def header(**changes):
    first, _, rest = dumps(TRACE).partition("\n")
    return json.dumps(json.loads(first) | changes) + "\n" + rest


def step(**changes):
    lines = dumps(TRACE).splitlines()
    lines[1] = json.dumps(json.loads(lines[1]) | changes)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", None, "empty"),
        ("{", 1, "not JSON"),
        ("[]\n", 1, "expected an object"),
        ('{"steps": 0}\n', 1, "no krafla_trace header"),
        (header(krafla_trace=2), 1, "trace format 2"),
        (header(krafla_trace=True), 1, "trace format True"),
        (header(steps=3), 3, "announces 3 steps, 2 follow"),
        (dumps(TRACE).rsplit("\n", 2)[0] + "\n", 2, "announces 2 steps, 1 follow"),
        (header(lasso=2), 1, "lasso 2"),
        (header(lasso=-1), 1, "lasso -1"),
        (header(lasso=False), 1, "lasso False"),
        (header(spec=None), 1, "'spec' must be str"),
        (header(claim={"kind": "nothing", "property": None}), 1, "no claim"),
        (header(claim=["kind"]), 1, "no claim"),
        (header(constants=[]), 1, "'constants'"),
        (step(state=None), 2, "stands for no TLA+ value"),
        (step(state=[1]), 2, "'state' must be an object"),
        (step(state={"x": {"#set": [1, 1]}}), 2, "lists a member twice"),
        (step(state={"x": {"#map": [[1]]}}), 2, "list of pairs"),
        (step(state={"x": {"#map": [[1, 1], [1, 2]]}}), 2, "an argument twice"),
        (step(state={"x": {"#set": [], "y": 1}}), 2, "only key"),
        (step(state={"x": {"#new": 1}}), 2, "#new"),
        (step(state={"x": 1.5}), 2, "1.5"),
        (step(state={"x": {}}), 2, "without fields"),
        (step(parameters=1), 2, "'parameters'"),
        (step(action=1), 2, "'action' must be str"),
        (dumps(TRACE).replace('"x": 0', '"x": 0, "x": 1'), 2, "one key twice"),
        (dumps(TRACE).replace('"x": 0', '"x": NaN'), 2, "NaN"),
        (step(state={"x": 0}).replace('"x": 0', '"x": ' + "[" * 50_000), 2, "not JSON"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_a_text_that_is_no_trace_is_refused_with_its_line(text, line, problem):
    with pytest.raises(TraceFormatError) as refused:
        loads(text, "bad.ndjson")

    assert problem in str(refused.value)
    assert refused.value.place == ("bad.ndjson" if line is None else f"bad.ndjson:{line}")


def test_a_file_that_is_not_text_is_refused_with_its_byte(tmp_path):
    path = tmp_path / "bad.ndjson"
    path.write_bytes(b"{\xff")

    with pytest.raises(TraceFormatError, match="byte 1"):
        read(path)


def test_a_file_that_is_not_there_is_refused_with_its_name(tmp_path):
    with pytest.raises(TraceFormatError, match=r"none\.ndjson"):
        read(tmp_path / "none.ndjson")
