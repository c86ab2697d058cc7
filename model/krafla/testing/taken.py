"""What the code says that it did: an action of the spec, or nothing."""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = ["Taken"]


class Taken:
    """An action of the spec that the code took, with its parameters in order.

    A parameter may be ``...`` (unknown), the action ``None`` (any). ``Taken.nothing`` says that the
    code took no step.
    """

    __slots__ = ("action", "parameters")

    nothing: ClassVar[Taken]

    def __init__(self, action: str | None, *parameters: Any) -> None:
        self.action = action
        self.parameters = parameters

    def __repr__(self) -> str:
        if self is Taken.nothing:
            return "Taken.nothing"
        return f"Taken({', '.join(map(repr, (self.action, *self.parameters)))})"

    def __reduce__(self) -> Any:
        """Return how a copy is made: of ``nothing`` there is only one."""
        if self is Taken.nothing:
            return "Taken.nothing"
        return Taken, (self.action, *self.parameters)

    def __str__(self) -> str:
        action = self.action or "any action"
        shown = ["..." if one is ... else str(one) for one in self.parameters]
        return f"{action}({', '.join(shown)})" if shown else action


Taken.nothing = Taken(None)
