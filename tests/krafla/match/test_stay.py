"""Observations without a step in a partial trace: stays, and refusals, as a judge of code has."""

from __future__ import annotations

from pathlib import Path

import pytest

from krafla.match import match
from krafla.oracle import Spec
from krafla.traces import Call, Observation, PartialTrace
from krafla.verdict import KraflaError, Verdict

SPECS = Path(__file__).parents[1] / "testing" / "specs"
ANN = "ann"


@pytest.fixture(scope="module")
def mail():
    return Spec.load(SPECS / "Mail.tla", {"Person": {"ann", "bob"}, "Letter": {1, 2}})


def letters(*observations, **options):
    options = {"hidden": ("Deliver",)} | options
    first = (Observation("Init"), Observation("Send", (ANN, 1)), Observation("Send", (ANN, 2)))
    return PartialTrace("Mail", (*first, *observations), **options)


def stay(*inbox, call=None):
    return Observation(None, None, ((("inbox", ANN), inbox),), kind="stay", call=call)


def refusal(person, letter):
    return Observation("Read", (person, letter), kind="refusal")


def read(letter):
    return Observation("Read", (ANN, letter))


def test_what_is_seen_without_a_step_restricts_the_hidden_steps(mail):
    report = match(mail, letters(stay(2), read(2)))
    assert report.verdict is Verdict.HELD
    assert [one.action for one in report.behaviour[3:]] == ["Deliver", "Read"]
    report = match(mail, letters(stay(2), read(1)))
    assert (report.verdict, report.accepted) == (Verdict.VIOLATED, 4)


def test_a_stay_that_no_hidden_step_explains_is_no_behaviour(mail):
    report = match(mail, letters(stay(2), stay(1, 2)))
    assert (report.verdict, report.accepted) == (Verdict.VIOLATED, 4)
    explanation = report.stuck[0].explanation
    assert explanation.finding == "the code says that it took no step, but its state is another"
    assert match(mail, letters(stay(2), hidden=())).verdict is Verdict.VIOLATED


def test_a_refusal_drops_the_states_in_which_the_spec_allows_it(mail):
    # Both orders of delivery fit until the refusal says that the second letter came first.
    assert match(mail, letters(stay(2, 1), refusal(ANN, 1), read(2))).verdict is Verdict.HELD
    report = match(mail, letters(stay(1, 2), refusal(ANN, 1)))
    assert (report.verdict, report.accepted) == (Verdict.VIOLATED, 4)
    finding = report.stuck[0].explanation.finding
    assert finding == 'the code refuses Read("ann", 1), which the spec allows'


def test_a_stay_that_shows_something_begins_a_new_row_of_hidden_steps(mail):
    unseen = Observation(None, kind="stay")
    assert match(mail, letters(stay(2), stay(2, 1), hidden_max=1)).verdict is Verdict.HELD
    for other in (unseen, refusal(ANN, 1)):
        report = match(mail, letters(other, stay(2, 1), hidden_max=1))
        assert (report.verdict, report.accepted) == (Verdict.INCONCLUSIVE, 4)


def test_a_behaviour_says_in_which_states_no_step_was_seen(mail):
    report = match(mail, letters(stay(), stay(2), refusal(ANN, 1), read(2)))
    assert [one.stays for one in report.behaviour] == [(), (), (3,), (4, 5), ()]


def test_a_trace_of_stays_alone_shows_nothing(mail):
    trace = PartialTrace("Mail", (Observation("Init"), stay()))
    report = match(mail, trace)
    assert (report.verdict, report.doubt) == (Verdict.INCONCLUSIVE, "the trace shows no step")


def test_a_refusal_of_what_next_never_offers_is_an_error(mail):
    with pytest.raises(KraflaError, match='"eve" is no value that Next gives to Read'):
        match(mail, letters(refusal("eve", 1)))
    # What the code was called for is only told.
    assert match(mail, letters(stay(call=Call("wait", ())))).verdict is Verdict.HELD
