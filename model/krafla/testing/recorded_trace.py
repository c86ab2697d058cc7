"""A recorded trace as a test: the spec judges it as ``krafla replay`` and ``validate`` do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from krafla.match.claim_check import claim_shown
from krafla.match.property_checker import configured_properties, judged_properties
from krafla.match.spec_source import text_of
from krafla.match.trace_check import check_trace, shows_no_step
from krafla.match.validation import takes_only_next, validated
from krafla.report.explain.account import Account
from krafla.report.explain.match_account import account_of_match
from krafla.report.explain.outcome import outcome_of_rejection
from krafla.report.explain.view import view_of
from krafla.testing.errors import Inconclusive, SpecViolation, Story
from krafla.testing.origins import MACHINE
from krafla.testing.schedule import schedule_of_failure
from krafla.traces import ClaimKind, PartialTrace, Trace, partial
from krafla.traces.trace import INITIAL
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from krafla.match import MatchReport
    from krafla.match.trace_check import Rejection, TraceReport
    from krafla.oracle import Spec
    from krafla.oracle.properties import Properties
    from krafla.testing.schedule import Schedule

__all__ = ["is_failure_of_machine", "is_of_machine", "judge_recorded", "schedule_of"]

# The names of an unknown action; a reader of ITF or of TLC's output writes Next.
_UNNAMED: Final = frozenset({"", "Next"})
_WITHOUT_CLAIM: Final = "remove the claim from its first line to test the steps alone"


def judge_recorded(trace: Trace | PartialTrace, spec: Spec) -> str | None:
    """Judge a trace by a spec: ``SpecViolation`` at the first step that the spec does not have.

    The properties in the cfg of ``spec`` are judged, too. A trace that claims a violation must show
    it: the last step is none of the spec's, or the property is false at the end; ``KraflaError`` if
    it does not. ``Inconclusive`` if the trace shows no step, the search for a partial trace was cut
    off, or the spec cannot be asked about the claim. If only the code can be asked about it, this
    doubt is returned.
    """
    __tracebackhide__ = True
    seen = trace if isinstance(trace, PartialTrace) else _seen(trace, spec)
    if isinstance(seen, PartialTrace):
        _judge_partial(_report_on(seen, spec))
        return None
    return _judge_whole(seen, spec)


def _seen(trace: Trace, spec: Spec) -> Trace | PartialTrace:
    """Return a trace as what was seen, if it lacks variables or actions: Apalache's may.

    One with a claim or a lasso must have all.
    """
    if not trace.steps or trace.claims_violation or trace.lasso is not None:
        return trace
    unnamed = _UNNAMED.difference(one.name for one in spec.actions)
    lacks = set(spec.variables).difference(map(str, trace.steps[0].state))
    if not lacks and not any(one.action in unnamed for one in trace.steps[1:]):
        return trace
    found = partial(trace)
    first, *others = found.observations
    rest = (
        replace(one, action=None, parameters=None) if one.action in unnamed else one
        for one in others
    )
    return replace(found, observations=(replace(first, action=INITIAL), *rest))


def _judge_whole(trace: Trace, spec: Spec) -> str | None:
    __tracebackhide__ = True
    report = check_trace(trace, spec, _properties_of(spec))
    if report.rejection is not None:
        if not _is_as_claimed(report):
            raise _violation(trace, report.rejection, spec)
        return None
    shown = claim_shown(trace, spec)
    if shows_no_step(trace) and (shown is None or shown.is_shown is None):
        raise Inconclusive(f"a trace of {trace.spec} without a step shows nothing")
    if shown is None:
        return None
    doubt = f"every step is one of {trace.spec}; the trace {shown.sentence}"
    if shown.is_shown is None and _is_of_code(trace):
        return f"{doubt}, and no machine was asked"
    if shown.is_shown is None:
        raise Inconclusive(f"{doubt}; {_WITHOUT_CLAIM}")
    if not shown.is_shown:
        raise KraflaError(f"{doubt}; {_WITHOUT_CLAIM}")
    return None


def _properties_of(spec: Spec) -> Properties:
    cfg = spec.configuration
    if cfg is None:
        return judged_properties(spec.name, spec.module)
    return configured_properties(spec, cfg)


def is_failure_of_machine(trace: Trace | PartialTrace) -> bool:
    """Return whether a whole trace was saved where the code of a machine did its last step."""
    if isinstance(trace, PartialTrace) or not trace.claims_violation:
        return False
    return trace.origin is not None and trace.origin.made_by == MACHINE


def is_of_machine(trace: PartialTrace) -> bool:
    """Return whether the code of a machine did what a partial trace shows, as its header says."""
    return trace.machine is not None or trace.made_by == MACHINE


def _is_of_code(trace: Trace) -> bool:
    return trace.claim is not None and trace.claim.kind is ClaimKind.FAILURE


def _is_as_claimed(report: TraceReport) -> bool:
    """Return whether the spec denies the step that the trace claims it denies: the last."""
    claim, last = report.trace.claim, len(report.trace) - 1
    return claim is not None and claim.kind is ClaimKind.DIVERGENCE and report.steps == last


def _violation(trace: Trace, rejection: Rejection, spec: Spec) -> SpecViolation:
    def tell() -> Story:
        text = text_of(spec.module, spec.configuration)
        found = replace(trace, claim=None, text=text)
        if rejection.index < len(trace) - 1:
            steps = trace.steps[: rejection.index + 1]
            found = replace(found, steps=steps, lasso=None, back="")
        outcome = outcome_of_rejection(found, rejection)
        account = Account(outcome, view_of(found, outcome))
        return Story(rejection.explanation, found, account, rejection.broken)

    return SpecViolation(rejection.step.action, rejection.step.parameters or (), tell)


def _report_on(trace: PartialTrace, spec: Spec) -> MatchReport:
    return validated(trace, spec, _properties_of(spec), only_next=takes_only_next(trace))


def _judge_partial(report: MatchReport) -> None:
    __tracebackhide__ = True
    if report.verdict is Verdict.INCONCLUSIVE:
        raise Inconclusive(report.doubt or "the search was cut off")
    if report.verdict is Verdict.VIOLATED:
        last = report.trace.observations[report.accepted]
        given = tuple(... if one is None else one for one in last.parameters or ())
        raise SpecViolation(last.action, given, lambda: _story(report))


def _story(report: MatchReport) -> Story:
    account = account_of_match(report)
    assert account is not None, "a trace without a behaviour has an account"
    first = report.stuck[0]
    return Story(first.explanation, report.trace, account, first.broken)


def schedule_of(trace: PartialTrace, spec: Spec, violation: SpecViolation) -> Schedule:
    """Return the way to the observation that the spec denies, and that one: see ``drive``.

    ``KraflaError`` if that observation is one that no machine can be asked for.
    """
    return schedule_of_failure(trace, _report_on(trace, spec), spec, str(violation))
