"""The judgement of one kept trace, compared with what the index lists."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from krafla.match.claim_check import claim_shown
from krafla.match.spec_source import is_at_hand
from krafla.match.trace_check import check_trace, shows_no_step
from krafla.traces import read_whole_trace
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.match.corpus import Entry
    from krafla.match.trace_check import TraceReport
    from krafla.oracle import Explanation
    from krafla.traces import Trace

__all__ = ["CorpusResult", "violation_of"]


@dataclass(frozen=True, slots=True)
class CorpusResult:
    """A replayed trace of a corpus; ``objection`` is ``None`` if the result is as listed."""

    entry: Entry
    trace: Trace
    report: TraceReport
    objection: str | None

    @classmethod
    def judged(cls, entry: Entry) -> CorpusResult:
        """Return the result for a file; ``KraflaError`` if it cannot be read or judged.

        The specs at hand judge it, whatever text of them it carries; only if they lack its spec,
        its own text does.
        """
        trace = read_whole_trace(entry.path)
        trace = replace(trace, text=None) if is_at_hand(trace) else trace
        report = check_trace(trace)
        return cls(entry, trace, report, objection(entry, trace, report))

    @property
    def steps(self) -> int:
        """Return how many steps after the initial state the spec accepted."""
        return max(0, self.report.steps - 1)


def objection(entry: Entry, trace: Trace, report: TraceReport) -> str | None:
    """Return how the result differs from the index; ``None`` if it does not."""
    rejection = report.rejection
    if entry.kind == "rejected":
        if rejection is None:
            return f"accepted, but step {entry.step} must be rejected"
        if rejection.index != entry.step:
            return f"rejected at step {rejection.index}, not {entry.step}"
        if not any(str(entry.names) in name for name in rejection.names):
            return f"rejected, but not for {entry.names}: {rejection}"
        return None
    if rejection is not None:
        return str(rejection)
    if entry.kind == "accepted":
        if shows_no_step(trace):
            return "it shows no step"
        # A claimed property is not judged, so an accepted trace must claim none.
        return f"it claims a violation: {trace.claim}" if trace.claims_violation else None
    try:
        explanation = violation_of(trace)
    except KraflaError as error:
        return str(error)
    texts = [reason.text for reason in explanation.reasons]
    if not any(str(entry.names) in text for text in texts):
        return f"violates {_claimed(trace)}, but not for {entry.names}: {explanation}"
    return None


def violation_of(trace: Trace) -> Explanation:
    """Return why the property that a trace claims to violate is false at its end.

    ``KraflaError`` if the trace claims none, if the property holds there, or if a conjunct is
    false that is not the claimed one.
    """
    shown = claim_shown(trace)
    if shown is None or shown.is_shown is None:
        raise KraflaError("it claims to violate no property of a state or a step")
    if not shown.is_shown or shown.explanation is None:
        more = "" if shown.explanation is None else f": {shown.explanation}"
        raise KraflaError(f"it {shown.sentence}{more}")
    return shown.explanation


def _claimed(trace: Trace) -> str:
    return str(trace.claim.property) if trace.claim is not None else "nothing"
