"""A lock with a mistake is noticed, and the formula is named that the mistake makes false."""

import pytest

from krafla.testing import SpecViolation
from tests import mutants
from tests.lock_machine import AsFoundMachine, LockMachine, PlainMachine
from tests.search import false_formula, found_by

MISTAKES = [
    mutants.CountsReadersTwice,
    mutants.CountsWritersLate,
    mutants.WakesOneReader,
    mutants.KeepsCancelled,
    mutants.ForgetsToWake,
    mutants.Upgrades,
    mutants.AnyoneReleases,
]


def count_twice(machine):
    """Cancel a reader that waits; then let a task ask to write."""
    machine.acquire(task="t1", mode="write")
    machine.rest()
    machine.acquire(task="t2", mode="read")
    machine.cancel(task="t2")
    machine.rest()
    machine.release_write(task="t1")
    machine.acquire(task="t3", mode="write")
    machine.rest()


def wake_two(machine):
    """Let two readers wait for a writer."""
    machine.acquire(task="t1", mode="write")
    machine.rest()
    machine.acquire(task="t2", mode="read")
    machine.acquire(task="t3", mode="read")
    machine.release_write(task="t1")
    machine.rest()


def cancel_at_once(machine):
    """Cancel a task before it knows that it has the lock."""
    machine.acquire(task="t1", mode="write")
    machine.cancel(task="t1")
    machine.rest()


def wait_to_write(machine):
    """Let a writer wait for a reader."""
    machine.acquire(task="t1", mode="read")
    machine.rest()
    machine.acquire(task="t2", mode="write")
    machine.release_read(task="t1")
    machine.rest()


def upgrade(machine):
    """Let a reader ask to write."""
    machine.acquire(task="t1", mode="read")
    machine.rest()
    machine.acquire(task="t1", mode="write")


def release_for_another(machine):
    """Let a task release what another one holds."""
    machine.acquire(task="t1", mode="write")
    machine.rest()
    machine.release_write(task="t2")


STORIES = [
    (mutants.CountsReadersTwice, count_twice, "AheadOfWriter(t) # {}"),
    (mutants.WakesOneReader, wake_two, "AheadOfReader(t) # {}"),
    (mutants.KeepsCancelled, cancel_at_once, "writers = (\\E t \\in Task : writes[t] > 0)"),
    (mutants.ForgetsToWake, wait_to_write, "AheadOfWriter(t) # {}"),
    (mutants.Upgrades, upgrade, "writes[t] > 0"),
    (mutants.AnyoneReleases, release_for_another, "writes[t] > 0"),
]


@pytest.mark.parametrize(("mutant", "story", "formula"), STORIES)
def test_a_story_shows_the_mistake(mutant, story, formula):
    class MutantMachine(LockMachine):
        lock_class = mutants.lock_of(mutant)

    machine = MutantMachine()
    with pytest.raises(SpecViolation) as found:
        story(machine)
    machine.teardown()
    assert false_formula(found.value) == formula


@pytest.mark.parametrize("story", [story for _, story, _ in STORIES])
def test_without_the_mistake_the_spec_allows_the_story(story):
    machine = LockMachine()
    story(machine)
    machine.teardown()
    assert machine.judge.steps


@pytest.mark.chance
@pytest.mark.parametrize("mutant", MISTAKES)
def test_the_mistake_is_found_by_chance(mutant):
    # Where a reader may wait for readers, none that is not woken is missed.
    judge = PlainMachine if mutant is mutants.WakesOneReader else AsFoundMachine

    class MutantMachine(judge):
        lock_class = mutants.lock_of(mutant)

    assert false_formula(found_by(MutantMachine))
