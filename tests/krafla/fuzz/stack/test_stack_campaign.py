"""Runs of controllers and brokers on machines: their sizes, their judges, and each fault alone."""

from __future__ import annotations

import pytest
from tests.krafla.refinement.stack.stack_runs import UNCHECKED

from krafla.fuzz.engine.campaign import Campaign, run_campaign
from krafla.fuzz.engine.machine_run import Case
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.run_file import replay_file
from krafla.fuzz.engine.system import RunOptions
from krafla.fuzz.stack import system as stack_system
from krafla.fuzz.stack.checks import PROPERTIES, StackChecks
from krafla.fuzz.stack.lockstep_judge import METADATA_REFINEMENT
from krafla.fuzz.stack.system import KINDS, SYSTEM, stack_case_of
from kraft.raft.configuration import MILLISECOND
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import Knobs, RaftConfiguration
from kraft.sim.stack.configuration import StackKnobs

SECOND = 10**9
CALM = Case(
    RaftConfiguration(voters=3, observers=2, calm=3 * SECOND, chaos=4 * SECOND),
    7,
    None,
    Knobs(segment_bytes=100_000),
    StackKnobs(admin_every_ms=80),
)


def watched(case):
    """Play a case; return what has judged it."""
    simulation = Simulation(
        case.configuration, case.seed, case.plan, case.knobs, workload=SYSTEM.workload(case)
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


def test_what_only_metadata_log_notices_ends_a_campaign_in_lockstep_and_is_found_again(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(stack_system, "SYSTEM", UNCHECKED)
    runs = UNCHECKED.runs(0, RunOptions(lockstep=True))
    with find_mutant("deferred-by-the-claim", UNCHECKED).applied():
        report = run_campaign(Campaign(runs, examples=1, shrinks=False))
        assert report.failure is not None
        (name,) = report.failure.save(tmp_path).saved
        again = replay_file(tmp_path / name)
    assert report.failure.run.found_by == METADATA_REFINEMENT
    assert (again.run.detail, again.is_same) == (report.failure.run.detail, True)
    actions, judged = report.seen.tallies["actions"], report.seen.tallies["totals"]["judged"]
    assert 1_000 < judged <= report.seen.steps
    # Both specs have judged.
    assert min(actions["SendFetch"], actions["MetadataLog!ReplayCommitted"]) > 0
    assert actions["MetadataLog!Renounce"] == 0


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_fault_alone_leaves_a_cluster_that_holds(kind):
    configuration = RaftConfiguration(voters=3, observers=3, kinds=(kind,))
    knobs = Knobs(rates=((kind, 800 * MILLISECOND),), segment_bytes=100_000)
    played = SYSTEM.play(Case(configuration, 11, None, knobs, StackKnobs()))
    assert played.finding is None, played.finding
