"""Judge a run: by the manifest's expectations of the model, and by what makes it credible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.pins import Pin, pin_of, witness_doubts, witness_pin
from krafla.tlc.outcome import (
    ActionPropertyViolated,
    AssertionFailed,
    AssumptionFailed,
    ConfigError,
    Deadlock,
    EvaluationError,
    Finished,
    InvariantViolated,
    SpecError,
    TemporalPropertyViolated,
    describe,
    violated_names,
)
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from krafla.manifest import Model
    from krafla.tlc.run import RunResult

__all__ = ["ONLY_SIMULATED", "Judgement", "judge", "misfits", "unpinned"]

ONLY_SIMULATED = "simulation can find violations, but not show that there are none"

_ASKS_NOTHING = "the cfg asks for no INVARIANT and no PROPERTY"

_VIOLATIONS = (
    InvariantViolated,
    ActionPropertyViolated,
    TemporalPropertyViolated,
    Deadlock,
    AssertionFailed,
)
# Errors in the question, not in the answer.
_MISTAKES = (SpecError, ConfigError, AssumptionFailed, EvaluationError)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one model, the reasons, the decisive first, and notes that decide nothing."""

    verdict: Verdict
    reasons: tuple[str, ...]
    notes: tuple[str, ...] = ()


def judge(model: Model, result: RunResult) -> Judgement:
    """Return the verdict that the run supports.

    A model that should hold does so if TLC finished, states, properties and witnesses are exactly
    as many as pinned, every action was taken and every witness reached. A model that should fail
    holds if the property it names failed. Anything else is never green: violations are
    violated, all doubt is inconclusive. ``KraflaError`` if the spec or its cfg is at fault.
    """
    if isinstance(result.outcome, _MISTAKES):
        raise KraflaError(describe(result.outcome), f"model {model.name}")
    if model.expect == "violates":
        return _expected_failure(model, result)
    if isinstance(result.outcome, _VIOLATIONS):
        may_end = isinstance(result.outcome, Deadlock) and not model.listing.needs_pins
        end = f"note: if behaviours may end there, say CHECK_DEADLOCK FALSE in {model.config.name}"
        return Judgement(Verdict.VIOLATED, (describe(result.outcome),), (end,) * may_end)
    if not isinstance(result.outcome, Finished):
        return Judgement(Verdict.INCONCLUSIVE, (describe(result.outcome),))
    doubts = result.doubts if _asks_assumptions(model, result) else _doubts(model, result)
    notes = _notes(model, result)
    if doubts:
        return Judgement(Verdict.INCONCLUSIVE, doubts, notes)
    return Judgement(Verdict.HELD, (describe(result.outcome),), notes)


def _asks_assumptions(model: Model, result: RunResult) -> bool:
    """Return whether a model is about assumptions alone: it pins nothing about behaviours."""
    is_one = isinstance(result.outcome, Finished) and result.outcome.assumptions_only
    return is_one and not model.witnesses and model.distinct is None


def _expected_failure(model: Model, result: RunResult) -> Judgement:
    names = violated_names(result.outcome)
    if names == (model.property,):
        trace = result.counterexample
        if model.kind == "safety" and trace is not None and len(trace.steps) == 1:
            reason = (
                f"{model.property} is false before any step: the model shows nothing of the spec"
            )
            return Judgement(Verdict.INCONCLUSIVE, (reason,))
        return Judgement(Verdict.HELD, (f"{model.property} failed, as it must",))
    if isinstance(result.outcome, Finished) and not result.outcome.simulated:
        reason = f"{model.property} should fail in this model, but holds in every reachable state"
        return Judgement(Verdict.VIOLATED, (reason,))
    what = describe(result.outcome)
    if isinstance(result.outcome, _VIOLATIONS) and names:
        return Judgement(Verdict.VIOLATED, (f"only {model.property} should fail, but {what}",))
    return Judgement(
        Verdict.INCONCLUSIVE, (f"{model.property} should fail; it is not known to: {what}",)
    )


def misfits(model: Model, result: RunResult) -> tuple[Pin, ...]:
    """Return the pinned numbers of a model that are not those of a finished run of it."""
    if model.expect == "violates" or not isinstance(result.outcome, Finished):
        return ()
    found = (pin_of(model, key, number) for key, _, number in _counts(result) if number is not None)
    return tuple(pin for pin in (*found, witness_pin(model)) if pin is not None)


def _counts(result: RunResult) -> tuple[tuple[str, str, int | None], ...]:
    """Return the numbers that a model may pin: the key, what is counted, and how many."""
    properties = ("properties", "properties in the cfg", len(set(result.checked)))
    if result.simulation is not None:
        return (properties,)
    return (
        properties,
        ("distinct", "distinct states", result.distinct),
        ("generated", "generated states", result.generated),
    )


def unpinned(model: Model, result: RunResult) -> dict[str, int]:
    """Return the numbers of a finished run that a list of models may pin, and this one does not."""
    if model.expect == "violates" or not isinstance(result.outcome, Finished):
        return {}
    return {
        key: number
        for key, _, number in _counts(result)
        if number is not None and key != "generated" and getattr(model, key) is None
    }


def _notes(model: Model, result: RunResult) -> tuple[str, ...]:
    """Return what is no doubt about this model, and would be one where its list asks for more."""
    found = [] if result.checked or model.listing.needs_pins else [_ASKS_NOTHING]
    if not model.listing.needs_actions and result.simulation is None:
        found += _action_doubts(model, result)
    return tuple(f"note: {one}" for one in found)


def _doubts(model: Model, result: RunResult) -> tuple[str, ...]:
    """Return every reason not to believe a run without errors."""
    doubts = [
        f"witness {name} was not reached" for name in model.witnesses if name not in result.reached
    ]
    doubts += [
        f"witness {name} is true before any step: it shows nothing of the spec"
        for name in result.reached_at_start
    ]
    # A property taken out of a cfg leaves every other number as it was, and so does a witness.
    doubts += _count_doubts(model, result)
    doubts += result.doubts
    doubts += witness_doubts(model)
    if result.simulation is not None:
        if model.kind != "simulation":
            doubts.append(ONLY_SIMULATED)
        return tuple(doubts)
    return (*doubts, *(_action_doubts(model, result) if model.listing.needs_actions else ()))


def _count_doubts(model: Model, result: RunResult) -> list[str]:
    doubts = []
    for key, what, found in _counts(result):
        pinned = getattr(model, key)
        if pinned is None and not model.listing.needs_pins:
            continue
        if pinned is None and key != "generated":
            where = f": add {key} = {found} below {model.place}" if model.place else ""
            doubts.append(f"no number of {what} is pinned; found {found}{where}")
        elif pinned not in {None, found}:
            pin = None if found is None else pin_of(model, key, found)
            where = "" if pin is None else f": {pin}"
            doubts.append(f"{found} {what}, but {pinned} are pinned{where}")
    return doubts


def _action_doubts(model: Model, result: RunResult) -> list[str]:
    if result.coverage is None:
        return ["it is not known whether every action was taken"]
    if not result.coverage:
        return ["the spec has no action"]
    excused = dict(model.untaken)
    doubts = [
        f"action {action.name} was never taken ({action.location})"
        for action in result.coverage
        if action.taken == 0 and action.name not in excused
    ]
    taken = {action.name for action in result.coverage if action.taken > 0}
    doubts += [
        f"action {name} was taken, but is listed as untaken" for name in excused if name in taken
    ]
    known = {action.name for action in result.coverage}
    doubts += [
        f"'untaken' names {name}, which is no action" for name in excused if name not in known
    ]
    return doubts
