"""Messages in flight: the step that sent each message, and the step that took or lost it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krafla.traces.changes import Change, Sort, deep_changes
from krafla.values import Function, Value, same, sort_key

if TYPE_CHECKING:
    from krafla.report.explain.layout import Layout
    from krafla.traces import Step, Trace

__all__ = ["Flight", "flights"]


@dataclass(frozen=True, slots=True)
class Flight:
    """A message between two steps; ``taken`` is ``None`` while it is in flight at the end.

    ``sender`` and ``receiver`` are columns. ``is_lost``: it was not received.
    """

    text: str
    sent: int
    taken: int | None
    sender: int | None
    receiver: int | None
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class _Open:
    """A message in flight: the step that sent it, and its id in the implementation."""

    message: Value
    sent: int
    message_id: int | None


def flights(trace: Trace, layout: Layout) -> tuple[Flight, ...]:
    """Return every message of a trace in the order of sending.

    The ids in the steps' events distinguish copies of one message; without ids the oldest copy is
    taken first.
    """
    if layout.bag is None:
        return ()
    done: list[Flight] = []
    waiting: dict[tuple[Any, ...], list[_Open]] = defaultdict(list)
    for number, step in enumerate(trace.steps[1:], start=1):
        before = trace.steps[number - 1].state
        if layout.bag not in before or layout.bag not in step.state:
            continue
        changes = deep_changes(layout.bag, before[layout.bag], step.state[layout.bag])
        _step(layout, number, step, changes, waiting, done)
    for copies in waiting.values():
        done += [_flight(layout, one, None) for one in copies]
    return tuple(sorted(done, key=lambda one: (one.sent, one.taken or len(trace.steps), one.text)))


def _step(
    layout: Layout,
    number: int,
    step: Step,
    changes: list[Change],
    waiting: dict[tuple[Any, ...], list[_Open]],
    done: list[Flight],
) -> None:
    gained = [c.after for c in changes if c.sort is Sort.GAINED and c.after is not None]
    taken_id = step.event.taken if step.event is not None else None
    for change in changes:
        if change.sort is not Sort.LOST or change.before is None:
            continue
        message = change.before
        copies = waiting[sort_key(message)]
        is_taken = any(same(message, one) for one in step.parameters or ())
        kept = None if is_taken else _relabelled(message, gained)
        while len(copies) > change.copies:
            one = next((c for c in copies if c.message_id == taken_id), copies[0])
            copies.remove(one)
            if kept is not None:
                # Only a flag of the message changed, such as whether its sender waits.
                waiting[sort_key(kept)].append(_Open(kept, one.sent, one.message_id))
            else:
                is_lost = not is_taken or step.action in layout.lost
                done.append(_flight(layout, one, number, is_lost=is_lost))
        if kept is not None:
            gained = [other for other in gained if not same(other, kept)]
    ids = list(step.event.sent) if step.event is not None else []
    for message in gained:
        message_id = ids.pop(0) if ids else None
        waiting[sort_key(message)].append(_Open(message, number, message_id))


def _relabelled(message: Value, gained: list[Value]) -> Value | None:
    """Return the message that differs from this one in a single boolean field, or ``None``."""
    for other in gained:
        if not isinstance(message, Function) or not isinstance(other, Function):
            continue
        if [*message] != [*other]:
            continue
        fields = [name for name in message if not same(message[name], other[name])]
        if len(fields) == 1 and isinstance(message[fields[0]], bool):
            return other
    return None


def _flight(layout: Layout, one: _Open, taken: int | None, *, is_lost: bool = False) -> Flight:
    sender, receiver = layout.ends(one.message) or (None, None)
    text = layout.words.value(one.message)
    return Flight(text, one.sent, taken, sender, receiver, is_lost)
