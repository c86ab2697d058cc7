"""`krafla fuzz registration`: controllers that register, from the command line."""

from __future__ import annotations

from functools import partial

import pytest
from tests.krafla.fuzz import fuzz_runs
from tests.krafla.fuzz.fuzz_runs import assert_a_seed_is_a_run

from krafla.fuzz.engine.profiles import find_profile
from krafla.fuzz.engine.run import play_seed, trace_of
from krafla.fuzz.registration.profiles import CONFIGURATIONS
from krafla.match.trace_check import check_trace
from krafla.refinement.registration.spec import left_out, load
from kraft.sim.common.recording import RecordingError
from kraft.sim.registration import recording
from kraft.sim.registration.cluster import digest, first_cluster
from kraft.sim.registration.step import step

fuzz = partial(fuzz_runs.fuzz, "registration")


def test_a_short_campaign_is_agreed_with_and_says_what_it_missed():
    ended = fuzz("--examples", "2", "--steps", "40", "-q")
    assert ended.exit_code == 3, ended.output
    assert "INCONCLUSIVE  2 runs, 80 judged steps" in ended.output
    assert "reproduce  krafla fuzz registration --seed 0 --examples 2 --steps 40" in ended.output


def test_the_same_seed_is_the_same_run():
    assert_a_seed_is_a_run("gate", recording, 150)


def test_a_recording_played_again_ends_where_the_run_ended():
    played = play_seed(find_profile("dynamic-quorum"), 1, 150).recording
    ends = []
    for _ in range(2):
        cluster = first_cluster(played.configuration)
        for choice in played.choices:
            cluster = step(cluster, choice).after
        ends.append(digest(cluster))
    assert ends[0] == ends[1] != digest(first_cluster(played.configuration))


def test_what_is_no_recording_is_refused():
    with pytest.raises(RecordingError, match="not a recording of registrations"):
        recording.from_json("{}")


# No model lets processes ask that do not look at the gate, but one that replaces an operator.
@pytest.mark.parametrize("name", sorted(CONFIGURATIONS.keys() - {"eager"}))
def test_the_trace_of_a_run_is_a_behaviour_of_the_spec(name):
    run = play_seed(find_profile(name), 1, 80)
    assert run.finding is None
    trace = trace_of(run)
    assert len(trace.steps) > 20
    report = check_trace(trace)
    assert (report.rejection, report.steps) == (None, len(trace.steps))


def test_only_what_models_show_to_be_false_is_left_out():
    assert left_out(CONFIGURATIONS["registers"]) == frozenset()
    for name in ("gate", "older-software", "dynamic-quorum"):
        assert left_out(CONFIGURATIONS[name]) == {"UpgradeSupportedByAllInv"}
    assert "SentOnlyWhenNeededProp" in left_out(CONFIGURATIONS["eager"])
    properties = load(CONFIGURATIONS["registers"]).properties
    assert len(properties.invariants) == 7
    assert len(properties.steps) == 9
    assert len(properties.witnesses) == 7


@pytest.mark.nightly
def test_every_action_is_taken_and_every_witness_reached():
    ended = fuzz("--examples", "60", "-q")
    assert ended.exit_code == 0, ended.output
