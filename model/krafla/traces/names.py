"""The names in a trace that its spec does not have, found before anything is evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.traces.trace import INITIAL, Trace

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from krafla.traces.partial import PartialTrace

__all__ = ["unknown_names"]


def unknown_names(
    trace: Trace | PartialTrace,
    *,
    actions: Collection[str],
    variables: Collection[str],
    constants: Collection[str],
) -> tuple[str, ...]:
    """Return one line for each name in the trace that the spec does not have, in order.

    ``actions``, ``variables`` and ``constants`` are those of the spec. A constant of the spec
    without a value in the trace is named too.
    """
    given = [name for name, _ in trace.constants]
    found = [
        *(f"constant {name}: {trace.spec} has none" for name in given if name not in constants),
        *(f"constant {name}: the trace gives no value" for name in constants if name not in given),
    ]
    lines = _of_steps(trace) if isinstance(trace, Trace) else _of_observations(trace)
    for place, action, touched in lines:
        if action not in (None, INITIAL) and action not in actions:
            found.append(f"{place}: {trace.spec} has no action {action}")
        found += [
            f"{place}: {trace.spec} has no variable {name}"
            for name in touched
            if name not in variables
        ]
    return tuple(found)


def _of_steps(trace: Trace) -> Iterator[tuple[str, str | None, tuple[str, ...]]]:
    for index, step in enumerate(trace.steps):
        # All steps have the variables of the first.
        yield f"step {index}", step.action, tuple(map(str, step.state)) if index == 0 else ()
    if trace.back:
        yield "the step back", trace.back, ()


def _of_observations(
    trace: PartialTrace,
) -> Iterator[tuple[str, str | None, tuple[str, ...]]]:
    for name in trace.hidden or ():
        yield "hidden", name, ()
    for index, one in enumerate(trace.observations):
        touched = dict.fromkeys(str(part[0]) for part, _ in one.seen)
        yield f"observation {index}", one.action, tuple(touched)
