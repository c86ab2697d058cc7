"""The lease as a state machine of Hypothesis, on the implementation and on a wrong one."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.lease.machine import LeaseMachine, LeaseViolationError
from krafla.fuzz.lease.system import SYSTEM

TestLease = LeaseMachine.TestCase
TestLease.settings = settings(
    max_examples=settings.default.max_examples // 2, stateful_step_count=40, deadline=None
)


@pytest.mark.nightly
def test_a_failing_example_shows_the_plan_the_steps_and_the_false_conjunct():
    mutant = find_mutant("heartbeat-does-not-renew-session", SYSTEM)
    wanted = settings(
        max_examples=500, stateful_step_count=30, deadline=None, database=None,
        derandomize=True, phases=[Phase.generate, Phase.shrink],
    )  # fmt: skip
    with mutant.applied(), pytest.raises(LeaseViolationError) as caught:
        run_state_machine_as_test(LeaseMachine, settings=wanted)
    message = str(caught.value)
    assert "step 5" in message
    assert "BrokerLease.tla:" in message
    assert "contact_age" in message
    assert any("plan: {" in note for note in caught.value.__notes__)
