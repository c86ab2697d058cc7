"""TLC's JSON: known values give it types; ambiguous data is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.krafla.traces.trace_strategies import VALUES, traces

from krafla.traces import Step, Trace, TraceFormatError, dumps, loads
from krafla.traces.shapes import AmbiguousDataError, Shapes
from krafla.traces.tlc_json import dumps_tlc_json, loads_tlc_json
from krafla.values import ModelValue, function, record, same

A, B, NIL = map(ModelValue, ("A", "B", "Nil"))
F = {"<<A, 1>>": [], "<<B, 2>>": []}
STATES = [
    {"f": F, "s": [], "x": 0},
    {"f": F, "s": [[0, "A"]], "x": 1},
    {"f": F, "s": [[0, "A"], [1, "A"]], "x": 2},
]
LOCATION = {"beginLine": 6, "beginColumn": 7, "endLine": 6, "endColumn": 66, "module": "Lasso"}
UP = {"name": "Up", "location": LOCATION}
LIKE = {"x": [0], "s": [frozenset({(0, A)})], "f": [function({(A, 1): (), (B, 2): ()})]}


def members(*values):
    return frozenset(values)


def numbered(index):
    return [index + 1, STATES[index]]


def document(action=(), **fields):
    """What TLC 1.8 wrote of a small spec with a lasso, with other fields."""
    edges = [[numbered(0), UP, numbered(1)], [numbered(1), UP, numbered(2)], *action]
    graph = {"action": edges, "state": [numbered(index) for index in range(3)]} | fields
    return {"counterexample": graph, "vars": ["x", "s", "f"]}


def load(data, like=LIKE):
    return loads_tlc_json(json.dumps(data), "bad.json", spec="Lasso", like=like)


def test_a_lasso_is_read_with_its_types():
    back = [numbered(2), {"name": "Back", "location": LOCATION}, numbered(1)]
    trace = load(document([back]))

    assert (trace.lasso, trace.back, trace.stutters) == (1, "Back", False)
    assert [step.action for step in trace.steps] == ["Init", "Up", "Up"]
    assert trace.steps[1].location == "Lasso:6"
    assert trace.steps[2].state == record(
        x=2, s=frozenset({(0, A), (1, A)}), f=function({(A, 1): (), (B, 2): ()})
    )


def test_a_last_state_that_comes_again_is_stuttering():
    assert load(document([[numbered(2), UP, numbered(2)]])).stutters


def test_states_may_come_in_any_order_and_in_the_shapes_of_older_releases():
    expected = load(document())

    assert load(document(state=[numbered(2), numbered(0), numbered(1)])) == expected
    assert load(document()["counterexample"]) == expected
    plain = load(STATES)
    assert [step.state for step in plain.steps] == [step.state for step in expected.steps]
    assert [(step.action, step.parameters) for step in plain.steps[1:]] == [("Next", None)] * 2


def test_parameters_are_read_where_their_types_are_known():
    named = UP | {"parameters": ["i", "n"], "context": {"n": {"A": 1}, "i": "A"}}
    unknown = UP | {"parameters": ["i"], "context": {"i": [1]}}
    edges = [[numbered(0), named, numbered(1)], [numbered(1), unknown, numbered(2)]]
    graph = document()["counterexample"] | {"action": edges}
    steps = load(graph).steps

    assert steps[1].parameters == (A, function({A: 1}))
    assert steps[2].parameters is None


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (1, "no counterexample of TLC"),
        ({}, "no counterexample of TLC"),
        ([], "1 to 100000 states"),
        ([1], "state"),
        ([{}], "an object of variables"),
        (document(state=[numbered(0), numbered(2)]), "missing, or numbered twice"),
        (document(state=[numbered(0), numbered(0)]), "missing, or numbered twice"),
        (document(state=1), "state: Expected"),
        (document([[numbered(0), UP, numbered(2)]]), "from state 1 to 3"),
        (document([[numbered(0), UP, numbered(1)]]), "from state 1 to 2"),
        (document([[numbered(2), UP, [9, {}]]]), "from state 3 to 9"),
        ([STATES[0], {"x": 1}], "not of the same variables"),
        ([{"x": None, "s": [], "f": F}], "state 1: x: None stands for no"),
        ([{"x": 2**31, "s": [], "f": F}], "outside the 32 bits"),
        ([{"x": 0, "s": [[1], [1]], "f": F}], "a member twice"),
        ([{"x": [], "s": [], "f": F}], "x: an array may be a set or a sequence, and no known"),
        ([{"x": 0, "s": [], "f": {"[": 1}}], "state 1: f: the argument '\\[' is no value"),
        ([{"y": []}], "state 1: y: an array may be"),
    ],
)
def test_data_that_is_no_counterexample_is_refused_with_the_place(data, problem):
    with pytest.raises(TraceFormatError, match=problem) as refused:
        load(data)
    assert refused.value.place.startswith("bad.json")


@pytest.mark.parametrize(
    ("data", "known", "value"),
    [
        ([], members(1), members()),
        ([1], (), (1,)),
        ([["A"]], members((A,)), members((A,))),
        ([[1], ["b"]], (members(1), ("a",)), (members(1), ("b",))),
        ("A", A, A),
        ("b", A, None),
        ("b", "a", "b"),
        ("Nil", record(a=1), NIL),
        ("x y", record(a=1), "x y"),
        ({"a": [1]}, record(a=members(2), b=(1,)), record(a=members(1))),
        ({"1": 5}, function({0: 4}), (5,)),
        ({"1": 5}, record(a=1), function({"1": 5})),
        ({"0": 5}, (1, 2), function({0: 5})),
        ({"0": 5}, (), None),
        ({"a": 5}, (), function({"a": 5})),
        ({"A": 5}, (), function({A: 5})),
        ({"[k |-> A]": 1}, function({record(k=B): 2}), function({record(k=A): 1})),
        ({"[k |-> A]": 1}, (), None),
        ({"TRUE": 1}, function({False: 2}), function({True: 1})),
        ({"a": 1}, function({"b": 2, 1: 2}), function({"a": 1})),
        ({"1": 1}, function({"b": 2, 1: 2}), None),
    ],
)
def test_known_values_show_the_meaning_of_data(data, known, value):
    """``None`` if the data is reported as ambiguous."""
    shapes = Shapes({"x": [known], "names": [A, NIL]})

    if value is None:
        with pytest.raises(AmbiguousDataError, match="x"):
            shapes.read("x", data)
    else:
        assert same(shapes.read("x", data), value)


def test_a_name_of_a_string_and_a_model_value_is_read_by_its_place():
    shapes = Shapes({"m": [A], "s": ["A"], "both": [A, "A"]})

    assert shapes.read("m", "A") == A
    assert shapes.read("s", "A") == "A"
    for variable in ("both", None):
        with pytest.raises(AmbiguousDataError, match="'A' may be a string or a model value"):
            shapes.read(variable, "A")


def test_known_values_of_both_kinds_are_ambiguous():
    with pytest.raises(AmbiguousDataError, match="both kinds"):
        Shapes({"x": [(1,), frozenset({1})]}).read("x", [])


@given(VALUES, st.lists(VALUES, max_size=3))
def test_a_value_is_read_back_or_is_ambiguous(value, others):
    trace = Trace("S", (Step("Init", (), record(x=value)),))
    try:
        again = (
            loads_tlc_json(dumps_tlc_json(trace), "any", spec="S", like={"x": [value, *others]})
            .steps[0]
            .state["x"]
        )
    except TraceFormatError:
        again = value

    assert same(again, value)


@given(traces())
def test_what_is_written_is_read_by_its_own_values(trace):
    states = [step.state for step in trace.steps]
    like = {str(name): [state[name] for state in states] for name in states[0]}
    error = None
    try:
        again = loads_tlc_json(dumps_tlc_json(trace), "any", spec=trace.spec, like=like)
    except TraceFormatError as refused:
        error = refused

    assert error is not None or [step.state for step in again.steps] == states
    assert error is not None or again.lasso == trace.lasso
    assert error is not None or loads(dumps(again)) == again


def test_arguments_that_are_one_text_are_not_written():
    state = record(x=function({"A": 1, A: 2}))

    with pytest.raises(TraceFormatError, match="two arguments of a function are one text"):
        dumps_tlc_json(Trace("S", (Step("Init", (), state),)))
