"""A run of every profile is a trace that its spec accepts, whatever actions are in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from krafla.fuzz.engine.system import NAMES, RunOptions, find_system
from krafla.match.trace_check import check_trace
from krafla.verdict import Verdict

STEPS = 60
PROFILES = [
    pytest.param(word, name, marks=pytest.mark.by_day(4, word), id=f"{word} {name}")
    for word in NAMES
    if "--profile" in find_system(word).takes
    for name in find_system(word).profiles
]


def trace_of(word, profile):
    system = find_system(word)
    return system.trace(system.play_number(1, 0, RunOptions(STEPS, (profile,))))


@pytest.mark.by_day(9)
@pytest.mark.parametrize(("word", "profile"), PROFILES)
def test_a_run_of_a_profile_is_a_behaviour_of_its_spec(word, profile):
    trace = trace_of(word, profile)
    # Some choices take no step of the spec.
    assert STEPS // 6 < len(trace.steps) <= STEPS + 1
    assert check_trace(trace).verdict is Verdict.HELD


def test_a_trace_of_a_spec_that_is_judged_otherwise_carries_its_text():
    trace = trace_of("registration", "eager")
    assert "GateOpenFor(i) == TRUE" in dict(trace.text.modules)["ControllerRegistration"]
    assert trace.digest == trace.text.digest
    assert check_trace(trace).verdict is Verdict.HELD
    assert check_trace(replace(trace, text=None)).verdict is Verdict.VIOLATED


def test_a_trace_has_stray_requests_of_its_own():
    trace = trace_of("reassignment", "strays")
    assert "SendStrayRequest" in {step.action for step in trace.steps}
    assert check_trace(trace).verdict is Verdict.HELD
