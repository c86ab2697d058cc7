"""A campaign: the same results in any number of processes, whatever dies on the way."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from tests.krafla.pipeline.executors import deadly, kill_a_worker

from krafla.fuzz.engine.run_file import replay_file
from krafla.fuzz.engine.runs import Runs
from krafla.fuzz.engine.system import RunOptions, find_system
from krafla.pipeline.campaign import waves as waves_module
from krafla.pipeline.campaign.findings import save_findings
from krafla.pipeline.campaign.plan import SEED, WAVE, CampaignPlan, missing_spans, parse_seeds
from krafla.pipeline.campaign.result import read_outcome, runs_of
from krafla.pipeline.campaign.rows import COVERAGE, DIED, FINDINGS, RUNS
from krafla.pipeline.campaign.run import run_campaign, store_of
from krafla.pipeline.store import load_id
from krafla.verdict import KraflaError, Verdict

pytestmark = pytest.mark.xdist_group("spark")

LEASE = find_system("lease").runs(SEED, RunOptions(60, ("restless",)))
PLAN = CampaignPlan(5, 28, LEASE, chunk=4)
COMMAND = "from krafla.cli import main; main()"
BUG = "heartbeat-does-not-renew-session"
PATIENCE_SECONDS = 300.0


@pytest.fixture(scope="module")
def undisturbed(spark, tmp_path_factory):
    """The campaign of all of these tests, with nothing in its way."""
    store = store_of(spark, str(tmp_path_factory.mktemp("campaign") / "out"))
    return run_campaign(PLAN, store, spark)


@pytest.fixture
def store(spark, tmp_path):
    """Tables that hold nothing yet."""
    return store_of(spark, str(tmp_path / "out"))


def rows(store):
    return sorted(store.read(RUNS, WAVE).collect(), key=lambda row: row["seed"])


def copied(undisturbed, store):
    """Put the waves of the undisturbed campaign into other tables, and return theirs."""
    theirs = store_of_result(undisturbed, store)
    for commit in theirs.commits(WAVE):
        for table in (RUNS, COVERAGE):
            store.write(table, commit.load, theirs.written(table, commit.load))
        store.commit(commit.load, WAVE, commit.facts)
    return theirs


def digest_of(results):
    """Return the digest of a campaign without findings that has fewer seeds than a block."""
    of_block = sha256("".join(f"{seed} {digest}\n" for seed, digest in results))
    return sha256(f"{sha256(f'0 {of_block}' + chr(10))}\n")


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def store_of_result(result, store):
    return type(store)(store.spark, result.out, store._schemas)


def test_each_seed_comes_to_what_it_does_in_a_single_process(undisturbed, store):
    PLAN.runs.load(brief=True)
    found = rows(store_of_result(undisturbed, store))
    alone = {seed: PLAN.runs.play(seed) for seed in range(5, 29)}
    digests = [(seed, run.result_digest(seed)) for seed, run in alone.items()]
    assert [(row["seed"], row["digest"]) for row in found] == digests
    assert undisturbed.digest == digest_of(digests)
    for row in found:
        run = alone[row["seed"]]
        assert (row["run"], row["steps"]) == (run.digest, run.steps)
        assert [*row["actions"].items()] == [*run.tallies["actions"].items()]
    assert undisturbed.counts["steps"] == sum(row["steps"] for row in found)
    states = {state for run in alone.values() for state in run.states}
    assert abs(undisturbed.counts["states"] - len(states)) <= 0.03 * len(states)
    assert len({row["worker"] for row in found}) >= 2


def test_a_campaign_that_missed_an_action_is_inconclusive_if_coverage_is_required(undisturbed):
    assert (undisturbed.verdict, undisturbed.doubts) == (Verdict.HELD, ())
    assert "actions never taken" in undisturbed.missed[0]
    required = undisturbed.requiring_coverage()
    assert required.verdict is Verdict.INCONCLUSIVE
    assert (required.doubts, required.missed) == (undisturbed.missed, ())
    assert required.digest == undisturbed.digest
    whole = replace(undisturbed, missed=()).requiring_coverage()
    assert whole.verdict is Verdict.HELD


@pytest.mark.nightly  # the day has a campaign that is asked for twice
def test_more_seeds_of_a_campaign_are_played_later_and_each_once(spark, undisturbed, store):
    first = run_campaign(replace(PLAN, last=13, chunk=3), store, spark)
    assert first.digest != undisturbed.digest
    # What a killed driver left of the next wave is neither read nor in the way.
    theirs = store_of_result(undisturbed, store)
    rest = load_id(WAVE, 14, 28, PLAN.claim)
    store.write(RUNS, rest, theirs.read(RUNS).where("seed = 5"))
    before = {(row["seed"], row["worker"], row["milliseconds"]) for row in rows(store)}
    assert missing_spans(PLAN, store) == [(14, 28)]
    whole = run_campaign(PLAN, store, spark)
    assert (whole.digest, whole.counts) == (undisturbed.digest, undisturbed.counts)
    assert whole.tallies == undisturbed.tallies
    after = rows(store)
    assert [row["seed"] for row in after] == list(range(5, 29))
    assert before <= {(row["seed"], row["worker"], row["milliseconds"]) for row in after}


@pytest.mark.nightly  # the day has the deadly seed
def test_a_seed_between_others_that_has_no_result_is_played_alone(spark, undisturbed, store):
    theirs = store_of_result(undisturbed, store)
    for commit in theirs.commits(WAVE):
        some = theirs.written(RUNS, commit.load).where("seed not in (9, 11)")
        store.write(RUNS, commit.load, some)
        store.write(COVERAGE, commit.load, theirs.written(COVERAGE, commit.load))
        store.commit(commit.load, WAVE, commit.facts)
    before = {row["seed"] for row in rows(store)}
    assert before == set(range(5, 29)) - {9, 11}
    assert missing_spans(PLAN, store) == [(9, 9), (11, 11)]
    assert missing_spans(replace(PLAN, last=99_999), store)[0][0] == 9
    assert run_campaign(PLAN, store, spark).digest == undisturbed.digest
    assert [row["seed"] for row in rows(store)] == list(range(5, 29))


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", [1, 9])
def test_tasks_of_another_size_give_the_same_digest(spark, undisturbed, store, chunk):
    other = run_campaign(replace(PLAN, chunk=chunk), store, spark)
    assert other.digest == undisturbed.digest
    assert other.counts == undisturbed.counts


@pytest.mark.nightly
def test_processes_killed_in_the_middle_change_nothing(spark, undisturbed, store, monkeypatch):
    killed = []

    def disturb(text):
        if len(killed) < 2 and "tasks" in text and kill_a_worker():
            killed.append(text)

    monkeypatch.setattr(spark, "show", disturb)
    disturbed = run_campaign(replace(PLAN, chunk=2), store, spark)
    assert len(killed) == 2
    assert disturbed.digest == undisturbed.digest
    assert disturbed.counts == undisturbed.counts


@pytest.mark.nightly
def test_a_killed_driver_resumes_to_the_same_result(spark, undisturbed, store, tmp_path):
    out = tmp_path / "out"
    arguments = ["campaign", "lease", str(out), "--seeds", "5..28", "--steps", "60"]
    arguments += ["--profile", "restless", "--chunk", "1", "--master", "local[1]", "--quiet"]
    driver = subprocess.Popen([sys.executable, "-c", COMMAND, *arguments], start_new_session=True)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not [*out.glob("commits/*/_SUCCESS")]:
        assert driver.poll() is None, "the driver ended by itself"
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    before = {row["seed"] for row in rows(store)}
    assert 0 < len(before) < PLAN.count
    with pytest.raises(KraflaError, match="no finished campaign"):
        read_outcome(store)
    assert run_campaign(PLAN, store, spark).digest == undisturbed.digest
    assert [row["seed"] for row in rows(store)] == list(range(5, 29))


def test_a_seed_that_kills_its_process_is_left_alone_and_named(spark, store):
    plan = CampaignPlan(5, 12, deadly(LEASE, 9), chunk=4)
    outcome = run_campaign(plan, store, spark)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert outcome.counts["inconclusive"] == 1
    assert outcome.counts["seeds"] == 8
    assert outcome.doubts[0].startswith(f"seed 9 {DIED}")
    alone = {row["seed"]: row["digest"] for row in rows(store)}
    LEASE.load(brief=True)
    for seed in (5, 8, 10, 12):
        assert alone[seed] == LEASE.play(seed).result_digest(seed)


def test_a_seeded_bug_is_found_shrunk_once_for_its_kind_and_kept(seeded, tmp_path):
    outcome, store = seeded
    assert outcome.verdict is Verdict.VIOLATED
    assert sum(one["seeds"] for one in outcome.findings) == outcome.counts["violated"] > 1
    kinds = [tuple(one["kind"]) for one in outcome.findings]
    assert len(kinds) == len(set(kinds)) < outcome.counts["violated"]
    saved = save_findings(store, tmp_path / "found", outcome.load)
    assert sorted(saved) == sorted(name for one in outcome.findings for name in one["saved"])
    for one in outcome.findings:
        assert "contact_age" in one["detail"]
        assert one["smallest"] < one["size"] == one["steps"]
        recording = next(name for name in one["saved"] if name.endswith(".json"))
        right = replay_file(tmp_path / "found" / recording).run
        assert right.finding is None, "the implementation here has no such bug"
    table = store.read(FINDINGS).where(f"load = '{outcome.load}'").collect()
    paths = [(tuple(row["kind"]), tuple(row["path"])) for row in table]
    assert len(paths) == len({*paths})
    for row in table:
        assert len(row["path"]) == row["smallest"]
        assert row["path"][-1] == row["property"]
        assert row["number"] in row["seeds"]


def test_a_finished_campaign_is_not_played_again_and_another_is_refused(
    spark, undisturbed, store, monkeypatch
):
    theirs = store_of_result(undisturbed, store)
    monkeypatch.setattr(waves_module, "play_batches", None)
    assert run_campaign(PLAN, theirs, spark) == undisturbed
    other = find_system("lease").runs(SEED, RunOptions(61, ("restless",)))
    with pytest.raises(KraflaError, match="other --steps"):
        run_campaign(replace(PLAN, runs=other), theirs, spark)
    raft = find_system("raft").runs(SEED, RunOptions())
    with pytest.raises(KraflaError, match="it is of lease"):
        run_campaign(replace(PLAN, runs=raft), theirs, spark)
    monkeypatch.setattr(Runs, "judged_by", lambda _: "other")
    with pytest.raises(KraflaError, match="the code or the spec has changed"):
        run_campaign(PLAN, theirs, spark)


@pytest.mark.nightly
def test_two_results_of_one_seed_are_a_refusal_and_two_equal_ones_are_one(
    spark, undisturbed, store
):
    theirs = copied(undisturbed, store)
    facts = theirs.commits(WAVE)[0].facts
    again = theirs.read(RUNS, WAVE).where("seed in (6, 7)").drop("load")
    store.write(RUNS, "again", again)
    store.commit("again", WAVE, facts)
    assert runs_of(PLAN, store).count() == PLAN.count
    assert run_campaign(PLAN, store, spark).digest == undisturbed.digest
    altered = again.where("seed = 6").selectExpr("* except (digest)", "repeat('0', 64) digest")
    store.write(RUNS, "other", altered)
    store.commit("other", WAVE, facts)
    with pytest.raises(KraflaError, match="seed 6 gave two results"):
        runs_of(PLAN, store)


def test_specs_that_executors_cannot_load_are_the_users_error(spark, store):
    lacking = replace(LEASE, modules=("NoSuchModule",))

    class Lacking(Runs):
        def load(self, *, brief):  # noqa: ARG002 - the engine names it
            from krafla.verdict import KraflaError

            raise KraflaError("no module NoSuchModule", "the place")

        def judged_by(self):
            return "nothing"

    runs = Lacking(*(getattr(lacking, name) for name in Runs.__dataclass_fields__))
    with pytest.raises(KraflaError, match="the place: no module NoSuchModule"):
        run_campaign(replace(PLAN, runs=runs), store, spark)
    assert store.commits() == []


@pytest.mark.parametrize("text", ["", "5", "5..", "7..5", "-1..4", "a..b", "0..10000000", "1...3"])
def test_seeds_are_two_numbers_in_order(text):
    with pytest.raises(KraflaError):
        parse_seeds(text)


def test_one_seed_is_a_campaign():
    assert parse_seeds("7..7") == (7, 7)
    assert CampaignPlan(7, 7, LEASE, 10).count == 1
