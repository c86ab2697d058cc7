"""A property of a run that does not hold, as a value and as the way out of a check."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krafla.testing import Explanation

__all__ = ["Violated", "Violation"]


@dataclass(frozen=True, slots=True)
class Violation:
    """What was broken, and where: the property's name in the spec, the step, the node.

    ``time`` is the simulation's, in nanoseconds. Where a spec denies the step, ``explanation`` says
    which conjunct is false.
    """

    property: str
    text: str
    step: int
    time: int
    node: str
    explanation: Explanation | None = None

    @builtins.property
    def kind(self) -> tuple[str, ...]:
        """Return the property: violations of one are findings of one kind."""
        return "property", self.property

    @builtins.property
    def place(self) -> str:
        """Return the step, the time and the node."""
        seconds, rest = divmod(self.time, 1_000_000_000)
        return f"step {self.step}, {seconds}.{rest // 1_000_000:03d} s, {self.node}"

    def __str__(self) -> str:
        return f"{self.property}: {self.text} ({self.place})"


class Violated(Exception):  # noqa: N818 - a verdict, caught where steps are observed; no error
    """Ends a check: this property does not hold, for this reason."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"{name}: {text}")
        self.name = name
        self.text = text
