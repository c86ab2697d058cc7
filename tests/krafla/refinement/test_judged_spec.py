"""What a judged spec remembers: the states and the steps that it has found sound."""

from __future__ import annotations

import pytest
from tests.krafla.counting import counting

from krafla.oracle.properties import Properties
from krafla.refinement.common.judged_spec import JudgedSpec

REST = """
Next == n' \\in 0 .. 4
SmallInv == n < 4
SlowProp == [][n' <= n + 1]_n
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    return counting(tmp_path_factory.mktemp("specs"), REST)


@pytest.fixture
def judged(spec):
    """Return the function from two numbers to the property that the step between them breaks."""
    one = JudgedSpec("Counting", {}, spec, Properties(("SmallInv",), ("SlowProp",), ()), None)
    return lambda *numbers: one.broken_by(
        *(spec.state({"n": number}) for number in numbers), ("n",)
    )


def test_a_step_into_a_state_that_a_sound_step_has_reached_is_judged_all_the_same(judged):
    assert judged(2, 3) is None
    assert judged(0, 3) == "SlowProp"


def test_a_step_from_the_same_state_as_a_sound_step_is_judged_all_the_same(judged):
    assert judged(0, 1) is None
    assert judged(0, 2) == "SlowProp"
    assert judged(0, 4) == "SmallInv"


def test_what_has_been_found_broken_is_not_taken_for_sound(judged):
    assert [judged(0, 3) for _ in range(2)] == ["SlowProp"] * 2
    assert [judged(3, 4) for _ in range(2)] == ["SmallInv"] * 2
