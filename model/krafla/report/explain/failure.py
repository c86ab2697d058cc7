"""The failure text of a test that replays a kept trace."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console

from krafla.report.explain.outcome import outcome_of
from krafla.report.explain.terminal import show, show_outcome
from krafla.report.explain.view import view_of
from krafla.report.explain.words import inert
from krafla.traces import Trace

if TYPE_CHECKING:
    from krafla.match.corpus import Entry

__all__ = ["failure_text"]

_WIDTH = 100
_STEPS_SHOWN = 6


def failure_text(entry: Entry, error: Exception) -> str:
    """Return the entry's reason, the error, the last steps, and the commands that show more.

    The steps are those of the error's attribute ``trace``, if it has one.
    """
    lines = [inert(f"{entry.kind}: {entry.reason}")]
    if entry.tags:
        lines.append(f"tags: {', '.join(entry.tags)}")
    lines += ["", *map(inert, str(error).splitlines())]
    trace = getattr(error, "trace", None)
    if isinstance(trace, Trace):
        lines += ["", *_told(trace)]
    verbs = ("replay",) if entry.is_run else ("explain", "replay")
    lines += ["", *(f"krafla {verb} {entry.path}" for verb in verbs)]
    return "\n".join(lines)


def _told(trace: Trace) -> list[str]:
    text = io.StringIO()
    console = Console(file=text, width=_WIDTH, no_color=True, highlight=False)
    view = view_of(trace, outcome_of(trace))
    last = len(trace.steps) - 1 if view.outcome is None else view.outcome.step
    show(console, view, steps=set(range(max(0, last - _STEPS_SHOWN + 1), last + 1)))
    if view.outcome is not None:
        show_outcome(console, view.outcome)
    return text.getvalue().splitlines()
