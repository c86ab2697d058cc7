"""Every seeded bug of a whole cluster is found, and for the right reason."""

from __future__ import annotations

import pytest
from tests.mutants.cluster import MUTANTS
from tests.mutants.killing import assert_shrinks, first_failing_run
from tests.mutants.mutant import objection

# Every mutant is killed within so many judged steps; most need a few hundred.
STEPS_MAX = 40_000


# These need a controller or a leader that knows less than others, for long.
RARE = {"KAFKA-13173", "KAFKA-13916", "KAFKA-14154", "KAFKA-14292"}


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(one, marks=[pytest.mark.nightly] if one.source in RARE else [])
        for one in MUTANTS
    ],
    ids=lambda mutant: mutant.id,
)
def test_a_mutant_is_killed_for_the_right_reason(mutant, mutated, record_property):
    mutated(mutant)
    run, steps = first_failing_run(mutant, STEPS_MAX)
    record_property("steps_to_kill", steps)
    assert objection(mutant, run.finding) is None


def test_each_mutant_has_its_own_name_and_says_what_must_notice_it():
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS) >= 15
    for mutant in MUTANTS:
        assert mutant.actions


def test_a_mutants_run_shrinks_to_a_few_steps_with_the_same_finding(mutated):
    mutant = next(one for one in MUTANTS if one.source == "KAFKA-16952")
    mutated(mutant)
    run, _ = first_failing_run(mutant, STEPS_MAX)
    assert_shrinks(mutant, run, 16)
