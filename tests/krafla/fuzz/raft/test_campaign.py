"""Campaigns over quorums: one seed, the same runs, whoever plays them; what fails is kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from krafla.fuzz.engine import machine_report, machine_run
from krafla.fuzz.engine.machine_campaign import Campaign, Report, run_campaign
from krafla.fuzz.engine.machine_replay import read, record, replay, write
from krafla.fuzz.engine.machine_run import Case, case_of, play
from krafla.fuzz.engine.machine_shrink import shrink
from krafla.fuzz.engine.seeded_bugs import find_mutant
from krafla.verdict import ExitCode, KraflaError, Verdict
from kraft.raft.events import RequestReceived
from kraft.raft.state import Step
from kraft.rpc.vote import VoteRequest
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import QuorumConfiguration
from kraft.sim.raft.kinds import kinds_of
from kraft.sim.raft.kraft_core import KRAFT

SMALL = Campaign(seed=3, examples=4)
PROCESSES = 100 if os.environ.get("KRAFLA_NIGHTLY") else 10
ONE_RUN = """
import sys
from pathlib import Path
from krafla.fuzz.engine.seeded_bugs import find_mutant
from krafla.fuzz.engine.machine_replay import read, replay
recorded = read(Path(sys.argv[1]))
with find_mutant(recorded.mutant).applied():
    played = replay(recorded)
