"""Hundreds of traces: the good ones accepted, with gaps too; the bad ones rejected where they err."""

from __future__ import annotations

import pytest
from tests.krafla.match.many import GAPPED, GOOD, PROFILES, SPOILED, gapped, good, spoiled

from krafla.refinement.trace_check import check_trace
from krafla.refinement.validation import validate
from krafla.traces import partial
from krafla.verdict import Verdict


@pytest.mark.parametrize("profile", PROFILES)
def test_good_traces_are_accepted(profile):
    for number in range(GOOD):
        trace = good(profile, number)
        report = check_trace(trace)
        assert report.verdict is Verdict.HELD, (number, str(report.rejection))
        assert report.steps == len(trace)


@pytest.mark.parametrize("profile", PROFILES)
def test_good_traces_are_accepted_though_three_steps_in_ten_were_not_seen(profile):
    hidden = 0
    for number in range(GAPPED):
        trace = good(profile, number)
        report = validate(gapped(trace, f"{profile} {number}"))
        assert report.verdict is Verdict.HELD, (number, report.accepted, report.looked_at)
        assert (
            report.behaviour[-1].state.as_function()
            == report.behaviour[-1]
            .state.spec.state(dict(trace.steps[-1].state.items()))
            .as_function()
            or report.trace.observations[-1].action != trace.steps[-1].action
        )
        hidden += report.hidden
    assert hidden > GAPPED


@pytest.mark.parametrize("profile", PROFILES)
def test_spoiled_traces_are_rejected_at_the_step_that_is_wrong_and_say_why(profile):
    ways = set()
    for number in range(SPOILED):
        bad = spoiled(good(profile, number), f"{profile} {number}")
        rejection = check_trace(bad.trace).rejection
        assert rejection is not None, (number, bad.how)
        assert rejection.index == bad.index, (number, bad.how, str(rejection))
        assert rejection.explanation.reasons or rejection.explanation.differences
        assert rejection.nearest is not None
        assert rejection.broken is None
        report = validate(partial(bad.trace))
        assert report.verdict is Verdict.VIOLATED
        assert report.accepted == bad.index, (number, bad.how)
        ways.add(bad.how.split()[0])
    assert len(ways) > 3
