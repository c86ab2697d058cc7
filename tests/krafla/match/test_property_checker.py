"""What a trace is excused of, and what besides."""

from __future__ import annotations

import pytest
from tests.krafla.counting import counting

from krafla.match.property_checker import PropertyChecker
from krafla.oracle.properties import Properties

BOTH = Properties(("SmallInv", "TinyInv"), ("SlowProp", "StillProp"), ())
REST = """
Next == n' = n + 1 \\/ n' = n + 5
SmallInv == n < 5
TinyInv == n < 5
SlowProp == [][n' < n + 5]_n
StillProp == [][n' # 6]_n
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    return counting(tmp_path_factory.mktemp("specs"), REST)


def states_of(spec):
    """Return the states 0, 1, 5 and 6."""
    (zero,) = spec.initial_states()
    after = {state["n"]: state for _, _, state in spec.successors(zero)}
    later = {state["n"]: state for _, _, state in spec.successors(after[1])}
    return zero, after[1], after[5], later[6]


def test_a_step_that_breaks_what_is_excused_may_break_others_too(spec):
    zero, one, five, six = states_of(spec)
    for excused, before, after in (("SmallInv", zero, five), ("StillProp", one, six)):
        assert PropertyChecker(spec, BOTH).broken_by(before, after) is not None
        assert PropertyChecker(spec, BOTH, excused).broken_by(before, after) is None


def test_an_invariant_that_stays_false_excuses_no_later_step(spec):
    _, _, five, six = states_of(spec)
    name, _ = PropertyChecker(spec, BOTH, "SmallInv").broken_by(five, six)
    assert name == "StillProp"


def test_what_is_excused_excuses_no_other_step(spec):
    zero, _, five, _ = states_of(spec)
    name, _ = PropertyChecker(spec, BOTH, "StillProp").broken_by(zero, five)
    assert name == "SmallInv"
    name, _ = PropertyChecker(spec, BOTH, "StillProp").broken_by(five, five)
    assert name == "SmallInv"


def test_a_step_that_shares_a_state_with_a_sound_step_is_judged_all_the_same(spec):
    zero, one, five, _ = states_of(spec)
    checker = PropertyChecker(spec, Properties((), ("SlowProp",), ()))
    assert checker.broken_by(zero, one) is None
    assert checker.broken_by(spec.state({"n": 4}), five) is None
    found = checker.broken_by(zero, five)
    assert found is not None
    assert found[0] == "SlowProp"
