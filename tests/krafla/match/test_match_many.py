"""Many traces: good ones are accepted, also with gaps; spoiled ones are rejected at the error."""

from __future__ import annotations

import pytest
from tests.krafla.match.many import (
    GAPPED,
    GOOD,
    PROFILES,
    SPOILED,
    first_impossible,
    gapped,
    good,
    spoiled,
)

from krafla.match.trace_check import check_trace
from krafla.match.validation import validate
from krafla.traces import Step, partial
from krafla.verdict import Verdict


@pytest.mark.by_day(1)
@pytest.mark.parametrize("profile", PROFILES)
def test_good_traces_are_accepted(profile):
    for number in range(GOOD):
        trace = good(profile, number)
        report = check_trace(trace)
        assert report.verdict is Verdict.HELD, (number, str(report.rejection))
        assert report.steps == len(trace)


@pytest.mark.by_day(2)
@pytest.mark.parametrize("profile", PROFILES)
def test_good_traces_with_three_in_ten_steps_hidden_are_accepted(profile):
    hidden = 0
    for number in range(GAPPED):
        trace = good(profile, number)
        report = validate(gapped(trace, f"{profile} {number}"))
        assert report.verdict is Verdict.HELD, (number, report.accepted, report.looked_at)
        # A second judge, without a search: each step must be among TLC's successors.
        taken = report.behaviour
        steps = [Step(one.action, one.parameters, one.state.as_function()) for one in taken]
        assert first_impossible(trace.with_steps(tuple(steps))) is None
        shown = [one.observation for one in taken if one.observation is not None]
        assert shown == list(range(len(report.trace)))
        hidden += report.hidden
    assert hidden > GAPPED


@pytest.mark.by_day(1)
@pytest.mark.parametrize("profile", PROFILES)
def test_spoiled_traces_are_rejected_at_the_wrong_step_with_the_reason(profile):
    ways = set()
    for number in range(SPOILED):
        bad = spoiled(good(profile, number), f"{profile} {number}")
        rejection = check_trace(bad.trace).rejection
        assert rejection is not None, (number, bad.how)
        assert rejection.index == bad.index, (number, bad.how, str(rejection))
        told = rejection.explanation
        assert told.reasons or told.differences or "no value that Next gives to" in told.finding
        assert rejection.nearest is not None
        assert rejection.broken is None
        report = validate(partial(bad.trace))
        assert report.verdict is Verdict.VIOLATED
        assert report.accepted == bad.index, (number, bad.how)
        ways.add(bad.how.split()[0])
    assert len(ways) > 3
