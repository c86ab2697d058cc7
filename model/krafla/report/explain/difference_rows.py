"""Where two states differ, as rows of words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from krafla.report.explain.words import shorten
from krafla.values import Function, sort_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krafla.oracle import Difference
    from krafla.report.explain.words import Words
    from krafla.values import Value

__all__ = ["NOT_THERE", "difference_rows"]

NOT_THERE: Final = "(not there)"
"""The side of a difference that has no value: a member, an argument or a position is missing."""

# Of values that look alike, as a list of the code and a function of the spec, the kinds are told.
_KINDS: dict[type, str] = {tuple: "the sequence", frozenset: "the set", Function: "the function"}


def difference_rows(
    differences: Iterable[Difference], words: Words
) -> tuple[tuple[str, str, str], ...]:
    """Return each difference as the part and its two values, in words.

    Where words do not tell two parts or two values apart, as a string and a model value, the row
    has TLA+ text. Where one is a function, a set or a sequence and the other one another of these,
    the row says so.
    """
    rows = []
    differences = tuple(differences)
    parts = Counter(words.path(one.steps) for one in differences)
    for one in differences:
        part = words.path(one.steps)
        sides = [_side(value, words.value) for value in (one.expected, one.got)]
        if parts[part] > 1 or sides[0] == sides[1] or _is_of_two_kinds(one, words):
            part = words.text(one.path)
            sides = [_side(value, words.whole) for value in (one.expected, one.got)]
        kinds = [_KINDS.get(type(value)) for value in (one.expected, one.got)]
        if None not in kinds and kinds[0] != kinds[1]:
            sides = [f"{kind} {side}" for kind, side in zip(kinds, sides, strict=True)]
        rows.append((part, shorten(sides[0]), shorten(sides[1])))
    return tuple(rows)


def _is_of_two_kinds(one: Difference, words: Words) -> bool:
    """Return whether only one side is a string: without its quotes it looks like the other."""
    values = [value for value in (one.expected, one.got) if value is not None]
    strings = [value for value in values if isinstance(value, str)]
    # The name of a node has no quotes anywhere.
    return 0 < len(strings) < len(values) and sort_key(strings[0]) not in words.names


def _side(value: Value | None, told: Callable[[Value], str]) -> str:
    return NOT_THERE if value is None else told(value)
