"""Each old mistake is found, and the formula of the spec that it breaks is named."""

import pytest

from krafla.testing import SpecViolation
from tests.cluster import cluster_of
from tests.commit_machine import CommitMachine
from tests.search import false_formula, found_by
from tests.variants import (
    CountingCoordinator,
    HastyCoordinator,
    ImpatientParticipant,
    LazyCoordinator,
    LazyParticipant,
)

# The coordinator sends a decision that it has not taken, or has taken otherwise.
NOT_DECIDED = "coordinator_log = outcome"
# A participant says no after it has promised.
PROMISED = 'log[p] = "aborted"'


@pytest.mark.parametrize(
    "variant", [LazyCoordinator, CountingCoordinator, ImpatientParticipant, LazyParticipant]
)
def test_a_mistake_is_found_by_chance(variant):
    class VariantMachine(CommitMachine):
        cluster_class = cluster_of(variant)

    assert found_by(VariantMachine).reason.reasons


# The methods of a machine can be called without Hypothesis, to tell a story that is known.


def violation_at_the_end_of(story, variant):
    """Return the violation that a mistake leads to at the end of a story."""
    machine = CommitMachine()
    machine.cluster = cluster_of(variant)(("p1", "p2"))
    with pytest.raises(SpecViolation) as found:
        story(machine)
    return found.value


def all_vote_yes(machine):
    """Let both participants promise."""
    machine.prepare(participant="p1", can_commit=True, effects=None)
    machine.prepare(participant="p2", can_commit=True, effects=None)


def deliver_next(machine, effects=None):
    """Deliver the oldest message."""
    machine.deliver(message=machine.cluster.in_flight[0], effects=effects)


def test_a_coordinator_that_announces_before_it_writes_forgets_its_decision():
    def story(machine):
        all_vote_yes(machine)
        deliver_next(machine)
        # The decision leaves; then the coordinator crashes.
        deliver_next(machine, effects=1)
        machine.recover(process="coordinator")
        machine.wait_no_longer(effects=None)

    assert false_formula(violation_at_the_end_of(story, HastyCoordinator)) == NOT_DECIDED


def test_a_coordinator_that_does_not_flush_its_decision_forgets_it():
    def story(machine):
        all_vote_yes(machine)
        deliver_next(machine)
        deliver_next(machine)
        # It would announce the decision again, and crashes before it does.
        machine.wait_no_longer(effects=0)
        machine.recover(process="coordinator")
        machine.wait_no_longer(effects=None)

    assert false_formula(violation_at_the_end_of(story, LazyCoordinator)) == NOT_DECIDED


def test_a_coordinator_that_counts_a_vote_twice_commits_without_the_other():
    def story(machine):
        machine.prepare(participant="p1", can_commit=True, effects=None)
        machine.ask_again(participant="p1", effects=None)
        deliver_next(machine)
        deliver_next(machine)

    assert false_formula(violation_at_the_end_of(story, CountingCoordinator)) == NOT_DECIDED


def test_a_participant_that_waits_no_longer_breaks_its_promise():
    def story(machine):
        machine.prepare(participant="p1", can_commit=True, effects=None)
        machine.ask_again(participant="p1", effects=None)

    assert false_formula(violation_at_the_end_of(story, ImpatientParticipant)) == PROMISED


def test_a_participant_that_does_not_flush_its_promise_forgets_it():
    def story(machine):
        machine.prepare(participant="p1", can_commit=True, effects=None)
        machine.ask_again(participant="p1", effects=0)
        machine.recover(process="p1")
        machine.prepare(participant="p1", can_commit=False, effects=None)

    assert false_formula(violation_at_the_end_of(story, LazyParticipant)) == PROMISED
