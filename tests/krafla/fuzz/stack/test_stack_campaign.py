"""Campaigns over whole clusters: what they print, keep and replay, and that every judge looks."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.krafla.refinement.stack.stack_runs import UNCHECKED
from typer.testing import CliRunner

from krafla.cli import application
from krafla.fuzz.engine.machine_campaign import Campaign, run_campaign
from krafla.fuzz.engine.machine_replay import read, record, replay, write
from krafla.fuzz.engine.machine_run import Case, play
from krafla.fuzz.engine.machine_systems import SYSTEMS
from krafla.fuzz.engine.seeded_bugs import find_mutant
from krafla.fuzz.stack.checks import PROPERTIES, StackChecks
from krafla.fuzz.stack.lockstep_judge import METADATA_REFINEMENT
from krafla.fuzz.stack.system import KINDS, STACK, stack_case_of
from kraft.raft.configuration import MILLISECOND
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import Knobs, QuorumConfiguration
from kraft.sim.stack.configuration import StackKnobs

SECOND = 10**9
CALM = Case(
    QuorumConfiguration(voters=3, observers=2, calm=3 * SECOND, chaos=4 * SECOND),
    7,
    None,
    Knobs(segment_bytes=100_000),
    StackKnobs(admin_every_ms=80),
)


def fuzz(*arguments):
    return CliRunner().invoke(application("fuzz"), ["fuzz", "stack", *arguments, "--quiet"])


def watched(case):
    """Play a case; return what has judged it."""
    simulation = Simulation(
        case.configuration, case.seed, case.plan, case.knobs, workload=STACK.workload(case)
    )
    checks = StackChecks()
    for step in simulation.steps():
        checks.observe(step)
        assert checks.violation is None, checks.violation
    checks.finish(())
    return checks


def test_an_example_is_the_same_whoever_plays_it_and_has_sizes_and_knobs_of_its_own():
    cases = [stack_case_of(3, example) for example in range(40)]
    assert {case.configuration.voters for case in cases} == {3, 5}
    assert len({case.configuration.observers for case in cases}) >= 4
    assert len({case.above for case in cases}) > 30
    assert cases[1] == stack_case_of(3, 1)
    assert set(cases[0].configuration.kinds) == set(KINDS)


def test_all_that_is_committed_comes_before_all_judges():
    checks = watched(CALM)
    assert checks.committed_log.end > 30
    assert checks.log_judge.end == checks.committed_log.end
    assert checks.log_judge.steps > 3
    assert checks.controllers.claims
    assert checks.committed_log.image.brokers


def test_no_two_properties_have_one_name():
    assert len(set(PROPERTIES)) == len(PROPERTIES)


def test_a_campaign_holds_and_says_what_it_did():
    result = fuzz("--seed", "3", "--examples", "1", "--faults", "none")
    assert result.exit_code == 0, result.output
    assert "HELD  1 runs, " in result.output
    assert f"{len(PROPERTIES)} properties" in result.output
    assert "krafla fuzz stack --seed 3 --examples 1 --faults none" in result.output


def test_what_is_found_is_kept_and_the_file_says_that_it_is_of_a_cluster(tmp_path):
    with find_mutant("keeps-uncommitted").applied():
        result = fuzz("--examples", "3", "--no-shrink", "--save", str(tmp_path))
        assert result.exit_code == 1, result.output
        (kept,) = tmp_path.iterdir()
        assert json.loads(kept.read_text())["format"] == "krafla fuzz stack"
        again = fuzz("--replay", str(kept))
        as_a_trace = CliRunner().invoke(application("replay"), ["replay", str(kept)])
    assert as_a_trace.exit_code == 2
    assert f"krafla fuzz stack --replay {kept}" in f"{as_a_trace.output} {as_a_trace.exception}"
    assert again.exit_code == 1
    assert "the same run as in the file" in again.output
    assert fuzz("--replay", str(kept)).exit_code in {0, 3}


def test_a_kept_run_is_played_bit_for_bit(tmp_path):
    played = play(CALM, system=STACK)
    assert played.violation is None
    path = tmp_path / "run.json"
    write(record(played), path)
    assert replay(read(path)).digest == played.digest


def test_what_only_metadata_log_notices_ends_a_campaign_in_lockstep_and_is_found_again(
    monkeypatch, tmp_path
):
    monkeypatch.setitem(SYSTEMS, "cluster", UNCHECKED)
    campaign = Campaign(seed=0, examples=1, system="stack", lockstep=True, shrinks=False)
    path = tmp_path / "run.json"
    with find_mutant("deferred-by-the-claim").applied():
        report = run_campaign(campaign)
        assert report.finding is not None
        played = report.finding.shrunk
        write(record(played, lockstep=True), path)
        again = replay(read(path))
    assert played.violation.property == METADATA_REFINEMENT
    assert (again.violation, again.digest) == (played.violation, played.digest)
    assert 1_000 < report.judged <= report.events
    # Both specs have judged.
    assert min(report.actions["SendFetch"], report.actions["MetadataLog!ReplayCommitted"]) > 0
    assert {"SendFetch", "MetadataLog!Renounce"} <= set(report.all_actions)
    assert "MetadataLog!Renounce" in report.missed_actions


def test_the_number_of_processes_changes_nothing():
    small = Campaign(seed=5, examples=2, kinds=("kill",), system="stack", chaos=2)
    alone, together = (run_campaign(replace(small, workers=workers)) for workers in (1, 2))
    assert alone.digest == together.digest
    assert alone.acknowledged == together.acknowledged > 0


def test_an_option_of_another_protocol_is_refused():
    result = fuzz("--steps", "5")
    assert result.exit_code == 2
    assert "--steps" in result.output


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_fault_alone_leaves_a_cluster_that_holds(kind):
    configuration = QuorumConfiguration(voters=3, observers=3, kinds=(kind,))
    knobs = Knobs(rates=((kind, 800 * MILLISECOND),), segment_bytes=100_000)
    played = play(Case(configuration, 11, None, knobs, StackKnobs()), system=STACK)
    assert played.violation is None, played.violation
