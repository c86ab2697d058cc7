"""A campaign that learns: each round is bred from the rounds before it, wherever it is played."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import msgspec
import pytest
from tests.krafla.pipeline.executors import with_mutant

from krafla.fuzz.engine.bred_machine import bred_faults
from krafla.fuzz.engine.breeding import ROUND, plan_of, tried
from krafla.fuzz.engine.machine_run import Case
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.novelty import Novelty, Parent, Paths
from krafla.fuzz.engine.run_file import replay_file
from krafla.fuzz.engine.system import RunOptions, find_system
from krafla.pipeline.campaign import findings as findings_module
from krafla.pipeline.campaign import waves as waves_module
from krafla.pipeline.campaign.findings import save_findings, shrink_batches
from krafla.pipeline.campaign.plan import SEED, CampaignPlan
from krafla.pipeline.campaign.player import play_batches
from krafla.pipeline.campaign.rounds import round_end
from krafla.pipeline.campaign.rows import BRED, RUNS
from krafla.pipeline.campaign.run import run_campaign, store_of
from krafla.verdict import KraflaError, Verdict
from kraft.sim.raft.faults import Fault

pytestmark = pytest.mark.xdist_group("spark")

RAFT = find_system("raft").runs(SEED, RunOptions(chaos=1.0))
LEASE = find_system("lease").runs(SEED, RunOptions(60, ("restless",)))
PLAN = CampaignPlan(0, 2 * ROUND + 5, RAFT, chunk=7, learns=True)
BUG = "boots-unattached"


def alone(runs, last):
    """Return the digests of the seeds of a campaign that learns, played in this process."""
    novelty, waiting, digests = Novelty(), [], []
    for seed in range(last + 1):
        one = tried(runs, plan_of(runs, seed, novelty.parents))
        digests.append(one.run.result_digest(seed))
        if one.run.finding is None:
            waiting.append((seed, one.plan, one.features))
        if round_end(seed) == seed + 1:
            novelty.add(waiting)
            waiting = []
    return digests


@pytest.mark.parametrize("runs", [RAFT, LEASE], ids=["raft", "lease"])
def test_a_run_that_is_not_bred_is_the_run_of_its_seed(runs):
    runs.load(brief=True)
    for seed in (0, 3):
        plain = runs.play(seed)
        one = tried(runs, plan_of(runs, seed))
        assert one.run.result_digest(seed) == plain.result_digest(seed)
        assert one.features
        again = tried(runs, one.plan)
        assert again == one


def test_a_child_is_its_parent_up_to_its_branch_and_another_run_from_then_on():
    LEASE.load(brief=True)
    first = tried(LEASE, plan_of(LEASE, 2))
    parent = Parent(2, first.plan, 30)
    child = tried(LEASE, plan_of(LEASE, 5, [parent]))
    number, ((place, chance),) = msgspec.json.decode(child.plan).values()
    assert (number, chance) == (2, 5)
    assert 18 < place <= 31
    shorter = replace(LEASE, options=replace(LEASE.options, steps=place))
    shared = tried(shorter, first.plan).run.case.choices
    assert child.run.case.choices[: len(shared)] == shared
    assert child.run.case.choices != first.run.case.choices
    grandchild = tried(LEASE, plan_of(LEASE, 7, [Parent(5, child.plan, 50)]))
    assert msgspec.json.decode(grandchild.plan)["branches"][0] == [place, 5]


def with_faults(case, count):
    """Return a case with some faults, one after the other."""
    every = case.configuration.chaos // (count + 1)
    start, kind = case.configuration.calm, min(case.configuration.kinds)
    plan = tuple(Fault(start + number * every, kind, 0, number, 5) for number in range(count))
    return replace(case, plan=plan)


def test_a_bred_plan_of_faults_has_those_of_its_parent_up_to_its_place():
    first, other = (tried(RAFT, plan_of(RAFT, seed)) for seed in (1, 4))
    case = with_faults(msgspec.json.decode(first.plan, type=Case), 10)
    first = replace(first, plan=case.encoded)
    place = case.plan[4].time
    early = [one for one in case.plan if one.time <= place]
    assert len(early) == 5
    parents = Parent(1, first.plan, place), Parent(4, other.plan, 0)
    plans = set()
    for number in range(20):
        child = msgspec.json.decode(bred_faults(*parents, Random(number)), type=Case)
        assert [one for one in child.plan if one.time <= place][: len(early)] == early
        times = [one.time for one in child.plan]
        assert times == sorted({*times})
        assert {one.kind for one in child.plan[len(early) :]} <= {*case.configuration.kinds}
        assert replace(child, plan=None) == replace(case, plan=None)
        plans.add(child.plan)
    assert len(plans) == 20


def test_what_is_rare_is_bred_from_whatever_the_order_in_a_round():
    rows = [(1, b"one", {10: 3, 11: 4}), (2, b"two", {10: 5}), (3, b"three", {10: 1, 12: 2, 13: 9})]
    one, other = Novelty(), Novelty()
    one.add(rows)
    other.add(rows[::-1])
    assert one.parents == other.parents
    assert [(parent.number, parent.place) for parent in one.parents] == [(3, 2), (1, 4), (2, 5)]
    one.add([(4, b"four", {12: 1, 13: 1})] * 3)
    assert [parent.number for parent in one.parents][:2] == [1, 3]


def test_a_path_is_of_up_to_three_labels_each_at_its_first_place():
    paths, again = Paths(), Paths()
    for place, label in enumerate("aabab"):
        paths.add(label, place)
        again.add(label, place, "line")
    # a, b; ab, ba; aba, bab
    assert sorted(paths.found.values()) == [0, 2, 2, 3, 3, 4]
    assert paths.found == again.found


def test_rounds_grow_and_do_not_depend_on_the_last_seed():
    assert [round_end(seed) for seed in (0, 31, 32, 127, 128)] == [32, 32, 64, 128, 160]
    assert [round_end(seed) for seed in (159, 160, 199, 200)] == [160, 200, 200, 250]
    late = round_end(1_000_000)
    assert round_end(late) - late == 2_000


@pytest.mark.nightly  # many rounds
def test_rounds_in_executors_are_those_of_one_process_also_when_interrupted(spark, tmp_path):
    store = store_of(spark, str(tmp_path / "out"))
    # In the middle of the second round, which then goes on as it began.
    run_campaign(replace(PLAN, last=ROUND + 9, chunk=3), store, spark)
    outcome = run_campaign(PLAN, store, spark)
    rows = sorted(store.read(RUNS).collect(), key=lambda row: row["seed"])
    assert [row["digest"] for row in rows] == alone(RAFT, PLAN.last)
    assert outcome.verdict is Verdict.HELD
    plain = {RAFT.play(seed).result_digest(seed) for seed in range(ROUND, PLAN.last + 1)}
    bred = [row["seed"] for row in rows[ROUND:] if row["digest"] not in plain]
    assert bred == list(range(ROUND + 1, PLAN.last + 1, 2))
    assert outcome.reproduce.endswith(" --learn")
    with pytest.raises(KraflaError, match="other --learn"):
        run_campaign(replace(PLAN, learns=False), store, spark)
    with pytest.raises(KraflaError, match="begins at seed 0"):
        replace(PLAN, first=1)


@pytest.mark.nightly
def test_a_bug_that_a_bred_run_shows_is_shrunk_from_that_run(spark, tmp_path, monkeypatch):
    raft = find_system("raft")
    monkeypatch.setattr(waves_module, "play_batches", with_mutant(BUG, play_batches, "raft"))
    monkeypatch.setattr(findings_module, "shrink_batches",
                        with_mutant(BUG, shrink_batches, "raft"))  # fmt: skip
    runs = raft.runs(SEED, RunOptions(chaos=2.0, faults=("kill", "loss", "power-loss")))
    store = store_of(spark, str(tmp_path / "out"))
    outcome = run_campaign(CampaignPlan(0, ROUND + 7, runs, 8, learns=True), store, spark)
    assert outcome.verdict is Verdict.VIOLATED
    (name, *_) = save_findings(store, tmp_path / "found", outcome.load)
    with find_mutant(BUG, raft).applied():
        assert replay_file(tmp_path / "found" / name).run.finding is not None
    assert store.read(BRED).count() == ROUND + 8
