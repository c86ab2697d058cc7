"""A lock with a mistake is noticed, and the formula that it breaks is named."""

from tests import mutants
import pytest
from tests.lock_machine import AsFoundMachine, PlainMachine
from tests.search import false_formula, found_by


@pytest.mark.parametrize(
    ("mutant", "judge", "formula"),
    [
        (mutants.CountsReadersTwice, AsFoundMachine, "readers = (\\E t \\in Task : reads[t] > 0)"),
        (mutants.CountsWritersLate, AsFoundMachine, "AheadOfWriter(t) # {}"),
        (mutants.WakesOneReader, PlainMachine, "AheadOfReader(t) # {}"),
        (mutants.KeepsCancelled, AsFoundMachine, "readers = (\\E t \\in Task : reads[t] > 0)"),
        (mutants.ForgetsToWake, PlainMachine, "AheadOfWriter(t) # {}"),
        (mutants.Upgrades, AsFoundMachine, "writes[t] > 0"),
        (mutants.AnyoneReleases, PlainMachine, "writes[t] > 0"),
    ],
)
def test_a_mistake_is_noticed(mutant, judge, formula):
    class Machine(judge):
        lock_class = mutants.lock_of(mutant)

    assert false_formula(found_by(Machine)) == formula
