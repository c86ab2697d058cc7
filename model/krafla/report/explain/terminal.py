"""A trace and its outcome in lines of text, as wide as the terminal.

Each line comes with its style. Nothing is told by a style alone, so a pipe, ``NO_COLOR`` and paper
lose nothing.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, TypeAlias

from krafla.report.explain.grid import MARK, grid_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from krafla.report.explain.grid import Grid
    from krafla.report.explain.outcome import Outcome
    from krafla.report.explain.view import StepView, TraceView

__all__ = ["LEGEND", "Styled", "outcome_lines", "step_lines"]

Styled: TypeAlias = tuple[str, str]
"""A line, and the style of all of it, which may be empty."""

LEGEND = "+ enters, - leaves, x: a -> b was a and is now b"
"""What the signs of a change mean."""

# A longer initial state would stand between the failure and the steps.
_INITIAL_LINES_MAX = 24
_INDENT = 6
_PROSE_WIDTH = 100
_UNJUDGED = "the steps from here on were not judged"


def outcome_lines(outcome: Outcome, width: int) -> Iterator[Styled]:
    """Yield what is violated, the false conjuncts with their values, and what differs."""
    first, second = outcome.sentences
    yield from ((line, _loud(outcome)) for line in _wrapped(first, 2, width))
    yield from ((line, "") for line in _wrapped(second, 2, width))
    for falsehood in outcome.falsehoods:
        for hop in falsehood.via:
            yield f"    {hop}", ""
        if falsehood.place:
            yield f"    {falsehood.place}", "dim"
        yield from ((f"        {text}", "bold") for text in falsehood.text.splitlines())
        yield from ((line, "") for line in _wrapped(falsehood.note, 6, width))
        yield from ((f"      {name} = {short}", "") for name, short, _ in falsehood.values)
    if outcome.differences:
        yield from _sides(outcome, width)
    for name, meaning in outcome.breaks:
        told = f"the state breaks {name}{f': {meaning}' if meaning else ''}"
        yield from ((line, "") for line in _wrapped(told, 4, width))
    if outcome.nearest:
        yield f"    {outcome.nearest}", ""


def _loud(outcome: Outcome) -> str:
    return "bold red" if outcome.is_bad else "bold"


def _sides(outcome: Outcome, width: int) -> Iterator[Styled]:
    """Yield both sides of each difference in columns if there is room, else one below the other."""
    rows, (left, right) = outcome.differences, outcome.sides
    path, expected = (max(len(row[i]) for row in rows) for i in (0, 1))
    if 4 + path + expected + max(len(row[2]) for row in rows) + 6 <= width:
        path, expected = max(path, 4), max(expected, len(left))
        yield f"    {'part':{path}}   {left:{expected}}   {right}", "dim"
        for row in rows:
            yield f"    {row[0]:{path}}   {row[1]:{expected}}   {row[2]}", ""
        return
    label = max(map(len, outcome.sides))
    for name, wanted, got in rows:
        yield f"    {name}", ""
        yield f"      {left:{label}}  {wanted}", ""
        yield f"      {right:{label}}  {got}", ""


def step_lines(
    view: TraceView,
    width: int,
    *,
    steps: Collection[int] | None = None,
    nodes: Collection[int] | None = None,
    whole: bool = False,
) -> Iterator[Styled]:
    """Yield all or some steps of a trace, with the changes of all or some nodes.

    ``whole`` adds the whole state after each step. A long initial state is only counted, unless it
    is all that is shown.
    """
    chosen = [step for step in view.steps if steps is None or step.number in steps]
    columns = [index for index in range(len(view.columns)) if nodes is None or index in nodes]
    used = [index for index in columns if any(step.cells[index] for step in chosen if step.number)]
    grid = None if nodes is not None or whole else grid_of(view, used, width)
    longest = None if whole or len(chosen) == 1 else _INITIAL_LINES_MAX
    if grid is not None:
        yield grid.head(), "bold"
    for step in chosen:
        if grid is not None:
            yield from _in_columns(grid, step, longest)
        else:
            yield from ((line, "") for line in _stacked(view, step, columns, longest, whole=whole))
        if _is_wrong(view, step) and step.number < len(view.steps) - 1:
            yield f"    {_UNJUDGED}", "dim"
    if view.end and (steps is None or len(view.steps) - 1 in steps):
        yield f"    {view.end}", ""
    for index in used:
        if view.columns[index].stands_for:
            yield f"    {view.columns[index].name}: {view.columns[index].stands_for}", ""
    network = None if view.layout.bag is None else view.layout.owner((view.layout.bag,))[0]
    idle = [index for index in columns if index not in used and index != network]
    same = [view.columns[index].name for index in idle]
    if same and used and not whole:
        yield f"    unchanged in these steps: {', '.join(same)}", "dim"


def _in_columns(grid: Grid, step: StepView, longest: int | None) -> Iterator[Styled]:
    is_wrong = _is_wrong(grid.view, step)
    style = "bold red" if is_wrong else "bold"
    for line in grid.action(step.label, step.call, _remarks(grid.view, step)):
        yield line, style
    rows = [*grid.rows(step)]
    if _is_too_long(step, len(rows), longest):
        rows = [_initial(sum(map(len, step.cells)))]
    for row in rows or _unchanged(step):
        yield row, ""


def _stacked(
    view: TraceView, step: StepView, columns: Sequence[int], longest: int | None, *, whole: bool
) -> Iterator[str]:
    remarks = "".join(f"   {remark}" for remark in _remarks(view, step))
    yield f"{step.label:>3} {step.call}{remarks}"
    named = len(view.columns) > 1
    label = max(len(view.columns[index].name) for index in columns) + 2 if named and columns else 0
    rows = [(index, line.text) for index in columns for line in step.cells[index]]
    if _is_too_long(step, len(rows), longest):
        yield _initial(len(rows))
        rows = []
    elif not rows:
        yield from _unchanged(step)
    if whole and step.number:
        yield from _labelled(view, rows, label)
        yield " " * _INDENT + "and so the state is"
        rows = [
            (part.column, f"{part.name} = {part.text}" if part.text else part.name)
            for part in view.parts(step.number)
            if part.column in columns
        ]
    yield from _labelled(view, rows, label)


def _unchanged(step: StepView) -> Iterator[str]:
    """Yield what is to be said below a step where the shown nodes have no change."""
    told = "nothing changed here" if any(step.cells) else step.note.nothing
    if told:
        yield " " * _INDENT + told


def _labelled(view: TraceView, rows: Sequence[tuple[int, str]], label: int) -> Iterator[str]:
    last = ""
    for index, text in rows:
        name = view.columns[index].name if label else ""
        shown = "" if name == last else name
        last = name
        yield f"{' ' * _INDENT}{shown:{label}}{text}"


def _is_wrong(view: TraceView, step: StepView) -> bool:
    return view.outcome is not None and view.outcome.is_bad and view.outcome.step == step.number


def _remarks(view: TraceView, step: StepView) -> list[str]:
    outcome, mark = view.outcome, ""
    if outcome is not None and outcome.here and outcome.step == step.number:
        mark = f"{MARK}{outcome.here}"
    time = "" if step.time_ms is None else f"at {step.time_ms:,} ms"
    return [one for one in (mark, step.note.remark, step.location, time) if one]


def _is_too_long(step: StepView, lines: int, longest: int | None) -> bool:
    return step.number == 0 and longest is not None and lines > longest


def _initial(values: int) -> str:
    return " " * _INDENT + f"the initial state: {values} values (krafla explain --all shows them)"


def _wrapped(text: str, indent: int, width: int) -> Iterator[str]:
    room = max(20, min(width, _PROSE_WIDTH) - indent)
    for line in textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False):
        yield " " * indent + line
