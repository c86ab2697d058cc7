r"""What a named property demands of the first state, of every state and of every step.

TLC reads a ``PROPERTY`` so: ``P`` and the ``P`` of ``P /\ [][A]_v`` speak of the first state,
``[]P`` of every state, ``[][A]_v`` of every step. So it reads a whole specification, as in
``Property == Abstract!Spec``. Its fairness concerns whole behaviours, as all that is temporal does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from krafla.oracle.errors import SpecError
from krafla.oracle.nodes import ACTION_LEVEL, NodeKind, Opcode, substituted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.oracle.spec import Spec

__all__ = ["Demands", "Part", "Predicates"]


class _Scope(Enum):
    """What a formula of a property speaks of."""

    FIRST_STATE = 1
    STATE = 2
    STEP = 3
    BEHAVIOUR = 4


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


@dataclass(frozen=True, slots=True, eq=False)
class Demands:
    """The formulas of a property: of the first state, of every state, of every step.

    ``is_all`` says that they are all; the rest of another property concerns whole behaviours.
    """

    first: tuple[Part, ...]
    states: tuple[Part, ...]
    steps: tuple[Part, ...]
    is_all: bool


class Predicates:
    """The properties of one spec by name, taken apart once."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._action_class = spec.classes("tlc2.tool.Action")
        self._of_states: dict[str, tuple[Part, ...]] = {}
        self._taken_apart: dict[str, tuple[tuple[_Scope, Part], ...]] = {}

    def of_state(self, name: str) -> tuple[Part, ...]:
        """Return the parts of a state predicate: itself, or what ``[]P`` demands of every state.

        ``SpecError`` if it speaks of more than single states.
        """
        found = self._of_states.get(name)
        if found is None:
            body = self._body(name)
            if int(body.getLevel()) < ACTION_LEVEL:
                found = (self.part(body, self._spec.empty_context),)
            else:
                parts = self._parts(name)
                if any(scope is not _Scope.STATE for scope, _ in parts):
                    what = "speaks of more than single states: it is no invariant"
                    raise SpecError(f"{name} of {self._spec.name} {what}")
                found = tuple(part for _, part in parts)
            self._of_states[name] = found
        return found

    def of_step(self, name: str) -> tuple[Part, ...]:
        """Return what a property demands of a step; ``SpecError`` if it demands nothing."""
        wanted = (_Scope.STATE, _Scope.STEP)
        found = tuple(part for scope, part in self._parts(name) if scope in wanted)
        if not found:
            raise SpecError(f"{name} of {self._spec.name} says nothing of a single step")
        return found

    def of_property(self, name: str) -> Demands:
        """Return what a property demands; ``SpecError`` if it speaks of whole behaviours only."""
        parts = self._parts(name)
        first, states, steps, rest = (
            tuple(part for scope, part in parts if scope is wanted) for wanted in _Scope
        )
        if not (first or states or steps):
            raise SpecError(f"{name} of {self._spec.name} says nothing of a single state or step")
        return Demands(first, states, steps, not rest)

    def _parts(self, name: str) -> tuple[tuple[_Scope, Part], ...]:
        found = self._taken_apart.get(name)
        if found is None:
            body, context = self._body(name), self._spec.empty_context
            if int(body.getLevel()) == ACTION_LEVEL:
                # TLC has no such property: an operator over a step, by itself.
                found = ((_Scope.STEP, self.part(body, context)),)
            else:
                found = tuple(self._split(body, context))
            self._taken_apart[name] = found
        return found

    def _body(self, name: str) -> Any:
        definition = self._spec.definition(name)
        if definition.getParams():
            raise SpecError(f"{name} of {self._spec.name} has parameters: it is no property")
        return definition.getBody()

    def part(self, node: Any, context: Any) -> Part:
        """Return a formula on its own, ready to be asked."""
        return Part(node, context, self._action_class(node, context))

    def _split(self, node: Any, context: Any) -> Iterator[tuple[_Scope, Part]]:
        """Yield the conjuncts, and what stands under ``[]``, through definitions and instances."""
        kind = int(node.getKind())
        if int(node.getLevel()) < ACTION_LEVEL:
            yield _Scope.FIRST_STATE, self.part(node, context)
        elif kind in (NodeKind.LET, NodeKind.LABEL):
            yield from self._split(node.getBody(), context)
        elif kind in (NodeKind.SUBSTITUTION, NodeKind.THEOREM_SUBSTITUTION):
            inside = substituted(self._spec.tool, node, context)
            yield from self._split(node.getBody(), inside)
        elif kind == NodeKind.APPLICATION and int(node.getLevel()) > ACTION_LEVEL:
            yield from self._split_application(node, context)
        else:
            yield _Scope.BEHAVIOUR, self.part(node, context)

    def _split_application(self, node: Any, context: Any) -> Iterator[tuple[_Scope, Part]]:
        tree = self._spec.tree
        opcode = tree.opcode(node, context)
        definition = tree.definition(node, context) if opcode == Opcode.USER else None
        if opcode == Opcode.BOX:
            inside = node.getArgs()[0]
            yield self._scope_of(inside, context), self.part(inside, context)
        elif opcode in (Opcode.AND, Opcode.CONJUNCTION_LIST):
            for conjunct in node.getArgs():
                yield from self._split(conjunct, context)
        elif definition is not None:
            # Not cached: this context outlives the step it is first used for.
            inside = self._spec.tool.getOpContext(definition, node.getArgs(), context, False)
            yield from self._split(definition.getBody(), inside)
        else:
            yield _Scope.BEHAVIOUR, self.part(node, context)

    def _scope_of(self, node: Any, context: Any) -> _Scope:
        """Return what a formula under ``[]`` speaks of, with what its context puts in it."""
        tree, tool = self._spec.tree, self._spec.tool
        if tree.is_application(node) and tree.opcode(node, context) == Opcode.SQUARE_ACTION:
            return _Scope.STEP
        # A parameter of an operator has no level of its own.
        bound = tool.getLevelBound(node, context, tool.getId())
        level = max(int(node.getLevel()), int(bound))
        if level > ACTION_LEVEL:
            return _Scope.BEHAVIOUR
        return _Scope.STEP if level == ACTION_LEVEL else _Scope.STATE
