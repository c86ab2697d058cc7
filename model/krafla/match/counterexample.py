"""A counterexample of TLC as a trace that can be replayed, shrunk and shown.

TLC's output uses the names of the model's configuration: its constants are names of definitions,
and its steps have no parameters. A trace needs values instead, or a reference to the model.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from krafla.match.claims import claim_of
from krafla.match.spec_source import text_of
from krafla.match.validation import bounded, extended_modules, loaded, stand_ins
from krafla.oracle import EvaluationError
from krafla.oracle.digest import spec_digest
from krafla.oracle.loader import find_module
from krafla.tlc.counterexample import resolve_parameters
from krafla.traces import Claim, ClaimKind, Origin, Step, Trace
from krafla.traces.spec_facts import specs_alone
from krafla.values import Function
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.manifest import Model
    from krafla.oracle import Explanation, Spec, State
    from krafla.values import Value

__all__ = ["explained", "replayable"]


def replayable(trace: Trace, model: Model) -> Trace:
    """Return a behaviour of a model as a trace that can be replayed, shrunk and explained.

    The trace stands alone if ``traces.toml`` says so for the model's spec. Otherwise it carries
    the name of its model. ``KraflaError`` if the model cannot be loaded.
    """
    for facts in specs_alone():
        if model.spec != facts.stands_alone_for:
            continue
        try:
            alone = _alone(trace, model, facts.spec)
            spec = loaded(alone.spec, alone.constants)
            if alone.claim is not None and alone.claim.property is not None:
                spec.definition(alone.claim.property)
            return _named(alone, spec)
        except KraflaError:
            # The constants of this model are operators, or the property is one of the model's own.
            pass
    found = replace(explained(trace, model)[0], model=model.name)
    origin = Origin(_made_by(trace), digest=spec_digest(model.module.stem, model.module))
    return replace(found, origin=origin, text=text_of(model.module, model.config))


def _made_by(trace: Trace) -> str:
    """Return the engine that made a trace: TLC, if its output does not say otherwise."""
    return "tlc" if trace.origin is None else trace.origin.made_by


def explained(trace: Trace, model: Model) -> tuple[Trace, Explanation | None]:
    """Return a counterexample with the false conjunct and the actions of its steps, and why.

    States and names stay those of the model. A step is named by an action of Next. The explanation
    is None for a claim that is not about a state or a step. ``KraflaError`` if the model cannot be
    loaded.
    """
    spec = bounded(model)
    explanation = _explanation(spec, trace)
    found = replace(trace, claim=_claimed(trace, explanation))
    found = resolve_parameters(found, _Finder(spec, True))
    with suppress(EvaluationError):
        found = _named(found, spec)
    return found, explanation


def _alone(trace: Trace, model: Model, name: str) -> Trace:
    """Return a counterexample of a model as a trace of the named module, which the model bounds.

    The trace has values for constants, parameters for steps and the false conjunct in its claim.
    It lacks the variables that only the model has.
    """
    whole = bounded(model)
    constants = _constants(whole, model, name)
    spec = loaded(name, constants)
    states = [
        Function({one: step.state[one] for one in spec.variables if one in step.state})
        for step in trace.steps
    ]
    steps = tuple(
        Step(step.action, step.parameters, state, step.location)
        for step, state in zip(trace.steps, states, strict=True)
    )
    alone = Trace(
        name, steps, constants, _claimed(trace, _explanation(whole, trace)), trace.lasso,
        trace.back, trace.model, Origin(_made_by(trace), digest=spec_digest(name)),
        text_of(find_module(name, None)),
    )  # fmt: skip
    return resolve_parameters(alone, _Finder(spec))


def _constants(whole: Spec, model: Model, name: str) -> tuple[tuple[str, Value], ...]:
    """Return the constants of the named module and of the modules it extends, as values."""
    root = whole.tool.getRootModule()
    # The root module is the named one if the model has no module of its own.
    extended = extended_modules(whole)
    if name not in extended:
        raise KraflaError(f"{model.module.stem} does not extend {name}", model.place or None)
    module = extended[name]
    names = {name, *(str(one.getName().toString()) for one in module.getExtendedModuleSet(True))}
    declared = [
        str(one.getName().toString())
        for one in root.getConstantDecls()
        if str(one.getLocation().source()) in names
    ]
    return tuple((one, whole.evaluate(one)) for one in sorted(declared))


def _explanation(whole: Spec, trace: Trace) -> Explanation | None:
    """Return why the claimed property is false in the last state, or of the last step."""
    claim = trace.claim
    if claim is None or claim.property is None:
        return None
    if claim.kind is ClaimKind.INVARIANT:
        last = _state(whole, trace.steps[-1].state)
        return whole.explain_invariant(claim.property, last)
    if claim.kind is ClaimKind.ACTION_PROPERTY and len(trace) > 1:
        before, after = (_state(whole, step.state) for step in trace.steps[-2:])
        return whole.explain_action_property(claim.property, before, after)
    return None


def _claimed(trace: Trace, explanation: Explanation | None) -> Claim | None:
    """Return the claim with the false conjunct, if the explanation has one."""
    claim = trace.claim
    if claim is None or claim.property is None or explanation is None:
        return claim
    return claim_of(claim.kind, claim.property, explanation)


def _state(spec: Spec, state: Function) -> State:
    return spec.state({str(name): value for name, value in state.items()})


def _named(trace: Trace, spec: Spec) -> Trace:
    """Return the trace with every step named by an action of Next, or by its stand-in.

    TLC names the operator it evaluated, which may be neither.
    """
    known = {action.name for action in spec.actions} | stand_ins(spec).keys()
    steps = list(trace.steps)
    for index, step in enumerate(steps[1:], start=1):
        if step.parameters is None or step.action not in known:
            end = _state(spec, step.state)
            for name, parameters, after in spec.successors(_state(spec, steps[index - 1].state)):
                if after == end:
                    steps[index] = replace(step, action=name, parameters=parameters)
                    break
    return trace.with_steps(tuple(steps))


class _Finder:
    """Finds the parameters of a step by trying every step of the spec."""

    def __init__(self, spec: Spec, has_stand_ins: bool = False) -> None:
        """Take the spec, and whether a model's cfg may replace actions by other operators."""
        self._spec = spec
        self._has_stand_ins = has_stand_ins

    def parameters(
        self, action: str, before: Function, after: Function
    ) -> tuple[Value, ...] | None:
        """Return the first parameters with which the action, or a single other, leads there."""
        end: Any = _state(self._spec, after)
        try:
            steps = self._spec.successors(_state(self._spec, before))
        except EvaluationError:
            return None
        fitting = [(name, given) for name, given, one in steps if one == end]
        named = [given for name, given in fitting if name == action]
        others = [given for _, given in fitting] if self._has_stand_ins else []
        others = others if len(others) == 1 else []
        return next(iter(named or others), None)
