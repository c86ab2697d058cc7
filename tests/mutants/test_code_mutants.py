"""Every seeded bug of the implementation is found, and for the right reason."""

from __future__ import annotations

import pytest
from tests.mutants.lease import MUTANTS
from tests.mutants.mutant import Mutant, objection

from krafla.fuzz.play import play, play_seed
from krafla.fuzz.profiles import find_profile
from krafla.fuzz.shrink import shrink

# Every mutant is killed within so many judged steps; most need a few hundred.
STEPS_MAX = 40_000
STEPS_OF_A_RUN = 300


def first_failing_run(mutant: Mutant):
    profile = find_profile(mutant.profile)
    steps = seed = 0
    while steps < STEPS_MAX:
        run = play_seed(profile, seed, STEPS_OF_A_RUN)
        steps, seed = steps + run.steps, seed + 1
        if run.finding is not None:
            return run, steps
    return run, steps


@pytest.fixture
def mutated(monkeypatch):
    """Make the implementation wrong in the way of a mutant, for one test."""

    def mutate(mutant: Mutant) -> None:
        for place, wrong in mutant.patches.items():
            monkeypatch.setattr(place, wrong)

    return mutate


@pytest.mark.by_day(12)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_mutant_is_killed_for_the_right_reason(mutant, mutated, record_property):
    mutated(mutant)
    run, steps = first_failing_run(mutant)
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
    run, _ = first_failing_run(heard)
    assert "killed at" in objection(expected, run.finding)
    assert objection(expected, None) == "survived"


def test_a_mutants_run_shrinks_to_a_few_steps_with_the_same_finding(mutated):
    mutant = next(one for one in MUTANTS if one.id == "fencing leaves the leaderships")
    mutated(mutant)
    run, _ = first_failing_run(mutant)
    shrunk = shrink(run)
    assert shrunk.steps < run.steps / 3
    assert objection(mutant, shrunk.finding) is None
    again = play(shrunk.recording.configuration, shrunk.recording.choices)
    assert str(again.finding) == str(shrunk.finding)
