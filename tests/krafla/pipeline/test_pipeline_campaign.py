"""A campaign: the same results in any number of processes, whatever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.krafla.pipeline.executors import kill_a_worker, with_deadly_seed, with_mutant

from krafla.fuzz.engine.run_file import replay_file
from krafla.fuzz.engine.runs import Runs
from krafla.fuzz.engine.system import RunOptions, find_system
from krafla.pipeline import campaign as campaign_module
from krafla.pipeline.campaign import SEED, CampaignPlan, parse_seeds, read_results, run_campaign
from krafla.pipeline.campaign_task import play_chunk, shrink_seed
from krafla.pipeline.chunks import DIED, committed
from krafla.verdict import KraflaError, Verdict

pytestmark = pytest.mark.xdist_group("spark")

RUNS = find_system("lease").runs(SEED, RunOptions(60, ("restless",)))
PLAN = CampaignPlan(5, 28, RUNS, chunk=4)
COMMAND = "from krafla.cli import main; main()"
PATIENCE_SECONDS = 300.0


@pytest.fixture(scope="module")
def undisturbed(spark, tmp_path_factory):
    """The campaign of all of these tests, with nothing in its way."""
    return run_campaign(PLAN, tmp_path_factory.mktemp("campaign") / "out", spark)


def rows(out):
    return [row for one in read_results(out) for row in one.rows]


@pytest.mark.nightly
def test_each_seed_comes_to_what_it_does_in_a_single_process(undisturbed):
    found = rows(undisturbed.out)
    assert [row.seed for row in found] == list(range(5, 29))
    for row in found[::6]:
        alone = PLAN.runs.play(row.seed)
        assert (row.digest, row.run, row.steps, row.tallies["actions"]) == (
            alone.result_digest(row.seed),
            alone.digest,
            alone.steps,
            dict(alone.tallies["actions"]),
        )
    assert undisturbed.counts["steps"] == sum(row.steps for row in found)
    assert len({row.worker for row in found}) >= 2


def test_a_campaign_that_missed_an_action_is_inconclusive_if_coverage_is_required(undisturbed):
    assert (undisturbed.verdict, undisturbed.doubts) == (Verdict.HELD, ())
    assert "actions never taken" in undisturbed.missed[0]
    required = undisturbed.requiring_coverage()
    assert required.verdict is Verdict.INCONCLUSIVE
    assert (required.doubts, required.missed) == (undisturbed.missed, ())
    assert required.digest == undisturbed.digest
    whole = replace(undisturbed, missed=()).requiring_coverage()
    assert whole.verdict is Verdict.HELD


@pytest.mark.nightly
def test_chunks_of_another_size_give_the_same_digest(spark, undisturbed, tmp_path):
    other = run_campaign(replace(PLAN, chunk=9), tmp_path / "out", spark)
    assert other.digest == undisturbed.digest
    assert other.counts == undisturbed.counts


@pytest.mark.nightly
def test_other_seeds_give_another_digest(spark, undisturbed, tmp_path):
    other = run_campaign(replace(PLAN, last=27, chunk=12), tmp_path / "out", spark)
    assert other.digest != undisturbed.digest


@pytest.mark.nightly
def test_processes_killed_in_the_middle_change_nothing(spark, undisturbed, tmp_path):
    out = tmp_path / "out"
    killed = []

    def disturb(_text):
        done = len(committed(out / "results"))
        if len(killed) < 2 and done > len(killed) and kill_a_worker():
            killed.append(done)

    disturbed = run_campaign(replace(PLAN, chunk=2), out, spark, disturb)
    assert len(killed) == 2
    assert disturbed.digest == undisturbed.digest
    assert disturbed.counts == undisturbed.counts


@pytest.mark.nightly
def test_a_killed_driver_resumes_to_the_same_result(spark, undisturbed, tmp_path):
    out = tmp_path / "out"
    arguments = ["campaign", "lease", str(out), "--seeds", "5..28", "--steps", "60"]
    arguments += ["--profile", "restless", "--chunk", "4", "--master", "local[1]", "--quiet"]
    driver = subprocess.Popen([sys.executable, "-c", COMMAND, *arguments], start_new_session=True)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not ((out / "results").is_dir() and committed(out / "results")):
        assert driver.poll() is None, "the driver ended by itself"
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    before = set(committed(out / "results"))
    with pytest.raises(KraflaError, match="not a finished output"):
        read_results(out)
    assert 0 < len(before) < len(PLAN.chunks)
    played = []
    spy = with_journal(spark, played)
    resumed = run_campaign(PLAN, out, spy)
    assert resumed.digest == undisturbed.digest
    assert before.isdisjoint(task.chunk for task in played)


def with_journal(spark, played):
    """Return a session that remembers the chunks it was asked to play."""

    class Spy:
        parallelism = 2

        def map(self, function, items, progress=lambda: None):
            if function is campaign_module.play_chunk:
                played.extend(items)
            return spark.map(function, items, progress)

    return Spy()


@pytest.mark.nightly
def test_a_seed_that_kills_its_process_is_left_alone_and_named(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(campaign_module, "play_chunk", with_deadly_seed(9, play_chunk))
    outcome = run_campaign(replace(PLAN, last=12), tmp_path / "out", spark)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert outcome.counts["inconclusive"] == 1
    assert outcome.counts["seeds"] == 8
    assert outcome.doubts[0].startswith(f"seed 9 {DIED}")


def test_a_seeded_bug_is_found_shrunk_once_for_its_kind_and_kept(spark, tmp_path, monkeypatch):
    bug = "heartbeat-does-not-renew-session"
    for name, function in (("play_chunk", play_chunk), ("shrink_seed", shrink_seed)):
        monkeypatch.setattr(campaign_module, name, with_mutant(bug, function))
    outcome = run_campaign(replace(PLAN, last=12), tmp_path / "out", spark)
    assert outcome.verdict is Verdict.VIOLATED
    assert sum(one["seeds"] for one in outcome.findings) == outcome.counts["violated"] > 1
    kinds = [tuple(one["kind"]) for one in outcome.findings]
    assert len(kinds) == len(set(kinds)) < outcome.counts["violated"]
    for one in outcome.findings:
        assert "contact_age" in one["detail"]
        assert one["smallest"] <= one["size"] == one["steps"]
        recording = next(name for name in one["saved"] if name.endswith(".json"))
        right = replay_file(outcome.out / "found" / recording).run
        assert right.finding is None, "the implementation here has no such bug"


def test_a_finished_campaign_is_not_played_again_and_another_is_refused(spark, undisturbed):
    played = []
    again = run_campaign(PLAN, undisturbed.out, with_journal(spark, played))
    assert again == undisturbed
    assert not played
    with pytest.raises(KraflaError, match="other last"):
        run_campaign(replace(PLAN, last=99), undisturbed.out, spark)


def test_results_of_other_code_are_not_mixed_in(undisturbed, monkeypatch):
    monkeypatch.setattr(Runs, "judged_by", lambda _: "other")
    with pytest.raises(KraflaError, match="the code or the spec has changed"):
        run_campaign(PLAN, undisturbed.out, None)


def test_two_results_of_one_seed_are_a_refusal(spark, undisturbed, tmp_path):
    import shutil

    from krafla.pipeline.chunks import read_chunk, write_chunk

    out = tmp_path / "out"
    shutil.copytree(undisturbed.out, out)
    (out / "_manifest.json").unlink()
    first = min((out / "results").iterdir())
    known = read_chunk(first)
    altered = [known.rows[0], replace(known.rows[1], digest="0" * 64), *known.rows[2:]]
    write_chunk(out / "results", known.chunk, altered, known.states)
    with pytest.raises(KraflaError, match="seed 6 gave two results"):
        run_campaign(PLAN, out, spark)


def test_a_chunk_that_is_not_what_its_name_says_is_played_again(spark, undisturbed, tmp_path):
    import shutil

    out = tmp_path / "out"
    shutil.copytree(undisturbed.out, out)
    (out / "_manifest.json").unlink()
    first, second, *_ = sorted((out / "results").iterdir())
    first.write_bytes(first.read_bytes()[:-50])
    shutil.copy(second, second.with_name(first.name))
    assert run_campaign(PLAN, out, spark).digest == undisturbed.digest


def test_the_plan_in_a_folder_is_of_the_campaign_alone(undisturbed):
    plan = json.loads((undisturbed.out / "_plan.json").read_text())
    assert (plan["first"], plan["last"], plan["chunk"]) == (5, 28, 4)
    assert str(Path.home()) not in json.dumps(plan)


@pytest.mark.parametrize("text", ["", "5", "5..", "7..5", "-1..4", "a..b", "0..10000000", "1...3"])
def test_seeds_are_two_numbers_in_order(text):
    with pytest.raises(KraflaError):
        parse_seeds(text)


def test_one_seed_is_a_campaign():
    assert parse_seeds("7..7") == (7, 7)
    assert [str(chunk) for chunk in CampaignPlan(7, 7, RUNS, 10).chunks] == [
        "000000000007-000000000007"
    ]
