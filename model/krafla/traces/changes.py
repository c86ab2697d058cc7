"""The changes between two values, down to the smallest part: as data and as short lines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from krafla.values import Function, Value, fmt, same, sorted_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krafla.traces.trace import Trace

__all__ = ["Change", "Sort", "changes", "deep_changes", "is_bag", "path_text", "step_changes"]


class Sort(Enum):
    """The way in which a part of a value changed."""

    BECAME = "became"
    APPEARED = "appeared"
    VANISHED = "vanished"
    GAINED = "gained"
    LOST = "lost"
    APPENDED = "appended"
    CUT = "cut"
    EMPTIED = "emptied"
    PREPENDED = "prepended"
    SHIFTED = "shifted"


@dataclass(frozen=True, slots=True)
class Change:
    """One part of a value that changed.

    ``path`` leads to the part: a variable, then arguments, fields or positions. ``before`` and
    ``after`` are its values. If a set or a bag ``GAINED`` a member, ``after`` is the member; if it
    ``LOST`` one, ``before`` is. ``copies`` is how often the bag holds it afterwards, 0 for a set.
    Of a sequence that was ``CUT`` at its end, ``SHIFTED`` by losing its first members, or
    ``EMPTIED``, ``before`` is what it lost; of one that was ``PREPENDED`` to, ``after`` is what it
    gained.
    """

    sort: Sort
    path: tuple[Value, ...]
    before: Value | None = None
    after: Value | None = None
    copies: int = 0

    def __str__(self) -> str:
        name = path_text(self.path)
        before, after = ("" if value is None else fmt(value) for value in (self.before, self.after))
        if self.sort is Sort.BECAME:
            return f"{name}: {before} -> {after}"
        if self.sort is Sort.APPEARED:
            return f"{name} = {after}"
        if self.sort is Sort.VANISHED:
            return f"{name} gone (was {before})"
        if self.sort is Sort.APPENDED:
            return f"{name} appends {after}"
        if self.sort is Sort.CUT:
            return f"{name} loses at its end: {before}"
        if self.sort is Sort.EMPTIED:
            return f"{name} is emptied of {before}"
        if self.sort is Sort.SHIFTED:
            return f"{name} loses in front: {before}"
        if self.sort is Sort.PREPENDED:
            return f"{name} gains in front: {after}"
        return f"{name} {self.sign} {after or before}{self.remark}"

    @property
    def sign(self) -> str:
        """Return ``+`` for a member gained and ``-`` for one lost."""
        return "+" if self.sort is Sort.GAINED else "-"

    @property
    def remark(self) -> str:
        """Return the number of copies in a bag, unless it is 1 for a gain or 0 for a loss."""
        expected = 1 if self.sort is Sort.GAINED else 0
        return "" if self.copies in {0, expected} else f" (now {self.copies} copies)"


def path_text(path: tuple[Value, ...]) -> str:
    """Return a path as TLA+ spells it: ``registrations[b1].fenced``."""
    return str(path[0]) + "".join(map(_selector, path[1:]))


def _selector(argument: Value) -> str:
    if isinstance(argument, str) and argument.isidentifier():
        return f".{argument}"
    return f"[{fmt(argument)}]"


def changes(name: str, before: Value, after: Value) -> list[str]:
    """Return one line for each part of the value that changed; none for equal values.

    Functions are compared point by point, sets and bags by members, sequences by what they gained
    or lost at the end, else at the front, else by position; anything else is shown whole, as is a
    tuple of different kinds of values that has another length.
    """
    return [str(change) for change in deep_changes(name, before, after)]


def deep_changes(name: str, before: Value, after: Value) -> list[Change]:
    """Return each part of a variable that changed, in canonical order; none for equal values."""
    return list(_changes((name,), before, after))


def is_bag(value: Value) -> bool:
    """Return whether the value looks like a bag: a function from records to positive numbers."""
    return (
        isinstance(value, Function)
        and all(isinstance(member, Function) for member in value)
        and all(type(copies) is int and copies > 0 for copies in value.values())
    )


def _changes(path: tuple[Value, ...], before: Value, after: Value) -> Iterator[Change]:
    if same(before, after):
        return
    both = (before, after)
    # An empty bag is the empty function, which TLA+ does not tell from the empty sequence.
    if any(map(is_bag, both)) and all(one == () or is_bag(one) for one in both):
        yield from _bag(path, _mapping(before), _mapping(after))
    elif all(isinstance(one, Function) or one == () for one in both):
        yield from _function(path, _mapping(before), _mapping(after))
    elif isinstance(before, frozenset) and isinstance(after, frozenset):
        for member in sorted_values(after - before):
            yield Change(Sort.GAINED, path, after=member)
        for member in sorted_values(before - after):
            yield Change(Sort.LOST, path, before=member)
    elif isinstance(before, tuple) and isinstance(after, tuple):
        yield from _sequence(path, before, after)
    else:
        yield Change(Sort.BECAME, path, before, after)


def _mapping(value: Value) -> Mapping[Value, Value]:
    return value if isinstance(value, Function) else {}


def _bag(
    path: tuple[Value, ...], before: Mapping[Value, Value], after: Mapping[Value, Value]
) -> Iterator[Change]:
    for member in sorted_values({*before, *after}):
        had, has = before.get(member, 0), after.get(member, 0)
        assert isinstance(had, int), "a bag counts its members"
        assert isinstance(has, int), "a bag counts its members"
        if has > had:
            yield Change(Sort.GAINED, path, after=member, copies=has)
        elif has < had:
            yield Change(Sort.LOST, path, before=member, copies=has)


def _function(
    path: tuple[Value, ...], before: Mapping[Value, Value], after: Mapping[Value, Value]
) -> Iterator[Change]:
    for argument in sorted_values({*before, *after}):
        part = (*path, argument)
        if argument not in after:
            yield Change(Sort.VANISHED, part, before=before[argument])
        elif argument not in before:
            yield Change(Sort.APPEARED, part, after=after[argument])
        else:
            yield from _changes(part, before[argument], after[argument])


def _sequence(
    path: tuple[Value, ...], before: tuple[Value, ...], after: tuple[Value, ...]
) -> Iterator[Change]:
    common = min(len(before), len(after))
    if len(before) != len(after) and len({*map(type, before), *map(type, after)}) > 1:
        # A tuple of different things, not a queue.
        yield Change(Sort.BECAME, path, before, after)
        return
    if common and not same(before[:common], after[:common]):
        lost, gained = len(before) - common, len(after) - common
        if lost and same(before[lost:], after):
            yield Change(Sort.SHIFTED, path, before=before[:lost])
            return
        if gained and same(before, after[gained:]):
            yield Change(Sort.PREPENDED, path, after=after[:gained])
            return
    for index in range(common):
        yield from _changes((*path, index + 1), before[index], after[index])
    for member in after[common:]:
        yield Change(Sort.APPENDED, path, after=member)
    if len(before) > common:
        # Nothing tells from which end the members of an emptied queue were taken.
        yield Change(Sort.CUT if common else Sort.EMPTIED, path, before=before[common:])


def step_changes(trace: Trace, index: int) -> list[str]:
    """Return what step ``index`` of the trace changed; the whole state at index 0."""
    state = trace.steps[index].state
    if index == 0:
        return [f"{name} = {fmt(state[name])}" for name in state]
    before = trace.steps[index - 1].state
    lines: list[str] = []
    for name in state:
        if name in before:
            lines += changes(str(name), before[name], state[name])
        else:
            lines.append(f"{name} = {fmt(state[name])}")
    return lines
