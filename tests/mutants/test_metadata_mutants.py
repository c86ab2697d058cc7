"""Every seeded bug of a quorum controller is found, and for the right reason."""

from __future__ import annotations

import pytest
from tests.mutants.killing import assert_shrinks, first_failing_run
from tests.mutants.metadata import MUTANTS
from tests.mutants.mutant import objection

# Every mutant is killed within so many judged steps; most need a few dozen.
STEPS_MAX = 20_000
STEPS_OF_A_RUN = 120


@pytest.mark.by_day(8)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_mutant_is_killed_for_the_right_reason(mutant, mutated, record_property):
    mutated(mutant)
    run, steps = first_failing_run(mutant, STEPS_MAX, STEPS_OF_A_RUN)
    record_property("steps_to_kill", steps)
    assert objection(mutant, run.finding) is None


def test_each_mutant_has_its_own_name_and_says_what_must_notice_it():
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS) >= 20
    for mutant in MUTANTS:
        assert mutant.actions


def test_a_mutants_run_shrinks_to_a_few_steps_with_the_same_finding(mutated):
    mutant = next(one for one in MUTANTS if one.source == "KAFKA-13104")
    mutated(mutant)
    run, _ = first_failing_run(mutant, STEPS_MAX, STEPS_OF_A_RUN)
    assert_shrinks(mutant, run, 6)
