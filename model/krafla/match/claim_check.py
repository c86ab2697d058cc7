"""Whether a trace shows on its spec what it claims to show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.match.validation import choices_for, spec_of
from krafla.match.whole import Whole
from krafla.oracle import SpecError
from krafla.oracle.properties import holds
from krafla.traces import ClaimKind

if TYPE_CHECKING:
    from krafla.oracle import Explanation, Spec, State
    from krafla.traces import Claim, Trace

__all__ = ["Shown", "claim_shown"]

_JUDGED = frozenset({ClaimKind.INVARIANT, ClaimKind.ACTION_PROPERTY})


@dataclass(frozen=True, slots=True)
class Shown:
    """``is_shown`` tells whether the claim is true of the trace, ``None`` if that was not asked.

    ``sentence`` says so in words, ``explanation`` which conjunct is false.
    """

    is_shown: bool | None
    sentence: str
    explanation: Explanation | None = None


def claim_shown(trace: Trace) -> Shown | None:
    """Return whether the trace, which is a behaviour of its spec, violates what it claims.

    ``None`` if it claims no violation. Where behaviours end in a cycle, only that the cycle
    closes is asked: of what happens for ever TLC alone can speak.
    """
    claim = trace.claim
    if claim is None or not trace.claims_violation:
        return None
    spec = spec_of(trace)
    whole = Whole(spec, choices_for(spec))
    states = [whole.first(step) for step in trace.steps]
    if claim.kind is ClaimKind.DEADLOCK:
        is_dead = not spec.successors(states[-1])
        return Shown(is_dead, "no step leads on" if is_dead else "a step leads on from its end")
    if claim.kind is ClaimKind.TEMPORAL_PROPERTY:
        return _cycle(trace, whole)
    if claim.property is None or claim.kind not in _JUDGED:
        return Shown(None, f"its claim, {claim}, is not one that the spec can be asked about")
    try:
        return _violation(claim, claim.property, spec, states)
    except SpecError:
        return Shown(None, f"{claim.property} is no property of {trace.spec}")


def _violation(claim: Claim, name: str, spec: Spec, states: list[State]) -> Shown:
    """Return whether the property is false at the end, for the first time, and as it is claimed."""
    last = len(states) - 1
    is_of_state = claim.kind is ClaimKind.INVARIANT
    for index, state in enumerate(states):
        before = states[index - 1] if index else state
        if is_of_state:
            is_false = not holds(spec.check_invariant, name, state)
        else:
            is_false = not holds(spec.check_action_property, name, before, state)
        if is_false and index < last:
            return Shown(False, f"violates {name} at step {index} already, before its end")
    if not is_false:
        return Shown(False, f"does not violate {name} at its end, as it claims")
    explanation = (
        spec.explain_invariant(name, state)
        if is_of_state
        else spec.explain_action_property(name, before, state)
    )
    blamed = [reason.text for reason in explanation.reasons]
    if claim.conjunct is not None and claim.conjunct.text not in blamed:
        what = f"another conjunct of {name} is false than the one it claims"
        return Shown(False, what, explanation)
    return Shown(True, f"violates {name} at step {last}, as claimed", explanation)


def _cycle(trace: Trace, whole: Whole) -> Shown:
    if trace.lasso is None:
        return Shown(None, f"{trace.claim} takes a behaviour that goes on for ever; this one ends")
    if whole.closes(trace):
        return Shown(None, f"its cycle closes at step {trace.lasso}; {trace.claim} is TLC's word")
    return Shown(False, f"its cycle does not close: no step leads back to step {trace.lasso}")
