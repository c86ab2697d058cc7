"""Small questions share a task, in their order; a large one has a task of its own."""

from __future__ import annotations

from collections import Counter

import pytest

from krafla.pipeline import asking
from krafla.pipeline.asking import FilePart, Inquiry, LogFile


def question(size, **options):
    file = LogFile("/logs/00000000000000000000.log", "segment", "id", size)
    return Inquiry("/", b"", [FilePart(file, **options)])


def tasks(sizes, parallelism):
    return asking._tasks([question(size) for size in sizes], parallelism)


@pytest.mark.parametrize("parallelism", [1, 2, 7])
def test_many_small_questions_are_few_tasks_of_about_equal_size(parallelism):
    found = tasks([4_000] * 10_000, parallelism)
    assert found == sorted(found)
    assert set(found) == {*range(found[-1] + 1)}
    assert 4 * parallelism <= found[-1] + 1 <= 4 * parallelism + 1
    most, *_, least = Counter(found[:-1]).most_common()
    assert most[1] < 1.1 * least[1] or least[0] == found[-1]


def test_a_large_question_has_a_task_of_its_own():
    found = tasks([10**9, *[4_000] * 100, 10**9], 2)
    assert found[:2] == [0, 1]
    assert set(found[1:-1]) == {1}
    assert found[-1] == 2


def test_where_tasks_are_many_each_question_has_its_own():
    assert tasks([4_000] * 10, 100) == [*range(10)]
    assert tasks([], 4) == []


def test_a_file_without_its_content_costs_nothing():
    assert question(10**9, is_hollow=True).bytes == question(0).bytes
