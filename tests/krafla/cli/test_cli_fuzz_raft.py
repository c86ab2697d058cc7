"""``krafla fuzz raft`` on the command line: what it prints, what it keeps, its exit status."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from krafla.cli import application
from krafla.fuzz.engine import mutant_search
from krafla.fuzz.engine.machine_systems import SYSTEMS
from krafla.fuzz.engine.seeded_bugs import MUTANTS, find_mutant

# Says so once the first example has been played.
WATCHED = """
from krafla.fuzz.raft import campaign
right = campaign.Report.add
def add(report, played):
    right(report, played)
    print("at work", flush=True)
campaign.Report.add = add
from krafla.cli import main
main()
"""


def fuzz(*arguments):
    return CliRunner().invoke(application("fuzz"), ["fuzz", "raft", *arguments, "--quiet"])


@pytest.fixture
def kept(tmp_path):
    """The result of a campaign with a seeded bug, and the file that it kept."""
    with find_mutant("boots-unattached").applied():
        result = fuzz("--examples", "20", "--save", str(tmp_path))
    return result, next(tmp_path.iterdir())


def test_a_campaign_that_holds_exits_with_0_and_prints_counts_and_a_digest():
    result = fuzz("--seed", "3", "--examples", "2")
    assert result.exit_code == 0, result.output
    assert "HELD  2 runs, " in result.output
    assert "simulated s" in result.output
    assert "digest     " in result.output
    assert "krafla fuzz raft --seed 3 --examples 2" in result.output


def test_in_lockstep_the_spec_judges_each_step_and_untaken_actions_are_told():
    result = fuzz("--seed", "3", "--examples", "1", "--lockstep")
    assert result.exit_code == 3, result.output
    lines = re.findall(r"^ +([\d,]+)  ([A-Z]\w+)$", result.output, re.MULTILINE)
    counts = {action: int(count.replace(",", "")) for count, action in lines}
    assert counts["SendFetch"] > counts["BecomeLeader"] > counts["UpdateVoter"] == 0
    assert "INCONCLUSIVE  1 runs, " in result.output
    assert re.search("actions never taken: .*UpdateVoter", result.output)
    (events, judged) = re.search(r"([\d,]+) events .*, ([\d,]+) judged", result.output).groups()
    assert events == judged


def test_after_damage_that_the_spec_does_not_know_fewer_events_are_judged_and_it_is_said():
    arguments = ("--seed", "5", "--examples", "2", "--faults", "bit-rot", "--lockstep", "--json")
    document = json.loads(fuzz(*arguments).stdout)
    assert document["faults"]["bit-rot"] > 0
    assert 0 < document["judged"] < document["events"]


def test_json_says_the_same():
    document = json.loads(fuzz("--seed", "3", "--examples", "2", "--json").stdout)
    assert (document["verdict"], document["exit_code"], document["runs"]) == ("held", 0, 2)
    assert document["failure"] is None
    assert document["acknowledged"] > 0
    assert len(document["digest"]) == 32


def test_a_finding_exits_with_1_is_kept_and_the_command_that_replays_it_is_printed(kept):
    result, path = kept
    assert result.exit_code == 1
    assert "VIOLATED" in result.output
    assert "RestartProp: " in result.output
    assert f"replay     krafla fuzz raft --replay {path}" in result.output


def test_a_kept_run_replays_with_the_bug_and_holds_without_it(kept):
    _, path = kept
    with find_mutant("boots-unattached").applied():
        result = fuzz("--replay", str(path))
    assert result.exit_code == 1
    assert "the same run as in the file" in result.output
    healed = fuzz("--replay", str(path))
    assert healed.exit_code == 0
    assert "not the run in the file" in healed.output


@pytest.mark.parametrize("command", ["explain", "replay", "shrink", "validate"])
def test_a_kept_run_is_no_trace_and_what_plays_it_is_said(kept, command):
    result = CliRunner().invoke(application(command), [command, str(kept[1])])
    assert result.exit_code == 2
    said = " ".join(f"{result.output} {result.exception}".split())
    assert f"krafla fuzz raft --replay {kept[1]}" in said


def test_a_run_that_held_and_is_another_run_now_is_inconclusive(kept, tmp_path):
    _, path = kept
    held = tmp_path / "held.json"
    held.write_text(json.dumps({**json.loads(path.read_text()), "failed": "", "text": ""}))
    result = fuzz("--replay", str(held))
    assert result.exit_code == 3
    assert "INCONCLUSIVE" in result.output
    assert "not the run in the file" in result.output


def test_only_the_faults_that_are_named_happen():
    document = json.loads(
        fuzz("--seed", "3", "--examples", "6", "--faults", "kill,loss", "--json").stdout
    )
    assert set(document["faults"]) <= {"kill", "loss"}
    assert document["faults"]
    assert "--faults loss,kill" in document["reproduce"]


def test_a_run_may_have_less_chaos_and_says_so():
    brief, whole = (
        json.loads(fuzz("--examples", "2", *options, "--json").stdout)
        for options in (("--chaos", "2"), ())
    )
    assert brief["verdict"] == "held"
    assert brief["simulated_seconds"] < whole["simulated_seconds"]
    assert brief["reproduce"] == "krafla fuzz raft --seed 0 --examples 2 --chaos 2"


def test_without_faults_nothing_goes_wrong():
    document = json.loads(fuzz("--examples", "2", "--faults", "none", "--json").stdout)
    assert document["faults"] == {}
    assert document["verdict"] == "held"


def test_a_seeded_bug_that_is_found_is_in_the_table():
    result = fuzz("--mutants", "vote-before-write,asks-before-write")
    assert result.exit_code == 0
    assert "VoteWrittenBeforeAnsweredInv" in result.output
    assert "2 seeded bugs; each was found" in result.output


def test_ctrl_c_leaves_the_seeded_bugs_that_were_looked_for(monkeypatch):
    right, asked = mutant_search.hunt, []

    def hunt(mutant, *limits):
        asked.append(mutant.name)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return right(mutant, *limits)

    monkeypatch.setattr(mutant_search, "hunt", hunt)
    result = fuzz("--mutants", "vote-before-write,asks-before-write")
    assert result.exit_code == 130
    assert "VoteWrittenBeforeAnsweredInv" in result.output
    assert "stopped after 1 of 2 seeded bugs" in result.output


def test_the_run_that_found_a_seeded_bug_is_kept_and_replays_with_it(tmp_path):
    result = fuzz("--mutants", "vote-before-write", "--save", str(tmp_path / "found"))
    (kept,) = (tmp_path / "found").iterdir()
    assert f"krafla fuzz raft --replay {kept}" in result.output

    again = fuzz("--replay", str(kept))
    assert again.exit_code == 1
    assert "with the seeded bug vote-before-write" in again.output
    assert "VoteWrittenBeforeAnsweredInv" in again.output
    assert "the same run as in the file" in again.output


def test_a_seeded_bug_that_is_not_found_exits_with_1(monkeypatch):
    # A mistake that is none: nothing can find it.
    harmless = replace(find_mutant("boots-unattached"), wrong=lambda right, _probe: right)
    monkeypatch.setitem(MUTANTS, "raft", (harmless,))
    result = fuzz("--mutants", "all", "--examples", "2")
    assert result.exit_code == 1
    assert "not found: boots-unattached" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--faults", "no-such-fault"), "no fault is called 'no-such-fault'"),
        (("--mutants", "no-such-bug"), "no seeded bug 'no-such-bug'"),
        (("--mutants", "second-votes"), "second-vote"),
        (("--mutants", "all", "--lockstep", "--json"), "--lockstep, --json: not together with"),
        (("--replay", "no-such-file.json"), "no-such-file.json"),
        (
            ("--replay", "x", "--examples", "3", "--lockstep"),
            "--examples, --lockstep: not together",
        ),
        (("--replay", "x", "--chaos", "3"), "--chaos: not together with --replay"),
        (("--mutants", "all", "--chaos", "3"), "--chaos: not together with --mutants"),
        (("--steps", "5"), "--steps: only for `krafla fuzz` lease, "),
        (("--profile", "restless"), "--profile: only for `krafla fuzz` lease, "),
    ],
)
def test_what_cannot_be_run_exits_with_2_and_one_sentence(arguments, said):
    result = fuzz(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("system", ["raft", "cluster"])
def test_all_faults_and_seeded_bugs_can_be_listed_with_what_they_are(system):
    listed = CliRunner().invoke(application("fuzz"), ["fuzz", system, "--mutants", "list"])
    assert [line.split()[0] for line in listed.output.splitlines()] == [
        bug.name for bug in MUTANTS[system]
    ]
    faults = CliRunner().invoke(application("fuzz"), ["fuzz", system, "--faults", "list"])
    drawn = [line.split()[2] for line in faults.output.splitlines() if line.startswith("*")]
    assert tuple(drawn) == SYSTEMS[system].kinds
    assert listed.exit_code == faults.exit_code == 0


def test_options_of_raft_are_refused_for_the_lease():
    result = CliRunner().invoke(application("fuzz"), ["fuzz", "lease", "--faults", "loss"])
    assert result.exit_code == 2
    assert "--faults: only for `krafla fuzz` raft, cluster" in result.stderr


def test_help_teaches_both_protocols():
    result = CliRunner().invoke(application("fuzz"), ["fuzz", "--help"])
    assert result.exit_code == 0
    assert "krafla fuzz raft --replay" in result.output
    assert "krafla fuzz lease" in result.output


@pytest.mark.parametrize(("workers", "times"), [("1", 1), ("2", 1), ("2", 3)])
def test_ctrl_c_leaves_the_tally_one_sentence_and_no_process(workers, times):
    arguments = ["fuzz", "raft", "--seconds", "600", "--workers", workers]
    with subprocess.Popen(
        [sys.executable, "-c", WATCHED, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "at work\n"
        started = _workers_of(process.pid)
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.05)
        shown, error = process.communicate(timeout=120)
    assert len(started) == (2 if workers == "2" else 0)
    assert not [worker for worker in started if _is_there(worker)]
    assert "Traceback" not in error
    if times == 1:
        assert process.returncode == 130
        assert error.splitlines()[-1] == "krafla: interrupted"
        assert "INCONCLUSIVE" in shown
        assert "  it was interrupted\n" in shown
    else:
        # The last one may come when Python has put its own handlers away.
        assert process.returncode in (130, -signal.SIGINT)


def test_a_worker_that_is_killed_ends_the_campaign_with_one_sentence():
    arguments = ["fuzz", "raft", "--seconds", "600", "--workers", "2", "--seed", "7"]
    with subprocess.Popen(
        [sys.executable, "-c", WATCHED, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "at work\n"
        os.kill(_workers_of(process.pid)[0], signal.SIGKILL)
        _, error = process.communicate(timeout=120)
    assert process.returncode == 2
    said = error.splitlines()[-1]
    assert "a worker process ended in the middle of an example" in said
    assert "of seed 7" in said
    assert "Traceback" not in error


def _is_there(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _workers_of(parent):
    listing = subprocess.run(
        ["ps", "-axww", "-o", "pid=,ppid=,args="], check=True, capture_output=True, text=True
    ).stdout
    rows = [line.split(maxsplit=2) for line in listing.splitlines()]
    return [int(pid) for pid, of, what in rows if int(of) == parent and "spawn_main" in what]
