"""Every seeded bug of the Raft layer is found, soon, and by what must notice it."""

from __future__ import annotations

import os

import pytest

from krafla.fuzz.engine.machine_run import case_of, play
from krafla.fuzz.engine.mutant_search import EXAMPLES_MAXIMUM, SECONDS_MAXIMUM, hunt, table_lines
from krafla.fuzz.engine.seeded_bugs import find_mutant
from krafla.fuzz.raft.mutants import MUTANTS
from krafla.verdict import KraflaError

# These are found in the first examples; the others are looked for by night.
CHEAPEST = {
    "vote-before-write": "VoteWrittenBeforeAnsweredInv",
    "asks-before-write": "VoteWrittenBeforeAnsweredInv",
    "vote-not-written": "VoteWrittenBeforeAnsweredInv",
    "epoch-not-written": "RoleMatchesStateInv",
    "boots-as-leader": "RestartProp",
    "boots-unattached": "RestartProp",
    "leader-never-flushes": "OnlyLeaderOwesFlushInv",
    "follower-never-flushes": "OnlyLeaderOwesFlushInv",
    "sent-is-received": "NotedIsDurableInv",
    "leader-keeps-high-watermark": "NewLeaderForgetsHighWatermarkProp",
    "observers-commit": "CommittedOnMajorityInv",
    "resigned-stays": "LeaderRememberedProp",
}
FEW = 20
# By night all, each for a minute at most.
LOOKED_FOR = [
    one for one in MUTANTS if os.environ.get("KRAFLA_NIGHTLY") or one.name == "two-voters-at-once"
]


@pytest.mark.parametrize(("name", "property_name"), CHEAPEST.items(), ids=list(CHEAPEST))
def test_a_seeded_bug_is_found_by_what_must_notice_it(name, property_name):
    found = hunt(find_mutant(name), 0, FEW)
    assert found.detected, list(table_lines([found]))
    assert found.found.violation.property == property_name
    assert found.triggered >= 1
    assert found.reached >= found.triggered


def test_without_the_bug_the_same_example_holds():
    found = hunt(find_mutant("sent-is-received"), 0, FEW)
    assert play(case_of(0, found.examples - 1)).violation is None


@pytest.mark.parametrize("mutant", LOOKED_FOR, ids=lambda mutant: mutant.name)
def test_every_seeded_bug_is_found_within_its_budget(mutant):
    found = hunt(mutant, 0, EXAMPLES_MAXIMUM, SECONDS_MAXIMUM)
    assert found.detected, list(table_lines([found]))


def test_there_are_enough_bugs_each_with_a_source_and_most_of_them_kafkas_own():
    of_storage_and_identity = [one for one in MUTANTS if "log." in one.place or "disk" in one.name]
    assert len(MUTANTS) >= 40
    assert len(of_storage_and_identity) >= 10
    assert sum("KAFKA-" in one.source for one in MUTANTS) >= 20
    for mutant in MUTANTS:
        assert mutant.source
        assert mutant.sentence.endswith(".")


def test_a_bug_is_gone_after_its_block():
    first = play(case_of(0, 0)).digest
    with find_mutant("vote-before-write").applied():
        assert play(case_of(0, 0)).violation is not None
    assert play(case_of(0, 0)).digest == first


def test_a_bug_that_there_is_not_is_named_with_what_may_be_meant():
    with pytest.raises(KraflaError, match=r"'vote-before-writes'; vote-before-write.*list shows"):
        find_mutant("vote-before-writes")
