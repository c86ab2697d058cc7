"""Findings about steps that a spec refuses, with the false conjuncts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.audit.result import Evidence, Finding, Weight
from krafla.values import fmt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krafla.audit.mapping import LogStep
    from krafla.oracle.blame import Reason
    from krafla.report.explain.outcome import Falsehood
    from krafla.testing import Explanation, Spec, State
    from krafla.values import Value


def _as_it_is(_: str, value: Value) -> Value:
    return value


def false_conjuncts(
    reasons: Iterable[Reason], shown: Callable[[str, Value], Value] = _as_it_is
) -> tuple[Falsehood, ...]:
    """Return the false conjuncts; `shown` translates a named value for the reader."""
    from krafla.report.explain.outcome import falsehoods_of
    from krafla.report.explain.words import Words

    return falsehoods_of(reasons, Words(), shown)


def said_of(explanation: Explanation) -> str:
    """Return in a line what is false, by an explanation of the spec."""
    if not explanation.reasons:
        return explanation.finding
    return f"{' '.join(explanation.reasons[0].text.split())} is false"


def text_of(step: LogStep) -> str | None:
    """Return the text of a step's record; None if there is none or it is a control record."""
    from krafla.audit.redact import record_text

    if step.place is None or step.place.record is None:
        return None
    return record_text(step.place.record)


def violation_at(step: LogStep, detail: str, evidence: Evidence) -> Finding:
    """Return a violation at the place of a step's record."""
    place = step.place
    return Finding(
        Weight.VIOLATION,
        evidence.rule,
        detail,
        path=None if place is None else place.path,
        position=None if place is None else place.position,
        offset=step.offset,
        evidence=evidence,
    )


def refusal(
    spec: Spec, step: LogStep, before: State, after: dict[str, Value] | None = None
) -> Finding:
    """Return the violation that a spec refuses a step from a state, or refuses it to `after`."""
    values = [value for _, value in step.parameters]
    explanation = spec.explain(before, step.action, values, after=after)
    false = false_conjuncts(explanation.reasons)
    evidence = Evidence(
        rule=f"{spec.name}!{step.action}",
        statement=f"{step.action} is allowed only where each of its conjuncts is true",
        source=false[0].place if false else spec.name,
        record=text_of(step),
        action=step.action,
        parameters=step.parameters,
        false=false,
        state=tuple((name, before[name]) for name in before),
        expected=_led_to(spec, step, before) if after else None,
    )
    return violation_at(step, f"{step.action} is not allowed: {said_of(explanation)}", evidence)


def _led_to(spec: Spec, step: LogStep, before: State) -> str | None:
    """Return the first variable after the action; None if the action is not allowed at all."""
    found = spec.outcomes(before, step.action, *(value for _, value in step.parameters))
    return f"{spec.variables[0]} = {fmt(found[0][spec.variables[0]])}" if found else None
