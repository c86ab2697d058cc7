"""The state of a spec during one run, and the actions that it takes there.

States are TLC's own objects and are never fingerprinted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from krafla.refinement.common.judgement import SpecAction
from krafla.refinement.common.operators import Operators
from krafla.testing import EvaluationError, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.testing import Explanation, Spec

__all__ = ["Action", "RefusalError", "SpecRun"]


class Action(NamedTuple):
    """An action that a step is read as, with its parameters in order.

    Each kind of run says which parameters it takes besides plain values.
    """

    name: str
    parameters: tuple[Any, ...]


class RefusalError(Exception):
    """The spec refuses an action in a state.

    ``after`` has the implementation's values of the variables that differ; it is None if the action
    is not enabled at all.
    """

    def __init__(self, action: Action, state: Any, after: dict[str, Any] | None = None) -> None:
        super().__init__(action.name)
        self.action = action
        self.state = state
        self.after = after


class SpecRun:
    """A spec and its current state."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.state: Any = spec.initial_states()[0].java
        self._operators = Operators(spec)
        self.are_equal: Callable[[Any, Any], bool] = self._operators.are_equal
        """The test whether two states are equal."""

    def successor(self, action: Action, state: Any) -> Any:
        """Return the first state after an action; None if it is not enabled.

        Raises RefusalError if the action cannot be evaluated in this state.
        """
        return self._after(self._operators.successor, action, state)

    def successors(self, action: Action, state: Any) -> Any:
        """Return TLC's vector of the states after an action. Raises RefusalError as above."""
        return self._after(self._operators.successors, action, state)

    def _after(self, ask: Callable[..., Any], action: Action, state: Any) -> Any:
        parameters = [self._java(one) for one in action.parameters]
        try:
            return ask(action.name, state, parameters)
        except EvaluationError:
            raise RefusalError(action, state) from None

    def evaluate(self, operator: str, state: Any, *parameters: Any) -> Any:
        """Return TLC's value of an operator in a state. Raises EvaluationError."""
        return self._operators.value(operator, state, [self._java(one) for one in parameters])

    def explain(self, refusal: RefusalError) -> Explanation:
        """Return which conjunct is false, or which variables differ."""
        action = self.spec_action(refusal.action)
        state = State(self.spec, refusal.state)
        return self.spec.explain(state, action.name, action.parameters, after=refusal.after)

    def spec_action(self, action: Action) -> SpecAction:
        """Return an action with its parameters as plain values."""
        return SpecAction(action.name, action.parameters)

    def _java(self, parameter: Any) -> Any:
        """Return a parameter as a value of TLC."""
        return self.spec.converter.to_java(parameter)
