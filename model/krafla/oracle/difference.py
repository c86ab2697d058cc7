"""Where two TLA+ values differ, down to the element: ``registrations[b1].fenced``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.values import Function, Value, fmt, same, sort_key, sorted_values

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Difference", "difference", "differences"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where a value is not as expected.

    ``path`` is TLA+ for the place, ``steps`` are the variable, then arguments, fields and positions
    that lead there. ``None`` for ``expected`` or ``got`` means that the place
    exists in one of the two only: an element of a set, an argument outside a domain.
    """

    path: str
    expected: Value | None
    got: Value | None
    steps: tuple[Value, ...] = ()

    def __str__(self) -> str:
        if self.expected is None:
            return f"{self.path}: unexpected {fmt(_present(self.got))}"
        if self.got is None:
            return f"{self.path}: lacks {fmt(self.expected)}"
        return f"{self.path}: expected {fmt(self.expected)}, got {fmt(self.got)}"


def differences(
    place: str | tuple[Value, ...], expected: Value, got: Value
) -> tuple[Difference, ...]:
    """Return every place where ``got`` differs from ``expected``, in canonical order.

    ``place`` is a variable, or the path to a part of one: the variable, then arguments and fields.
    """
    return tuple(_differences((place,) if isinstance(place, str) else place, expected, got))


def difference(steps: tuple[Value, ...], expected: Value | None, got: Value | None) -> Difference:
    """Return a single difference, at the end of the way from a variable."""
    path = str(steps[0]) + "".join(map(_step, steps[1:]))
    return Difference(path, expected, got, steps)


def _differences(steps: tuple[Value, ...], expected: Value, got: Value) -> Iterator[Difference]:
    if same(expected, got):
        return
    if isinstance(expected, Function) and isinstance(got, Function):
        yield from _of_functions(steps, expected, got)
    elif isinstance(expected, tuple) and isinstance(got, tuple):
        yield from _of_sequences(steps, expected, got)
    elif isinstance(expected, frozenset) and isinstance(got, frozenset):
        yield from _of_sets(steps, expected, got)
    else:
        yield difference(steps, expected, got)


def _of_functions(
    steps: tuple[Value, ...], expected: Function, got: Function
) -> Iterator[Difference]:
    for argument in sorted_values({*expected, *got}):
        place = (*steps, argument)
        if argument in expected and argument in got:
            yield from _differences(place, expected[argument], got[argument])
        else:
            yield difference(place, expected.get(argument), got.get(argument))


def _of_sequences(
    steps: tuple[Value, ...], expected: tuple[Value, ...], got: tuple[Value, ...]
) -> Iterator[Difference]:
    for index in range(max(len(expected), len(got))):
        place = (*steps, index + 1)
        if index < len(expected) and index < len(got):
            yield from _differences(place, expected[index], got[index])
        elif index < len(expected):
            yield difference(place, expected[index], None)
        else:
            yield difference(place, None, got[index])


def _of_sets(
    steps: tuple[Value, ...], expected: frozenset[Value], got: frozenset[Value]
) -> Iterator[Difference]:
    wanted = {sort_key(member): member for member in expected}
    present = {sort_key(member): member for member in got}
    for key in sorted(wanted.keys() - present.keys()):
        yield difference(steps, wanted[key], None)
    for key in sorted(present.keys() - wanted.keys()):
        yield difference(steps, None, present[key])


def _step(argument: Value) -> str:
    if isinstance(argument, str) and argument.isidentifier():
        return f".{argument}"
    return f"[{fmt(argument)}]"


def _present(value: Value | None) -> Value:
    assert value is not None, "a difference has at least one side"
    return value
