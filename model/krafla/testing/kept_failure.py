"""The partial trace of a failure as a schedule on which the code must not fail again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.match import match
from krafla.traces import Claim, ClaimKind, Step, Trace
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.match import MatchReport
    from krafla.oracle import Spec
    from krafla.testing.errors import SpecViolation
    from krafla.traces import PartialTrace
    from krafla.values import Value

__all__ = ["schedule_of"]


def schedule_of(trace: PartialTrace, spec: Spec, violation: SpecViolation) -> Trace:
    """Return the steps up to the observation that the spec denies, hidden ones too, and that one.

    It claims that the spec does not have its last step; ``drive`` asks the code for it and judges
    what the code does. ``KraflaError`` if that observation does not say which step it is.
    """
    report = match(spec, trace)
    at = min(report.accepted, len(trace) - 1)
    denied = trace.observations[at]
    known = tuple(one for one in denied.parameters or () if one is not None)
    if at == 0 or denied.action is None or known != denied.parameters:
        what = "its state in the beginning" if at == 0 else "a step without action or parameters"
        raise KraflaError(
            f"observation {at + 1} of {len(trace)} is {what}, which no machine can be asked for:\n"
            f"{violation}"
        )
    steps = _before(report, spec, at, denied.action, known)
    last = Step(denied.action, known, steps[-1].state)
    claim = Claim(ClaimKind.DIVERGENCE, denied.action)
    return Trace(
        trace.spec, (*steps, last), trace.constants, claim,
        model=trace.model, text=trace.text, machine=trace.machine,
    )  # fmt: skip


def _before(
    report: MatchReport, spec: Spec, at: int, action: str, parameters: tuple[Value, ...]
) -> tuple[Step, ...]:
    """Return a behaviour up to the denied step, if there is one in which the spec has the action.

    The code may have taken the action rightly, after hidden steps, and have ended wrongly.
    """
    behaviours = [one.behaviour for one in report.stuck] or [report.behaviour]
    enabled = (one for one in behaviours if spec.outcomes(one[-1].state, action, *parameters))
    return tuple(
        Step(one.action, one.parameters, one.state.as_function())
        for one in next(enabled, behaviours[0])
        if one.observation is None or one.observation < at
    )
