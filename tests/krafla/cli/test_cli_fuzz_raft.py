"""``krafla fuzz raft`` on the command line: lockstep, faults, and processes that end early."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from functools import partial

import pytest
from tests.krafla.fuzz import fuzz_runs

# Says so once the first run has been played.
WATCHED = """
from krafla.fuzz.engine import campaign
right = campaign.Report.add
def add(report, result):
    right(report, result)
    print("at work", flush=True)
campaign.Report.add = add
from krafla.cli import main
main()
"""
fuzz = partial(fuzz_runs.fuzz, "raft")


def test_in_lockstep_the_spec_judges_each_step_and_untaken_actions_are_told():
    result = fuzz("--seed", "3", "--examples", "1", "--lockstep", "--coverage")
    assert result.exit_code == 0, result.output
    lines = re.findall(r"^ +([\d,]+)  ([A-Z]\w+)$", result.output, re.MULTILINE)
    counts = {action: int(count.replace(",", "")) for count, action in lines}
    assert counts["SendFetch"] > counts["BecomeLeader"] > counts["UpdateVoter"] == 0
    assert "HELD  1 run, " in result.output
    assert re.search("missed     actions never taken: .*UpdateVoter", result.output)
    found = re.search(r"([\d,]+) steps .*, ([\d,]+) steps judged", result.output).groups()
    steps, judged = (int(one.replace(",", "")) for one in found)
    # The others begin or end a fault, of which the spec knows nothing.
    assert judged < steps < judged + 100


@pytest.mark.nightly
def test_after_damage_that_the_spec_does_not_know_fewer_events_are_judged_and_it_is_said():
    arguments = ("--seed", "5", "--examples", "2", "--faults", "bit-rot", "--lockstep", "--json")
    document = json.loads(fuzz(*arguments).stdout)
    assert document["faults"]["bit-rot"] > 0
    assert 0 < document["judged"] < document["steps"]


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


@pytest.mark.by_day(1)
@pytest.mark.parametrize(("workers", "times"), [("1", 1), ("2", 1), ("2", 3)])
def test_ctrl_c_leaves_the_tally_one_sentence_and_no_process(workers, times):
    arguments = ["fuzz", "raft", "--seconds", "600", "--workers", workers]
    with subprocess.Popen(
        [sys.executable, "-c", WATCHED, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
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
    assert process.returncode == 130
    if times == 1:
        assert error.splitlines()[-1] == "krafla: interrupted"
        assert "INCONCLUSIVE" in shown
        assert "  it was interrupted\n" in shown


@pytest.mark.nightly
def test_workers_end_with_a_campaign_that_is_killed():
    arguments = ["fuzz", "raft", "--seconds", "600", "--workers", "2"]
    with subprocess.Popen(
        [sys.executable, "-c", WATCHED, *arguments], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "at work\n"
        workers = [os.pidfd_open(worker) for worker in _workers_of(process.pid)]
        process.kill()
    assert len(workers) == 2
    for worker in workers:
        assert select.select([worker], [], [], 60)[0] == [worker], "a worker lives on"


@pytest.mark.nightly
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
    assert "a worker process ended in the middle of a run" in said
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
