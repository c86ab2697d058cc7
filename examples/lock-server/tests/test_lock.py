"""The lock does what the spec says: called at random, and along walks of the spec."""

from krafla.testing import drive, random_walks, shortest_paths, spec_trace
from tests.lock_machine import LockMachine

TestLock = LockMachine.TestCase


@spec_trace(LockMachine, random_walks(10, 20, seed=1), shortest_paths("conjuncts"))
def test_the_lock_goes_the_ways_of_the_spec(trace):
    driven = drive(LockMachine, trace)
    assert (driven.refused is not None) == trace.claims_violation
