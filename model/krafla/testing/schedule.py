"""What code is driven through: the steps of a trace, and what it is asked between them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from krafla.oracle import EvaluationError, SpecError
from krafla.traces import Claim, ClaimKind, Observation, Step, Trace
from krafla.traces.trace import INITIAL
from krafla.values import Function
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from krafla.match import MatchReport, Taken
    from krafla.oracle import Spec, State
    from krafla.traces import Called, PartialTrace
    from krafla.values import Value

__all__ = ["Schedule", "schedule_of_behaviour", "schedule_of_failure"]


@dataclass(frozen=True, slots=True)
class Schedule:
    """A whole trace, and the observations without a step, by the step after which they come.

    They are stays and refusals. If the trace claims a failure and there are some after its last
    step, the last of these is what failed, and may be a step; otherwise the last step is. ``calls``
    has what the code was called for where a step does not tell, by the number of the step: "same"
    for one that came of the call before. ``is_beginning``: what failed is how the code begins.
    """

    trace: Trace
    between: Mapping[int, tuple[Observation, ...]] = field(default_factory=dict)
    calls: Mapping[int, Called] = field(default_factory=dict)
    is_beginning: bool = False

    def fails_at(self, index: int) -> bool:
        """Return whether what the trace claims to fail comes at or after a step."""
        return self.trace.claims_violation and index == len(self.trace) - 1


def schedule_of_behaviour(trace: PartialTrace, behaviour: Sequence[Taken]) -> Schedule:
    """Return the steps of a behaviour that agrees with a partial trace, hidden ones too."""
    steps = tuple(Step(one.action, one.parameters, one.state.as_function()) for one in behaviour)
    whole = Trace(
        trace.spec, steps, trace.constants,
        model=trace.model, text=trace.text, machine=trace.machine,
    )  # fmt: skip
    between = {
        number: tuple(trace.observations[at] for at in one.stays)
        for number, one in enumerate(behaviour)
        if one.stays
    }
    return Schedule(whole, between, _calls(trace, behaviour))


def _calls(
    trace: PartialTrace, behaviour: Sequence[Taken], after: Called = None
) -> dict[int, Called]:
    """Return the calls of the steps; ``after`` is that of what comes after the behaviour."""
    found: dict[int, Called] = {}
    for number, one in reversed(tuple(enumerate(behaviour))):
        if one.stays:
            after = trace.observations[one.stays[0]].call
        # A hidden step inside a call is of that call.
        inside: Called = "same" if after == "same" else None
        after = inside if one.observation is None else trace.observations[one.observation].call
        if after is not None:
            found[number] = after
    return found


def schedule_of_failure(trace: PartialTrace, report: MatchReport, spec: Spec, why: str) -> Schedule:
    """Return the way to the observation that the spec denies, hidden steps too, and that one.

    ``why`` it does is told if no machine can be asked for it.

    It claims a failure; ``drive`` asks the code for it and judges what the code does.
    ``KraflaError`` if that observation is one that no machine can be asked for.
    """
    at = report.accepted
    denied = trace.observations[at]
    if not report.stuck[0].behaviour or denied.action == INITIAL:
        return Schedule(_beginning(trace, spec), is_beginning=True)
    known = tuple(one for one in denied.parameters or () if one is not None)
    behaviour = report.stuck[0].behaviour
    if denied.kind == "step" and denied.action is not None and known == denied.parameters:
        behaviour = _before(report, spec, denied.action, known)
    elif denied.kind == "step" and denied.call is None:
        raise KraflaError(
            f"observation {at + 1} of {len(trace)} is a step without action or parameters, which "
            f"no machine can be asked for:\n{why}"
        )
    found = schedule_of_behaviour(trace, behaviour)
    if denied.kind != "step" or denied.call is not None:
        last = len(found.trace) - 1
        claim = Claim(ClaimKind.FAILURE, denied.action)
        between = {**found.between, last: (*found.between.get(last, ()), denied)}
        calls = _calls(trace, behaviour, denied.call)
        return Schedule(replace(found.trace, claim=claim), between, calls)
    assert denied.action is not None, "a step without action is called for"
    steps = found.trace.steps
    last_step = Step(denied.action, known, steps[-1].state)
    claim = Claim(ClaimKind.DIVERGENCE, denied.action)
    whole = replace(found.trace, steps=(*steps, last_step), claim=claim)
    return replace(found, trace=whole)


def _beginning(trace: PartialTrace, spec: Spec) -> Trace:
    """Return the trace of an initial state, which claims that the code begins wrongly.

    It is any that the spec has, or of those without number the one that was seen.
    """
    seen = {str(part[0]): value for part, value in trace.observations[0].seen if len(part) == 1}
    try:
        state = spec.initial_states()[0].as_function()
    except EvaluationError:
        state = Function(seen)
    return Trace(
        trace.spec, (Step(INITIAL, (), state),), trace.constants,
        claim=Claim(ClaimKind.FAILURE, INITIAL), machine=trace.machine,
    )  # fmt: skip


def _before(
    report: MatchReport, spec: Spec, action: str, parameters: tuple[Value, ...]
) -> tuple[Taken, ...]:
    """Return a behaviour up to the denied step, if there is one in which the spec has the action.

    The code may have taken the action rightly, after hidden steps, and have ended wrongly.
    """
    behaviours = [one.behaviour for one in report.stuck]
    enabled = (one for one in behaviours if _allows(spec, one[-1].state, action, parameters))
    return next(enabled, behaviours[0])


def _allows(spec: Spec, state: State, action: str, parameters: tuple[Value, ...]) -> bool:
    try:
        return bool(spec.outcomes(state, action, *parameters))
    except SpecError:
        # With these parameters the action cannot be evaluated.
        return False
