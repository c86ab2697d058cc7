"""What a judge found, as the answers of ``krafla judge``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krafla.report.explain.account import Command
from krafla.testing.judge_lines import DifferenceData, VerdictAnswer
from krafla.traces.encoding import encode
from krafla.values import Function, ModelValue, function

if TYPE_CHECKING:
    from krafla.oracle import Difference, Reason
    from krafla.testing.errors import SpecViolation
    from krafla.values import Value

__all__ = ["data_of", "violated"]


def data_of(value: Value) -> Any:
    """Return a value as the JSON that a request may have: strings stand for model values."""
    return encode(_named(value))


def _named(value: Value) -> Value:
    if isinstance(value, ModelValue):
        return value.name
    if isinstance(value, tuple):
        return tuple(map(_named, value))
    if isinstance(value, frozenset):
        return frozenset(map(_named, value))
    if isinstance(value, Function):
        return function((_named(key), _named(result)) for key, result in value.items())
    return value


def violated(found: SpecViolation, candidates: int, line: int, judge: str) -> VerdictAnswer:
    """Return the answer to a request that shows a violation."""
    request = {"save": "found.ndjson"} | ({"judge": judge} if judge else {})
    keep = "a request that saves the steps, for krafla explain or krafla validate"
    found.commands = (Command(json.dumps(request), keep),)
    reason = found.reason
    first = reason.reasons[0] if reason.reasons else None
    return VerdictAnswer(
        verdict="violated",
        candidates=candidates,
        line=line,
        judge=judge,
        reason=reason.finding,
        property=found.broken or "",
        conjunct="" if first is None else first.text,
        place="" if first is None else str(first.place),
        values={} if first is None else _values(first),
        differences=[_difference(one) for one in reason.differences],
        story=str(found),
    )


def _values(reason: Reason) -> dict[str, Any]:
    return {name: data_of(value) for name, value in reason.values}


def _difference(one: Difference) -> DifferenceData:
    return DifferenceData(
        one.path,
        None if one.expected is None else data_of(one.expected),
        None if one.got is None else data_of(one.got),
    )
