"""Findings about steps that a spec refuses, with the false conjuncts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.audit.result import Evidence, FalseConjunct, Finding, Weight
from krafla.values import fmt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from krafla.audit.mapping import LogStep
    from krafla.oracle import Spec, State
    from krafla.oracle.blame import Reason
    from krafla.values import Value


def _as_it_is(_: str, value: Value) -> Value:
    return value


def false_conjuncts(
    reasons: Iterable[Reason], shown: Callable[[str, Value], Value] = _as_it_is
) -> Iterator[FalseConjunct]:
    """Yield the false conjuncts; `shown` translates a named value for the reader."""
    for reason in reasons:
        values = tuple((name, fmt(shown(name, value))) for name, value in reason.values)
        yield FalseConjunct(" ".join(reason.text.split()), str(reason.place), values)
        yield from false_conjuncts(reason.alternatives, shown)


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
    false = tuple(false_conjuncts(explanation.reasons))
    said = f"{false[0].text} is false" if false else explanation.finding
    evidence = Evidence(
        rule=f"{spec.name}!{step.action}",
        statement=f"{step.action} is allowed only where each of its conjuncts is true",
        source=false[0].place if false else spec.name,
        record=text_of(step),
        action=step.action,
        parameters=step.parameters,
        false=false,
        state=tuple(f"{name} = {fmt(before[name])}" for name in before),
        expected=_led_to(spec, step, before) if after else None,
    )
    return violation_at(step, f"{step.action} is not allowed: {said}", evidence)


def _led_to(spec: Spec, step: LogStep, before: State) -> str | None:
    """Return the first variable after the action; None if the action is not allowed at all."""
    found = spec.outcomes(before, step.action, *(value for _, value in step.parameters))
    return f"{spec.variables[0]} = {fmt(found[0][spec.variables[0]])}" if found else None
