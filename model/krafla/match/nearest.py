"""The nearest enabled action: the step of the spec closest to what was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.values import fmt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.match.seen import Seen
    from krafla.oracle import Difference, State
    from krafla.values import Value

__all__ = ["Nearest", "nearest_step"]

_SHOWN = 4
_SHOWN_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Nearest:
    """A step of the spec, and where its state (expected) differs from what was seen (got)."""

    action: str
    parameters: tuple[Value, ...]
    differences: tuple[Difference, ...]

    def helps(self, action: str, parameters: Iterable[Value | None] | None) -> bool:
        """Return whether the step is likely the one that was meant by an observed action.

        It leads to what was seen, or it is the action with other parameters, or the action was not
        seen and is empty. Any other step of the spec tells nothing about this one.
        """
        if not action or not self.differences:
            return True
        given = None if parameters is None else tuple(parameters)
        return self.action == action and self.parameters != given

    @property
    def text(self) -> str:
        """Return the step, and the values it leaves that were seen differently."""
        arguments = f"({', '.join(map(fmt, self.parameters))})" if self.parameters else ""
        left = [_left(detail) for detail in self.differences[:_SHOWN]]
        if len(self.differences) > _SHOWN:
            left.append(f"and {len(self.differences) - _SHOWN} more")
        end = f"would leave {', '.join(left)}" if left else "leads there"
        return f"{self.action}{arguments}: {end}"

    def __str__(self) -> str:
        return f"nearest enabled action: {self.text}"


def nearest_step(
    steps: Iterable[tuple[str, tuple[Value, ...], State]], seen: Seen
) -> Nearest | None:
    """Return the step whose state differs least from what was seen; ``None`` if there is none.

    Among equals the observed action comes first, then the order of the spec decides.
    """
    best: tuple[tuple[int, bool], str, tuple[Value, ...], State] | None = None
    for action, parameters, after in steps:
        rank = (seen.distance(after), action != seen.observation.action)
        if best is None or rank < best[0]:
            best = rank, action, parameters, after
    if best is None:
        return None
    _, action, parameters, after = best
    return Nearest(action, parameters, seen.differences(after))


def _left(detail: Difference) -> str:
    if detail.expected is None:
        return f"{detail.path} without {_cut(detail.got)}"
    if detail.got is None:
        return f"{_cut(detail.expected)} in {detail.path}"
    return f"{detail.path} = {_cut(detail.expected)}"


def _cut(value: Value | None) -> str:
    return "" if value is None else fmt(value, _SHOWN_CHARACTERS)
