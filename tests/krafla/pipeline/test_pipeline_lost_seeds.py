"""A seed without a result is named and counts as inconclusive; the others are played."""

from __future__ import annotations

import os

import pyarrow as pa
import pytest
from tests.krafla.pipeline.executors import made

from krafla.fuzz.engine.runs import Runs
from krafla.fuzz.engine.system import RunOptions, find_system
from krafla.pipeline.campaign import player
from krafla.pipeline.campaign.child import played_in_child
from krafla.pipeline.campaign.plan import SEED
from krafla.pipeline.campaign.player import Player
from krafla.pipeline.campaign.rows import DIED, PLAYED, UNJUDGED, worker_name
from krafla.verdict import Verdict

RUNS = find_system("lease").runs(SEED, RunOptions(60, ("restless",)))


def runs_with(*, unjudged=(), deadly=None, folder=""):
    """Return runs that play nothing, but fail or die at some seeds, at each so many times."""

    class Made(Runs):
        def load(self, *, brief):
            pass

        def play(self, number, reached=()):  # noqa: ARG002 - the engine names it
            import os
            import signal
            from pathlib import Path

            from krafla.fuzz.engine.choice_run import ChoiceCase
            from krafla.fuzz.engine.runs import Run

            if number in unjudged:
                raise ValueError("no such state")
            before = len([*Path(folder).glob(f"{number}-*")]) if deadly else 0
            if deadly and before < deadly.get(number, 0):
                (Path(folder) / f"{number}-{before}").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            case = ChoiceCase(None, profile="restless")
            return Run(case, None, 2, f"run {number}", {"totals": {"judged": 2}})

    return made(Made, RUNS)


def played(runs, *seeds):
    batches = list(player.play_seeds(Player(runs, is_brief=True), seeds))
    return pa.Table.from_batches(batches, schema=PLAYED).to_pylist()


def test_a_seed_that_cannot_be_judged_is_lost_and_the_others_are_played():
    before, lost, after = played(runs_with(unjudged=(6,)), 5, 6, 7)
    assert (lost["seed"], lost["verdict"]) == (6, Verdict.INCONCLUSIVE.value)
    assert (lost["finding"], lost["detail"]) == ([UNJUDGED], "ValueError: no such state")
    assert (lost["run"], lost["steps"]) == ("", 0)
    for row, seed in ((before, 5), (after, 7)):
        assert (row["seed"], row["run"]) == (seed, f"run {seed}")
        assert row["verdict"] == Verdict.HELD.value


def test_many_seeds_come_in_several_batches_in_order():
    batches = list(player.play_seeds(Player(runs_with(), is_brief=True), range(120)))
    assert len(batches) > 1
    assert [seed for one in batches for seed in one.column(0).to_pylist()] == list(range(120))


@pytest.mark.nightly
def test_a_seed_at_which_three_children_died_is_lost_and_the_others_are_played(tmp_path):
    runs = runs_with(deadly={5: 1, 7: 3, 8: 2}, folder=str(tmp_path))
    rows = list(played_in_child(Player(runs, is_brief=True), [5, 6, 7, 8]))
    assert [row.seed for row in rows] == [5, 6, 7, 8]
    assert [row.finding for row in rows] == [[], [], [DIED], []]
    assert [row.run for row in rows] == ["run 5", "run 6", "", "run 8"]
    assert str(os.getpid()) not in {row.worker.partition("/")[2] for row in rows}
    # Whatever is before a death is not played again.
    assert len(list(tmp_path.iterdir())) == 6


def test_the_last_seed_can_be_the_deadly_one(tmp_path):
    runs = runs_with(deadly={6: 9}, folder=str(tmp_path))
    first, last = played_in_child(Player(runs, is_brief=True), [5, 6])
    assert (first.finding, last.finding) == ([], [DIED])
    assert last.verdict == Verdict.INCONCLUSIVE.value


def test_a_child_that_cannot_play_at_all_is_an_error_and_no_lost_seed():
    class Lacking(Runs):
        def load(self, *, brief):  # noqa: ARG002 - the engine names it
            raise ValueError("no JVM here")

    with pytest.raises(RuntimeError, match="no JVM here"):
        list(played_in_child(Player(made(Lacking, RUNS), is_brief=True), [5]))


@pytest.mark.parametrize("attempt", [0, 1])
def test_only_a_further_attempt_of_a_task_plays_in_a_child(monkeypatch, attempt):
    monkeypatch.setattr(player, "_is_further_attempt", lambda: attempt > 0)
    (row,) = played(runs_with(), 5)
    assert (row["worker"] == worker_name()) is (attempt == 0)
