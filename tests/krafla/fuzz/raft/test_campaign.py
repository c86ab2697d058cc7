"""Campaigns over quorums: the same runs in any process, shrunk to the faults that they need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from tests.krafla.fuzz.fuzz_runs import printed

from krafla.fuzz.engine import machine_run
from krafla.fuzz.engine.campaign import Campaign, Report, run_campaign
from krafla.fuzz.engine.machine_run import Case
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.run_file import header_of, write
from krafla.fuzz.engine.runs import Run
from krafla.fuzz.engine.system import RunOptions
from krafla.fuzz.raft.system import SYSTEM, raft_case_of
from krafla.verdict import Verdict
from kraft.raft.events import RequestReceived
from kraft.raft.state import Step
from kraft.rpc.vote import VoteRequest
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import RaftConfiguration
from kraft.sim.raft.kraft_core import KRAFT

PROCESSES = 100 if os.environ.get("KRAFLA_NIGHTLY") else 10
ONE_RUN = """
import sys
from pathlib import Path
from krafla.fuzz.engine.run_file import replay_file
run = replay_file(Path(sys.argv[1])).run
print(run.digest, run.finding)
"""


@pytest.fixture(scope="module")
def failing():
    """A run of a seeded bug that fails only after faults have had their effects."""
    with find_mutant("boots-unattached", SYSTEM).applied():
        for example in range(20):
            played = SYSTEM.play(raft_case_of(0, example))
            if played.finding is not None:
                return played
    pytest.fail("none of 20 examples finds the seeded bug")


@pytest.mark.nightly
def test_a_sample_run_has_the_same_digest_in_two_processes_with_other_hash_seeds():
    code = (
        "from krafla.fuzz.raft.system import SYSTEM, raft_case_of\n"
        "print([SYSTEM.play(raft_case_of(5, example)).digest for example in range(3)])"
    )
    digests = {_output(code, hash_seed) for hash_seed in ("1", "2")}
    assert len(digests) == 1
    assert len(set(json.loads(digests.pop().replace("'", '"')))) == 3


def _output(code, hash_seed, *arguments):
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    finished = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return finished.stdout.strip()


def replayed(name):
    """Return what a file of an older krafla says of its run, and the run as it is now."""
    path = Path(__file__).with_name(name)
    data, place = path.read_bytes(), str(path)
    return header_of(data, place), SYSTEM.play(SYSTEM.decoded(data, place))


def test_a_leader_that_removed_itself_may_be_needed_and_does_not_stand():
    # In Kafka it is an observer by its own log. Found by `krafla fuzz raft --seed 20261122`.
    kept, played = replayed("removed_leader_is_needed.json")
    assert (played.tallies["liveness"], played.finding) == ({"excused": 1}, None)
    assert kept.digest == played.digest


@pytest.mark.nightly
def test_an_invalid_vote_request_may_reach_another_disk_than_it_is_for():
    # Found by `krafla fuzz raft --lockstep --seed 20261127`: the spec had it fenced first.
    kept, played = replayed("vote_request_for_a_lost_disk.json")
    assert kept.failed == "KRaftSteps"
    assert played.finding is None
    assert played.tallies["actions"]["MeetOtherDisk"] >= 1


@pytest.mark.nightly
def test_a_crash_while_the_leader_is_written_may_leave_it_without_the_directory_of_the_vote():
    # Found by `krafla fuzz raft --lockstep --seed 20261124`: version 0 of the file has no disks.
    kept, played = replayed("crash_while_the_leader_is_noted.json")
    assert kept.failed == "KRaftSteps"
    assert played.finding is None


@pytest.mark.nightly
def test_a_replica_that_loses_a_pre_vote_may_know_only_the_name_of_a_voter():
    # Found by `krafla fuzz raft --lockstep --seed 20261123`: it met the leader before the voters.
    kept, played = replayed("leader_known_by_name.json")
    assert kept.failed == "KRaftSteps"
    assert played.finding is None
    assert played.tallies["actions"]["LosePreVoteByName"] >= 1


@pytest.mark.nightly
def test_a_crash_while_a_log_is_truncated_may_leave_records_that_were_to_go():
    # Found by `krafla fuzz raft --lockstep --seed 20261123`: its segments go one by one.
    kept, played = replayed("crash_while_the_log_is_cut.json")
    assert kept.failed == "KRaftSteps"
    assert played.finding is None
    assert played.tallies["actions"]["CrashTruncating"] >= 1


@pytest.mark.nightly
def test_a_voter_that_was_shut_down_is_back_soon_after_the_core_is_healed():
    # One of two voters, and longer away than the other has time to be elected without it.
    kept, played = replayed("shutdown_over_the_heal.json")
    assert kept.failed == "ProgressProp"
    assert (played.finding, played.tallies["liveness"]) == (None, {"progress": 1})


def missed_by(acknowledged=1, **tallies):
    """Return what a run that was counted so missed; only where that is required it is a doubt."""
    run = Run(None, None, 1, "", tallies | {"totals": {"acknowledged": acknowledged}})
    for required, verdict in ((False, Verdict.HELD), (True, Verdict.INCONCLUSIVE)):
        campaign = Campaign(SYSTEM.runs(0, RunOptions()), requires_coverage=required)
        report = Report(campaign)
        report.add(run)
        assert report.verdict is verdict
        assert report.doubts == (report.seen.missed if required else ())
    return report.seen.missed


def test_progress_is_missed_by_a_campaign_in_which_every_run_was_excused_from_it():
    missed = missed_by(liveness={"excused": 4})
    assert missed == ("no run came to its end and made progress there",)


def test_progress_is_missed_if_most_runs_were_excused_from_it():
    ends = {"progress": 2, "excused": 2, "not tried": 1}
    assert missed_by(liveness=ends) == ("only 2 of 5 runs made progress",)


def test_a_value_that_no_client_was_told_of_is_missed():
    assert missed_by(0, liveness={"progress": 1}) == ("no value was ever acknowledged",)


def test_an_action_of_the_spec_that_was_never_taken_is_missed():
    missed = missed_by(liveness={"progress": 1}, actions={"Restart": 1, "Flush": 0})
    assert missed == ("actions never taken: Flush",)


def test_a_failing_run_is_shrunk_to_the_faults_that_it_needs(failing):
    with find_mutant("boots-unattached", SYSTEM).applied():
        sizes = []
        shrunk = SYSTEM.shrunk(failing, sizes.append)
    assert shrunk.kind == failing.kind
    assert sizes[-1] == shrunk.case.size
    assert sizes == sorted(sizes, reverse=True)
    assert 1 <= len(shrunk.case.plan) <= 3
    assert len(shrunk.case.plan) < len(failing.case.plan)
    assert set(shrunk.case.plan) <= set(failing.case.plan)


@pytest.mark.nightly
def test_a_failing_run_is_the_same_in_fresh_processes_with_other_hash_seeds(failing, tmp_path):
    path = tmp_path / "run.json"
    write(SYSTEM, failing, path, "boots-unattached")
    outputs = {_output(ONE_RUN, str(seed), str(path)) for seed in range(PROCESSES)}
    assert outputs == {f"{failing.digest} {failing.finding}"}


def test_a_quorum_that_chooses_no_leader_breaks_progress(monkeypatch):
    def deaf(state, event):
        votes = isinstance(event, RequestReceived) and isinstance(event.request, VoteRequest)
        return Step(state) if votes else KRAFT.on_event(state, event)

    core = KRAFT._replace(on_event=deaf)
    monkeypatch.setattr(machine_run, "Simulation", partial(Simulation, core=core))
    configuration = RaftConfiguration(voters=3, observers=0, calm=10**9, chaos=10**9)
    played = SYSTEM.play(Case(configuration, 1, plan=()))

    assert played.tallies["liveness"] == {"stuck": 1}
    assert played.kind == ("property", "ProgressProp")
    assert played.finding.text.startswith("no voter wins an election: ")


def test_steps_that_promise_less_are_counted_and_told():
    options = RunOptions(faults=("bit-rot", "old-image", "kill", "power-loss"))
    report = run_campaign(Campaign(SYSTEM.runs(3, options), examples=4))
    unpromised = report.seen.tallies["totals"]["unpromised"]
    assert 0 < unpromised < report.seen.steps
    assert f"{unpromised:,}  steps that promise less" in printed(report)
    assert report.document()["unpromised"] == unpromised
    calm = run_campaign(Campaign(SYSTEM.runs(3, RunOptions(faults=())), examples=1))
    assert calm.seen.tallies["totals"]["unpromised"] == 0
