"""`krafla fuzz together`: whole clusters, from the command line."""

from __future__ import annotations

import json

import pytest
from tests.mutants.together import MUTANTS
from typer.testing import CliRunner

from krafla.cli import application
from krafla.fuzz.campaign import Campaign, run_campaign
from krafla.fuzz.clusters import CONFIGURATIONS
from krafla.fuzz.play import play_seed, trace_of
from krafla.fuzz.profiles import find_profile
from krafla.refinement.together.together_spec import load_together
from krafla.refinement.trace_check import check_trace
from kraft.sim.together.recording import from_json, to_json


def fuzz(*arguments):
    return CliRunner().invoke(application("fuzz"), ["fuzz", "together", *arguments])


def test_a_short_campaign_is_agreed_with_and_says_what_it_missed():
    ended = fuzz("--examples", "3", "--steps", "120", "-q")
    assert ended.exit_code == 3, ended.output
    assert "INCONCLUSIVE  3 runs, 360 judged steps" in ended.output
    assert "witnesses never reached" in ended.output
    assert "reproduce  krafla fuzz together --seed 0 --examples 3 --steps 120" in ended.output


@pytest.mark.nightly
def test_a_campaign_takes_every_action_and_reaches_every_witness():
    report = run_campaign(Campaign(1, examples=60, profiles=tuple(CONFIGURATIONS)))
    assert (report.failure, report.doubts) == (None, ())
    assert len(report.coverage.all_actions) == 32


def test_the_same_seed_is_the_same_run():
    profile = find_profile("whole")
    first, second = (play_seed(profile, 3, 120) for _ in range(2))
    assert to_json(first.recording) == to_json(second.recording)
    assert first.recording != play_seed(profile, 4, 120).recording
    assert from_json(to_json(first.recording)) == first.recording


@pytest.mark.parametrize("name", sorted(CONFIGURATIONS))
def test_the_trace_of_a_run_is_a_behaviour_of_the_spec(name):
    run = play_seed(find_profile(name), 1, 90)
    assert run.finding is None
    trace = trace_of(run)
    assert len(trace.steps) > 60
    report = check_trace(trace)
    assert (report.rejection, report.steps) == (None, len(trace.steps))


def test_a_finding_is_kept_and_played_again(tmp_path, monkeypatch):
    mutant = next(one for one in MUTANTS if one.source == "KAFKA-13959")
    with monkeypatch.context() as wrong:
        for place, function in mutant.patches.items():
            wrong.setattr(place, function)
        ended = fuzz("--examples", "9", "--profile", "two-and-two", "--save", str(tmp_path), "-q")
        assert ended.exit_code == 1, ended.output
        assert "is not enabled" in ended.output
        recording = next(tmp_path.glob("*.json"))
        again = fuzz("--replay", str(recording))
        assert again.exit_code == 1
        assert "VIOLATED" in again.output
    mended = fuzz("--replay", str(recording), "--json")
    assert mended.exit_code == 0
    assert json.loads(mended.output)["verdict"] == "held"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--workers", "2"), "--workers: only for `krafla fuzz raft`"),
        (("--profile", "moves"), "moves is no profile of together"),
        (("--replay", "nothere.json"), "nothere.json"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(arguments, said):
    ended = fuzz(*arguments)
    assert ended.exit_code == 2
    assert said in ended.output
    assert "Traceback" not in ended.output


def test_a_recording_of_something_else_is_refused(tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"configuration": {}, "choices": []}', encoding="utf-8")
    ended = fuzz("--replay", str(path))
    assert ended.exit_code == 2
    assert "not a recording of a cluster" in ended.output


def test_only_what_models_show_to_be_false_is_left_out():
    several = load_together(CONFIGURATIONS["two-and-two"]).properties
    alone = load_together(CONFIGURATIONS["one-controller"]).properties
    assert set(alone.steps) - set(several.steps) == {"ShutdownSafeProp"}
    assert alone.invariants == several.invariants
    assert not {"OneLeaderInv", "OneLeaderPerEpochInv"} & set(alone.invariants)
    assert len(several.invariants) >= 13
    assert len(several.steps) >= 8
    assert len(several.witnesses) == 12
