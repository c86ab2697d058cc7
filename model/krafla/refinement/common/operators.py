"""The operators of a loaded spec, each looked up once, applied to values of TLC.

One call into the JVM costs as much as a small formula, and a lockstep applies few operators often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.oracle.state_functions import StateFunctions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.testing import Spec

__all__ = ["Operators"]


class Operators:
    """The operators of one spec. States, arguments and results are TLC's own objects."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._action_class = spec.classes("tlc2.tool.Action")
        self._functions = StateFunctions(spec)
        self._known: dict[str, tuple[Any, Sequence[Any]]] = {}
        self._actions: dict[tuple[str, bool], tuple[Any, Sequence[Any]]] = {}
        self.are_equal = self._functions.are_equal

    def value(self, name: str, state: Any, arguments: Sequence[Any]) -> Any:
        """Return the value of an operator in a state. Raises EvaluationError."""
        known = self._known.get(name)
        if known is None:
            definition = self._spec.definition(name)
            known = self._known[name] = definition.getBody(), tuple(definition.getParams())
        body, formals = known
        return self._spec.asked(
            self._spec.tool.eval, body, self._context(formals, arguments), state
        )

    def successor(self, name: str, state: Any, arguments: Sequence[Any]) -> Any:
        """Return the first state after an action; None if there is none. Raises EvaluationError."""
        return self._after(name, state, arguments, is_whole=False)

    def successors(self, name: str, state: Any, arguments: Sequence[Any]) -> Any:
        """Return TLC's vector of the states after an action. Raises EvaluationError."""
        return self._after(name, state, arguments, is_whole=True)

    def _after(self, name: str, state: Any, arguments: Sequence[Any], *, is_whole: bool) -> Any:
        known = self._actions.get((name, is_whole))
        if known is None:
            definition = self._spec.definition(name)
            empty = self._spec.empty_context
            action = self._action_class(definition.getBody(), empty, definition)
            make = self._functions.all_after if is_whole else self._functions.first_after
            known = self._actions[name, is_whole] = make(action), tuple(definition.getParams())
        after, formals = known
        return self._spec.asked(after, self._context(formals, arguments), state)

    def _context(self, formals: Sequence[Any], arguments: Sequence[Any]) -> Any:
        context = self._spec.empty_context
        for formal, argument in zip(formals, arguments, strict=True):
            context = context.cons(formal, argument)
        return context
