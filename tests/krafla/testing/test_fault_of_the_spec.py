"""Where the spec itself breaks a property, the story does not leave the blame with the code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from krafla.testing import Judge, Spec, SpecViolation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SUM = """---- MODULE Sum ----
EXTENDS Naturals
VARIABLE number
Init == number \\in {3, 12}
Add(n) == number' = number + n
Back == number' = 0
Next == Back \\/ \\E n \\in {1, 6, 8} : Add(n)
Spec == Init /\\ [][Next]_number
LowInv == number < 10
SlowProp == [][number' < number + 8]_number
====
"""
FAULT = "LowInv: the fault is in the spec or in LowInv."
ASKED = "krafla check asks about it without the code."


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    (tmp_path / "Sum.tla").write_text(SUM)
    (tmp_path / "Sum.cfg").write_text("SPECIFICATION Spec\nINVARIANT LowInv\n")
    return Spec.load(tmp_path / "Sum.tla")


@pytest.fixture
def judge(spec: Spec) -> Judge:
    """A judge of code that begins at 3."""
    return begun(spec)


def begun(spec: Spec, **options: Any) -> Judge:
    found = Judge(spec, **options)
    found.start({"number": 3})
    return found


def story(call: Callable[..., None], *given: Any, **options: Any) -> str:
    with pytest.raises(SpecViolation) as caught:
        call(*given, **options)
    return " ".join(str(caught.value).split())


@pytest.mark.parametrize("seen", [{"number": 11}, {}])
def test_a_step_of_the_spec_that_breaks_a_property_is_a_fault_of_the_spec(
    judge: Judge, seen: dict[str, int]
) -> None:
    assert f"this step and breaks {FAULT} {ASKED}" in story(judge.step, "Add", 8, seen=seen)


def test_a_hidden_step_that_breaks_a_property_is_a_fault_of_the_spec(spec: Spec) -> None:
    judge = begun(spec, hidden=["Add"])
    assert f"this step and breaks {FAULT} {ASKED}" in story(judge.stay, {"number": 11})


def test_a_step_that_the_spec_lacks_is_none_of_its_faults(judge: Judge) -> None:
    assert "fault" not in story(judge.step, "Add", 8, seen={"number": 12})


def test_a_property_that_the_cfg_does_not_list_is_none_of_krafla_check(spec: Spec) -> None:
    judge = begun(spec, invariants=[], properties=["SlowProp"])
    told = story(judge.step, "Add", 8, seen={"number": 11})
    assert told.endswith("the fault is in the spec or in SlowProp.")


def test_a_beginning_that_breaks_a_property_is_a_fault_of_the_spec(spec: Spec) -> None:
    told = story(Judge(spec).start, {"number": 12})
    assert f"begins here and breaks {FAULT} {ASKED}" in told


def test_a_refusal_is_a_fault_of_the_spec_if_each_step_breaks_a_property(judge: Judge) -> None:
    assert f"Each such step of the spec breaks {FAULT} {ASKED}" in story(judge.refuse, "Add", 8)
    # Of these, one step keeps the property.
    assert "fault" not in story(judge.refuse, "Add", 6)
    assert "fault" not in story(judge.refuse, "Add", ...)
    judge.step("Add", 6)
    assert f"Each such step of the spec breaks {FAULT}" in story(judge.refuse, "Add", ...)


def test_a_refusal_is_none_of_its_faults_if_a_hidden_step_may_have_led_on(spec: Spec) -> None:
    # From 0, Add(8) keeps the property.
    assert "fault" not in story(begun(spec, hidden=["Back"]).refuse, "Add", 8)
