"""An action is judged by the operator that Next means, whatever else has its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from krafla.match import match
from krafla.oracle import explore
from krafla.testing import Judge, Spec, SpecViolation
from krafla.testing.recorded_trace import judge_recorded
from krafla.traces import Observation, PartialTrace, Step, Trace
from krafla.values import Function
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

OTHER = r"""
---- MODULE Other ----
EXTENDS Naturals
VARIABLE x
LOCAL A == x < 6 /\ x' = x + 2
OtherNext == A
====
"""
BESIDE = r"""
---- MODULE Beside ----
EXTENDS Other
Init == x = 0
A == x' = x + 1
Next == OtherNext
====
"""
TWICE = r"""
---- MODULE Twice ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == /\ \/ LET A == x' = x + 1 IN A
           \/ LET A == x' = x + 2 IN A
        /\ x' < 5
====
"""
CALLS = r"""
---- MODULE Calls ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Inc(v, w) == v < 3 /\ v' = v + 1 /\ UNCHANGED w
IncX == Inc(x, y)
Next == IncX \/ Inc(y, x)
====
"""
HELPER = r"""
---- MODULE Helper ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Up == x < 3 /\ x' = x + 1
Down == x > 0 /\ x' = x - 1
Put(v) == y' = v
Note == Put(x)
Next == /\ (Up \/ Down)
        /\ Note
====
"""


def spec_of(folder: Path, text: str) -> Spec:
    for one in (OTHER, text):
        (folder / f"{one.split()[2]}.tla").write_text(one)
    return Spec.load(folder / f"{text.split()[2]}.tla", {}, init="Init", next="Next")


def test_another_operator_of_the_name_in_the_root_module_says_nothing(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, BESIDE)
    judge = Judge(spec)
    for after, is_step in ((2, True), (1, False)):
        begun, step = Step("Init", (), Function({"x": 0})), Step("A", (), Function({"x": after}))
        trace = Trace("Beside", (begun, step))
        seen = tuple(
            Observation(one.action, (), ((("x",), one.state["x"]),)) for one in trace.steps
        )
        report = match(spec, PartialTrace("Beside", seen), only_next=True)
        judge.start({"x": 0})
        if is_step:
            judge.step("A", seen={"x": after})
            judge_recorded(trace, spec)
        else:
            with pytest.raises(SpecViolation):
                judge.step("A", seen={"x": after})
            with pytest.raises(SpecViolation):
                judge_recorded(trace, spec)
        assert (report.verdict is Verdict.HELD) is is_step


def test_what_next_adds_holds_for_each_of_two_actions_of_one_name(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, TWICE)
    assert len(explore(spec, until_violation=False).states) == 5
    judge = Judge(spec)
    judge.start({"x": 0})
    for after in (2, 3, 4):
        judge.step("A", seen={"x": after})
    with pytest.raises(SpecViolation):
        judge.step("A", seen={"x": 6})
    judge.refuse("A")


def test_an_operator_that_calls_another_with_its_own_values_is_an_action(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, CALLS)
    assert [str(one) for one in spec.actions] == ["IncX", "Inc(v, w)"]
    judge = Judge(spec)
    judge.start({"x": 0, "y": 0})
    judge.step("IncX", seen={"x": 1, "y": 0})
    # It is given variables, and says their next values.
    assert judge.enabled("Inc") == ((0, 1),)
    judge.step("Inc", 0, 1, seen={"x": 1, "y": 1})
    with pytest.raises(SpecViolation):
        judge.refuse("Inc", 1, 1)


def test_a_helper_that_next_adds_is_no_choice(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, HELPER)
    assert [str(one) for one in spec.actions] == ["Up", "Down"]
    judge = Judge(spec)
    judge.start({"x": 0, "y": 0})
    judge.step("Up", seen={"x": 1, "y": 0})
    with pytest.raises(SpecViolation):
        judge.step("Up", seen={"x": 2, "y": 0})
