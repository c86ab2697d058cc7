"""A kept trace judged: what it comes to, and whether that is what the index says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.match.claim_check import claim_shown
from krafla.match.trace_check import check_trace, shows_no_step
from krafla.traces import read
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.match.corpus import Entry
    from krafla.match.trace_check import TraceReport
    from krafla.oracle import Explanation
    from krafla.traces import Trace

__all__ = ["CorpusResult", "violation_of"]


@dataclass(frozen=True, slots=True)
class CorpusResult:
    """A trace of a corpus after it was replayed; ``objection`` is ``None`` if all is as listed."""

    entry: Entry
    trace: Trace
    report: TraceReport
    objection: str | None

    @classmethod
    def judged(cls, entry: Entry) -> CorpusResult:
        """Return what the file comes to; ``KraflaError`` if it cannot be read or asked."""
        trace = read(entry.path)
        report = check_trace(trace)
        return cls(entry, trace, report, objection(entry, trace, report))

    @property
    def steps(self) -> int:
        """Return how many steps the spec agreed to, after the initial state."""
        return max(0, self.report.steps - 1)


def objection(entry: Entry, trace: Trace, report: TraceReport) -> str | None:
    """Return in what a trace is not as the index says; ``None`` if it is."""
    rejection = report.rejection
    if entry.kind == "rejected":
        if rejection is None:
            return f"accepted, but step {entry.step} is to be rejected"
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
        # A claim excuses its property from being judged, so that nothing would be shown.
        return f"it claims something bad: {trace.claim}" if trace.claims_violation else None
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

    ``KraflaError`` if it claims none, if the property holds there, or if another conjunct than
    the claimed one is false.
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
