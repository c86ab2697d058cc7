"""What an answer of ``krafla validate`` suggests about the log itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from krafla.values import Function, ModelValue, fmt

if TYPE_CHECKING:
    from krafla.match import MatchReport
    from krafla.values import Value

__all__ = ["hidden_before", "shown_in_part"]


def hidden_before(report: MatchReport) -> tuple[str, ...]:
    """Return the hidden actions with which a denied observation may have a behaviour.

    Empty if no single step of the spec leads to what was seen, or any action is hidden already.
    """
    nearest = report.stuck[0].nearest if report.stuck else None
    observed = report.trace.observations[report.accepted].action if report.stuck else None
    hidden = report.trace.hidden
    if nearest is None or nearest.differences or hidden is None:
        return ()
    if observed is None or nearest.action in {observed, *hidden}:
        return ()
    return (*hidden, nearest.action)


def shown_in_part(report: MatchReport) -> str:
    """Return how to show a part of a variable, if all that differs is what a function lacks."""
    differences = report.stuck[0].explanation.differences if report.stuck else ()
    if not differences or any(one.got is not None or len(one.steps) != 2 for one in differences):
        return ""
    lacking = {str(one.steps[0]) for one in differences}
    for part, value in report.trace.observations[report.accepted].seen:
        if len(part) == 1 and str(part[0]) in lacking and isinstance(value, Function) and value:
            key = next(iter(value))
            shown = json.dumps([[[str(part[0]), _plain(key)], "..."]])
            return f'a whole {part[0]} was seen; to show a part of it, write "seen": {shown}'
    return ""


def _plain(key: Value) -> str | int:
    if isinstance(key, ModelValue):
        return str(key)
    return key if isinstance(key, str | int) else fmt(key)
