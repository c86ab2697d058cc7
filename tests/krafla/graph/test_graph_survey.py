"""The report on many models: its findings, and its verdicts other than held."""

from __future__ import annotations

import json

import pytest
from tests.browser import dom, faults
from tests.krafla.graph.conftest import CONFIG, ENTRY, SPECS, UNTAKEN

from krafla.cli.explore_report import ReportRequest, report
from krafla.graph.progress import progress_of
from krafla.graph.survey import select, survey
from krafla.manifest import load
from krafla.verdict import ExitCode, KraflaError, Verdict

WHY = 'why = "so"'


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Return a function that builds a tree of one room with the maze and a progress table."""
    room = tmp_path / "maze"
    room.mkdir()
    (room / "Maze.tla").write_text((SPECS / "Maze.tla").read_text())
    (room / "Maze.cfg").write_text(f"{CONFIG}CHECK_DEADLOCK FALSE\n")
    (tmp_path / "manifest.toml").write_text('rooms = ["maze"]\n')
    monkeypatch.setenv("KRAFLA_SPECS", str(tmp_path))

    def build(progress="", more=f"distinct = 8\n{UNTAKEN}", expect="holds", views=""):
        entry = ENTRY.format(name="Maze", expect=expect, more=more)
        for key in ("module", "cfg"):
            entry = entry.replace(f'{key} = "', f'{key} = "maze/')
        (room / "models.toml").write_text(entry)
        (room / "views.toml").write_text(views)
        (room / "progress.toml").write_text(
            f'[[progress]]\nspec = "Maze"\n{progress}\n' if progress else ""
        )
        return load()

    return build


def row(manifest):
    (found,) = survey(manifest.models).rows
    return found


def test_a_ring_of_steps_that_count_is_no_livelock(tree):
    found = row(tree())

    assert (found.verdict, found.livelock_count) == (Verdict.HELD, 0)
    assert (found.states, found.steps, found.components, found.largest) == (8, 11, 5, 3)
    assert (found.terminal, found.bounded) == (3, 0)
    assert found.dead_end_counts == (1, 0, 1)
    assert found.untaken == (("Never", "no such door"),)
    assert found.fruitless == ("Stay", "Escape")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("progress", "count"),
    [
        (f'idle = ["Circle"]\n{WHY}', 1),
        (f'idle = ["Circle"]\ngoal = "room = 5"\n{WHY}', 0),
        (f'idle = ["Circle"]\ngoal = "AtGoal"\n{WHY}', 1),
        (f'idle = ["Ring", "Stay"]\n{WHY}', 0),
    ],
)
def test_a_ring_that_only_idle_steps_go_round_is_one_unless_the_goal_is_in_it(
    tree, progress, count
):
    found = row(tree(progress))

    assert found.livelock_count == count
    assert (found.verdict is Verdict.HELD) == (count == 0)
    for place in found.livelocks:
        assert (place.size, place.depth, place.way) == (2, 2, ("Ring(1)", "Trap"))
        assert found.reasons == ("1 component without progress",)


def test_without_a_progress_table_the_world_actions_of_the_view_are_idle(tree):
    view = '[[view]]\nspec = "Maze"\nworld = ["Circle"]\nnode = []\n'

    assert row(tree(views=view)).livelock_count == 1


@pytest.mark.parametrize(
    ("rest", "unrested"), [("room = 3", 1), ("room \\\\in {3, 7}", 0), ("Nowhere", 2)]
)
def test_a_dead_end_where_the_spec_does_not_rest_is_a_doubt(tree, rest, unrested):
    found = row(tree(f'rest = "{rest}"\n{WHY}'))

    assert found.unrested == unrested
    assert (found.verdict is Verdict.HELD) == (unrested == 0)
    assert ("not at rest" in [what for what, _ in found.dead_ends]) == (unrested > 0)


def test_a_wrong_pinned_count_and_a_wrong_predicate_are_reported(tree):
    wrong = row(tree(more=f"distinct = 9\n{UNTAKEN}"))
    assert (wrong.verdict, wrong.could_run) == (Verdict.INCONCLUSIVE, True)
    assert "but 9 are pinned" in wrong.reasons[0]

    failed = row(tree(f'goal = "rooom"\n{WHY}'))
    assert (failed.verdict, failed.could_run) == (Verdict.INCONCLUSIVE, False)
    assert "progress of Maze" in failed.reasons[0]


@pytest.mark.parametrize(
    "text", ['idle = "Tick"\nwhy = "so"', 'stray = 1\nwhy = "so"', 'idle = ["Tick"]']
)
def test_a_wrong_progress_table_is_refused(tree, text):
    tree(text)

    with pytest.raises(KraflaError, match="progress"):
        progress_of("Maze")


def test_a_model_that_is_larger_than_its_pin_says_is_cut(tree):
    (found,) = survey(tree(more=f"distinct = 1\n{UNTAKEN}").models, states_max=4).rows

    assert found.verdict is Verdict.INCONCLUSIVE
    assert "the search was cut" in found.reasons[0]


def test_models_that_are_too_large_or_must_fail_are_named_with_the_reason(tree):
    chosen, others = select(tree().models, 7)
    assert (chosen, [one.reason for one in others]) == ([], ["8 states, more than 7"])
    chosen, others = select(tree(more='property = "InHouse"', expect="violates").models, 100)
    assert chosen == []
    assert "must fail" in others[0].reason


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("progress", "more", "status"),
    [
        ("", f"distinct = 8\n{UNTAKEN}", ExitCode.HELD),
        (f'idle = ["Circle"]\n{WHY}', f"distinct = 8\n{UNTAKEN}", ExitCode.INCONCLUSIVE),
        (f'goal = "rooom"\n{WHY}', f"distinct = 8\n{UNTAKEN}", ExitCode.COULD_NOT_RUN),
    ],
)
def test_the_report_is_a_page_and_data_and_an_exit_status(tree, tmp_path, progress, more, status):
    tree(progress, more)

    page = tmp_path / "graphs.html"

    assert report(ReportRequest(page, "smoke", (), 100)) == status
    data = json.loads((tmp_path / "graphs.json").read_text())
    assert data["exit_code"] == status
    assert [one["model"] for one in data["rows"]] == ["Maze"]
    assert faults({"the report": page.read_text("utf-8")}, tmp_path) == []
    shown = dom(page)
    assert (": 1 model, nothing wrong</title>" in shown) == (status is ExitCode.HELD)
    assert ("Ring(1)" in shown) == (status is not ExitCode.COULD_NOT_RUN)
    assert ("1 component without progress" in shown) == (status is ExitCode.INCONCLUSIVE)


def test_the_title_of_a_report_is_the_sentence_of_what_is_violated(tree, tmp_path):
    tree(more=f"distinct = 8\n{UNTAKEN}")
    config = tmp_path / "maze" / "Maze.cfg"
    config.write_text(f"{CONFIG}CHECK_DEADLOCK FALSE\nINVARIANT NotTrapped\n")

    assert report(ReportRequest(tmp_path / "graphs.html", "smoke", (), 100)) == ExitCode.VIOLATED

    title = "<title>Violated: No walker is in the trap. (Maze)</title>"
    assert title in (tmp_path / "graphs.html").read_text("utf-8")


def test_a_report_over_nothing_or_to_nowhere_is_refused(tree, tmp_path):
    tree()

    for tier, states_max in (("smoke", 7), ("full", 100)):
        with pytest.raises(KraflaError, match="no model"):
            report(ReportRequest(tmp_path / "graphs.html", tier, (), states_max))
    with pytest.raises(KraflaError, match=r"ends in \.html"):
        report(ReportRequest(tmp_path / "graphs.txt", "smoke", (), 100))
