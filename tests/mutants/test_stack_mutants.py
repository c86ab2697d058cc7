"""Every seeded bug of controllers and brokers is found, soon, and by what must notice it."""

from __future__ import annotations

import os

import pytest
from krafla.fuzz.engine.seeded_bugs import find_mutant

from krafla.fuzz.engine.machine_run import play
from krafla.fuzz.engine.mutant_search import EXAMPLES_MAXIMUM, SECONDS_MAXIMUM, hunt, table_lines
from krafla.fuzz.stack.mutants import MUTANTS
from krafla.fuzz.stack.system import STACK, stack_case_of

# These are found in the first examples; the others are looked for by night.
CHEAPEST = {
    "answers-before-commit": "RepliedIsCommittedProp",
    "last-answer-first": "AnswersInOrderProp",
    "one-answer-for-each-commit": "NobodyWaitsInVainProp",
    "claims-late": "LeaderClaimsProp",
    "control-records-move-stable": "EndsInOrderInv",
    "who-steps-back-says-yes": "RepliedIsCommittedProp",
    "keeps-uncommitted": "RevertsToCommittedProp",
    "follows-beyond-its-log": "HighWatermarkInLogInv",
    "eligible-by-the-old-minimum": "EligibleBelowMinimumProp",
    "every-stop-was-clean": "UncleanIsNotEligibleProp",
}
FEW = 3
# What a run does not come by, or so seldom that no minute finds it, and why. Unit tests of the
# operations, and histories by hand, have them.
SELDOM = {
    "steps-back-without-resigning": "who steps back for an error of its own: there is none",
    "ahead-is-behind": "whoever a broker takes for the controller knows all that the broker knows",
    "rebooted-replica-joins-isr": "the request must be under way for a whole restart",
    "colliding-names": "two of the names that collide are seldom asked for",
    "any-process-fetched": "who comes back with another disk must be let in within one lag",
    "commits-without-the-asked-for": "the leader must end between the grant and its next fetch",
    "joins-at-a-stale-high-watermark": "a new leader must let one in before it has committed",
    "commits-with-too-few": "all that are left in sync must lose their disks at once",
}
# By night all others, each for a minute at most.
LOOKED_FOR = [
    one
    for one in MUTANTS
    if one.name not in SELDOM
    and (os.environ.get("KRAFLA_NIGHTLY") or one.name == "unfences-too-soon")
]


@pytest.mark.parametrize(("name", "property_name"), CHEAPEST.items(), ids=list(CHEAPEST))
def test_a_seeded_bug_is_found_by_what_must_notice_it(name, property_name):
    found = hunt(find_mutant(name), 0, FEW)
    assert found.detected, list(table_lines([found]))
    assert found.found.violation.property == property_name
    assert found.triggered >= 1
    assert found.reached >= found.triggered


@pytest.mark.parametrize("mutant", LOOKED_FOR, ids=lambda mutant: mutant.name)
def test_every_seeded_bug_is_found_within_its_budget(mutant):
    found = hunt(mutant, 0, EXAMPLES_MAXIMUM, SECONDS_MAXIMUM)
    assert found.detected, list(table_lines([found]))


def test_there_are_enough_bugs_each_with_a_source_and_many_of_them_kafkas_own():
    assert len(MUTANTS) == 103
    assert sum("KAFKA-" in one.source for one in MUTANTS) == 55
    assert set(SELDOM) < {one.name for one in MUTANTS}
    for mutant in MUTANTS:
        assert mutant.source
        assert mutant.sentence.endswith(".")
        assert mutant.system == "cluster"


def test_a_bug_is_gone_after_its_block():
    case = stack_case_of(0, 6)
    first = play(case, system=STACK)
    with find_mutant("answers-before-commit").applied():
        assert play(case, system=STACK).violation is not None
    assert first.violation is None
    assert play(case, system=STACK).digest == first.digest
