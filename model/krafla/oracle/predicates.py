"""The demands of a named property on one state or one step.

``[][A]_v`` is about steps. So is a whole specification, as in ``Property == Abstract!Spec``: its
boxes are checked, while its initial predicate and its fairness concern no single step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krafla.oracle.errors import SpecError
from krafla.oracle.nodes import ACTION_LEVEL, NodeKind, Opcode, substituted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.oracle.spec import Spec

__all__ = ["Part", "Predicates"]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One formula of a property, with the context that gives its names their meaning."""

    node: Any
    context: Any
    action: Any

    @property
    def is_of_step(self) -> bool:
        """Return whether the formula relates two states; otherwise it is about each state."""
        return int(self.node.getLevel()) == ACTION_LEVEL


class Predicates:
    """The properties of one spec by name, taken apart once."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._action_class = spec.classes("tlc2.tool.Action")
        self._of_states: dict[str, tuple[Part, ...]] = {}
        self._of_steps: dict[str, tuple[Part, ...]] = {}

    def of_state(self, name: str) -> tuple[Part, ...]:
        """Return the parts of a state predicate: itself."""
        found = self._of_states.get(name)
        if found is None:
            found = (self.part(self._body(name), self._spec.empty_context),)
            self._of_states[name] = found
        return found

    def of_step(self, name: str) -> tuple[Part, ...]:
        """Return what a property demands of a step; ``SpecError`` if it demands nothing."""
        found = self._of_steps.get(name)
        if found is None:
            body = self._body(name)
            if int(body.getLevel()) <= ACTION_LEVEL:
                found = (self.part(body, self._spec.empty_context),)
            else:
                found = tuple(self._split(body, self._spec.empty_context))
            if not found:
                raise SpecError(f"{name} of {self._spec.name} says nothing of a single step")
            self._of_steps[name] = found
        return found

    def _body(self, name: str) -> Any:
        definition = self._spec.definition(name)
        if definition.getParams():
            raise SpecError(f"{name} of {self._spec.name} has parameters: it is no property")
        return definition.getBody()

    def part(self, node: Any, context: Any) -> Part:
        """Return a formula on its own, ready to be asked."""
        return Part(node, context, self._action_class(node, context))

    def _split(self, node: Any, context: Any) -> Iterator[Part]:
        """Yield what stands under ``[]``, through conjunctions, definitions and instances."""
        kind = int(node.getKind())
        if kind in (NodeKind.LET, NodeKind.LABEL):
            yield from self._split(node.getBody(), context)
        elif kind in (NodeKind.SUBSTITUTION, NodeKind.THEOREM_SUBSTITUTION):
            inside = substituted(self._spec.tool, node, context)
            yield from self._split(node.getBody(), inside)
        elif kind == NodeKind.APPLICATION and int(node.getLevel()) > ACTION_LEVEL:
            yield from self._split_application(node, context)

    def _split_application(self, node: Any, context: Any) -> Iterator[Part]:
        tree = self._spec.tree
        opcode = tree.opcode(node, context)
        if opcode == Opcode.BOX and int(node.getArgs()[0].getLevel()) <= ACTION_LEVEL:
            yield self.part(node.getArgs()[0], context)
        elif opcode in (Opcode.AND, Opcode.CONJUNCTION_LIST):
            for conjunct in node.getArgs():
                yield from self._split(conjunct, context)
        elif opcode == Opcode.USER:
            definition = tree.definition(node, context)
            if definition is not None:
                # Not cached: this context outlives the step it is first used for.
                inside = self._spec.tool.getOpContext(definition, node.getArgs(), context, False)
                yield from self._split(definition.getBody(), inside)
