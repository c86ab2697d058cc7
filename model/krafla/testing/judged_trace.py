"""A recorded trace judged by its spec: whole or partial, with what it claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.match import match
from krafla.match.property_checker import PropertyChecker, configured_properties
from krafla.oracle.properties import Properties
from krafla.report.explain.match_account import account_of_match
from krafla.testing.errors import Inconclusive, SpecViolation, Story
from krafla.testing.judge import Judge
from krafla.traces import ClaimKind, PartialTrace
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from krafla.match import MatchReport
    from krafla.oracle import Spec
    from krafla.traces import Step, Trace

__all__ = ["judge_recorded"]


def judge_recorded(
    trace: Trace | PartialTrace, spec: Spec, properties: Properties | None = None
) -> None:
    """Judge a trace by a spec: ``SpecViolation`` at the first step that the spec does not have.

    ``properties`` are judged too, by default those of the cfg of ``spec``. A trace that claims a
    violation must show it: the step is none of the spec's, or the property is false at the end;
    ``KraflaError`` if it does not. ``Inconclusive`` if the trace shows no step, or the search for a
    partial trace was cut off.
    """
    __tracebackhide__ = True
    if properties is None:
        cfg = spec.configuration
        properties = Properties((), (), ()) if cfg is None else configured_properties(spec, cfg)
    if isinstance(trace, PartialTrace):
        _judge_partial(trace, spec, properties)
    elif len(trace) < 2:
        raise Inconclusive(f"a trace of {trace.spec} without a step shows nothing")
    else:
        _judge_whole(trace, spec, properties)


def _judge_partial(trace: PartialTrace, spec: Spec, properties: Properties) -> None:
    __tracebackhide__ = True
    checker = PropertyChecker(spec, properties)
    report = match(spec, trace, breaks=checker.broken_by if checker.names else None)
    if report.verdict is Verdict.INCONCLUSIVE:
        raise Inconclusive(report.doubt or "the search was cut off")
    if report.verdict is Verdict.VIOLATED:
        last = trace.observations[report.accepted]
        given = tuple(... if one is None else one for one in last.parameters or ())
        raise SpecViolation(last.action, given, lambda: _story(report))


def _story(report: MatchReport) -> Story:
    account = account_of_match(report)
    assert account is not None, "a trace without a behaviour has an account"
    first = report.stuck[0]
    return Story(first.explanation, report.trace, account, first.broken)


def _judge_whole(trace: Trace, spec: Spec, properties: Properties) -> None:
    __tracebackhide__ = True
    claim = trace.claim if trace.claims_violation else None
    name = None if claim is None else claim.property
    judge = Judge(
        spec,
        invariants=[one for one in properties.invariants if one != name],
        properties=[one for one in properties.steps if one != name],
    )
    first, *steps = trace.steps
    is_denied = claim is not None and claim.kind is ClaimKind.DIVERGENCE
    judge.start(_seen(first))
    for step in steps[:-1] if is_denied else steps:
        _judge_step(judge, step)
    if claim is None:
        return
    last = steps[-1]
    if is_denied:
        try:
            _judge_step(judge, last)
        except SpecViolation:
            return
        raise KraflaError(f"the spec has the last step, {last.action}, which the trace denies it")
    before, after = (spec.state(_seen(one)) for one in trace.steps[-2:])
    if claim.kind is ClaimKind.INVARIANT and name and spec.check_invariant(name, after):
        raise KraflaError(f"{name}, which the trace claims to break, holds at its end")
    is_of_step = claim.kind is ClaimKind.ACTION_PROPERTY and name
    if is_of_step and spec.check_action_property(str(name), before, after):
        raise KraflaError(f"{name}, which the trace claims to break, holds of its last step")


def _judge_step(judge: Judge, step: Step) -> None:
    __tracebackhide__ = True
    given: tuple[object, ...] | None = step.parameters
    if given is None:
        known = {one.name: one for one in judge.spec.actions}
        given = (...,) * len(known[step.action].parameters) if step.action in known else ()
    judge.step(step.action, *given, seen=_seen(step))


def _seen(step: Step) -> dict[str, object]:
    return {str(name): value for name, value in step.state.items()}
