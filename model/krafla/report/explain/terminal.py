"""A trace as a table with a column for each node, or in plain lines, as wide as the terminal.

Nothing is shown by colour alone, so a pipe, ``NO_COLOR`` and paper lose nothing.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from krafla.report.explain.grid import grid_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rich.console import Console

    from krafla.report.explain.grid import Grid
    from krafla.report.explain.outcome import Outcome
    from krafla.report.explain.view import StepView, TraceView

__all__ = ["show", "show_outcome"]

# Narrower columns would break every value into small pieces.
_COLUMN_WIDTH_MIN = 28
_FIRST_COLUMNS_WIDTH = 44
_INITIAL_LINES_MAX = 8
_INDENT = 6
_CALL_MAX = 28
_INITIAL = "the initial state (krafla explain TRACE --all shows it)"


def show(
    console: Console,
    view: TraceView,
    *,
    steps: Collection[int] | None = None,
    nodes: Collection[int] | None = None,
    whole: bool = False,
) -> None:
    """Print all or some steps of a trace, with the changes of all or some nodes.

    ``whole`` adds the whole state after each step.
    """
    chosen = [step for step in view.steps if steps is None or step.number in steps]
    columns = [index for index in range(len(view.columns)) if nodes is None or index in nodes]
    used = [index for index in columns if any(step.cells[index] for step in chosen if step.number)]
    wanted = _FIRST_COLUMNS_WIDTH + _COLUMN_WIDTH_MIN * len(used)
    if len(view.columns) > 1 and used and not whole and console.width >= wanted:
        console.print(_table(view, chosen, used))
    elif nodes is None and not whole and (grid := grid_of(view, used, console.width)) is not None:
        _grid(console, grid, chosen)
    else:
        for step in chosen:
            for line in _stacked(view, step, columns, whole=whole):
                _line(console, line)
    if view.end and (steps is None or len(view.steps) - 1 in steps):
        _line(console, f"    {view.end}")
    for index in used:
        if view.columns[index].stands_for:
            column = view.columns[index]
            _line(console, f"    {column.name}: {column.stands_for}")


def show_outcome(console: Console, outcome: Outcome) -> None:
    """Print the outcome of a trace: the false conjuncts with their values, and the differences."""
    _line(console, outcome.headline, "bold red" if outcome.is_bad else "bold")
    if outcome.meaning:
        _wrapped(console, outcome.meaning, 4)
    for falsehood in outcome.falsehoods:
        for hop in falsehood.via:
            _line(console, f"    {hop}")
        _line(console, f"    {falsehood.place}", "dim")
        for text in falsehood.text.splitlines():
            _line(console, f"        {text}", "bold")
        if falsehood.note:
            _line(console, f"      {falsehood.note}")
        for name, short, _ in falsehood.values:
            _line(console, f"      {name} = {short}")
    if outcome.differences:
        _sides(console, outcome)
    if outcome.nearest:
        _line(console, f"    nearest step of the spec: {outcome.nearest}")


def _sides(console: Console, outcome: Outcome) -> None:
    """Print what was expected and done side by side if there is room, else one below the other."""
    rows = outcome.differences
    path, expected = (max(len(row[i]) for row in rows) for i in (0, 1))
    if 4 + path + expected + max(len(row[2]) for row in rows) + 6 <= console.width:
        path, expected = max(path, 4), max(expected, len("spec expects"))
        _line(console, f"    {'part':{path}}   {'spec expects':{expected}}   was done", "dim")
        for row in rows:
            _line(console, f"    {row[0]:{path}}   {row[1]:{expected}}   {row[2]}")
        return
    for name, wanted, got in rows:
        _line(console, f"    {name}")
        _line(console, f"      spec expects  {wanted}")
        _line(console, f"      was done      {got}")


def _table(view: TraceView, chosen: Sequence[StepView], columns: Sequence[int]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold underline")
    table.add_column("step", justify="right", no_wrap=True)
    table.add_column("action", overflow="fold", ratio=4)
    for index in columns:
        table.add_column(Text(view.columns[index].name), overflow="fold", ratio=5)
    for step in chosen:
        head = Text(_broken(step), style="bold")
        for remark in _remarks(step):
            head.append(f"\n{remark}", style="dim")
        cells = [_cell(view, step, index) for index in columns]
        style = "red" if _is_wrong(view, step) else ""
        table.add_row(Text(_number(view, step)), head, *cells, style=style)
    return table


def _grid(console: Console, grid: Grid, chosen: Sequence[StepView]) -> None:
    _line(console, grid.head(), "bold")
    for step in chosen:
        style = "bold red" if _is_wrong(grid.view, step) else "bold"
        for line in grid.action(_number(grid.view, step), step.call, _remarks(step)):
            _line(console, line, style)
        if step.number == 0 and _initial_count(grid.view) > _INITIAL_LINES_MAX:
            _line(console, " " * _INDENT + _INITIAL)
            continue
        rows = [*grid.rows(step)] or [" " * _INDENT + "nothing changed"]
        for row in rows:
            _line(console, row)


def _broken(step: StepView) -> str:
    """Return the call; its arguments have a line of their own if it does not fit on one line."""
    if len(step.call) <= _CALL_MAX:
        return step.call
    return f"{step.action}\n{step.call.removeprefix(step.action)}"


def _cell(view: TraceView, step: StepView, index: int) -> Text:
    lines = [line.text for line in step.cells[index]]
    if step.number == 0 and _initial_count(view) > _INITIAL_LINES_MAX:
        lines = ["initial state"] if lines else []
    return Text("\n".join(lines))


def _stacked(
    view: TraceView, step: StepView, columns: Sequence[int], *, whole: bool
) -> Iterator[str]:
    remarks = "".join(f"   {remark}" for remark in _remarks(step))
    yield f"{_number(view, step):>3} {step.call}{remarks}"
    named = len(view.columns) > 1
    label = max(len(view.columns[index].name) for index in columns) + 2 if named and columns else 0
    rows = [(index, line.text) for index in columns for line in step.cells[index]]
    if step.number == 0 and not whole and len(rows) > _INITIAL_LINES_MAX:
        rows = []
        yield " " * _INDENT + _INITIAL
    elif not rows:
        others = any(step.cells)
        yield " " * _INDENT + ("nothing changed here" if others else "nothing changed")
    if whole and step.number:
        yield from _labelled(view, rows, label)
        yield " " * _INDENT + "and so the state is"
        rows = [
            (part.column, f"{part.name} = {part.text}" if part.text else part.name)
            for part in view.parts(step.number)
            if part.column in columns
        ]
    yield from _labelled(view, rows, label)


def _labelled(view: TraceView, rows: Sequence[tuple[int, str]], label: int) -> Iterator[str]:
    last = ""
    for index, text in rows:
        name = view.columns[index].name if label else ""
        shown = "" if name == last else name
        last = name
        yield f"{' ' * _INDENT}{shown:{label}}{text}"


def _number(view: TraceView, step: StepView) -> str:
    # A mark without colour: the outcome below is about this step.
    return f">{step.number}" if _is_wrong(view, step) else str(step.number)


def _is_wrong(view: TraceView, step: StepView) -> bool:
    return view.outcome is not None and view.outcome.is_bad and view.outcome.step == step.number


def _remarks(step: StepView) -> list[str]:
    time = [] if step.time_ms is None else [f"at {step.time_ms:,} ms"]
    return [one for one in (step.location, *time) if one]


def _initial_count(view: TraceView) -> int:
    return sum(map(len, view.steps[0].cells)) if view.steps else 0


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style=style), soft_wrap=True)


def _wrapped(console: Console, text: str, indent: int) -> None:
    width = max(20, min(console.width, 100) - indent)
    for line in textwrap.wrap(text, width):
        _line(console, " " * indent + line)
