"""Whether the spec confirms what a trace claims to violate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.match.validation import choices_for, spec_of
from krafla.match.whole import Whole
from krafla.oracle import EvaluationError, SpecError
from krafla.traces import ClaimKind

if TYPE_CHECKING:
    from krafla.oracle import Explanation, Spec, State
    from krafla.traces import Claim, Trace

__all__ = ["Shown", "claim_shown"]

_JUDGED = frozenset({ClaimKind.INVARIANT, ClaimKind.ACTION_PROPERTY})


@dataclass(frozen=True, slots=True)
class Shown:
    """Whether a claim is true of its trace.

    ``is_shown`` is ``None`` if the spec could not be asked. ``sentence`` goes on from "the trace",
    ``explanation`` says which conjunct is false. ``is_gone``: no state or step of the trace shows
    what it claims.
    """

    is_shown: bool | None
    sentence: str
    explanation: Explanation | None = None
    is_gone: bool = False


def claim_shown(trace: Trace, spec: Spec | None = None) -> Shown | None:
    """Return whether the trace, a behaviour of its spec, violates the property it claims to.

    ``None`` if it claims no violation. Of a temporal property only this is checked: the cycle at
    the end closes. That it violates the property is TLC's finding.
    """
    claim = trace.claim
    if claim is None or not trace.claims_violation:
        return None
    spec = spec_of(trace) if spec is None else spec
    whole = Whole(spec, choices_for(spec))
    states = [whole.first(step) for step in trace.steps]
    if claim.kind is ClaimKind.DEADLOCK:
        is_dead = not spec.successors(states[-1])
        then = (
            "no step leads on, as it claims" if is_dead else "a step leads on, and it claims none"
        )
        return Shown(is_dead, f"ends where {then}", is_gone=not is_dead)
    if claim.kind is ClaimKind.DIVERGENCE:
        name = claim.property or trace.steps[-1].action
        what = f"claims that the spec does not allow its last step, {name}"
        return Shown(False, what, is_gone=True)
    if claim.kind is ClaimKind.TEMPORAL_PROPERTY:
        return _cycle(trace, whole)
    if claim.property is None or claim.kind not in _JUDGED:
        article = "an" if str(claim)[0] in "aei" else "a"
        return Shown(None, f"claims {article} {claim}, about which the spec cannot be asked")
    try:
        return _violation(claim, claim.property, spec, states)
    except EvaluationError as error:
        return Shown(None, f"claims {claim.property}, which TLC cannot evaluate: {error.message}")
    except SpecError:
        return Shown(None, f"claims {claim.property}, which is no property of {trace.spec}")


def _violation(claim: Claim, name: str, spec: Spec, states: list[State]) -> Shown:
    """Return whether the property is first false at the end, in the claimed conjunct."""
    last = len(states) - 1
    is_of_state = claim.kind is ClaimKind.INVARIANT
    for index, state in enumerate(states):
        before = states[index - 1] if index else state
        if is_of_state:
            is_false = not spec.check_invariant(name, state)
        else:
            is_false = not spec.check_action_property(name, before, state)
        if is_false and index < last:
            return Shown(False, f"already violates {name} at step {index}, before its end")
    if not is_false:
        return Shown(False, f"does not violate {name} at its end, as it claims", is_gone=True)
    explanation = (
        spec.explain_invariant(name, state)
        if is_of_state
        else spec.explain_action_property(name, before, state)
    )
    blamed = [reason.text for reason in explanation.reasons]
    if claim.conjunct is not None and claim.conjunct.text not in blamed:
        what = f"breaks another conjunct of {name} than the one it claims"
        return Shown(False, what, explanation)
    return Shown(True, f"violates {name} at step {last}, as claimed", explanation)


def _cycle(trace: Trace, whole: Whole) -> Shown:
    if trace.lasso is None:
        return Shown(None, f"ends, and its claim, {trace.claim}, needs an infinite behaviour")
    if whole.closes(trace):
        closes = f"has a cycle that closes at step {trace.lasso}"
        return Shown(None, f"{closes}; that it violates {trace.claim} is TLC's finding")
    return Shown(False, f"has a cycle that does not close: no step leads to step {trace.lasso}")
