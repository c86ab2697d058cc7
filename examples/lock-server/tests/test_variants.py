"""Each mistake is found, with the formula that it breaks."""

import pytest
from hypothesis.stateful import run_state_machine_as_test
from lock_machine import LockMachine
from variants import AnyoneReleases, ForgetsToLeave, LastComeFirstServed

from krafla.testing import SpecViolation


@pytest.mark.parametrize(("variant"), [AnyoneReleases, ForgetsToLeave, LastComeFirstServed])
def test_a_mistake_is_found(variant):
    class Machine(LockMachine):
        lock_class = variant

    with pytest.raises(SpecViolation) as found:
        run_state_machine_as_test(Machine)
    print(found.value)
    print(repr(found.value.reason))
