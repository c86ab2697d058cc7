"""``krafla judge`` of a program that took no step, or refused an action, and of what it showed."""

from __future__ import annotations

import pytest
from tests.krafla.cli.lock_spec import ACQUIRE, LOCK
from tests.krafla.testing.judge_talk import START, Talk, step

from krafla.testing import Judge, Spec
from krafla.traces import Trace, read_trace


@pytest.fixture(scope="module")
def spec():
    return Spec.load(LOCK)


@pytest.fixture
def talk(spec):
    return Talk(Judge(spec))


def test_a_refusal_is_judged(talk):
    talk.ask(START)
    talk.ask(step(ACQUIRE))

    assert talk.ask({"refuse": "Acquire", "parameters": ["c2"]})["verdict"] == "held"
    found = talk.ask({"refuse": "Enqueue", "parameters": ["c2"]})
    assert found["verdict"] == "violated"
    assert found["reason"] == "the code refuses Enqueue(c2), which the spec allows"


def test_a_program_that_took_no_step_is_where_it_was(talk):
    talk.ask(START)
    assert talk.ask({"stay": {"seen": {"holder": "Free"}}})["verdict"] == "held"
    talk.ask(step(ACQUIRE))
    assert talk.ask({"stay": {"seen": {"holder": "c1", "queue": []}}})["verdict"] == "held"
    assert talk.ask({"stay": {}})["verdict"] == "held"
    found = talk.ask({"stay": {"seen": {"holder": "c2"}}})

    assert found["verdict"] == "violated"
    assert found["reason"] == "the code says that it took no step, but its state is another"
    assert found["differences"] == [{"path": "holder", "spec": "c1", "seen": "c2"}]
    later = talk.ask({"stay": {"seen": {"holder": "c1"}}})
    assert later["verdict"] == "violated"
    assert later["reason"].startswith("ended in line 6: ")


def test_what_is_seen_without_a_step_says_where_the_spec_can_be(talk):
    talk.ask(START)
    assert talk.ask({"step": "Acquire"})["candidates"] == 3
    assert talk.ask({"stay": {"seen": {"holder": "c2"}}})["candidates"] == 1


def test_a_program_that_refuses_and_changes_its_state_is_violated(talk, tmp_path):
    talk.ask(START)
    talk.ask(step(ACQUIRE))
    refused = {"refuse": "Acquire", "parameters": ["c2"]}
    assert talk.ask({**refused, "seen": {"holder": "c1"}})["verdict"] == "held"
    found = talk.ask({**refused, "seen": {"holder": "c2"}})

    assert found["verdict"] == "violated"
    assert found["differences"] == [{"path": "holder", "spec": "c1", "seen": "c2"}]
    path = tmp_path / "found.trace.ndjson"
    talk.ask({"save": str(path)})
    assert [one.kind for one in read_trace(path).observations] == [
        "step", "step", "refusal", "stay", "refusal", "stay",
    ]  # fmt: skip
    found = talk.summary()
    assert (found["steps"], found["refusals"], found["violations"]) == (1, 2, 1)


def test_a_hidden_step_may_come_between_a_refusal_and_what_is_seen_then(spec):
    refused = {"refuse": "Acquire", "parameters": ["c2"], "seen": {"holder": "Free"}}
    for hidden, verdict in ((["Release"], "held"), ([], "violated")):
        talk = Talk(Judge(spec, hidden=hidden))
        talk.ask(START)
        talk.ask(step(ACQUIRE))
        assert talk.ask(refused)["verdict"] == verdict


@pytest.mark.parametrize(
    ("seen", "error"),
    [
        ({"owner": "c1"}, "the request: owner: no variable of Lock"),
        ({"holder": {"#model": "c9"}}, "the request: c9 is no model value of this spec"),
    ],
)
def test_a_refusal_with_something_that_the_spec_has_not_is_not_judged(talk, tmp_path, seen, error):
    talk.ask(START)
    found = talk.ask({"refuse": "Release", "parameters": ["c1"], "seen": seen})
    assert found["error"].startswith(error)
    path = tmp_path / "found.trace.ndjson"
    talk.ask({"save": str(path)})
    assert isinstance(read_trace(path), Trace), "no refusal is in it"
    assert talk.summary()["steps"] == 0


def test_a_refusal_with_a_misspelt_parameter_is_no_verdict(talk):
    talk.ask(START)
    found = talk.ask({"refuse": "Acquire", "parameters": ["C1"]})

    assert found["error"] == (
        'after the beginning: "C1" is no value that Next gives to Acquire; it gives c1, c2, c3'
    )
    assert talk.ask({"refuse": "Acquire", "parameters": [None]})["verdict"] == "violated"


@pytest.mark.parametrize(
    ("hidden", "seen", "status"),
    [
        ((), {"holder": "Free"}, 3),
        (("Acquire",), {"holder": "Free"}, 3),
        (None, {"holder": "c1"}, 0),
        # The beginning fits, and so do states that hidden steps lead to.
        (None, {"queue": []}, 3),
    ],
)
def test_stays_alone_show_nothing_unless_a_hidden_step_was_taken(spec, hidden, seen, status):
    talk = Talk(Judge(spec, hidden=hidden))
    talk.ask(START)
    assert talk.ask({"stay": {"seen": seen}})["verdict"] == "held"
    assert talk.summary()["exit_status"] == status


ANY = {"step": None}
REFUSAL = {"refuse": "Release", "parameters": ["c1"]}
SEEN = {"stay": {"seen": {"holder": "c1"}}}


@pytest.mark.parametrize(
    ("asked", "counts", "status"),
    [
        ([REFUSAL, REFUSAL], (0, 2), 3),
        ([ANY, ANY], (2, 0), 3),
        ([ANY, REFUSAL], (1, 1), 3),
        ([ANY, SEEN], (1, 0), 0),
        ([step(ACQUIRE), REFUSAL | {"parameters": ["c2"]}], (1, 1), 0),
    ],
)
def test_refusals_and_steps_of_which_nothing_is_told_show_nothing(talk, asked, counts, status):
    talk.ask({"start": {}})
    assert [talk.ask(one)["verdict"] for one in asked] == ["held"] * len(asked)
    found = talk.summary()
    assert (found["steps"], found["refusals"]) == counts
    assert found["exit_status"] == status
