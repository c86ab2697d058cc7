"""Every seeded bug of registrations is found, and for the right reason."""

from __future__ import annotations

import pytest
from tests.mutants.killing import first_failing_run
from tests.mutants.mutant import objection
from tests.mutants.registration import MUTANTS

STEPS_MAX = 30_000


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_mutant_is_killed_for_the_right_reason(mutant, mutated, record_property):
    mutated(mutant)
    run, steps = first_failing_run(mutant, STEPS_MAX)
    record_property("steps_to_kill", steps)
    assert objection(mutant, run.finding) is None


def test_each_mutant_has_its_own_name():
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS) >= 6
