"""Every seeded bug of registrations is found, and for the right reason."""

from __future__ import annotations

import pytest
from tests.mutants.mutant import objection
from tests.mutants.registration import MUTANTS

from krafla.fuzz.play import play_seed
from krafla.fuzz.profiles import find_profile

STEPS_MAX = 30_000
STEPS_OF_A_RUN = 300


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_mutant_is_killed_for_the_right_reason(mutant, monkeypatch, record_property):
    for place, wrong in mutant.patches.items():
        monkeypatch.setattr(place, wrong)
    profile = find_profile(mutant.profile)
    finding, steps = None, 0
    while finding is None and steps < STEPS_MAX:
        finding = play_seed(profile, steps // STEPS_OF_A_RUN, STEPS_OF_A_RUN).finding
        steps += STEPS_OF_A_RUN
    record_property("steps_to_kill", steps)
    assert objection(mutant, finding) is None


def test_each_mutant_has_its_own_name():
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS) >= 6
