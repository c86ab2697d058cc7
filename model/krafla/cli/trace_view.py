"""A counterexample on a terminal, as every verb shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from krafla.traces import Trace

__all__ = ["show_trace"]


def show_trace(console: Console, trace: Trace) -> None:
    """Print the steps with what they changed, and the false conjunct if the trace has it."""
    from krafla.report.explain.outcome import outcome_of
    from krafla.report.explain.terminal import show, show_outcome
    from krafla.report.explain.view import view_of

    view = view_of(trace, outcome_of(trace, asks=False))
    show(console, view)
    if view.outcome is not None and view.outcome.falsehoods:
        show_outcome(console, view.outcome)
