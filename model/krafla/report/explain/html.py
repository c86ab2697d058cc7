"""A trace as one offline page: lanes for nodes, arrows for messages, one step at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.report.page import render
from krafla.values import same

if TYPE_CHECKING:
    from krafla.report.explain.outcome import Outcome
    from krafla.report.explain.view import StepView, TraceView

__all__ = ["page_of"]

# The most steps on a page, which a browser opens at once; the last ones are kept.
STEPS_MAX = 20_000

_Pieces = dict[tuple[int, str], str]


def page_of(view: TraceView, path: str, *, steps_max: int = STEPS_MAX) -> str:
    """Return the page. Its fragment says which step and nodes it shows: ``#step=5&nodes=p1,p2``."""
    first = max(0, len(view.steps) - steps_max)
    slots: dict[tuple[int, str], int] = {}
    initial = _delta({}, _whole(view, first), slots)
    steps = [
        _step(view, view.steps[number], first, slots) for number in range(first, len(view.steps))
    ]
    data = {
        "first": first,
        "columns": [{"name": one.name, "stands_for": one.stands_for} for one in view.columns],
        "initial": initial,
        "steps": steps,
        "slots": [list(slot) for slot in slots],
        "flights": [
            [one.text, one.sent, one.taken, one.sender, one.receiver, one.is_lost]
            for one in view.flights
            if one.taken is None or one.taken >= first
        ],
        "meanings": dict(view.meanings),
        "outcome": None if view.outcome is None else _outcome(view.outcome),
    }
    return render(
        "trace.html",
        title=f"{view.title}: trace",
        name=view.title,
        facts=view.facts,
        data=data,
        outcome=view.outcome,
        end=view.end,
        command=f"krafla replay {path}",
        cut=f"{first:,} earlier steps are left out of this page." if first else "",
        actions=sorted({step.action for step in view.steps[first:]}),
    )


def _step(
    view: TraceView, step: StepView, first: int, slots: dict[tuple[int, str], int]
) -> dict[str, Any]:
    lines = [
        [index, line.text, line.whole]
        for index, cell in enumerate(step.cells)
        for line in cell
        if step.number
    ]
    delta: list[list[Any]] = []
    if step.number > first:
        before, after = (view.trace.steps[step.number - back].state for back in (1, 0))
        changed = [
            str(name)
            for name, value in after.items()
            if name not in before or not same(before[name], value)
        ]
        was, now = (_some(view, step.number - back, changed) for back in (1, 0))
        delta = _delta(was, now, slots)
    return {
        "action": step.action,
        "call": step.call,
        "whole": step.whole_call,
        "location": step.location,
        "time_ms": step.time_ms,
        "node": step.node,
        "lines": lines,
        "delta": delta,
    }


def _whole(view: TraceView, number: int) -> _Pieces:
    return {(part.column, part.name): part.text for part in view.parts(number)}


def _some(view: TraceView, number: int, names: list[str]) -> _Pieces:
    return {(part.column, part.name): part.text for part in view.parts(number, names)}


def _delta(was: _Pieces, now: _Pieces, slots: dict[tuple[int, str], int]) -> list[list[Any]]:
    """Return the slots that differ as ``[slot, text]``; the text of a removed one is ``None``."""
    changed = [(slot, text) for slot, text in now.items() if was.get(slot) != text]
    gone = [(slot, None) for slot in was if slot not in now]
    return [[slots.setdefault(slot, len(slots)), text] for slot, text in (*changed, *gone)]


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {"step": outcome.step, "is_bad": outcome.is_bad}
