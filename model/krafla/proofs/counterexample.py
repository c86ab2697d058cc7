"""Steps that break a clause: found by z3, confirmed by TLC's evaluator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.oracle import EvaluationError, Spec, SpecError
from krafla.proofs.obligations import Kind
from krafla.proofs.types import TYPE_INVARIANT
from krafla.values import ModelValue, Value, fmt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from krafla.oracle import State
    from krafla.proofs.model_values import Situation
    from krafla.proofs.obligations import Case, Obligation

__all__ = ["Counterexample", "confirmed", "is_initial"]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A state in which every hypothesis holds and the obligation fails.

    ``after`` is the state that the action leads to. It is None if the state itself breaks the goal,
    or if the action has no meaning there. TLC's evaluator has confirmed all of it.
    """

    obligation: Obligation
    constants: Mapping[str, Value]
    before: State
    parameters: tuple[Value, ...]
    after: State | None

    @property
    def step(self) -> str:
        """Return the action with its parameters."""
        if self.obligation.action is None:
            return self.obligation.kind.value
        given = f"({', '.join(map(fmt, self.parameters))})" if self.parameters else ""
        return f"{self.obligation.action}{given}"

    def lines(self) -> Iterator[str]:
        """Yield lines: the whole state before, and what changed in the state after."""
        names = ", ".join(
            f"{name} = {fmt(value)}"
            for name, value in sorted(self.constants.items())
            if not isinstance(value, ModelValue)
        )
        if names:
            yield f"where {names}"
        yield "in the state"
        for variable in self.before:
            yield f"  {variable} = {fmt(self.before[variable])}"
        if self.after is not None:
            yield f"{self.step} leads to"
            for variable in self.before:
                if self.before[variable] != self.after[variable]:
                    yield f"  {variable} = {fmt(self.after[variable])}"


def confirmed(
    case: Case, obligation: Obligation, situation: Situation, hypotheses: Sequence[str],
    *, module: str, path: Path, search_path: Sequence[Path],
) -> Counterexample | str:  # fmt: skip
    """Return the situation as a counterexample if TLC's evaluator agrees, else why it does not.

    ``hypotheses`` names the clauses that must hold before the step.
    """
    constants = dict(situation.constants)
    try:
        # These constants may break an ASSUME, as z3 takes one without a meaning for true or false.
        spec = Spec.load(module, constants, path=path, search_path=search_path)
        before = spec.state(situation.before)
        for name in dict.fromkeys(hypotheses):
            if not spec.check_invariant(name, before):
                return f"{name} does not hold in the state that was found"
        return _broken(spec, case, obligation, before, situation.parameters, constants)
    except (EvaluationError, SpecError) as error:
        return str(error)


def is_initial(
    case: Case, situation: Situation, *, module: str, path: Path, search_path: Sequence[Path]
) -> bool:
    """Return whether TLC's evaluator has the state as initial, under the conditions."""
    try:
        spec = Spec.load(module, dict(situation.constants), path=path, search_path=search_path)
        state = spec.state(situation.before)
        conditions = case.proof.conditions
        return state in spec.initial_states() and all(map(spec.evaluate, conditions))
    except (EvaluationError, SpecError):
        return False


def _broken(
    spec: Spec, case: Case, obligation: Obligation, before: State,
    parameters: tuple[Value, ...], constants: Mapping[str, Value],
) -> Counterexample | str:  # fmt: skip
    goal = obligation.goal
    if obligation.kind is Kind.DEFINED:
        return _undefined(spec, obligation, before, parameters, constants)
    if obligation.kind is Kind.FITS:
        # A value outside of a variable's type is outside of the set that gives the type.
        goal = TYPE_INVARIANT
        if obligation.action is None:
            return _starting_outside(spec, obligation, constants)
    if obligation.action is None:
        if spec.check_invariant(goal, before):
            return f"{goal} holds in the state that was found"
        return Counterexample(obligation, constants, before, parameters, None)
    for after in spec.outcomes(before, obligation.action, *parameters):
        conditions = case.proof.step_conditions
        if all(spec.check_action_property(name, before, after) for name in conditions):
            holds = (
                spec.check_action_property(goal, before, after)
                if obligation.kind is Kind.STEP
                else spec.check_invariant(goal, after)
            )
            if not holds:
                return Counterexample(obligation, constants, before, parameters, after)
    return f"{obligation.action} keeps {goal} from the state that was found"


def _undefined(
    spec: Spec, obligation: Obligation, before: State,
    parameters: tuple[Value, ...], constants: Mapping[str, Value],
) -> Counterexample | str:  # fmt: skip
    """Return a counterexample if TLC cannot evaluate what was asked in a state, else the reason."""
    try:
        if obligation.action is None:
            spec.check_invariant(obligation.goal, before)
            return f"{obligation.goal} means something in the state that was found"
        spec.outcomes(before, obligation.action, *parameters)
    except EvaluationError:
        return Counterexample(obligation, constants, before, parameters, None)
    return f"{obligation.action} means something in the state that was found"


def _starting_outside(
    spec: Spec, obligation: Obligation, constants: Mapping[str, Value]
) -> Counterexample | str:
    """Return an initial state that breaks the type invariant, else the reason."""
    for state in spec.initial_states():
        if not spec.check_invariant(TYPE_INVARIANT, state):
            return Counterexample(obligation, constants, state, (), None)
    return f"with these constants every initial state satisfies {TYPE_INVARIANT}"
