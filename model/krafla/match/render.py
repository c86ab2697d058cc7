"""A report of matching as lines of text, and as JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.traces.encoding import encode
from krafla.values import fmt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.match.nearest import Nearest
    from krafla.match.report import MatchReport, Stuck
    from krafla.oracle import Difference, Explanation, Reason
    from krafla.traces import Observation

__all__ = ["described", "document", "explained", "text_lines"]


def described(observation: Observation) -> str:
    """Return an observation in short: the action, as far as it is known, and its place."""
    name = observation.action or "a step of any action"
    if observation.parameters:
        shown = ("_" if one is None else fmt(one) for one in observation.parameters)
        name += f"({', '.join(shown)})"
    if observation.time_ms is not None:
        name += f"   at {observation.time_ms:,} ms"
    return f"{name}   {observation.place}" if observation.place else name


def text_lines(report: MatchReport) -> Iterator[str]:
    """Yield lines: what was matched, what was not and why, and the extent of the search."""
    total = len(report.trace)
    if report.accepted == total:
        hidden = f", {report.hidden} hidden steps between them" if report.hidden else ""
        yield f"matched    {total:,} observations{hidden}"
    else:
        candidates = f"{report.candidates:,} candidate state{'s' * (report.candidates != 1)}"
        yield f"matched    {report.accepted:,} of {total:,} observations, {candidates}"
        yield f"event      {described(report.trace.observations[report.accepted])}"
        for number, stuck in enumerate(report.stuck, 1):
            yield from _stuck_lines(stuck, number, len(report.stuck))
    yield f"searched   {report.looked_at:,} states; {report.bounds}"
    if report.doubt is not None:
        yield f"doubt      {report.doubt}"


def _stuck_lines(stuck: Stuck, number: int, count: int) -> Iterator[str]:
    if count > 1:
        hidden = ", ".join(map(str, stuck.hidden))
        yield f"candidate  {number}: {f'after hidden {hidden}' if hidden else 'no hidden step'}"
    broken = "" if stuck.broken is None else f"breaks {stuck.broken}: "
    first, *rest = explained(stuck.explanation)
    yield f"spec says  {broken}{first}"
    yield from rest
    if stuck.nearest is not None:
        yield f"nearest    {stuck.nearest.text}"


def explained(explanation: Explanation) -> list[str]:
    """Return an explanation line by line; a different value with the spec's and the log's."""
    lines = [explanation.finding]
    for reason in explanation.reasons:
        lines += [f"  {line}" for line in str(reason).splitlines()]
    lines += [f"  {_beside(detail)}" for detail in explanation.differences]
    return lines


def _beside(detail: Difference) -> str:
    spec = "absent" if detail.expected is None else fmt(detail.expected)
    log = "absent" if detail.got is None else fmt(detail.got)
    return f"{detail.path}   spec {spec}   seen {log}"


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
