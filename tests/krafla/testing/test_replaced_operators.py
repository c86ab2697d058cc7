"""A cfg that puts one operator for another: the judge asks what then reads a changed variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.krafla.testing.conftest import SPECS

from krafla.testing import Judge, Spec, SpecViolation

if TYPE_CHECKING:
    from pathlib import Path

PUT = "CONSTANTS Limit <- MCLimit\nTotal <- MCTotal\nFloor <- [TotalsInner]MCFloor\n"
NAMES = (
    "DirectInv", "ThroughInv", "LetInv", "BoundInv", "ArgumentInv", "ConstantInv", "InnerInv",
    "ReplacedProp",
)  # fmt: skip


@pytest.fixture(params=NAMES)
def judge(request: pytest.FixtureRequest, tmp_path: Path) -> Judge:
    cfg = tmp_path / "Totals.cfg"
    kind = "PROPERTY" if request.param.endswith("Prop") else "INVARIANT"
    cfg.write_text(f"{PUT}SPECIFICATION Spec\n{kind} {request.param}\n")
    return Judge(Spec.load(SPECS / "Totals.tla", cfg=cfg))


@pytest.mark.by_day(8)
@pytest.mark.parametrize("shown", [("a", "b"), ("b",)], ids=["whole", "part"])
def test_what_stands_for_another_operator_is_asked_when_its_own_variable_changes(
    judge: Judge, shown: tuple[str, ...]
) -> None:
    def seen(b: int) -> dict[str, Any]:
        return {name: value for name, value in (("a", 0), ("b", b)) if name in shown}

    judge.start({"a": 0, "b": 0})
    judge.step("AddB", seen=seen(1))
    with pytest.raises(SpecViolation):
        judge.step("AddB", seen=seen(2))
    judge.start({"a": 0, "b": 0})
    for a in (1, 2, 3):
        judge.step("AddA", seen={"a": a, "b": 0})
