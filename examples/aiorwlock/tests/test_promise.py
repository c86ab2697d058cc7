"""Does aiorwlock 1.5.1 keep its promise? Not if a task is cancelled, or reads while it writes."""

import pytest

from krafla.testing import SpecViolation
from tests.lock_machine import AsFoundMachine, LockMachine, PlainMachine, UncancelledMachine
from tests.search import false_formula, found_by

# It keeps its promise where no task is cancelled, nor acquires the lock that it holds.
TestPlain = PlainMachine.TestCase
# And of all that it does wrong, nothing is worse than a reader that waits for readers.
TestAsFound = AsFoundMachine.TestCase

FORGOTTEN = "AheadOfReader(t) # {}"


@pytest.mark.chance
@pytest.mark.parametrize("machine", [LockMachine, UncancelledMachine])
def test_a_reader_that_is_forgotten_is_found_by_chance(machine):
    assert false_formula(found_by(machine)) == FORGOTTEN


def test_a_reader_is_forgotten_when_the_writer_before_it_is_cancelled():
    machine = LockMachine()
    machine.acquire(task="t1", mode="read")
    machine.rest()
    machine.acquire(task="t2", mode="write")
    machine.acquire(task="t3", mode="read")
    machine.cancel(task="t2")
    with pytest.raises(SpecViolation) as found:
        machine.rest()
    machine.teardown()
    assert false_formula(found.value) == FORGOTTEN


def test_a_reader_is_forgotten_when_a_writer_goes_on_as_a_reader():
    machine = LockMachine()
    machine.acquire(task="t1", mode="write")
    machine.rest()
    machine.acquire(task="t2", mode="read")
    machine.acquire(task="t1", mode="read")
    machine.rest()
    machine.release_write(task="t1")
    with pytest.raises(SpecViolation) as found:
        machine.rest()
    machine.teardown()
    assert false_formula(found.value) == FORGOTTEN
