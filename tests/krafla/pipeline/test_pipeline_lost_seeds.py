"""A seed without a result is named and counts as inconclusive; a result is of one seed."""

from __future__ import annotations

import pytest
from tests.krafla.pipeline.executors import Here

from krafla.fuzz.engine.choice_run import ChoiceCase
from krafla.fuzz.engine.runs import Run, Runs
from krafla.fuzz.engine.system import RunOptions, find_system
from krafla.pipeline import sketch
from krafla.pipeline.campaign import SEED, CampaignPlan, read_results, run_campaign
from krafla.pipeline.campaign_task import UNJUDGED, ChunkTask, play_chunk
from krafla.pipeline.chunks import DIED, Chunk, committed, read_chunk, row_of, write_chunk
from krafla.verdict import Verdict

RUNS = find_system("lease").runs(SEED, RunOptions(60, ("restless",)))
CHUNK = Chunk(5, 7)


def run_of(seed):
    case = ChoiceCase(None, profile="restless")
    return Run(case, None, 2, f"run {seed}", {"totals": {"judged": 2}})


@pytest.fixture
def unjudged(monkeypatch):
    """The seeds that cannot be judged: none, until a test adds some. Nothing is really played."""
    seeds = set()

    def play(_runs, seed):
        if seed in seeds:
            raise ValueError("no such state")
        return run_of(seed)

    monkeypatch.setattr(Runs, "load", lambda _runs, **_options: None)
    monkeypatch.setattr(Runs, "play", play)
    return seeds


def played(folder):
    """Play the chunk in a folder and return its rows."""
    for name in ("attempts", "results"):
        (folder / name).mkdir(exist_ok=True)
    play_chunk(ChunkTask(CHUNK, RUNS, str(folder), is_brief=True))
    ((path,),) = committed(folder / "results").values()
    return read_chunk(path).rows


def test_a_seed_that_cannot_be_judged_is_lost_and_the_others_are_played(tmp_path, unjudged):
    unjudged.add(6)
    before, lost, after = played(tmp_path)
    assert (lost.seed, lost.verdict) == (6, Verdict.INCONCLUSIVE.value)
    assert (lost.finding, lost.detail) == ([UNJUDGED], "ValueError: no such state")
    assert (lost.run, lost.steps) == ("", 0)
    for row, seed in ((before, 5), (after, 7)):
        assert (row.seed, row.run) == (seed, f"run {seed}")
        assert row.verdict == Verdict.HELD.value


@pytest.mark.usefixtures("unjudged")
@pytest.mark.parametrize(("deaths", "run"), [(2, "run 6"), (3, "")])
def test_a_seed_at_which_three_attempts_died_is_played_no_more(tmp_path, deaths, run):
    notes = tmp_path / "attempts" / str(CHUNK)
    notes.mkdir(parents=True)
    for number in range(deaths):
        (notes / str(number)).write_text("6", encoding="ascii")
    before, row, after = played(tmp_path)
    assert (row.seed, row.run, row.finding) == (6, run, [] if run else [DIED])
    assert (before.run, after.run) == ("run 5", "run 7")


@pytest.mark.parametrize("seeds", [(6,), (5, 6, 7, 8)], ids=["one", "all"])
def test_a_campaign_with_a_lost_seed_is_inconclusive_and_names_it(tmp_path, unjudged, seeds):
    unjudged.update(seeds)
    outcome = run_campaign(CampaignPlan(5, 8, RUNS, chunk=2), tmp_path / "out", Here())
    assert outcome.verdict is Verdict.INCONCLUSIVE
    lost = [f"seed {seed} {UNJUDGED}: ValueError: no such state" for seed in seeds]
    assert list(outcome.doubts[: len(seeds)]) == lost
    kinds = ("seeds", "held", "inconclusive", "violated")
    assert [outcome.counts[one] for one in kinds] == [4, 4 - len(seeds), len(seeds), 0]
    assert [row.seed for one in read_results(outcome.out) for row in one.rows] == [5, 6, 7, 8]


@pytest.mark.usefixtures("unjudged")
def test_a_campaign_without_a_lost_seed_is_held(tmp_path):
    outcome = run_campaign(CampaignPlan(5, 8, RUNS, chunk=2), tmp_path / "out", Here())
    assert (outcome.verdict, outcome.doubts, outcome.counts["held"]) == (Verdict.HELD, (), 4)


@pytest.mark.parametrize(
    ("seeds", "is_whole"),
    [((5, 6, 7), True), ((5, 6, 6), False), ((5, 7, 6), False), ((5, 6), False),
     ((6, 7, 8), False), ((5, 6, 7, 7), False)],
)  # fmt: skip
def test_a_chunk_has_each_of_its_seeds_once_and_in_order(tmp_path, seeds, is_whole):
    rows = [row_of(seed, run_of(seed), 1, "worker") for seed in seeds]
    path = write_chunk(tmp_path, CHUNK, rows, bytes(sketch.empty()))
    assert (read_chunk(path) is not None) is is_whole
