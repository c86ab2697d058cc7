"""Where two TLA+ values differ, down to the element: ``registrations[b1].fenced``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.values import Function, Value, fmt, same, sort_key, sorted_values

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Difference", "differences"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where a value is not as expected.

    ``path`` is TLA+ for the place. ``None`` for ``expected`` or ``got`` means that the place
    exists in one of the two only: an element of a set, an argument outside a domain.
    """

    path: str
    expected: Value | None
    got: Value | None

    def __str__(self) -> str:
        if self.expected is None:
            return f"{self.path}: unexpected {fmt(_present(self.got))}"
        if self.got is None:
            return f"{self.path}: lacks {fmt(self.expected)}"
        return f"{self.path}: expected {fmt(self.expected)}, got {fmt(self.got)}"


def differences(path: str, expected: Value, got: Value) -> tuple[Difference, ...]:
    """Return every place where ``got`` differs from ``expected``, in canonical order."""
    return tuple(_differences(path, expected, got))


def _differences(path: str, expected: Value, got: Value) -> Iterator[Difference]:
    if same(expected, got):
        return
    if isinstance(expected, Function) and isinstance(got, Function):
        yield from _of_functions(path, expected, got)
    elif isinstance(expected, tuple) and isinstance(got, tuple):
        yield from _of_sequences(path, expected, got)
    elif isinstance(expected, frozenset) and isinstance(got, frozenset):
        yield from _of_sets(path, expected, got)
    else:
        yield Difference(path, expected, got)


def _of_functions(path: str, expected: Function, got: Function) -> Iterator[Difference]:
    for argument in sorted_values({*expected, *got}):
        place = f"{path}{_step(argument)}"
        if argument in expected and argument in got:
            yield from _differences(place, expected[argument], got[argument])
        else:
            yield Difference(place, expected.get(argument), got.get(argument))


def _of_sequences(
    path: str, expected: tuple[Value, ...], got: tuple[Value, ...]
) -> Iterator[Difference]:
    for index in range(max(len(expected), len(got))):
        place = f"{path}[{index + 1}]"
        if index < len(expected) and index < len(got):
            yield from _differences(place, expected[index], got[index])
        elif index < len(expected):
            yield Difference(place, expected[index], None)
        else:
            yield Difference(place, None, got[index])


def _of_sets(path: str, expected: frozenset[Value], got: frozenset[Value]) -> Iterator[Difference]:
    wanted = {sort_key(member): member for member in expected}
    present = {sort_key(member): member for member in got}
    for key in sorted(wanted.keys() - present.keys()):
        yield Difference(path, wanted[key], None)
    for key in sorted(present.keys() - wanted.keys()):
        yield Difference(path, None, present[key])


def _step(argument: Value) -> str:
    if isinstance(argument, str) and argument.isidentifier():
        return f".{argument}"
    return f"[{fmt(argument)}]"


def _present(value: Value | None) -> Value:
    assert value is not None, "a difference has at least one side"
    return value
