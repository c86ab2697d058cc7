"""A trace replayed on the spec: every step must be one of its own, and keep every property."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from krafla.oracle import Spec
from krafla.oracle.difference import differences
from krafla.oracle.explain import Explanation
from krafla.refinement.lease_spec import holds
from krafla.refinement.properties import MODULE, read_properties
from krafla.traces import ClaimKind
from krafla.traces.trace import INITIAL
from krafla.values import same
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from krafla.oracle.difference import Difference
    from krafla.oracle.state import State
    from krafla.traces import Step, Trace
    from krafla.values import Value

__all__ = ["Rejection", "TraceReport", "check_trace"]


@dataclass(frozen=True, slots=True)
class Rejection:
    """Which step the spec denies, or which property it breaks, and why."""

    index: int
    step: Step
    explanation: Explanation
    broken: str | None = None

    def __str__(self) -> str:
        return f"step {self.index}, {self.step.action}: {self.explanation}"

    @property
    def names(self) -> tuple[str, ...]:
        """Return what the rejection names: the property, the variables that differ, the text."""
        texts = [reason.text for reason in self.explanation.reasons]
        paths = [detail.path for detail in self.explanation.differences]
        return (*(() if self.broken is None else (self.broken,)), *paths, *texts)


@dataclass(frozen=True, slots=True)
class TraceReport:
    """What replaying a trace came to. ``steps`` were agreed on; the next one was not, if any."""

    trace: Trace
    steps: int
    rejection: Rejection | None = None

    @property
    def verdict(self) -> Verdict:
        """Return whether the trace is a behaviour of the spec that keeps its properties."""
        return Verdict.HELD if self.rejection is None else Verdict.VIOLATED


def check_trace(trace: Trace, spec: Spec | None = None) -> TraceReport:
    """Return whether the spec has this behaviour, with the first step that it has not.

    A step without parameters is looked for among all steps that its action allows. Properties
    are judged in traces of BrokerLease, except the one that the trace claims to violate.
    ``KraflaError`` if the trace is empty or does not fit the spec.
    """
    if not trace.steps:
        raise KraflaError(f"a trace of {trace.spec} without a single state shows nothing")
    spec = spec or _loaded(trace.spec, trace.constants)
    first = trace.steps[0]
    state = _state(spec, first)
    if first.action != INITIAL or state not in spec.initial_states():
        return TraceReport(trace, 0, Rejection(0, first, _not_initial(spec, first)))
    invariants, steps = _properties(trace)
    for index, step in enumerate(trace.steps):
        after = _state(spec, step)
        if index and not _is_step(spec, state, step, after):
            explanation = _denied(spec, state, step, after)
            return TraceReport(trace, index, Rejection(index, step, explanation))
        broken = _broken(spec, state, after, invariants, steps if index else ())
        if broken is not None:
            name, explanation = broken
            return TraceReport(trace, index, Rejection(index, step, explanation, name))
        state = after
    return TraceReport(trace, len(trace.steps))


@lru_cache(maxsize=8)
def _loaded(name: str, constants: tuple[tuple[str, Value], ...]) -> Spec:
    return Spec.load(name, dict(constants))


def _state(spec: Spec, step: Step) -> State:
    unknown = sorted(set(map(str, step.state)) - set(spec.variables))
    if unknown:
        raise KraflaError(f"{', '.join(unknown)}: no variable of {spec.name}")
    return spec.state({str(name): value for name, value in step.state.items()})


def _is_step(spec: Spec, before: State, step: Step, after: State) -> bool:
    if step.parameters is not None:
        return after in spec.outcomes(before, step.action, *step.parameters)
    return any(name == step.action and end == after for name, _, end in spec.successors(before))


def _denied(spec: Spec, before: State, step: Step, after: State) -> Explanation:
    if step.parameters is not None:
        proposed = {str(name): value for name, value in step.state.items()}
        return spec.explain(before, step.action, step.parameters, after=proposed)
    taken = [end for name, _, end in spec.successors(before) if name == step.action]
    if not taken:
        return Explanation(f"{step.action} is not enabled, whatever its parameters")
    nearest = min(taken, key=lambda end: sum(not same(end[v], after[v]) for v in spec.variables))
    details = tuple(
        detail
        for name in spec.variables
        for detail in differences(name, nearest[name], after[name])
    )
    return Explanation(f"{step.action} leads to another state", (), details)


def _not_initial(spec: Spec, first: Step) -> Explanation:
    initial = spec.initial_states()[0]
    details = _between(spec, initial, _state(spec, first))
    return Explanation("the trace does not begin where the spec does", (), details)


def _between(spec: Spec, expected: State, got: State) -> tuple[Difference, ...]:
    return tuple(
        detail for name in spec.variables for detail in differences(name, expected[name], got[name])
    )


def _properties(trace: Trace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if trace.spec != MODULE:
        return (), ()
    from krafla.oracle.loading import find_module

    properties = read_properties(find_module(MODULE, None))
    claim = trace.claim
    excused = claim.property if claim and claim.kind is not ClaimKind.BEHAVIOUR else None
    return (
        tuple(name for name in properties.invariants if name != excused),
        tuple(name for name in properties.steps if name != excused),
    )


def _broken(
    spec: Spec, before: State, after: State, invariants: tuple[str, ...], steps: tuple[str, ...]
) -> tuple[str, Explanation] | None:
    for name in invariants:
        if not holds(spec.check_invariant, name, after):
            return name, spec.explain_invariant(name, after)
    for name in steps:
        if not holds(spec.check_action_property, name, before, after):
            return name, spec.explain_action_property(name, before, after)
    return None
