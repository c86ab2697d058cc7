"""How the tests search where they expect to find something."""

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from krafla.testing import SpecViolation

# The search is the same each time. What it finds is not made smaller: nobody reads it.
SEARCH = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=1_000,
    stateful_step_count=50,
    phases=[Phase.generate],
)


def found_by(machine):
    """Return the violation that a machine finds; the test fails if it finds none."""
    with pytest.raises(SpecViolation) as found:
        run_state_machine_as_test(machine, settings=SEARCH)
    return found.value


def false_formula(violation):
    """Return the formula of the spec that the code made false, or what else is wrong."""
    reasons = violation.reason.reasons
    return reasons[0].text if reasons else violation.reason.finding
