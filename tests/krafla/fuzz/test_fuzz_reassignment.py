"""`krafla fuzz reassignment`: partitions that move, from the command line."""

from __future__ import annotations

from functools import partial

import pytest
from tests.krafla.fuzz import fuzz_runs
from tests.krafla.fuzz.fuzz_runs import (
    assert_a_seed_is_a_run,
    assert_found_kept_and_played_again,
    assert_refused,
)
from tests.mutants.reassignment import MUTANTS

from krafla.fuzz.engine.profiles import find_profile
from krafla.fuzz.engine.run import play_seed, trace_of
from krafla.fuzz.reassignment.profiles import CONFIGURATIONS
from krafla.match.trace_check import check_trace
from krafla.refinement.reassignment.spec import left_out, load
from kraft.sim.reassignment import recording

fuzz = partial(fuzz_runs.fuzz, "reassignment")


def test_a_short_campaign_is_agreed_with_and_says_what_it_missed():
    ended = fuzz("--examples", "3", "--steps", "50", "-q")
    assert ended.exit_code == 3, ended.output
    assert "INCONCLUSIVE  3 runs, 150 judged steps" in ended.output
    assert "witnesses never reached" in ended.output
    assert "reproduce  krafla fuzz reassignment --seed 0 --examples 3 --steps 50" in ended.output


def test_the_same_seed_is_the_same_run():
    assert_a_seed_is_a_run("strays", recording, 200)


# No model has the requests of nobody that the runs of this profile have.
@pytest.mark.parametrize("name", sorted(CONFIGURATIONS.keys() - {"strays"}))
def test_the_trace_of_a_run_is_a_behaviour_of_the_spec(name):
    run = play_seed(find_profile(name), 1, 90)
    assert run.finding is None
    trace = trace_of(run)
    assert len(trace.steps) > 20
    report = check_trace(trace)
    assert (report.rejection, report.steps) == (None, len(trace.steps))


def test_a_finding_is_kept_and_played_again(tmp_path, monkeypatch):
    mutant = next(one for one in MUTANTS if one.source == "KAFKA-15665")
    where = ("--examples", "40", "--profile", "moves")
    assert_found_kept_and_played_again(
        "reassignment", mutant, where, "expected", tmp_path, monkeypatch
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--workers", "2"), "--workers: only for `krafla fuzz` raft, cluster"),
        (("--profile", "restless"), "restless is no profile of reassignment"),
        (("--replay", "nothere.json"), "nothere.json"),
        (("--replay", "x", "--examples", "2"), "--examples: not together with --replay"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(arguments, said):
    assert_refused("reassignment", arguments, said)


def test_a_recording_of_something_else_is_refused(tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"configuration": {}, "choices": []}', encoding="utf-8")
    ended = fuzz("--replay", str(path))
    assert ended.exit_code == 2
    assert "not a recording of a reassignment" in ended.output


def test_only_what_models_show_to_be_false_is_left_out():
    plain = left_out(CONFIGURATIONS["moves"])
    assert plain == {"AddingRemovingDisjointInv", "TargetHonouredProp"}
    judged = load(CONFIGURATIONS["moves"])
    assert len(judged.properties.invariants) >= 14
    assert len(judged.properties.steps) >= 9
    assert len(judged.properties.witnesses) == 24
    for configuration in CONFIGURATIONS.values():
        if configuration.min_isr is None:
            assert left_out(configuration) >= plain
        else:
            assert left_out(configuration) == {"ElrSubsetReplicasInv"}
    eligible = load(CONFIGURATIONS["eligible"])
    assert len(eligible.properties.invariants) >= 14
    assert len(eligible.properties.steps) >= 7