print(played.digest, played.violation)
"""


@pytest.fixture(scope="module")
def failing():
    """A run of a seeded bug that fails only after faults have had their effects."""
    with find_mutant("boots-unattached").applied():
        for example in range(20):
            played = play(case_of(0, example))
            if played.violation is not None:
                return played
    pytest.fail("none of 20 examples finds the seeded bug")


def test_the_same_seed_gives_the_same_runs_and_another_gives_others():
    first, second = (play(case_of(3, 1)) for _ in range(2))
    assert first == second
    assert first.violation is None
    assert first.digest != play(case_of(3, 2)).digest
    assert first.digest != play(case_of(4, 1)).digest


def test_a_sample_run_has_the_same_digest_in_two_processes_with_other_hash_seeds():
    code = (
        "from krafla.fuzz.engine.machine_run import case_of, play\n"
        "print([play(case_of(5, example)).digest for example in range(3)])"
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


def test_the_number_of_processes_changes_nothing():
    alone, together = (run_campaign(replace(SMALL, workers=workers)) for workers in (1, 2))
    assert alone.digest == together.digest
    assert alone.faults == together.faults
    assert (
        (alone.examples, alone.events) == (together.examples, together.events) == (4, alone.events)
    )


def test_a_campaign_holds_if_nothing_broke_and_something_was_acknowledged():
    report = run_campaign(SMALL)
    assert report.verdict is Verdict.HELD, report.finding
    assert report.acknowledged > 0
    assert report.liveness == {"progress": report.examples}
    assert report.digest in "\n".join(machine_report.text_lines(report))


def test_a_leader_that_removed_itself_may_be_needed_and_does_not_stand():
    # In Kafka it is an observer by its own log. Found by `krafla fuzz raft --seed 20261122`.
    recorded = read(Path(__file__).with_name("removed_leader_is_needed.json"))
    played = replay(recorded)
    assert (played.liveness, played.violation) == ("excused", None)
    assert recorded.digest == played.digest


@pytest.mark.nightly
def test_a_vote_request_that_cannot_be_right_may_reach_another_disk_than_it_is_for():
    # Found by `krafla fuzz raft --lockstep --seed 20261127`: the spec had it fenced first.
    recorded = read(Path(__file__).with_name("vote_request_for_a_lost_disk.json"))
    assert recorded.failed == "KRaftSteps"
    played = replay(recorded)
    assert played.violation is None
    assert dict(played.actions)["MeetOtherDisk"] >= 1


@pytest.mark.nightly
def test_a_crash_while_the_leader_is_noted_may_have_noted_it_without_the_voters_disk():
    # Found by `krafla fuzz raft --lockstep --seed 20261124`: version 0 of the file has no disks.
    recorded = read(Path(__file__).with_name("crash_while_the_leader_is_noted.json"))
    assert recorded.failed == "KRaftSteps"
    assert replay(recorded).violation is None


@pytest.mark.nightly
def test_who_loses_a_pre_vote_may_know_no_more_of_a_voter_than_its_name():
    # Found by `krafla fuzz raft --lockstep --seed 20261123`: it met the leader before the voters.
    recorded = read(Path(__file__).with_name("leader_known_by_name.json"))
    assert recorded.failed == "KRaftSteps"
    played = replay(recorded)
    assert played.violation is None
    assert dict(played.actions)["LosePreVoteByName"] >= 1


@pytest.mark.nightly
def test_a_crash_while_a_log_is_cut_leaves_more_of_it_than_was_to_stay():
    # Found by `krafla fuzz raft --lockstep --seed 20261123`: its segments go one by one.
    recorded = read(Path(__file__).with_name("crash_while_the_log_is_cut.json"))
    assert recorded.failed == "KRaftSteps"
    played = replay(recorded)
    assert played.violation is None
    assert dict(played.actions)["CrashTruncating"] >= 1


def test_a_voter_that_was_asked_to_end_is_back_soon_once_the_core_is_healed():
    # One of two voters, and longer away than the other has time to be elected without it.
    recorded = read(Path(__file__).with_name("shutdown_over_the_heal.json"))
    assert recorded.failed == "ProgressProp"
    played = replay(recorded)
    assert (played.violation, played.liveness) == (None, "progress")


def test_a_campaign_that_acknowledged_nothing_is_inconclusive():
    report = run_campaign(replace(SMALL, examples=None, seconds=0.0))
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.doubts == ("no value was ever acknowledged",)


def test_a_campaign_in_which_every_run_was_excused_from_progress_is_inconclusive():
    report = Report(SMALL, examples=4, acknowledged=1)
    report.liveness["excused"] = 4
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.doubts == ("no run came to its end and made progress there",)


def test_an_action_of_the_spec_that_was_never_taken_is_a_doubt():
    report = Report(SMALL, acknowledged=1, all_actions=("Restart", "Flush"))
    report.actions["Restart"] = report.liveness["progress"] = 1
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.doubts == ("actions never taken: Flush",)


def test_a_failing_run_is_shrunk_to_the_faults_that_it_needs(failing):
    with find_mutant("boots-unattached").applied():
        shrunk = shrink(failing)
    assert shrunk.violation.property == failing.violation.property
    assert 1 <= len(shrunk.case.plan) <= 3
    assert len(shrunk.case.plan) < len(failing.case.plan)
    assert set(shrunk.case.plan) <= set(failing.case.plan)


def test_what_was_found_survives_an_interrupt_while_it_is_shrunk():
    def interrupt(text):
        if text.startswith("found; "):
            raise KeyboardInterrupt

    with find_mutant("boots-unattached").applied():
        report = run_campaign(Campaign(examples=20), interrupt)
    assert report.is_interrupted
    assert report.finding.shrunk is report.finding.played
    assert report.exit_code is ExitCode.VIOLATED


def test_a_run_that_holds_is_not_shrunk():
    held = play(case_of(3, 1))
    assert shrink(held) is held


def test_a_failing_run_replays_from_its_file_bit_for_bit(failing, tmp_path):
    path = tmp_path / "run.json"
    write(record(failing, "boots-unattached"), path)
    recorded = read(path)
    assert (recorded.digest, recorded.failed) == (failing.digest, failing.violation.property)
    with find_mutant("boots-unattached").applied():
        again = replay(recorded)
    assert again == failing
    assert replay(recorded).violation is None


def test_a_failing_run_is_the_same_in_fresh_processes_with_other_hash_seeds(failing, tmp_path):
    path = tmp_path / "run.json"
    write(record(failing, "boots-unattached"), path)
    outputs = {_output(ONE_RUN, str(seed), str(path)) for seed in range(PROCESSES)}
    assert outputs == {f"{failing.digest} {failing.violation}"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda data: data | {"version": 9}, "version 9"),
        (lambda data: data | {"format": "another"}, "'another'"),
        (lambda data: data | {"seed": "x"}, "seed"),
        (lambda data: data | {"plan": [[1, "no-such-fault", 0, 0, 0]]}, "no-such-fault"),
        (lambda data: data | {"plan": [[-1, "loss", 0, 0, 0]]}, "none"),
        (lambda data: data | {"configuration": data["configuration"] | {"voters": 0}}, "voters"),
        (lambda _data: [], "array"),
    ],
)
def test_a_file_that_is_no_run_is_refused_with_its_path(failing, tmp_path, change, sentence):
    path = tmp_path / "run.json"
    write(record(failing), path)
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(KraflaError, match=sentence) as refused:
        read(path)
    assert refused.value.place == str(path)


def test_a_file_that_is_not_there_is_refused_with_its_path(tmp_path):
    with pytest.raises(KraflaError, match="nowhere"):
        read(tmp_path / "nowhere.json")


def test_a_quorum_that_chooses_no_leader_breaks_progress(monkeypatch):
    def deaf(state, event):
        votes = isinstance(event, RequestReceived) and isinstance(event.request, VoteRequest)
        return Step(state) if votes else KRAFT.on_event(state, event)

    core = KRAFT._replace(on_event=deaf)
    monkeypatch.setattr(machine_run, "Simulation", partial(Simulation, core=core))
    configuration = QuorumConfiguration(voters=3, observers=0, calm=10**9, chaos=10**9)
    played = play(Case(configuration, 1, plan=()))

    assert played.liveness == "stuck"
    assert played.violation.property == "ProgressProp"
    assert played.violation.text.startswith("nobody wins an election: ")


def test_steps_that_promise_less_are_counted_and_told():
    report = run_campaign(replace(SMALL, kinds=kinds_of("bit-rot,old-image,kill,power-loss")))
    assert 0 < report.unpromised < report.events
    assert f"{report.unpromised:,}  steps that promise less" in "\n".join(
        machine_report.text_lines(report)
    )
    assert machine_report.document(report)["unpromised"] == report.unpromised
    assert run_campaign(replace(SMALL, examples=1, kinds=())).unpromised == 0
