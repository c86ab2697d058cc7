"""`krafla fuzz metadata`: controllers over one log, from the command line."""

from __future__ import annotations

from functools import partial

import pytest
from tests.krafla.fuzz import fuzz_runs
from tests.krafla.fuzz.fuzz_runs import (
    assert_a_seed_is_a_run,
    assert_found_kept_and_played_again,
    assert_refused,
)
from tests.mutants.metadata import MUTANTS

from krafla.fuzz.engine.profiles import find_profile
from krafla.fuzz.engine.run import play_seed, trace_of
from krafla.fuzz.metadata.profiles import CONTROLLING
from krafla.refinement.metadata.spec import load, properties_for
from kraft.sim.metadata import recording

fuzz = partial(fuzz_runs.fuzz, "metadata")


def test_a_short_campaign_is_agreed_with_and_says_what_it_missed():
    ended = fuzz("--examples", "4", "--steps", "40", "-q")
    assert ended.exit_code == 3, ended.output
    assert "INCONCLUSIVE  4 runs, 160 judged steps" in ended.output
    assert "witnesses never reached" in ended.output
    assert "reproduce  krafla fuzz metadata --seed 0 --examples 4 --steps 40" in ended.output


def test_the_same_seed_is_the_same_run():
    assert_a_seed_is_a_run("controllers", recording, 100)


@pytest.mark.parametrize("name", sorted(CONTROLLING))
def test_a_run_is_a_behaviour_of_the_spec(name):
    run = play_seed(find_profile(name), 1, 120)
    assert run.finding is None, str(run.finding)
    trace = trace_of(run)
    assert len(trace.steps) == run.steps + 1 > 30


def test_every_action_of_the_spec_is_there_to_be_taken():
    judged = load(CONTROLLING["controllers"])
    assert len(judged.spec.actions) == 18
    assert len(judged.properties.witnesses) == 11


@pytest.mark.nightly
def test_every_action_is_taken_and_every_witness_reached():
    ended = fuzz("--examples", "120", "--steps", "300", "-q")
    assert ended.exit_code == 0, ended.output
    assert "actions 18/18, witnesses 11/11" in ended.output


def test_a_finding_is_kept_and_played_again(tmp_path, monkeypatch):
    mutant = next(one for one in MUTANTS if one.source == "KIP-631")
    where = ("--examples", "40", "--profile", "failovers")
    assert_found_kept_and_played_again("metadata", mutant, where, "expected", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--workers", "2"), "--workers: only for `krafla fuzz` raft, cluster"),
        (("--profile", "moves"), "moves is no profile of metadata"),
        (("--replay", "nothere.json"), "nothere.json"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(arguments, said):
    assert_refused("metadata", arguments, said)


def test_only_what_is_known_to_be_false_is_left_out():
    plain = properties_for(CONTROLLING["failovers"])
    assert "NoReadYourUncommittedInv" in plain.invariants
    assert "UnchangedIsCurrentProp" not in plain.steps
    assert len(plain.invariants) >= 14
    assert len(plain.steps) >= 8
    between = properties_for(CONTROLLING["transactions"])
    assert set(plain.invariants) - set(between.invariants) == {"NoReadYourUncommittedInv"}
