"""Values of a spec as the code under test has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.values import ModelValue, sorted_values

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["thawed"]


def thawed(values: Iterable[Any]) -> list[Any]:
    """Return values with texts for model values, those of a set in canonical order."""
    if isinstance(values, frozenset):
        values = sorted_values(values)
    return [_plain(one) for one in values]


def _plain(value: Any) -> Any:
    if isinstance(value, ModelValue):
        return value.name
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, frozenset):
        return frozenset(map(_plain, value))
    return value
