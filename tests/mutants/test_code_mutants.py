"""Every seeded bug of the implementation is found, and for the right reason."""

from __future__ import annotations

import pytest
from tests.mutants.killing import assert_shrinks, first_failing_run
from tests.mutants.lease import MUTANTS
from tests.mutants.mutant import objection

# Every mutant is killed within so many judged steps; most need a few hundred.
STEPS_MAX = 40_000


@pytest.mark.by_day(6)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_mutant_is_killed_for_the_right_reason(mutant, mutated, record_property):
    mutated(mutant)
    run, steps = first_failing_run(mutant, STEPS_MAX)
    record_property("steps_to_kill", steps)
    assert objection(mutant, run.finding) is None


def test_each_mutant_has_its_own_name_and_says_what_must_notice_it():
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS) >= 14
    for mutant in MUTANTS:
        assert mutant.actions
        assert mutant.variable or mutant.conjunct, mutant.id


def test_a_mutant_killed_for_another_reason_counts_as_alive(mutated):
    heard, expected = (
        next(mutant for mutant in MUTANTS if mutant.id == name)
        for name in ("a heartbeat does not renew the session", "a fenced broker runs")
    )
    mutated(heard)
    run, _ = first_failing_run(heard, STEPS_MAX)
    assert "killed at" in objection(expected, run.finding)
    assert objection(expected, None) == "survived"


def test_a_mutants_run_shrinks_to_a_few_steps_with_the_same_finding(mutated):
    mutant = next(one for one in MUTANTS if one.id == "fencing leaves the leaderships")
    mutated(mutant)
    run, _ = first_failing_run(mutant, STEPS_MAX)
    assert_shrinks(mutant, run, run.steps // 3)
