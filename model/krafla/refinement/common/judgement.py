"""What the spec says of one step of the implementation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from krafla.values import fmt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.oracle.difference import Difference
    from krafla.testing import Explanation
    from krafla.values import Value

__all__ = [
    "Agreed",
    "Divergence",
    "Failed",
    "Finding",
    "Judgement",
    "PropertyViolated",
    "SpecAction",
    "variables_of",
]


@dataclass(frozen=True, slots=True)
class SpecAction:
    """An action of the spec with its parameters, in order."""

    name: str
    parameters: tuple[Value, ...]

    def __str__(self) -> str:
        return (
            f"{self.name}({', '.join(map(fmt, self.parameters))})" if self.parameters else self.name
        )


@dataclass(frozen=True, slots=True)
class Agreed:
    """The spec allows the step. ``action`` is ``None`` if nothing happened and nothing could."""

    action: SpecAction | None


@dataclass(frozen=True, slots=True)
class Divergence:
    """The implementation took a step that the spec forbids, or refused one that it allows.

    ``variables`` are those that differ; there are none if the action is not enabled at all.
    ``breaks`` names the properties that the implementation's new state breaks.
    """

    index: int
    action: SpecAction
    explanation: Explanation
    variables: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"step {self.index}: {self.explanation}"]
        if self.breaks:
            lines.append(f"  the implementation's state breaks {', '.join(self.breaks)}")
        return "\n".join(lines)

    @property
    def kind(self) -> tuple[str, ...]:
        """Return the action and what is wrong with it: findings with one cause share this.

        What is wrong is the false conjunct or, if there is none, the variables that differ.
        """
        return (
            "divergence",
            self.action.name,
            _blamed(self.explanation) or ", ".join(self.variables),
        )


@dataclass(frozen=True, slots=True)
class PropertyViolated:
    """The spec allows the step, but it breaks a property of the spec."""

    index: int
    action: SpecAction
    name: str
    explanation: Explanation

    def __str__(self) -> str:
        return f"step {self.index}, {self.action.name}: {self.explanation}"

    @property
    def kind(self) -> tuple[str, ...]:
        """Return the property and its false conjunct: findings with one cause share this."""
        return "property", self.name, _blamed(self.explanation)


@dataclass(frozen=True, slots=True)
class Failed:
    """The implementation failed: an assertion of its own is false, or a record is fatal."""

    index: int
    choice: object
    error: str

    def __str__(self) -> str:
        return f"step {self.index}: the implementation failed on {self.choice}: {self.error}"

    @property
    def kind(self) -> tuple[str, ...]:
        """Return the error: findings with one cause share this."""
        return "failed", self.error


def variables_of(details: Iterable[Difference]) -> tuple[str, ...]:
    """Return the names of the variables that differ, sorted."""
    return tuple(sorted({re.split(r"[.\[]", detail.path)[0] for detail in details}))


Finding: TypeAlias = Divergence | PropertyViolated | Failed
Judgement: TypeAlias = Agreed | Finding


def _blamed(explanation: Explanation) -> str:
    """Return the formula that is false, with its place; empty if there is no single one."""
    if not explanation.reasons:
        return ""
    reason = explanation.reasons[0]
    return f"{reason.place}: {' '.join(reason.text.split())}"
