"""Python says that 1 is True. A spec does not, whether they are constants or parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest

from krafla.match import validation
from krafla.testing import Judge, Spec, SpecMachine, SpecViolation, Trace, drive
from krafla.testing.machine_judge import spec_of
from krafla.traces import Step
from krafla.values import Function, fmt
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

FLAG = """---- MODULE Flag ----
CONSTANT F
VARIABLE flag
Init == flag = F
Set(v) == flag' = v
Next == Set(1) \\/ Set(TRUE)
====
"""


@pytest.fixture
def flag(tmp_path: Path) -> Path:
    found = tmp_path / "Flag.tla"
    found.write_text(FLAG)
    return found


def beginning(spec: Spec) -> str:
    return fmt(spec.initial_states()[0]["flag"])


def test_machines_with_the_constants_one_and_true_have_two_specs(flag: Path) -> None:
    def machine(value: object) -> type[SpecMachine]:
        class FlagMachine(SpecMachine):
            spec = str(flag)
            constants: ClassVar = {"F": value}

        return FlagMachine

    first = spec_of(machine(1))
    assert beginning(first) == "1"
    assert beginning(spec_of(machine(True))) == "TRUE"
    assert beginning(spec_of(machine([{1}]))) == "<<{1}>>"
    assert beginning(spec_of(machine([{True}]))) == "<<{TRUE}>>"
    assert spec_of(machine(1)) is first


def test_traces_with_the_constants_one_and_true_have_two_specs(flag: Path) -> None:
    one, true = (validation.loaded("Flag", (("F", value),), flag) for value in (1, True))
    assert (beginning(one), beginning(true)) == ("1", "TRUE")
    assert validation.loaded("Flag", (("F", 1),), flag) is one


def test_the_parameters_one_and_true_are_two(flag: Path) -> None:
    judge = Judge(Spec.load(flag, {"F": 0}))
    assert [fmt(value) for (value,) in judge.enabled("Set")] == ["1", "TRUE"]
    with pytest.raises(SpecViolation, match=r"the code refuses Set\(TRUE\)"):
        judge.refuse("Set", True)


def test_a_trace_with_the_constant_true_is_not_one_of_code_with_one(flag: Path) -> None:
    class Code:
        flag = 1

        def set(self, value: object) -> None:
            self.flag = value

        def observe(self) -> dict[str, object]:
            return {"flag": self.flag}

    steps = (Step("Init", (), Function({"flag": 1})), Step("Set", (1,), Function({"flag": 1})))
    spec = Spec.load(flag, {"F": 1})
    assert drive(Code, Trace("Flag", steps, (("F", 1),)), spec=spec).steps == 1
    with pytest.raises(KraflaError, match="the trace has F = TRUE, the spec of the code has 1"):
        drive(Code, Trace("Flag", steps, (("F", True),)), spec=spec)
