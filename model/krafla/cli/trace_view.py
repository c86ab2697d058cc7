"""A counterexample on a terminal, as every verb shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from rich.console import Console

    from krafla.manifest import Model
    from krafla.traces import Trace

__all__ = ["show_trace"]


def show_trace(console: Console, trace: Trace, model: Model | None = None) -> None:
    """Print the steps with their changes, and the false conjunct with its values.

    The trace names the conjunct, or the spec under the cfg of ``model`` finds it in the last state.
    If the spec cannot be loaded, the steps are shown all the same.
    """
    from krafla.report.explain.outcome import outcome_of
    from krafla.report.explain.terminal import show, show_outcome
    from krafla.report.explain.view import view_of

    if model is not None:
        trace = _explained(trace, model)
    view = view_of(trace, outcome_of(trace, asks=False))
    show(console, view)
    if view.outcome is not None and view.outcome.falsehoods:
        show_outcome(console, view.outcome)


def _explained(trace: Trace, model: Model) -> Trace:
    from krafla.match.counterexample import explained

    try:
        return explained(trace, model)
    except KraflaError:
        # What TLC printed stands, with less to say about it.
        return trace
