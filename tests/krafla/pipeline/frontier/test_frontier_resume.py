"""A search that is interrupted goes on; one that has lost states says so."""

from __future__ import annotations

import shutil
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlparse

import pytest
from tests.krafla.pipeline.executors import kill_a_worker
from tests.krafla.pipeline.frontier.conftest import sample

from krafla.manifest import load
from krafla.oracle import Spec, explore
from krafla.verdict import KraflaError


@pytest.fixture(scope="module")
def model():
    (found,) = load().select(("MCRaftLog",))
    return found


@pytest.fixture(scope="module")
def expected(model):
    """What the search in one process finds."""
    return explore(
        Spec.load(
            model.module.stem, path=model.module, cfg=model.config, search_path=model.search_path
        )
    )


class Killed(BaseException):
    """A driver that is gone in the middle of a search."""


def killed_after(count):
    """Return a progress function that ends the driver after so many loads."""

    def progress(reached):
        if len(reached.levels) == count:
            raise Killed

    return progress


def assert_same(run, expected):
    assert run.prints == sorted(expected.fingerprints)
    assert run.reached.tally.generated == expected.generated
    assert run.reached.depth == expected.depth
    assert {name: run.reached.tally.taken[name] for name in expected.coverage} == {
        name: use.taken for name, use in expected.coverage.items()
    }


def test_a_driver_that_was_killed_between_levels_loses_nothing(searched, model, expected):
    with pytest.raises(Killed):
        searched(model, progress=killed_after(2))

    run = searched(model)

    assert_same(run, expected)


@pytest.mark.nightly  # a search of many levels
def test_a_driver_that_was_killed_before_a_commit_does_the_level_again(
    searched, model, expected, monkeypatch
):
    from krafla.pipeline.store import Store

    right = Store.commit

    def commit(self, load, kind, facts):
        if load == "level-000002":
            raise Killed
        right(self, load, kind, facts)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "commit", commit)
        with pytest.raises(Killed):
            searched(model)

    assert_same(searched(model), expected)


@pytest.mark.nightly  # a search of many levels
def test_a_search_that_is_over_is_only_looked_up(searched, model):
    first = searched(model)
    asked = []

    again = searched(model, progress=lambda reached: asked.append(reached.distinct))

    assert asked == [first.reached.distinct]
    assert again.reached.tally == first.reached.tally


def test_a_place_with_the_search_of_another_model_is_refused(searched, model):
    searched(sample("Ballot", "Ballot"))

    with pytest.raises(KraflaError, match="the search of another model"):
        searched(model)


def files_of(run_folder, load):
    return sorted((run_folder / "states" / f"load={load}").glob("*.parquet"), key=_size)


def _size(path):
    return path.stat().st_size


@pytest.mark.nightly  # the day has states that are lost and found again
def test_a_lost_part_of_the_frontier_is_noticed(searched, model, tmp_path):
    def lose(reached):
        if len(reached.levels) == 2:
            files_of(tmp_path / "search", reached.levels[-1].load)[-1].unlink()

    with pytest.raises(KraflaError, match="were expanded: some were lost"):
        searched(model, progress=lose)


@pytest.mark.nightly
def test_lost_states_that_are_found_again_are_noticed_at_the_end(searched, model, tmp_path):
    def lose(reached):
        if len(reached.levels) == 3:
            files_of(tmp_path / "search", reached.levels[-2].load)[-1].unlink()

    with pytest.raises(KraflaError, match="states were counted, but"):
        searched(model, progress=lose)


@pytest.mark.nightly
def test_workers_that_are_killed_cost_time_only(searched, model, expected):
    killed = []
    over = Event()

    def kill():
        while len(killed) < 3 and not over.wait(1):
            killed.extend([True] * kill_a_worker())

    killer = Thread(target=kill)
    killer.start()
    try:
        run = searched(model)
    finally:
        over.set()
        killer.join()

    assert killed
    assert_same(run, expected)


@pytest.mark.nightly
def test_a_place_may_be_copied_between_two_runs(searched, frames, model, expected, tmp_path):
    from krafla.pipeline.frontier.task import search_store

    with pytest.raises(Killed):
        searched(model, progress=killed_after(2))
    old = Path(urlparse((tmp_path / "search").as_uri()).path)
    shutil.copytree(old, tmp_path / "elsewhere")
    shutil.rmtree(old)

    run = searched(model, place=search_store(frames, (tmp_path / "elsewhere").as_uri()))

    assert_same(run, expected)
