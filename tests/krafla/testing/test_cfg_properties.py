"""A PROPERTY of the cfg speaks of the first state, of every state or of every step, as for TLC."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.krafla.testing.conftest import SPECS

from krafla.testing import Judge, Spec, SpecError, SpecViolation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# The first state that each denies: what TLC says of the spec, too.
DENIED = {
    "ZeroFirst": None,
    "SevenFirst": 0,
    "SevenFirstProp": 0,
    "SevenInsideProp": 0,
    "LowProp": 2,
    "LowInsideProp": 2,
    "LowThroughProp": 2,
    "LowBothProp": 2,
    "SlowProp": 2,
    "FairProp": None,
    "FairLowProp": 2,
}
TEMPORAL = ("TopProp", "TopThroughProp", "LeadProp")
IN_PART = ("FairProp", "FairLowProp")


@pytest.fixture
def judge_of(tmp_path: Path) -> Callable[..., Judge]:
    """Return the function from names of properties to a judge of them."""

    def made(*names: str) -> Judge:
        cfg = tmp_path / "Climb.cfg"
        cfg.write_text(f"SPECIFICATION Spec\nPROPERTIES {' '.join(names)}\n")
        return Judge(Spec.load(SPECS / "Climb.tla", cfg=cfg))

    return made


@pytest.mark.by_day(15)
@pytest.mark.parametrize("shown", ["whole", "part", "nothing"])
@pytest.mark.parametrize("name", DENIED)
def test_a_property_denies_what_it_speaks_of(
    judge_of: Callable[..., Judge], name: str, shown: str
) -> None:
    judge = judge_of(name)

    def seen(height: int) -> dict[str, int]:
        whole = {"height": height, "photos": 0}
        return {} if shown == "nothing" else whole if shown == "whole" else {"height": height}

    denied = DENIED[name]
    for height in range(4):
        if height == denied:
            with pytest.raises(SpecViolation, match=rf"{name} is false") as caught:
                _go_on(judge, height, seen(height))
            assert caught.value.broken == name
            return
        _go_on(judge, height, seen(height))


def _go_on(judge: Judge, height: int, seen: dict[str, int]) -> None:
    if height:
        judge.step("Climb", seen=seen)
    else:
        judge.start(seen)


def test_what_is_said_of_whole_behaviours_is_named_and_not_judged(
    judge_of: Callable[..., Judge],
) -> None:
    judge = judge_of("LowProp", *TEMPORAL, *IN_PART)
    assert judge.not_judged == (*TEMPORAL, *IN_PART)
    assert judge.fresh().not_judged == judge.not_judged
    assert judge_of("LowProp").not_judged == ()
    for _ in range(2):
        judge_of(*TEMPORAL).step("Climb")


@pytest.mark.parametrize("name", TEMPORAL)
def test_a_property_of_whole_behaviours_cannot_be_asked_for(
    judge_of: Callable[..., Judge], name: str
) -> None:
    spec = judge_of("LowProp").spec
    with pytest.raises(SpecError, match=f"{name} of Climb says nothing of a single state or step"):
        Judge(spec, properties=[name])
    with pytest.raises(SpecError, match=f"{name} of Climb speaks of more than single states"):
        Judge(spec, invariants=[name])
    assert Judge(spec, properties=["FairProp", "LowProp"]).not_judged == ("FairProp",)
    assert Judge(spec, properties=()).not_judged == ()


def test_an_invariant_may_be_written_as_what_always_holds(
    judge_of: Callable[..., Judge],
) -> None:
    judge = Judge(judge_of("LowProp").spec, invariants=["LowProp"], properties=())
    judge.step("Climb")
    with pytest.raises(SpecViolation, match="LowProp is false after step 2"):
        judge.step("Climb")
    with pytest.raises(SpecError, match="SlowProp of Climb speaks of more than single states"):
        Judge(judge.spec, invariants=["SlowProp"])


def test_the_constraints_of_a_cfg_bound_no_judge(tmp_path: Path) -> None:
    (tmp_path / "Up.tla").write_text(
        "---- MODULE Up ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\n"
        "Up == x' = x + 1\nNext == Up\nSpec == Init /\\ [][Next]_x\n"
        "Low == x < 1\nNotTwo == x' # 2\n====\n"
    )
    cfg = "SPECIFICATION Spec\nCONSTRAINT Low\nACTION_CONSTRAINT NotTwo\n"
    (tmp_path / "Up.cfg").write_text(cfg)
    judge = Judge(Spec.load(tmp_path / "Up.tla"))
    judge.step("Up", seen={"x": 1})
    judge.step("Up")
    judge.step("Up", seen={"x": 3})
    assert not judge.not_judged
