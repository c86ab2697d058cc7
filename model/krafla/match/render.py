"""A report of matching as lines of text, and as JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.counted import counted
from krafla.match.property_checker import temporal_parts
from krafla.traces.encoding import encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.match.nearest import Nearest
    from krafla.match.report import MatchReport, Stuck
    from krafla.oracle import Difference, Reason

__all__ = ["document", "facts_of", "text_lines"]


def text_lines(report: MatchReport) -> Iterator[str]:
    """Yield the facts of a report, each in a line."""
    return (f"{name:<11}{fact}" for name, fact in facts_of(report))


def facts_of(report: MatchReport) -> Iterator[tuple[str, str]]:
    """Yield names and facts: how much was matched, the extent of the search, what is doubtful."""
    total = len(report.trace)
    hidden = f", {counted(report.hidden, 'hidden step')} between them" if report.hidden else ""
    matched = counted(total, "observation")
    if report.accepted < total:
        hidden = f", {counted(report.candidates, 'candidate state')}"
        matched = f"{report.accepted:,} of {matched}"
    order = "" if report.order is None else f", {report.order}"
    yield "matched", f"{matched}{hidden}{order}"
    yield "searched", f"{counted(report.looked_at, 'state')}; {report.bounds}"
    if report.not_judged:
        yield "not judged", temporal_parts(report.not_judged)
    if report.left_out:
        yield "left out", report.left_out
    if report.doubt is not None:
        yield "doubt", report.doubt


def document(report: MatchReport) -> dict[str, Any]:
    """Return a report as JSON data; TLA+ values are encoded as in trace files."""
    return {
        "verdict": report.verdict.value,
        "observations": len(report.trace),
        "accepted": report.accepted,
        "hidden_steps": report.hidden,
        "candidates": report.candidates,
        "states": report.looked_at,
        "bounds": report.bounds,
        "doubt": report.doubt,
        "order": report.order,
        "not_judged": list(report.not_judged),
        "stuck": [_stuck_data(one) for one in report.stuck],
    }


def _stuck_data(stuck: Stuck) -> dict[str, Any]:
    return {
        "hidden": [_step_data(one.action, one.parameters) for one in stuck.hidden],
        "broken": stuck.broken,
        "finding": stuck.explanation.finding,
        "reasons": [_reason_data(one) for one in stuck.explanation.reasons],
        "differences": [_difference_data(one) for one in stuck.explanation.differences],
        "nearest": None if stuck.nearest is None else _nearest_data(stuck.nearest),
    }


def _step_data(action: str, parameters: tuple[Any, ...]) -> dict[str, Any]:
    return {"action": action, "parameters": [encode(one) for one in parameters]}


def _nearest_data(nearest: Nearest) -> dict[str, Any]:
    differences = [_difference_data(one) for one in nearest.differences]
    return _step_data(nearest.action, nearest.parameters) | {"differences": differences}


def _reason_data(reason: Reason) -> dict[str, Any]:
    return {
        "place": str(reason.place),
        "text": reason.text,
        "note": reason.note,
        "values": [[name, encode(value)] for name, value in reason.values],
        "alternatives": [_reason_data(one) for one in reason.alternatives],
    }


def _difference_data(detail: Difference) -> dict[str, Any]:
    return {
        "path": detail.path,
        "spec": None if detail.expected is None else encode(detail.expected),
        "seen": None if detail.got is None else encode(detail.got),
    }
