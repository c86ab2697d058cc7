"""The operators of a loaded spec, each looked up once, applied to values of TLC.

One call into the JVM costs as much as a small formula, and a lockstep applies few operators often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.oracle import Spec

__all__ = ["Operators"]


class Operators:
    """The operators of one spec. States, arguments and results are TLC's own objects."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._action_class = spec.classes("tlc2.tool.Action")
        self._known: dict[str, tuple[Any, Any, list[Any]]] = {}

    def value(self, name: str, state: Any, arguments: Sequence[Any]) -> Any:
        """Return the value of an operator in a state. Raises EvaluationError."""
        _, body, formals = self._looked_up(name)
        context = self._context(formals, arguments)
        return self._spec.asked(self._spec.tool.eval, body, context, state)

    def successors(self, name: str, state: Any, arguments: Sequence[Any]) -> Any:
        """Return TLC's vector of the states after an action. Raises EvaluationError."""
        definition, body, formals = self._looked_up(name)
        action = self._action_class(body, self._context(formals, arguments), definition)
        return self._spec.asked(self._spec.tool.getNextStates, action, state)

    def _context(self, formals: Sequence[Any], arguments: Sequence[Any]) -> Any:
        context = self._spec.empty_context
        for formal, argument in zip(formals, arguments, strict=True):
            context = context.cons(formal, argument)
        return context

    def _looked_up(self, name: str) -> tuple[Any, Any, list[Any]]:
        known = self._known.get(name)
        if known is None:
            definition = self._spec.definition(name)
            known = definition, definition.getBody(), list(definition.getParams())
            self._known[name] = known
        return known
