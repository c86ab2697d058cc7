"""The steps of a trace as a page has them: the changes of each node, and both ends of messages."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.report.explain.pretty import pretty
from krafla.report.explain.view import CUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.report.explain.flights import Flight
    from krafla.report.explain.view import Line, StepView, TraceView

__all__ = ["PageCell", "PageLine", "PageStep", "name_of", "page_steps", "rest_of"]

_COPIES = re.compile(r" \(now \d+ copies\)$")
# Between the value before and the one after, outside of strings.
_ARROW = re.compile(r'("(?:[^"\\]|\\.)*")| -> ')

_Ends = dict[tuple[int, str], list["Flight"]]


@dataclass(frozen=True, slots=True)
class PageLine:
    """A change; all of it if ``text`` is cut; where its message came from or went to.

    ``step`` is the step at the other end of the message, if there is one, ``end`` its name.
    """

    text: str
    whole: str = ""
    way: str = ""
    step: int | None = None
    end: str = ""


@dataclass(frozen=True, slots=True)
class PageCell:
    """The changes of one column."""

    column: int
    name: str
    lines: tuple[PageLine, ...]


@dataclass(frozen=True, slots=True)
class PageStep:
    """A step: its action and what follows in its call, and the changes of each column.

    ``label`` is the number that is shown. ``place`` says where its action is defined and when it
    was taken, ``nothing`` that it changed nothing. ``node`` is the column that acted. ``kind`` is
    ``wrong`` for the step that the finding is about, ``after`` for later ones, ``loop`` for those
    that repeat for ever.
    """

    number: int
    label: str
    action: str
    arguments: str
    whole_call: str
    place: str
    node: int | None
    cells: tuple[PageCell, ...]
    nothing: str
    kind: str = ""


def page_steps(view: TraceView, first: int) -> list[PageStep]:
    """Return the steps of a trace from the first one that is on the page."""
    sent: _Ends = defaultdict(list)
    taken: _Ends = defaultdict(list)
    for flight in view.flights:
        sent[flight.sent, flight.text].append(flight)
        if flight.taken is not None:
            taken[flight.taken, flight.text].append(flight)
    return [_step(view, step, sent, taken) for step in view.steps[first:]]


def rest_of(text: str, whole: str) -> str:
    """Return the whole text in lines if ``text`` was cut; else nothing."""
    return pretty(whole) if CUT in text else ""


def _step(view: TraceView, step: StepView, sent: _Ends, taken: _Ends) -> PageStep:
    time = "" if step.time_ms is None else f"at {step.time_ms:,} ms"
    cells = []
    for index, lines in enumerate(step.cells):
        if lines:
            told = [_line(view, line, step.number, sent, taken) for line in lines]
            cells.append(PageCell(index, view.columns[index].name, tuple(told)))
    return PageStep(
        step.number,
        step.label,
        step.action,
        step.call.removeprefix(step.action),
        rest_of(step.call, step.whole_call),
        ", ".join(one for one in (step.note.remark, step.location, time) if one),
        step.node,
        tuple(cells),
        step.note.nothing,
        _kind(view, step.number),
    )


def _kind(view: TraceView, number: int) -> str:
    outcome = view.outcome
    if view.trace.lasso is not None:
        return "loop" if number > view.trace.lasso else ""
    if outcome is None or not outcome.is_bad or number < outcome.step:
        return ""
    return "wrong" if number == outcome.step else "after"


def name_of(step: StepView) -> str:
    """Return the name of a step in a sentence: its number, or its action if it has none."""
    return f"step {step.label}" if step.note.is_counted else step.action


def _line(view: TraceView, line: Line, number: int, sent: _Ends, taken: _Ends) -> PageLine:
    whole = rest_of(line.text, line.whole)
    sign, _, message = line.text.partition(" ")
    ends = {"+": sent, "-": taken}.get(sign)
    flights: Sequence[Flight] = ()
    if ends is not None:
        flights = ends.get((number, _COPIES.sub("", message)), ())
    text = _ARROW.sub(lambda found: found[1] or " \u2192\u00a0", line.text)
    if not flights:
        return PageLine(text, whole)
    flight = flights[0]
    if sign == "-":
        way = "lost, sent at" if flight.is_lost else "sent at"
        return PageLine(text, whole, way, flight.sent, name_of(view.steps[flight.sent]))
    if flight.taken is None:
        return PageLine(text, whole, "still in flight at the end")
    way = "lost at" if flight.is_lost else "taken at"
    return PageLine(text, whole, way, flight.taken, name_of(view.steps[flight.taken]))
