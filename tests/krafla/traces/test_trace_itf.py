"""The Informal Trace Format: our traces survive it, and those of other tools are read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.krafla.traces.trace_strategies import traces

from krafla.tlc.printout import dumps_printed, loads_printed
from krafla.traces import Step, Trace, TraceFormatError, dumps, loads
from krafla.traces.itf import dumps_itf, loads_itf
from krafla.traces.trace import INITIAL
from krafla.values import ModelValue, function, record


@given(traces())
def test_every_trace_is_read_back_from_itf_as_it_was(trace):
    again = loads_itf(dumps_itf(trace))

    assert again == trace
    assert dumps_itf(again) == dumps_itf(trace)


def document(**fields):
    """A document as Apalache writes it, with other fields; ``...`` takes one away."""
    written = {
        "#meta": {
            "format": "ITF",
            "source": "some/folder/Boat.tla",
            "varTypes": {"who": "Str -> Set(P)"},
        },
        "vars": ["bank", "who"],
        "states": [
            {
                "#meta": {"index": 0},
                "bank": "E",
                "who": {"#map": [["E", {"#set": ["c1_OF_P", "c2_OF_P"]}], ["W", {"#set": []}]]},
            },
            {
                "#meta": {"index": 1},
                "bank": "W",
                "who": {"#map": [["E", {"#set": ["c1_OF_P"]}], ["W", {"#set": ["c2_OF_P"]}]]},
            },
        ],
    } | fields
    return json.dumps({key: value for key, value in written.items() if value is not ...})


def of(value):
    return document(vars=["x"], states=[{"x": value}])


def test_a_counterexample_of_apalache_is_read():
    trace = loads_itf(document(loop=0))

    assert trace.spec == "Boat"
    assert trace.lasso == 0
    assert [step.action for step in trace.steps] == [INITIAL, "Next"]
    assert [step.parameters for step in trace.steps] == [(), None]
    assert trace.steps[1].state == record(
        bank="W", who=function({"E": frozenset({"c1_OF_P"}), "W": frozenset({"c2_OF_P"})})
    )


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (7, 7),
        ({"#bigint": "-7"}, -7),
        ({"#tup": [1, "a"]}, (1, "a")),
        ([1, [2]], (1, (2,))),
        ({"#set": [[1], [2]]}, frozenset({(1,), (2,)})),
        ({"tag": "Some", "value": {"#bigint": "1"}}, record(tag="Some", value=1)),
        ({"#map": [[1, "a"], [2, "b"]]}, ("a", "b")),
        ({"#map": [[{"#tup": [0, 1]}, True]]}, function({(0, 1): True})),
        ({"#map": []}, ()),
        ({}, ()),
        ("r1_OF_MODEL", ModelValue("r1")),
        ("r1_OF_NODE", "r1_OF_NODE"),
        ("r2", ModelValue("r2")),
        ("_OF_MODEL", "_OF_MODEL"),
    ],
)
def test_each_form_of_a_value_is_read(data, value):
    assert loads_itf(of(data), model_values={"r2"}).steps[0].state["x"] == value


def test_parameters_are_constants_given_with_the_first_state():
    text = document(params=["N"], vars=["x"], states=[{"N": {"#bigint": "3"}, "x": 0}, {"x": 1}])

    assert loads_itf(text).constants == (("N", 3),)


QUINT = (
    '{"#meta": {"format": "ITF", "source": "bank.qnt"}, "vars": ["bank::balances"], "states": '
    '[{"#meta": {"index": 0}, "bank::balances": {"#bigint": "0"}}]}'
)


def test_a_name_of_quint_with_its_module_is_kept_in_every_format():
    trace = loads_itf(QUINT)
    assert trace == Trace("bank", (Step("Init", (), function({"bank::balances": 0})),))
    assert loads(dumps(trace)) == trace
    assert loads_itf(dumps_itf(trace)) == trace
    assert loads_printed(dumps_printed(trace), "bank.out", spec="bank") == trace


@pytest.mark.parametrize("name", ["bank:x", "bank::", "::x", "a b", "bank::x!y"])
def test_a_name_that_is_none_is_refused_in_words(name):
    trace = Trace("bank", (Step("Init", (), function({name: 0})),))
    with pytest.raises(TraceFormatError, match="a name has letters, digits and _") as refused:
        dumps(trace)
    assert "regex" not in str(refused.value)


def test_our_documents_follow_the_format():
    steps = (
        Step("Init", (), record(x=0, f=function({(1, 1): ModelValue("r1")}))),
        Step("Up", (1,), record(x=1, f=function({(1, 1): ModelValue("r2")}))),
    )
    written = json.loads(dumps_itf(Trace("S", steps, (("N", 3),), lasso=1)))

    assert written["vars"] == ["f", "x"]
    assert written["params"] == ["N"]
    assert written["loop"] == 1
    assert written["states"][0]["N"] == {"#bigint": "3"}
    assert written["states"][1] == {
        "#meta": {"index": 1, "krafla": {"action": "Up", "parameters": [1]}},
        "x": {"#bigint": "1"},
        "f": {"#map": [[[{"#bigint": "1"}, {"#bigint": "1"}], "r2_OF_MODEL"]]},
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("[]", "no ITF trace"),
        (document(states=...), "no ITF trace"),
        (document(states=[]), "1 to 100000"),
        (document(states={}), "1 to 100000"),
        (document(states=[1]), r"states\[0\]: there is no 'bank'"),
        (document(states=[{"bank": 1}]), r"states\[0\]: there is no 'who'"),
        (document(states=[{"bank": 1, "who": 1, "x": 1}]), "'x' is not in 'vars'"),
        (document(vars=...), "'vars' must be a list of names"),
        (document(vars=[]), "names no variable"),
        (document(params=["N"]), r"states\[0\]: there is no 'N'"),
        (document(loop=2), "'loop' is 2, no state of 2"),
        (document(loop=True), "'loop' is True"),
        (document(extra=1), "unknown field 'extra'"),
        (document(**{"#meta": 1}), "'#meta' must be an object"),
        (document(**{"#meta": {}}), "name the spec"),
        (document(**{"#meta": {"source": "Boat.txt"}}), "name the spec"),
        (document(**{"#meta": {"krafla": {"spec": "../S"}}}), "#meta.krafla: spec"),
        (document(vars=["x"], states=[{"x": 1, "#meta": {"index": 1}}]), "with index 0"),
        (document(vars=["x"], states=[{"x": 1, "#meta": {"krafla": 1}}]), "#meta.krafla"),
        (of(None), r"states\[0\].x: None stands for no TLA\+ value"),
        (of({"#bigint": "1e3"}), "is no number"),
        (of({"#bigint": 1}), "is no number"),
        (of({"#bigint": str(2**40)}), "outside the 32 bits"),
        (of(2**31), "outside the 32 bits"),
        (of({"#unserializable": "Nat"}), "could not write this value: 'Nat'"),
        (of({"#set": 1}), "'#set' with int"),
        (of({"#set": [1, 1]}), "a member twice"),
        (of({"#set": [], "x": 1}), "only key"),
        (of({"#new": []}), "'#new'"),
        (of({"#map": [[1]]}), "list of pairs"),
        (of({"#map": [[1, 1], [1, 2]]}), "an argument twice"),
        (of("\x1b"), r"U\+001B"),
    ],
)
def test_a_document_that_is_no_trace_is_refused_with_the_place(text, problem):
    with pytest.raises(TraceFormatError, match=problem) as refused:
        loads_itf(text, "bad.itf.json")

    assert str(refused.value).startswith("bad.itf.json")


def test_the_spec_of_a_document_that_names_none_can_be_given():
    assert loads_itf(document(**{"#meta": ...}), spec="S").spec == "S"


def test_a_string_that_looks_like_a_model_value_is_not_written():
    with pytest.raises(TraceFormatError, match=r"states\[0\].x: the string 'r1_OF_MODEL'"):
        dumps_itf(Trace("S", (Step("Init", (), record(x="r1_OF_MODEL")),)))


JSON = st.recursive(
    st.none() | st.integers() | st.sampled_from(["#set", "r1_OF_MODEL", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["#set", "#map", "#meta", "index", "krafla"]), inner)
    ),
    max_leaves=5,
)


@given(traces(), st.data())
def test_any_field_of_a_document_may_be_replaced(trace, data):
    written = json.loads(dumps_itf(trace))
    where = data.draw(st.sampled_from([written, written["#meta"], written["states"][-1]]))
    where[data.draw(st.sampled_from(sorted(where)))] = data.draw(JSON)
    error = None
    try:
        again = loads_itf(json.dumps(written), "any.json")
    except TraceFormatError as refused:
        error = refused

    assert str(error).isprintable()
    assert error is not None or loads_itf(dumps_itf(again)) == again
