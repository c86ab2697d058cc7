"""Equal values as one object, so that ``is`` compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

__all__ = ["Interner"]

_LIMIT: Final = 50_000
V = TypeVar("V")


class Interner(Generic[V]):
    """Values by their keys: equal keys give the same object while it is remembered.

    Once there are ``limit`` values, all are forgotten.
    """

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit = limit
        self._known: dict[Hashable, V] = {}

    def get(self, key: Hashable, make: Callable[..., V], *arguments: Any) -> V:
        """Return the value of a key; ``make`` makes it of the arguments if it is not known."""
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= self._limit:
                self._known.clear()
            known = self._known[key] = make(*arguments)
        return known
