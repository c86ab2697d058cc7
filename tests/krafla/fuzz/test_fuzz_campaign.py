"""Campaigns: the verdict rests on what was covered, and the same seed gives the same runs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.mutants.lease import MUTANTS

from krafla.fuzz.engine import report as render
from krafla.fuzz.engine.campaign import Campaign, run_campaign
from krafla.fuzz.engine.coverage import Coverage
from krafla.fuzz.engine.profiles import find_profile
from krafla.fuzz.engine.replay import play_recording
from krafla.fuzz.engine.run import play, play_seed, trace_of
from krafla.match.trace_check import check_trace
from krafla.traces import dumps, loads, read
from krafla.verdict import KraflaError, Verdict
from kraft.sim.common.recording import to_json

SHORT = Campaign(seed=11, examples=2, steps=120, profiles=("restless",))


@pytest.fixture
def fences_without_moving_leaders(monkeypatch):
    mutant = next(one for one in MUTANTS if one.id == "fencing leaves the leaderships")
    for place, wrong in mutant.patches.items():
        monkeypatch.setattr(place, wrong)


def test_the_same_seed_gives_the_same_runs():
    profile = find_profile("restless")
    first, second = (play_seed(profile, 3, 150) for _ in range(2))
    assert first.recording == second.recording
    assert first.recording != play_seed(profile, 4, 150).recording


def test_a_run_replays_from_its_choices_alone():
    run = play_seed(find_profile("restless"), 3, 150)
    again = play(run.recording.configuration, run.recording.choices)
    assert again.recording == run.recording
    assert again.finding is None


def test_the_trace_of_a_run_is_a_behaviour_of_the_spec():
    run = play_seed(find_profile("restless"), 5, 80)
    trace = loads(dumps(trace_of(run)))
    report = check_trace(trace)
    assert report.verdict is Verdict.HELD, report.rejection
    assert report.steps == run.steps + 1


def test_a_campaign_that_missed_an_action_is_inconclusive_and_names_it():
    report = run_campaign(SHORT)
    assert report.verdict is Verdict.INCONCLUSIVE
    missed = report.coverage.missed_actions
    assert missed
    assert all(name in report.doubts[0] for name in missed)
    assert int(report.verdict.exit_code) == 3


def test_a_campaign_without_a_step_is_inconclusive():
    report = run_campaign(replace(SHORT, examples=None, seconds=0.0))
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "no step was taken" in report.doubts


def test_a_campaign_holds_only_when_every_action_and_every_witness_was_seen():
    report = run_campaign(SHORT)
    full = Coverage()
    full.all_actions, full.all_witnesses = report.coverage.all_actions, ("OneReach",)
    full.actions.update(dict.fromkeys(full.all_actions, 1))
    full.steps, full.witnesses = 1, {"OneReach": 1}
    assert replace(report, coverage=full).verdict is Verdict.HELD
    full.witnesses = {}
    assert replace(report, coverage=full).verdict is Verdict.INCONCLUSIVE


@pytest.mark.usefixtures("fences_without_moving_leaders")
def test_a_violation_is_shrunk_shown_saved_and_found_again_in_the_file(tmp_path, monkeypatch):
    report = run_campaign(replace(SHORT, examples=400, steps=300))
    assert report.verdict is Verdict.VIOLATED
    text = "\n".join(render.text_lines(report))
    assert "leads" in text
    assert "BrokerLease.tla:" in text
    assert report.reproduce in text
    trace_path, recording_path = render.save(report.failure, tmp_path / "found")
    rejection = check_trace(read(trace_path)).rejection
    assert rejection is not None
    assert rejection.index == len(read(trace_path)) - 1
    assert play_recording(recording_path).finding is not None
    monkeypatch.undo()
    assert play_recording(recording_path).finding is None
    document = render.document(report)
    assert document["verdict"] == "violated"
    assert document["failure"]["recording"] == json.loads(to_json(report.failure.shrunk.recording))


def test_an_unknown_profile_is_named_together_with_those_there_are():
    with pytest.raises(KraflaError, match=r"'kafka-9'.*kafka-4\.1"):
        run_campaign(replace(SHORT, profiles=("kafka-9",)))


def test_a_file_that_is_no_recording_is_an_error_with_its_path(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text('{"choices": 1}')
    with pytest.raises(KraflaError, match=r"plan\.json"):
        play_recording(path)
    with pytest.raises(KraflaError, match=r"nowhere\.json"):
        play_recording(tmp_path / "nowhere.json")


def test_requests_out_of_order_break_what_is_promised_only_of_those_in_order():
    profile = replace(find_profile("restless"), also=("RegistrationIsKnownInv",))
    findings = (play_seed(profile, seed, 300).finding for seed in range(200))
    first = next(finding for finding in findings if finding is not None)
    assert first.kind[:2] == ("property", "RegistrationIsKnownInv")
