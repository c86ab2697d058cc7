"""What all judges of one spec share."""

from __future__ import annotations

from pathlib import Path

from krafla.testing import Spec
from krafla.testing.grounds import Grounds

LOCK = Path(__file__).parent / "specs" / "Lock.tla"


def test_hidden_steps_are_remembered_for_each_state():
    spec = Spec.load(LOCK)
    (free,) = spec.initial_states()
    grounds = Grounds(spec, ("Acquire",), None, None, limit_s=60)
    steps = grounds.hidden_steps(free)
    taken = steps[0][2]

    assert {action for action, _, _ in steps} == {"Acquire"}
    assert grounds.hidden_steps(free) is steps
    assert grounds.hidden_steps(taken) != steps
