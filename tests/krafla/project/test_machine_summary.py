"""What pytest tells at its end of a machine that ran: how much was judged, and what never was."""

from __future__ import annotations

import re

import pytest
from tests.forked import PYTEST, forked

NEVER = """

class NeverReleases(LockMachine):
    release = None


TestNever = NeverReleases.TestCase
"""


@pytest.fixture
def machines(lock):
    """The file of a machine, and of another one that never releases."""
    (file,) = lock.glob("machine_*.py")
    file.write_text(file.read_text() + NEVER)
    return file


def summary(file, *options):
    """What pytest tells of the machines in a file."""
    finished = forked(PYTEST).run(
        file.parent, file.name, "-p", "no:randomly", "-p", "no:cacheprovider", *options
    )
    assert finished.returncode == 0, finished.stdout
    _, _, told = finished.stdout.partition(" coverage of machines ")
    return told.splitlines()[1:-1]


def test_each_machine_has_a_line_with_what_it_never_took(machines):
    first, second = summary(machines, "-q", "-p", "no:xdist")
    judged = r"\d+ runs, [\d,]+ steps and [\d,]+ refusals"
    assert re.fullmatch(f"LockMachine: {judged}; every action taken", first)
    assert re.fullmatch(f"NeverReleases: {judged}; never taken: Release", second)


def test_nothing_is_told_where_pytest_shall_tell_nothing(machines):
    assert summary(machines, "-qq", "-p", "no:xdist") == []


def test_the_workers_of_xdist_tell_it_too(machines):
    assert len(summary(machines, "-q", "-n", "1")) == 2
