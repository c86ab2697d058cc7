"""Runs beside one another: in order, killed together, and nothing swallowed."""

from __future__ import annotations

import sys
import threading

import pytest

from krafla.tlc.process import run_process
from krafla.tlc.side_by_side import side_by_side


def test_what_the_tasks_return_comes_in_their_order():
    first_may_end = threading.Event()

    def first():
        assert first_may_end.wait(60)
        return "first"

    def second():
        first_may_end.set()
        return "second"

    assert list(side_by_side([first, second], jobs=2)) == ["first", "second"]


def test_no_more_run_at_once_than_there_are_jobs():
    counted, running, most = threading.Lock(), 0, 0

    def task():
        nonlocal running, most
        with counted:
            running += 1
            most = max(most, running)
        with counted:
            running -= 1

    assert len(list(side_by_side([task] * 40, jobs=3))) == 40
    assert most <= 3


def test_what_a_task_raises_is_raised_in_its_turn_and_nothing_begins_after_it():
    begun = []
    blocked = threading.Event()

    def failing():
        raise ValueError("broken")

    def later(number):
        begun.append(number)
        return blocked.wait(0)

    answers = side_by_side([lambda: 1, failing, *(lambda n=n: later(n) for n in range(3))], jobs=1)
    assert next(answers) == 1
    with pytest.raises(ValueError, match="broken"):
        list(answers)


def sleeping(tmp_path, name, started):
    folder = tmp_path / name
    folder.mkdir()
    code = "import time; print('started', flush=True); time.sleep(600)"
    return lambda: run_process([sys.executable, "-c", code], folder, lambda _: started.set())


def test_when_one_is_given_up_the_processes_of_the_others_are_killed(tmp_path):
    started = threading.Event()

    def interrupted():
        assert started.wait(60)
        raise KeyboardInterrupt

    tasks = [interrupted, sleeping(tmp_path, "other", started)]
    with pytest.raises(KeyboardInterrupt):
        list(side_by_side(tasks, jobs=2))
    # It has returned although the other would have slept for ten minutes more.
    assert not [one for one in threading.enumerate() if one.name.startswith("tlc")]


def test_who_asks_for_no_more_ends_what_is_under_way(tmp_path):
    started = threading.Event()
    answers = side_by_side([lambda: started.wait(60), sleeping(tmp_path, "late", started)], jobs=2)
    assert next(answers)
    answers.close()
    assert not [one for one in threading.enumerate() if one.name.startswith("tlc")]


def test_a_process_that_ends_by_itself_is_not_killed(tmp_path):
    lines: list[str] = []

    def task():
        return run_process([sys.executable, "-c", "print(7)"], tmp_path, lines.append)

    ((status, expired, _),) = side_by_side([task], jobs=1)
    assert (status, expired, lines) == (0, False, ["7\n"])
