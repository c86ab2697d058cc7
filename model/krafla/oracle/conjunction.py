"""Many properties asked as one question, and only those that a step can have broken.

A call into the JVM costs more than a small formula, so formulas are joined. A formula that held
before a step holds after it if the step changed no variable that it reads. ``[A]_v`` holds, by its
meaning, for every step that leaves ``v`` unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.oracle.nodes import Opcode
from krafla.oracle.variables_read import variables_read

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from krafla.oracle.predicates import Part
    from krafla.oracle.spec import Spec
    from krafla.oracle.state import State

__all__ = ["Conjunction"]


class Conjunction:
    """Whether a state, and the step that leads to it, keep all of some properties.

    ``properties`` may speak of the first state, of every state and of every step, all at once.
    """

    def __init__(self, spec: Spec, invariants: Iterable[str], properties: Iterable[str]) -> None:
        self._spec = spec
        self._variables = frozenset(spec.variables)
        predicates = spec.predicates
        demands = [predicates.of_property(name) for name in properties]
        of_states = [part for name in invariants for part in predicates.of_state(name)]
        of_states += [part for one in demands for part in one.states]
        self._of_state = [
            (piece, self._reads(piece)) for part in of_states for piece in self._conjuncts(part)
        ]
        self._of_first = [part for one in demands for part in one.first]
        self._of_step = [(part, self._speaks_of(part)) for one in demands for part in one.steps]
        self._asked_of_states: dict[frozenset[str], list[object]] = {}
        self._asked_of_steps: dict[frozenset[str], list[object]] = {}

    def holds_in(self, state: State, changed: Collection[str] | None = None) -> bool:
        """Return whether all that must always hold does; ``EvaluationError`` if TLC cannot tell.

        With ``changed``, all held in a state that differs in these variables only.
        """
        spec = self._spec
        formulas = self._joined(self._asked_of_states, self._of_state, changed)
        return all(spec.asked(spec.tool.isValid, one, state.java) for one in formulas)

    def may_begin(self, state: State) -> bool:
        """Return whether a behaviour may begin in a state, as far as properties speak of that.

        What must always hold is not asked. ``EvaluationError`` if TLC cannot tell.
        """
        spec = self._spec
        return all(spec.asked(spec.tool.isValid, one.action, state.java) for one in self._of_first)

    def permits(self, before: State, after: State, changed: Collection[str] | None = None) -> bool:
        """Return whether every property of steps holds; ``EvaluationError`` if TLC cannot tell.

        With ``changed``, the step changed these variables only.
        """
        spec = self._spec
        formulas = self._joined(self._asked_of_steps, self._of_step, changed)
        return all(spec.asked(spec.tool.isValid, one, before.java, after.java) for one in formulas)

    def _joined(
        self,
        known: dict[frozenset[str], list[object]],
        pieces: list[tuple[Part, frozenset[str]]],
        changed: Collection[str] | None,
    ) -> list[object]:
        names = self._variables if changed is None else frozenset(changed)
        found = known.get(names)
        if found is None:
            concerned = [part for part, variables in pieces if variables & names]
            if changed is None:
                concerned = [part for part, _ in pieces]
            found = known[names] = self._join(concerned)
        return found

    def _join(self, parts: list[Part]) -> list[object]:
        """Return the formulas as actions of TLC: one for all that share the outermost names."""
        spec = self._spec
        plain = [part.node for part in parts if part.context is spec.empty_context]
        others = [part.action for part in parts if part.context is not spec.empty_context]
        if not plain:
            return others
        conjuncts = spec.classes.array("tla2sany.semantic.ExprOrOpArgNode")(plain)
        conjunction = spec.classes("util.UniqueString").uniqueStringOf("$ConjList")
        together = spec.classes("tla2sany.semantic.OpApplNode")(
            conjunction, conjuncts, plain[0].getTreeNode(), spec.tool.getRootModule()
        )
        return [spec.classes("tlc2.tool.Action")(together, spec.empty_context), *others]

    def _conjuncts(self, part: Part) -> Iterator[Part]:
        """Yield the conjuncts of a formula; each may read less than the whole."""
        spec = self._spec
        node = part.node
        if part.context is not spec.empty_context or not spec.tree.is_application(node):
            yield part
            return
        if spec.tree.opcode(node, part.context) not in (Opcode.AND, Opcode.CONJUNCTION_LIST):
            yield part
            return
        for conjunct in node.getArgs():
            yield spec.predicates.part(conjunct, part.context)

    def _speaks_of(self, part: Part) -> frozenset[str]:
        """Return the variables without whose change ``[A]_v`` holds; all, for another formula."""
        spec = self._spec
        node = part.node
        if part.context is not spec.empty_context or not spec.tree.is_application(node):
            return self._variables
        if spec.tree.opcode(node, part.context) != Opcode.SQUARE_ACTION:
            return self._variables
        return variables_read(spec, node.getArgs()[1])

    def _reads(self, part: Part) -> frozenset[str]:
        # Inside of an instance, names stand for what only the context knows.
        is_plain = part.context is self._spec.empty_context
        return variables_read(self._spec, part.node) if is_plain else self._variables
