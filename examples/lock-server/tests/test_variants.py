"""Each planted mistake is found, with the formula of the spec that it breaks."""

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from krafla.testing import SpecViolation
from tests.lock_machine import LockMachine
from tests.variants import AnyoneReleases, ForgetsToLeave, LastComeFirstServed


@pytest.mark.parametrize(
    ("variant", "formula"),
    [
        (AnyoneReleases, "holder = c"),
        (ForgetsToLeave, "queue' = SelectSeq(queue, LAMBDA other : other # c)"),
        (LastComeFirstServed, "holder' = Head(queue)"),
    ],
)
def test_a_mistake_is_found(variant, formula):
    class VariantMachine(LockMachine):
        lock_class = variant

    with pytest.raises(SpecViolation) as found:
        run_state_machine_as_test(VariantMachine, settings=settings(derandomize=True))
    assert found.value.reason.reasons[0].text == formula
