"""Steps of a trace that does not name its actions or parameters: the spec tells which they are."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from krafla.match import match
from krafla.match.whole import Whole
from krafla.testing.schedule import Schedule, schedule_of_behaviour, schedule_of_failure
from krafla.traces import PartialTrace, partial
from krafla.traces.trace import INITIAL
from krafla.values import distinct, fmt
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.oracle import Spec, State
    from krafla.traces import Step, Trace
    from krafla.values import Value

__all__ = ["AmbiguousStepWarning", "completed", "scheduled"]


class AmbiguousStepWarning(UserWarning):
    """Several steps of the spec fit one of a trace that names none; the first is driven."""


def scheduled(trace: Trace | PartialTrace | Schedule, spec: Spec, place: str) -> Schedule:
    """Return what code is driven through, for a trace ``completed``."""
    if isinstance(trace, Schedule):
        return trace
    if isinstance(trace, PartialTrace):
        return _found(trace, spec, place, may_fail=True)
    return Schedule(completed(trace, spec, place))


def completed(trace: Trace | PartialTrace, spec: Spec, place: str) -> Trace:
    """Return a whole trace with an action of the spec and parameters for every step.

    Of several that fit, the first in the order of the spec; ``AmbiguousStepWarning`` names them. A
    step without a name that changes nothing is left out; variables that the trace lacks are the
    spec's to choose. ``KraflaError`` names the step that no action explains, or the variable that
    the spec does not have.
    """
    if isinstance(trace, PartialTrace):
        return _found(trace, spec, place).trace
    known = {one.name for one in spec.actions}
    names = set(map(str, trace.steps[0].state))
    foreign = sorted(names - set(spec.variables))
    if foreign:
        variables = ", ".join(spec.variables)
        raise KraflaError(f"has a variable {foreign[0]}; {spec.name} has {variables}", place)
    if len(names) < len(spec.variables):
        return _found(_observed(trace, known), spec, place).trace
    steps = [replace(trace.steps[0], action=INITIAL, parameters=())]
    for index, step in enumerate(trace.steps[1:], start=1):
        if step.action in known and step.parameters is not None:
            steps.append(step)
        elif step.action in known or step.state != steps[-1].state:
            steps.append(_named(spec, steps[-1], step, f"{place}: step {index}"))
    return trace.with_steps(tuple(steps))


def _observed(trace: Trace, known: set[str]) -> PartialTrace:
    """Return a trace that lacks variables as a partial one."""
    seen = partial(trace)
    first, *others = seen.observations
    rest = (
        one if one.action in known else replace(one, action=None, parameters=None) for one in others
    )
    return replace(seen, observations=(replace(first, action=INITIAL), *rest))


def _named(spec: Spec, before: Step, step: Step, place: str) -> Step:
    state, after = _state(spec, before), _state(spec, step)
    fitting = [
        (name, parameters)
        for name, parameters, end in spec.successors(state)
        if end.fingerprint == after.fingerprint
    ]
    named = [one for one in fitting if one[0] == step.action]
    fitting = named or ([] if step.action in {one.name for one in spec.actions} else fitting)
    if not fitting:
        nearest = Whole(spec).nearest(
            state, 1, replace(step, action=spec.actions[0].name, parameters=None)
        )
        more = "" if nearest is None else f"; {nearest}"
        raise KraflaError(f"no action of {spec.name} leads to its state{more}", place)
    (name, parameters), *others = distinct(fitting)
    if others:
        calls = " or ".join(_call(*one) for one in ((name, parameters), *others[:3]))
        warnings.warn(
            f"{place} is {calls}; {_call(name, parameters)} is driven",
            AmbiguousStepWarning, stacklevel=2,
        )  # fmt: skip
    return replace(step, action=name, parameters=parameters)


def _call(name: str, parameters: tuple[Value, ...]) -> str:
    return f"{name}({', '.join(map(fmt, parameters))})" if parameters else name


def _state(spec: Spec, step: Step) -> State:
    return spec.state({str(name): value for name, value in step.state.items()})


def _found(trace: PartialTrace, spec: Spec, place: str, *, may_fail: bool = False) -> Schedule:
    """Return a behaviour that agrees with a partial trace, and where the code took no step.

    If the last observation is the only one that does not fit, and it ``may_fail``, the way to it:
    a saved failure.
    """
    report = match(spec, trace, only_next=True)
    if may_fail and report.stuck and report.accepted == len(trace) - 1:
        return schedule_of_failure(trace, report, spec, report.stuck[0].explanation.finding)
    if report.accepted < len(trace):
        raise KraflaError(f"{spec.name} has no behaviour that agrees with it", place)
    return schedule_of_behaviour(trace, report.behaviour)
