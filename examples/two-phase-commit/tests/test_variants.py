"""Each old mistake is found, and the formula of the spec that it breaks is named."""

import pytest

from krafla.testing import SpecViolation
from tests import stories
from tests.cluster import cluster_of
from tests.commit_machine import PARTICIPANTS, CommitMachine
from tests.search import false_formula, found_by
from tests.variants import (
    CountingCoordinator,
    ForgetfulParticipant,
    HastyCoordinator,
    ImpatientParticipant,
    LazyCoordinator,
    LazyParticipant,
)

# The coordinator sends a decision that it has not taken, or has taken otherwise.
NOT_DECIDED = "coordinator_log = outcome"
# A participant says no after it has promised.
PROMISED = 'log[p] = "aborted"'
# A participant shows its client something else than what is in its log.
SHOWN = "shown' = Shown(log, up')"

STORIES = [
    (LazyCoordinator, stories.commit_and_forget, NOT_DECIDED),
    (HastyCoordinator, stories.crash_while_announcing, NOT_DECIDED),
    (CountingCoordinator, stories.vote_twice, NOT_DECIDED),
    (ImpatientParticipant, stories.ask_again, PROMISED),
    (LazyParticipant, stories.promise_and_forget, PROMISED),
    (ForgetfulParticipant, stories.commit_and_show_nothing, SHOWN),
]


@pytest.mark.parametrize(("variant", "story", "formula"), STORIES)
def test_a_story_shows_the_mistake(variant, story, formula):
    machine = CommitMachine()
    machine.cluster = cluster_of(variant)(PARTICIPANTS)
    with pytest.raises(SpecViolation) as found:
        story(machine)
    assert false_formula(found.value) == formula


@pytest.mark.parametrize("story", [story for _, story, _ in STORIES])
def test_without_the_mistake_the_spec_allows_the_story(story):
    machine = CommitMachine()
    story(machine)
    assert machine.judge.steps


@pytest.mark.chance
@pytest.mark.parametrize(
    "variant",
    [
        LazyCoordinator,
        CountingCoordinator,
        ImpatientParticipant,
        LazyParticipant,
        ForgetfulParticipant,
    ],
)
def test_the_mistake_is_found_by_chance(variant):
    class VariantMachine(CommitMachine):
        cluster_class = cluster_of(variant)

    assert false_formula(found_by(VariantMachine))
