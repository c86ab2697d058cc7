"""What changed between two values, as short lines a person can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.values import Function, Value, fmt, same, sorted_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.traces.trace import Trace

__all__ = ["changes", "step_changes"]


def changes(name: str, before: Value, after: Value) -> list[str]:
    """Return one line for each part of the value that changed; none for equal values.

    Functions are compared point by point, sets by members, sequences by what was appended
    or by position; anything else is shown whole.
    """
    return list(_changes(name, before, after))


def _changes(name: str, before: Value, after: Value) -> Iterator[str]:
    if same(before, after):
        return
    if isinstance(before, Function) and isinstance(after, Function):
        yield from _function(name, before, after)
    elif isinstance(before, frozenset) and isinstance(after, frozenset):
        yield from (f"{name} + {fmt(member)}" for member in sorted_values(after - before))
        yield from (f"{name} - {fmt(member)}" for member in sorted_values(before - after))
    elif isinstance(before, tuple) and isinstance(after, tuple):
        yield from _sequence(name, before, after)
    else:
        yield f"{name}: {fmt(before)} -> {fmt(after)}"


def _function(name: str, before: Function, after: Function) -> Iterator[str]:
    for argument in sorted_values({*before, *after}):
        part = f"{name}{_selector(argument)}"
        if argument not in after:
            yield f"{part} gone (was {fmt(before[argument])})"
        elif argument not in before:
            yield f"{part} = {fmt(after[argument])}"
        else:
            yield from _changes(part, before[argument], after[argument])


def _sequence(name: str, before: tuple[Value, ...], after: tuple[Value, ...]) -> Iterator[str]:
    common = min(len(before), len(after))
    for index in range(common):
        yield from _changes(f"{name}[{index + 1}]", before[index], after[index])
    yield from (f"{name} appends {fmt(member)}" for member in after[common:])
    if len(before) > common:
        yield f"{name} loses its last {len(before) - common}: {fmt(before[common:])}"


def _selector(argument: Value) -> str:
    if isinstance(argument, str) and argument.isidentifier():
        return f".{argument}"
    return f"[{fmt(argument)}]"


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
