"""Every seeded bug of a system driven by choices is found, and for the right reason."""

from __future__ import annotations

import pytest
from tests.mutants.killing import objection

from krafla.fuzz.engine.choice_shrink import shrink
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.mutant_search import search
from krafla.fuzz.engine.system import find_system

# In so many runs of 300 choices each bug is found; most are found in the first.
RUNS_MAX = {"lease": 134, "metadata": 67, "reassignment": 200, "registration": 100, "cluster": 134}
SECONDS_MAX = 300.0
# The other controllers or leaders must know more for long: these take minutes.
RARE = {"KAFKA-13173", "KAFKA-13916", "KAFKA-14154", "KAFKA-14292"}


def _marks(mutant, word):
    if word == "cluster" and mutant.source in RARE:
        return [pytest.mark.nightly]
    # By day one bug of each system.
    return [pytest.mark.by_day(1, word)]


EVERY = [
    pytest.param(word, mutant, marks=_marks(mutant, word), id=f"{word} {mutant.name}")
    for word in RUNS_MAX
    for mutant in find_system(word).mutants
]


def searched(word, mutant):
    """Return the run that finds a bug."""
    found = search(mutant, find_system(word), 0, RUNS_MAX[word], SECONDS_MAX)
    assert found.failure is not None, f"{found.examples} runs, reached {found.reached}"
    return found.failure.run


@pytest.mark.by_day(2)
@pytest.mark.parametrize(("word", "mutant"), EVERY)
def test_a_bug_is_found_for_the_right_reason(word, mutant):
    assert objection(mutant, searched(word, mutant).finding) is None


@pytest.mark.parametrize("word", RUNS_MAX)
def test_each_bug_says_what_must_notice_it(word):
    for mutant in find_system(word).mutants:
        assert mutant.killer.actions, mutant.name
        find_system(word).profile(mutant.profile)
        if word == "lease":
            assert mutant.killer.variable or mutant.killer.conjunct, mutant.name


def test_a_bug_that_is_noticed_for_another_reason_counts_as_alive():
    lease = find_system("lease")
    expected = find_mutant("fenced-broker-runs", lease)
    run = searched("lease", find_mutant("heartbeat-does-not-renew-session", lease))
    assert "killed at" in objection(expected, run.finding)
    assert objection(expected, None) == "survived"


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("word", "name", "most"),
    [
        ("lease", "fencing-leaves-leaderships", 36),
        ("metadata", "raft-is-not-made-to-resign", 6),
        ("reassignment", "completes-when-added-are-in-sync", 12),
        ("cluster", "amending-takes-new-epoch", 16),
    ],
)
def test_the_run_that_finds_a_bug_shrinks_to_a_few_steps_with_the_same_finding(word, name, most):
    mutant = find_mutant(name, find_system(word))
    run = searched(word, mutant)
    with mutant.applied():
        shrunk = shrink(find_system(word), run).result
        again = find_system(word).play(shrunk.case)
    assert shrunk.steps < run.steps
    assert shrunk.steps <= most
    assert objection(mutant, shrunk.finding) is None
    assert str(again.finding) == str(shrunk.finding)
