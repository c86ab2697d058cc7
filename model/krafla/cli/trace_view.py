"""A trace on a terminal: each step with its action and only what it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from krafla.cli import screen
from krafla.traces import Trace, step_changes
from krafla.values import fmt

if TYPE_CHECKING:
    from rich.console import Console

    from krafla.traces import Step

__all__ = ["show_trace"]

# Below this width a table breaks every value into crumbs.
_TABLE_WIDTH_MIN = 60


def show_trace(console: Console, trace: Trace) -> None:
    """Print the trace: as a table on a wide terminal, else as plain lines."""
    if console.is_terminal and console.width >= _TABLE_WIDTH_MIN:
        console.print(_table(trace))
    else:
        for index, step in enumerate(trace.steps):
            place = f"   {step.location}" if step.location else ""
            screen.line(console, f"{index + 1:3} {title(step)}{place}")
            for change in _lines(trace, index):
                screen.line(console, f"      {change}")
    for sentence in _end(trace):
        screen.line(console, f"    {sentence}")


def _table(trace: Trace) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("step", justify="right", style="dim", no_wrap=True)
    table.add_column("action", style="bold")
    table.add_column("changed", overflow="fold")
    for index, step in enumerate(trace.steps):
        action = Text(title(step))
        if step.location:
            action.append(f"\n{step.location}", style="dim")
        table.add_row(str(index + 1), action, Text("\n".join(_lines(trace, index))))
    return table


def title(step: Step) -> str:
    """Return the step's action with its arguments as far as they are known."""
    if not step.parameters:
        return step.action
    return f"{step.action}({', '.join(fmt(argument) for argument in step.parameters)})"


def _lines(trace: Trace, index: int) -> list[str]:
    return step_changes(trace, index) or ["nothing changed"]


def _end(trace: Trace) -> list[str]:
    if trace.lasso is None:
        return []
    if trace.stutters:
        return [f"and stays in state {trace.lasso + 1} for ever"]
    return [f"and back to state {trace.lasso + 1} by {trace.back or 'a step'}, for ever"]
