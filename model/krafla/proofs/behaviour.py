"""The behaviour that refutes a claim, as a trace for replaying, shrinking and explaining."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from krafla.match.claims import claim_of
from krafla.match.spec_source import text_of
from krafla.match.validation import extended_modules, loaded
from krafla.oracle.digest import spec_digest
from krafla.oracle.loader import find_module
from krafla.proofs.obligations import Kind
from krafla.traces import Claim, ClaimKind, Origin, Step, Trace
from krafla.traces.spec_facts import specs_alone
from krafla.traces.trace import INITIAL
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.oracle import Spec, State
    from krafla.proofs.counterexample import Counterexample
    from krafla.proofs.refutation import Refutation
    from krafla.values import Value

__all__ = ["behaviour_of"]


def behaviour_of(found: Refutation) -> Trace:
    """Return the behaviour of a refutation, from Init to the step that breaks the claim.

    Every step has its parameters, the constants are values, and the claim names the false conjunct.
    ``KraflaError`` if no behaviour was found, or if the module of the proof extends no spec whose
    traces stand alone.
    """
    broken = found.counterexample
    path = None if found.reached is None else found.reached.path
    if broken is None or path is None or broken.after is None:
        raise KraflaError(f"no behaviour refutes {found.proof.name}: there is none to save")
    spec = path[0][1].spec
    module = _spec_alone(spec, found.proof.module.stem)
    places = {one.name: f"{one.place.module}:{one.place.line}" for one in spec.actions}
    steps = [Step(INITIAL, (), path[0][1].as_function())]
    for (_, before), (name, after) in pairwise(path):
        parameters = _parameters(spec, before, name, after)
        steps.append(Step(name, parameters, after.as_function(), places[name]))
    action = broken.obligation.action
    assert action is not None, "a step breaks the claim"
    steps.append(Step(action, broken.parameters, broken.after.as_function(), places[action]))
    constants = tuple(sorted(broken.constants.items()))
    claim = _claim(module, broken, constants, steps[-2:])
    origin, text = Origin("z3", digest=spec_digest(module)), text_of(find_module(module, None))
    return Trace(module, tuple(steps), constants, claim, origin=origin, text=text)


def _spec_alone(spec: Spec, module: str) -> str:
    extended = extended_modules(spec)
    for facts in specs_alone():
        if facts.spec in extended:
            return facts.spec
    raise KraflaError(f"{module} extends no spec whose traces stand alone: none can be saved")


def _parameters(spec: Spec, before: State, action: str, after: State) -> tuple[Value, ...]:
    return next(
        given for name, given, one in spec.successors(before) if name == action and one == after
    )


def _claim(
    module: str,
    broken: Counterexample,
    constants: tuple[tuple[str, Value], ...],
    steps: list[Step],
) -> Claim:
    """Return the claim about the last step, with the false conjunct in the module's own text."""
    spec = loaded(module, constants)
    before, after = (
        spec.state({str(key): value for key, value in step.state.items()}) for step in steps
    )
    name = broken.obligation.goal
    if broken.obligation.kind is Kind.STEP:
        kind, explanation = (
            ClaimKind.ACTION_PROPERTY, spec.explain_action_property(name, before, after)
        )  # fmt: skip
    else:
        kind, explanation = ClaimKind.INVARIANT, spec.explain_invariant(name, after)
    return claim_of(kind, name, explanation)
