"""`krafla fuzz together`: whole clusters, from the command line."""

from __future__ import annotations

from functools import partial

import pytest
from tests.krafla.fuzz import fuzz_runs
from tests.krafla.fuzz.fuzz_runs import (
    assert_a_seed_is_a_run,
    assert_found_kept_and_played_again,
    assert_refused,
)
from tests.mutants.cluster import MUTANTS

from krafla.fuzz.cluster.profiles import CONFIGURATIONS
from krafla.fuzz.engine.campaign import Campaign, run_campaign
from krafla.fuzz.engine.profiles import find_profile
from krafla.fuzz.engine.run import play_seed, trace_of
from krafla.match.trace_check import check_trace
from krafla.refinement.cluster.spec import load
from kraft.sim.cluster import recording

fuzz = partial(fuzz_runs.fuzz, "together")


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
    assert_a_seed_is_a_run("whole", recording, 120)


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
    where = ("--examples", "9", "--profile", "two-and-two")
    assert_found_kept_and_played_again(
        "together", mutant, where, "is not enabled", tmp_path, monkeypatch
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--workers", "2"), "--workers: only for `krafla fuzz` raft, cluster"),
        (("--profile", "moves"), "moves is no profile of together"),
        (("--replay", "nothere.json"), "nothere.json"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(arguments, said):
    assert_refused("together", arguments, said)


def test_a_recording_of_something_else_is_refused(tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"configuration": {}, "choices": []}', encoding="utf-8")
    ended = fuzz("--replay", str(path))
    assert ended.exit_code == 2
    assert "not a recording of a cluster" in ended.output


def test_only_what_models_show_to_be_false_is_left_out():
    several = load(CONFIGURATIONS["two-and-two"]).properties
    alone = load(CONFIGURATIONS["one-controller"]).properties
    assert alone == several
    assert "ShutdownSafeProp" not in several.steps
    assert not {"OneLeaderInv", "OneLeaderPerEpochInv"} & set(alone.invariants)
    assert len(several.invariants) >= 13
    assert len(several.steps) >= 8
    assert len(several.witnesses) == 12
