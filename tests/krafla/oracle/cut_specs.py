"""Small specs whose steps are cut, with what TLC says of each: states, steps, the violation."""

from __future__ import annotations

from typing import NamedTuple


class CutSpec(NamedTuple):
    """A module's text and configuration; distinct and generated states, and what is violated."""

    name: str
    text: str
    config: str
    distinct: int
    generated: int
    violated: str | None


_ONE = "EXTENDS Naturals\nVARIABLE x\n"
_TWO = "EXTENDS Naturals\nVARIABLES x, y\nSeen == x\nInit == x = 0 /\\ y = 0\n"
_BOTH = (
    "A == x < 3 /\\ x' = x + 1 /\\ y' = 9\nB == x < 3 /\\ x' = x + 1 /\\ y' = 0\nNext == A \\/ B\n"
)
_CONFIG = "INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n"

CUT_SPECS = (
    CutSpec(
        "BeyondAStep",
        f"{_ONE}Init == x = 0\nNext == x' = x + 1\nNear == x' < 4\nLow == x < 4",
        f"{_CONFIG}ACTION_CONSTRAINT Near\nINVARIANT Low\n",
        4,
        5,
        "Low",
    ),
    CutSpec(
        "StepBack",
        f"{_ONE}Init == x = 0\nNext == x' \\in {{(x + 1) % 6, (x + 4) % 6}}\nUp == x' > x\n"
        "Low == x < 7",
        f"{_CONFIG}ACTION_CONSTRAINT Up\nINVARIANT Low\n",
        6,
        13,
        None,
    ),
    CutSpec(
        "HiddenByAView",
        f"{_TWO}{_BOTH}Near == y < 5\nLow == x < 4",
        f"{_CONFIG}VIEW Seen\nCONSTRAINT Near\nINVARIANT Low\n",
        4,
        7,
        None,
    ),
    CutSpec(
        "EachOutOfAView",
        f"{_TWO}Next == x < 1 /\\ x' = x + 1 /\\ y' \\in {{6, 9}}\nNear == y < 5\nLow == y # 9",
        f"{_CONFIG}VIEW Seen\nCONSTRAINT Near\nINVARIANT Low\n",
        1,
        3,
        "Low",
    ),
)
