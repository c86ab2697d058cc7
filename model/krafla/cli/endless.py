"""The remark that a search may have no end, because its depth grows with its states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Endless"]

# Fewer states are soon counted. Of a search with an end, few are as narrow as this.
_STATES_MIN: Final = 10_000
_STATES_PER_LEVEL: Final = 2


class Endless:
    """Says once that the states of a model may have no end, and what bounds them.

    ``ways`` are those besides a bound in the spec or its cfg; ``say`` prints a line that stays.
    """

    def __init__(self, name: str, say: Callable[[str], None], ways: str = "") -> None:
        self._name = name
        self._say: Callable[[str], None] | None = say
        self._ways = ways

    def look(self, states: int, depth: int) -> None:
        """Take how far the search is: states and levels."""
        if self._say is None or states < _STATES_MIN or _STATES_PER_LEVEL * depth <= states:
            return
        self._say(
            f"{self._name}: the states may have no end: {states:,} of them, and the depth is "
            f"{depth:,}; bound them in the spec, or by a CONSTRAINT in the cfg{self._ways}"
        )
        self._say = None
