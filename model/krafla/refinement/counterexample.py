"""A counterexample of TLC as a trace that stands alone: of a spec, not of a model of it.

TLC prints what a model's configuration calls things: the constants are names of definitions, and
no parameters are told. Whoever replays, shrinks or shows the trace has the spec and needs values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from krafla.oracle import EvaluationError, Spec
from krafla.oracle.digest import spec_digest
from krafla.refinement.claims import claim_of
from krafla.refinement.properties import MODULE
from krafla.refinement.validation import loaded
from krafla.tlc.counterexample import resolve_parameters
from krafla.traces import Claim, ClaimKind, Origin, Step, Trace
from krafla.values import Function
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.manifest import Model
    from krafla.oracle import State
    from krafla.values import Value

__all__ = ["explained", "stands_alone"]

# Models bound the actions; the properties stand in a module that extends them.
_LEASE = "BrokerLease"


def explained(trace: Trace, model: Model) -> Trace:
    """Return a counterexample with the conjunct that is false and the parameters of its steps.

    It stays one of the model: its states, its names. ``KraflaError`` if that cannot be loaded.
    """
    bounded = _bounded(model)
    return resolve_parameters(replace(trace, claim=_claim(bounded, trace)), _Finder(bounded, True))


def stands_alone(trace: Trace, model: Model) -> Trace:
    """Return a counterexample of a model as a trace of the module that the model bounds.

    Its constants are values, its steps have parameters, its claim the conjunct that is false, and
    variables that only the model has are left out. ``KraflaError`` if the model cannot be loaded.
    """
    bounded = _bounded(model)
    name, constants = _base(bounded, model)
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
        name, steps, constants, _claim(bounded, trace), trace.lasso, trace.back, trace.model,
        Origin("tlc", digest=spec_digest(name)),
    )  # fmt: skip
    return resolve_parameters(alone, _Finder(spec))


def _bounded(model: Model) -> Spec:
    return Spec.load(
        model.module.stem, cfg=model.config, path=model.module, search_path=model.search_path
    )


def _base(bounded: Spec, model: Model) -> tuple[str, tuple[tuple[str, Value], ...]]:
    """Return the module to replay on, and the constants that it declares, as values."""
    root = bounded.tool.getRootModule()
    # A model need not have a module of its own.
    modules = [root, *root.getExtendedModuleSet(True)]
    extended = {str(one.getName().toString()): one for one in modules}
    name = MODULE if MODULE in extended and model.spec == _LEASE else model.spec
    if name not in extended:
        raise KraflaError(f"{model.module.stem} does not extend {name}", model.place or None)
    module = extended[name]
    names = {name, *(str(one.getName().toString()) for one in module.getExtendedModuleSet(True))}
    declared = [
        str(one.getName().toString())
        for one in root.getConstantDecls()
        if str(one.getLocation().source()) in names
    ]
    return name, tuple((one, bounded.evaluate(one)) for one in sorted(declared))


def _claim(bounded: Spec, trace: Trace) -> Claim | None:
    """Return the claim with the conjunct that is false in the last state, or of the last step."""
    claim = trace.claim
    if claim is None or claim.property is None:
        return claim
    if claim.kind is ClaimKind.INVARIANT:
        last = _state(bounded, trace.steps[-1].state)
        return claim_of(claim.kind, claim.property, bounded.explain_invariant(claim.property, last))
    if claim.kind is ClaimKind.ACTION_PROPERTY and len(trace) > 1:
        before, after = (_state(bounded, step.state) for step in trace.steps[-2:])
        explanation = bounded.explain_action_property(claim.property, before, after)
        return claim_of(claim.kind, claim.property, explanation)
    return claim


def _state(spec: Spec, state: Function) -> State:
    return spec.state({str(name): value for name, value in state.items()})


class _Finder:
    """Who finds the parameters by trying every step that the spec has."""

    def __init__(self, spec: Spec, has_stand_ins: bool = False) -> None:
        """Take the spec; in a model, a cfg may put an operator of another name for an action."""
        self._spec = spec
        self._has_stand_ins = has_stand_ins

    def parameters(
        self, action: str, before: Function, after: Function
    ) -> tuple[Value, ...] | None:
        """Return the first arguments with which the action, or the only one, leads there."""
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
