"""The line protocol of ``krafla judge``: what each request is answered, and the summary."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.krafla.cli.lock_spec import ACQUIRE, ENQUEUE, LOCK, RELEASE, live_lock
from tests.krafla.testing.judge_talk import START, Talk, step
from tests.krafla.traces.schema_validator import Validator

from krafla.match import validation
from krafla.testing import Judge, Spec
from krafla.testing.schemas import SCHEMAS
from krafla.traces import PartialTrace, Trace, read_trace
from krafla.traces.limits import MAX_DEPTH

REQUESTS = Validator(json.loads(SCHEMAS["request"]()))
RUN = (START, step(ACQUIRE), step(ENQUEUE), step(RELEASE))
STOLEN = {"step": "Release", "parameters": ["c3"], "seen": {"holder": "Free"}}


@pytest.fixture(scope="module")
def spec():
    return Spec.load(LOCK)


@pytest.fixture
def talk(spec):
    return Talk(Judge(spec))


def test_the_first_line_says_what_judges(talk):
    hello = talk.hello()

    assert hello["krafla_judge"] == 1
    assert hello["spec"] == "Lock"
    assert hello["variables"] == ["holder", "queue"]
    assert hello["actions"] == {"Acquire": ["c"], "Enqueue": ["c"], "Release": ["c"]}
    assert "not_judged" not in hello


def test_the_first_line_names_the_properties_that_no_step_can_show(tmp_path):
    hello = Talk(Judge(Spec.load(live_lock(tmp_path)))).hello()

    assert hello["not_judged"] == ["Live"]


def test_steps_of_the_spec_are_held(talk):
    answers = [talk.ask(one) for one in RUN]

    assert answers == [{"verdict": "held", "candidates": 1, "line": n} for n in (1, 2, 3, 4)]
    assert talk.summary() == {
        "verdict": "held", "behaviours": 1, "steps": 3, "refusals": 0, "violations": 0,
        "doubts": 0, "errors": 0, "exit_status": 0,
    }  # fmt: skip


def test_a_violation_has_the_conjunct_its_place_and_its_values(talk):
    for one in RUN:
        talk.ask(one)
    found = talk.ask(STOLEN)

    assert found["verdict"] == "violated"
    assert found["reason"] == "Release(c3) is not enabled"
    assert found["conjunct"] == "holder = c"
    assert found["place"] == "Lock.tla:30"
    assert found["values"] == {"holder": "c2", "c": "c3"}
    assert "2 Enqueue(c2)" in found["story"]
    assert '{"save": "found.ndjson"}   # a request that saves' in found["story"]
    assert talk.summary()["exit_status"] == 1


def test_another_state_than_the_specs_is_a_difference(talk):
    for one in RUN[:3]:
        talk.ask(one)
    found = talk.ask({"step": "Release", "parameters": ["c1"], "seen": {"holder": "Free"}})

    assert found["differences"] == [{"path": "holder", "spec": "c2", "seen": "Free"}]


def test_a_broken_invariant_is_named(spec):
    talk = Talk(Judge(spec, invariants=["HolderDoesNotWaitInv", "TypeOK"]))
    talk.ask(START)
    found = talk.ask({"start": {"seen": {"holder": "c1"}}})
    assert found["verdict"] == "violated"
    assert "property" not in found, "no initial state has this holder"


def test_after_a_violation_nothing_is_judged_until_the_next_start(talk):
    talk.ask(START)
    found = talk.ask(STOLEN)
    later = talk.ask(step(ACQUIRE))

    assert later == {
        **found, "candidates": 0, "line": 3, "reason": f"ended in line 2: {found['reason']}"
    }  # fmt: skip
    assert talk.ask({"enabled": "Acquire"})["enabled"] == []
    assert talk.ask(START)["verdict"] == "held"
    assert talk.ask(step(ACQUIRE))["verdict"] == "held"
    assert talk.summary()["violations"] == 1


def test_a_parameter_that_next_never_gives_is_violated(spec):
    talk = Talk(Judge(spec, invariants=[], properties=[]))
    talk.ask(START)
    found = talk.ask({"step": "Acquire", "parameters": ["C1"]})

    assert found["verdict"] == "violated"
    assert found["reason"].startswith('Next has no Acquire("C1"); it has Acquire(c1)')


def test_what_was_not_seen_is_the_specs_to_choose(talk):
    talk.ask(START)
    answer = talk.ask({"step": "Acquire"})
    assert answer["candidates"] == 3
    assert talk.ask({"step": "Enqueue", "parameters": [None]})["candidates"] == 6
    assert talk.ask({"step": None, "seen": [[["queue", 1], "c2"]]})["candidates"] < 6
    states = talk.ask({"states": True})
    assert all(one["queue"][0] == "c2" for one in states["states"])
    assert len(states["states"]) == states["candidates"]


def test_the_enabled_parameters_are_those_of_the_spec(talk):
    talk.ask(START)
    assert talk.ask({"enabled": "Acquire"})["enabled"] == [["c1"], ["c2"], ["c3"]]
    talk.ask(step(ACQUIRE))
    assert talk.ask({"enabled": "Acquire"})["enabled"] == []
    assert talk.ask({"enabled": "Enqueue"})["enabled"] == [["c2"], ["c3"]]


def test_several_judges_keep_their_behaviours_apart(talk):
    talk.ask(START)
    talk.ask({"start": {}, "judge": "other"})
    talk.ask(step(ACQUIRE))
    answer = talk.ask({"enabled": "Acquire", "judge": "other"})

    assert answer["enabled"] == [["c1"], ["c2"], ["c3"]]
    assert answer["judge"] == "other"
    found = talk.ask({**STOLEN, "judge": "other"})
    assert found["verdict"] == "violated"
    assert talk.ask(step(ENQUEUE))["verdict"] == "held", "the other one has ended"
    assert talk.summary()["behaviours"] == 2


def test_a_judge_that_follows_too_few_candidates_is_in_doubt(spec):
    talk = Talk(Judge(spec, hidden=["Acquire", "Enqueue", "Release"], frontier=1))
    talk.ask(START)
    found = talk.ask({"step": "Release", "parameters": ["c1"]})

    assert found["verdict"] == "inconclusive"
    assert "larger frontier" in found["reason"]
    assert talk.summary()["exit_status"] == 3


def test_where_some_parameters_may_be_enabled_the_answer_says_so(spec):
    talk = Talk(Judge(spec, hidden=["Acquire"], frontier=1))
    talk.ask(START)
    answer = talk.ask({"enabled": "Release"})
    assert answer["enabled"] == []
    assert "none of the first 1 states allows it, and there are more" in answer["reason"]
    # A question ends no behaviour.
    assert talk.ask(step(ACQUIRE))["verdict"] == "held"


def test_a_session_without_a_step_has_shown_nothing(talk):
    assert talk.summary()["exit_status"] == 3


@pytest.mark.parametrize("seen", [{}, {"holder": "Free", "queue": []}])
def test_a_saved_behaviour_is_a_trace_that_other_commands_read(talk, tmp_path, seen):
    path = tmp_path / "found.trace.ndjson"
    talk.ask({"start": {"seen": seen}})
    talk.ask(step(ACQUIRE))
    answer = talk.ask({"save": str(path)})

    assert answer == {"saved": str(path), "steps": 1, "line": 3}
    trace = read_trace(path)
    assert isinstance(trace, Trace)
    assert [one.action for one in trace.steps] == ["Init", "Acquire"]
    talk.ask({"step": "Release", "parameters": ["c3"]})
    talk.ask({"save": str(path)})
    found = read_trace(path)
    assert isinstance(found, PartialTrace)
    assert validation.validate(found).verdict.value == "violated", "the violation is in the file"


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ("hello", "the request: not JSON"),
        (b'{"start": {}, "judge": "\xff"}', "codec can't decode byte"),
        ("[1]", "expected an object, found list"),
        ({}, "asks for nothing; there are: enabled, refuse, save, start, states, stay, step"),
        ({"stop": 1}, "no request 'stop'; did you mean step"),
        ({"start": {}, "step": "Acquire"}, "asks for start and step: one a line"),
        ({"start": {"sen": {}}}, "unknown field `sen`; did you mean seen"),
        ({"stay": {"sen": {}}}, "unknown field `sen`; did you mean seen"),
        ({"stay": True}, "stay: Expected `object`"),
        ({"stay": {}, "seen": {}}, "unknown field `seen`; there are: judge, stay"),
        ({"stay": {}, "step": "Acquire"}, "asks for stay and step: one a line"),
        ({"stay": {"seen": {"owner": "c1"}}}, "owner: no variable of Lock"),
        ({"stay": {"seen": {"holder": None}}}, "'holder': null stands for no TLA+ value"),
        ({"refuse": "Acquire", "seen": 1}, "seen: Expected `object | array`"),
        ({"step": "Acquire", "parms": []}, "unknown field `parms`; did you mean parameters"),
        ({"start": 1}, "start: Expected `object`"),
        ('{"step": "Acquire", "step": "Release"}', "gives the key 'step' twice"),
        ({"step": "Aquire"}, "Lock has no action 'Aquire'; did you mean Acquire"),
        ({"refuse": "Aquire"}, "Lock has no action 'Aquire'; did you mean Acquire"),
        ({"enabled": "Aquire"}, "Lock has no action 'Aquire'; did you mean Acquire"),
        ({"step": "Acquire", "parameters": []}, "takes 1 parameter, not 0"),
        ({"step": "Acquire", "seen": {"owner": "c1"}}, "owner: no variable of Lock"),
        ({"step": "Acquire", "seen": {"holder": None}}, "'holder': null stands for no TLA+ value"),
        ({"step": "Acquire", "parameters": [2**31]}, "'parameters': 2147483648 is outside"),
        ('{"step": "Acquire", "parameters": [0.5]}', "the request: 0.5 is no whole number"),
        ('{"step": "Acquire", "parameters": [NaN]}', "NaN is no whole number"),
        ("[" * 100_000, "nested too deep"),
        ({"states": False}, "states: Invalid enum value"),
        ({"save": "/nowhere/at/all.ndjson"}, "/nowhere/at"),
        ({"step": "Acquire", "judge": "other"}, "judge 'other' has no behaviour yet"),
        ({"step": "Acquire", "judge": 7}, "judge: Expected `str`"),
    ],
)
def test_a_line_that_is_no_request_is_told_and_the_session_goes_on(talk, request_, error):
    talk.ask(START)
    found = talk.ask(request_)

    assert error in found["error"]
    assert found["line"] == 2
    assert talk.ask(step(ACQUIRE)) == {"verdict": "held", "candidates": 1, "line": 3}
    assert talk.summary() == {
        "verdict": "inconclusive", "behaviours": 1, "steps": 1, "refusals": 0, "violations": 0,
        "doubts": 0, "errors": 1, "exit_status": 2,
    }  # fmt: skip


def test_a_step_before_the_start_is_told(talk):
    assert talk.ask(step(ACQUIRE))["error"] == (
        'the judge has no behaviour yet: begin with {"start": {}}'
    )


def test_a_start_that_is_wrong_leaves_the_behaviour_as_it_is(talk):
    talk.ask(START)
    talk.ask(step(ACQUIRE))
    assert "owner: no variable" in talk.ask({"start": {"seen": {"owner": "c1"}}})["error"]
    assert talk.ask(step(ENQUEUE))["verdict"] == "held"


def test_the_number_of_judges_is_limited(talk):
    for number in range(1_000):
        talk.ask({"start": {}, "judge": str(number)})
    assert "more than 1,000 judges" in talk.ask({"start": {}, "judge": "another"})["error"]
    assert talk.ask({"start": {}, "judge": "7"})["verdict"] == "held"


def test_empty_lines_are_counted_and_not_answered(talk):
    assert talk.session.answer(b"\n") is None
    assert talk.session.answer(b"  \r\n") is None
    assert talk.ask(START)["line"] == 3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
    | st.sampled_from(["c1", "c2", "Free", "Acquire", "Release", "holder", "queue"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["seen", "#set", "#map", "#model", "holder", "queue"]), inner, max_size=3
    ),
    max_leaves=8,
)  # fmt: skip
FIELDS = st.sampled_from(
    ["start", "step", "stay", "refuse", "enabled", "states", "parameters", "seen", "judge"]
)
ACTIONS = st.sampled_from(["Acquire", "Enqueue", "Release"])
CLIENTS = st.sampled_from(["c1", "c2", "c3", None])
SENSIBLE = st.one_of(
    st.builds(lambda a, c: {"step": a, "parameters": [c]}, ACTIONS, CLIENTS),
    st.builds(lambda a, c: {"refuse": a, "parameters": [c]}, ACTIONS, CLIENTS),
    st.builds(lambda a, c: {"refuse": a, "seen": {"holder": c or "Free"}}, ACTIONS, CLIENTS),
    st.builds(lambda c: {"stay": {"seen": {"holder": c or "Free"}}}, CLIENTS),
    st.builds(lambda c: {"step": None, "seen": {"holder": c or "Free"}}, CLIENTS),
    st.just(START),
)


@given(st.lists(st.dictionaries(FIELDS, JSON, max_size=4) | SENSIBLE | JSON, max_size=12))
def test_any_line_has_one_answer_and_only_requests_are_judged(spec, lines):
    talk = Talk(Judge(spec))
    for line in lines:
        answer = talk.ask(json.dumps(line))
        assert ("error" in answer) or REQUESTS.accepts(line), "what is judged fits the schema"
    summary = talk.summary()
    assert summary["errors"] == sum("error" in one for one in talk.answers)


def test_a_session_that_only_starts_has_judged_nothing(talk):
    assert talk.ask(START)["verdict"] == "held"
    assert (talk.summary()["verdict"], talk.session.status) == ("inconclusive", 3)
    talk.ask(step(ACQUIRE))
    assert talk.session.status == 0


def test_values_nested_too_deep_are_told(talk):
    talk.ask(START)
    value = "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)
    found = talk.ask(f'{{"step": "Acquire", "seen": {{"holder": {value}}}}}')
    assert "nested deeper" in found["error"]
