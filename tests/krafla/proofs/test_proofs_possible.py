"""An action that is never possible, or a condition that no constant meets, proves nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from krafla.manifest import find_specs
from krafla.proofs.plans import trial_plan
from krafla.proofs.prove import Proofs
from krafla.verdict import Verdict

MODULE = """---- MODULE Stuck ----
EXTENDS Integers
CONSTANT Limit
ASSUME Limit \\in Nat
VARIABLE x
TypeOK == x \\in Nat
Init == x = 0
Stay == UNCHANGED x
Leave == x = 5 /\\ x' = x + 1
Next == Stay \\/ Leave
Spec == Init /\\ [][Next]_x
LowInv == x < 3
NoLimit == Limit < 0
====
"""


@pytest.fixture
def proved(tmp_path):
    """Return the function from what a plan says to the report of its proof."""
    path = tmp_path.resolve() / "Stuck.tla"
    path.write_text(MODULE)

    def run(only=None, **said):
        plan = replace(trial_plan(path, ("LowInv",)), implies=("LowInv",), **said)
        return Proofs(find_specs(), "Stuck", plans=(plan,)).run(only)

    return run


def possible(report):
    """Return which actions were asked about as steps, and whether each can be taken."""
    return {
        case.action: case.is_possible
        for case in report.cases
        if case.action is not None and case.is_possible is not None
    }


def test_of_an_action_that_is_never_possible_nothing_is_proved(proved):
    report = proved()

    assert all(answer.verdict is Verdict.HELD for answer in report.answers)
    assert possible(report) == {"Stay": True, "Leave": False}
    assert report.verdict is Verdict.INCONCLUSIVE


def test_an_action_that_the_plan_rules_out_may_be_impossible(proved):
    report = proved(never=(("Leave", "x stays below 3"),))

    assert possible(report) == {"Stay": True, "Leave": False}
    assert report.verdict is Verdict.HELD


def test_an_action_that_the_plan_rules_out_must_be_impossible(proved):
    never = (("Leave", "x stays below 3"), ("Stay", "it is said to move"))
    report = proved(never=never)

    assert possible(report) == {"Stay": True, "Leave": False}
    assert report.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("place", ["initial", "implied", "Stay"])
def test_under_conditions_that_no_constants_meet_nothing_is_proved(proved, place):
    report = proved(f"LowInv/{place}", conditions=("NoLimit",))

    assert all(answer.verdict is Verdict.HELD for answer in report.answers)
    assert False in {case.is_possible for case in report.cases}
    assert report.verdict is Verdict.INCONCLUSIVE


CHAIN = """---- MODULE Chain ----
EXTENDS Integers
VARIABLE x
TypeOK == x \\in Int
Init == x = 0
Up(i) == i = 5 /\\ x' = x + 1
Stay == x' = x
Next == (\\E i \\in {numbers} : Up(i)) \\/ Stay
Spec == Init /\\ [][Next]_x
AnyInv == TypeOK /\\ TRUE
LowInv == AnyInv /\\ x >= 0
====
"""


@pytest.fixture
def chained(tmp_path):
    """Return the function from what two proofs say, of which one builds on the other."""

    def run(numbers, first, second):
        path = tmp_path.resolve() / "Chain.tla"
        path.write_text(CHAIN.replace("{numbers}", numbers))
        weak, strong = trial_plan(path, ("AnyInv",)), trial_plan(path, ("LowInv",))
        plans = (
            replace(weak, name="weak", **first),
            replace(strong, name="strong", after=("weak",), **second),
        )
        return Proofs(find_specs(), "Chain", plans=plans).run()

    return run


def test_a_step_with_more_parameters_shows_nothing_of_a_weaker_proof(chained):
    report = chained("1 .. 2", {}, {"any_parameters": ("Up",)})

    assert [case.name for case in report.cases if case.is_possible is False] == ["weak/Up"]
    assert report.verdict is Verdict.INCONCLUSIVE


def test_a_step_with_the_same_parameters_shows_that_of_a_weaker_proof_possible(chained):
    for free in ({}, {"any_parameters": ("Up",)}):
        report = chained("1 .. 9", free, free)
        assert all(case.is_possible is not False for case in report.cases)
        assert report.verdict is Verdict.HELD


def test_a_step_is_no_excuse_for_a_weaker_proof_that_never_expects_it(chained):
    report = chained("1 .. 9", {"never": (("Up", "it is said to stay"),)}, {})
    assert report.verdict is Verdict.INCONCLUSIVE
