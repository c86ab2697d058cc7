"""Why the spec says no: the conjunct that is false, its place, its text, and its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krafla.oracle.blame import Blame, Reason
from krafla.oracle.difference import Difference, differences
from krafla.oracle.errors import EvaluationError
from krafla.values import Value, fmt, freeze, same

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from krafla.oracle.predicates import Part
    from krafla.oracle.spec import Spec
    from krafla.oracle.state import State

    # A formula in SANY's tree, and the context that gives its names their values.
    Way = tuple[Any, Any]

__all__ = [
    "Explanation",
    "call_of",
    "explain_action_property",
    "explain_beginning",
    "explain_invariant",
    "explain_step",
    "explain_ways",
]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The finding in one sentence, with the false conjuncts and the variables that differ.

    ``reasons`` is empty when there is nothing to explain. ``differences`` compares the state
    that the spec leads to (expected) with the proposed one (got).
    """

    finding: str
    reasons: tuple[Reason, ...] = ()
    differences: tuple[Difference, ...] = ()

    def __str__(self) -> str:
        lines = [self.finding]
        for reason in self.reasons:
            lines += [f"  {line}" for line in str(reason).splitlines()]
        lines += [f"  {difference}" for difference in self.differences]
        return "\n".join(lines)


def explain_step(
    spec: Spec,
    state: State,
    action: str,
    parameters: tuple[Value, ...],
    after: Mapping[str, Any] | None = None,
) -> Explanation:
    """Return why an action is not enabled or does not lead to ``after``."""
    call = call_of(action, parameters)
    ways: list[Way] = []
    try:
        ways += spec.ways.formulas(state, action, parameters)
        found = spec.outcomes(state, action, *parameters)
    except EvaluationError:
        return Explanation(f"{call} cannot be evaluated", _furthest(spec, ways, state.java))
    if not ways:
        return Explanation(f"Next has no {call} in this state")
    return explain_ways(spec, state, call, ways, found, after)


def explain_ways(
    spec: Spec,
    state: State,
    call: str,
    ways: Sequence[Way],
    found: Sequence[State],
    after: Mapping[str, Any] | None = None,
) -> Explanation:
    """Return why none of some formulas, which lead to ``found``, leads to ``after``."""
    if not found:
        return Explanation(f"{call} is not enabled", _furthest(spec, ways, state.java))
    if after is None:
        return Explanation(f"{call} is enabled")

    proposed = {variable: freeze(value) for variable, value in after.items()}
    nearest = min(found, key=lambda outcome: len(_wrong(outcome, proposed)))
    wrong = _wrong(nearest, proposed)
    if not wrong:
        return Explanation(f"{call} leads to the expected state")
    details = tuple(
        detail
        for variable in wrong
        for detail in differences(variable, nearest[variable], proposed[variable])
    )
    target = nearest.replace(**{variable: proposed[variable] for variable in wrong})
    reasons = _furthest(spec, ways, state.java, target.java)
    several = "" if len(found) == 1 else f" (nearest of {len(found)} outcomes)"
    other = "another value" if len(wrong) == 1 else "other values"
    finding = f"{call} leads to {other} of {', '.join(wrong)}{several}"
    return Explanation(finding, reasons, details)


def _furthest(
    spec: Spec, ways: Sequence[Way], before: Any, after: Any | None = None
) -> tuple[Reason, ...]:
    """Return the reasons of the formula that fails furthest down in the spec."""
    found = [reasons for way in ways if (reasons := Blame(spec, before, after).of(*way))]
    if len(found) <= 1:
        return found[0] if found else ()
    places = [max((one.place.line, one.place.column) for one in reasons) for reasons in found]
    return found[places.index(max(places))][:1]


def explain_invariant(spec: Spec, name: str, state: State) -> Explanation:
    """Return which conjunct of an invariant is false in a state."""
    return _explain_parts(spec, name, spec.predicates.of_state(name), (state.java,))


def explain_action_property(spec: Spec, name: str, before: State, after: State) -> Explanation:
    """Return which conjunct of an action property is false of a step."""
    return _explain_parts(spec, name, spec.predicates.of_step(name), (before.java, after.java))


def explain_beginning(spec: Spec, name: str, state: State) -> Explanation:
    """Return which conjunct of a property is false in the first state of a behaviour."""
    demands = spec.predicates.of_property(name)
    return _explain_parts(spec, name, (*demands.first, *demands.states), (state.java,))


def _explain_parts(
    spec: Spec, name: str, parts: tuple[Part, ...], states: tuple[Any, ...]
) -> Explanation:
    """Blame the first part that does not hold."""
    where = " of the step" if len(states) > 1 else ""
    for part in parts:
        try:
            if spec.part_holds(part, *states):
                continue
            finding = f"{name} is false{where}"
        except EvaluationError:
            finding = f"{name} cannot be evaluated{where}"
        walks = [(states[0], states[-1])] if part.is_of_step else [(one, one) for one in states]
        for before, after in walks:
            blame = Blame(spec, before, after)
            if blame.holds(part.node, part.context) is not True:
                return Explanation(finding, blame.of(part.node, part.context))
    return Explanation(f"{name} holds{where}")


def _wrong(outcome: State, proposed: Mapping[str, Value]) -> list[str]:
    return [variable for variable, value in proposed.items() if not same(outcome[variable], value)]


def call_of(action: str, parameters: tuple[Value, ...]) -> str:
    """Return an action with its parameters, as a reader writes it."""
    return f"{action}({', '.join(map(fmt, parameters))})" if parameters else action
