"""Many properties asked as one question: a call into the JVM costs more than a small formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krafla.oracle.predicates import Part
    from krafla.oracle.spec import Spec
    from krafla.oracle.state import State

__all__ = ["Conjunction"]


class Conjunction:
    """Whether a state, and the step that leads to it, keep all of some properties."""

    def __init__(self, spec: Spec, invariants: Iterable[str], steps: Iterable[str]) -> None:
        self._spec = spec
        predicates = spec.predicates
        of_states = [part for name in invariants for part in predicates.of_state(name)]
        of_steps = [part for name in steps for part in predicates.of_step(name)]
        self._of_state = self._joined(of_states)
        self._of_step = self._joined(of_steps)

    def holds_in(self, state: State) -> bool:
        """Return whether every invariant holds; ``EvaluationError`` if TLC cannot tell."""
        spec = self._spec
        return all(spec.asked(spec.tool.isValid, one, state.java) for one in self._of_state)

    def permits(self, before: State, after: State) -> bool:
        """Return whether every property of steps holds; ``EvaluationError`` if TLC cannot tell."""
        spec = self._spec
        return all(
            spec.asked(spec.tool.isValid, one, before.java, after.java) for one in self._of_step
        )

    def _joined(self, parts: Sequence[Part]) -> list[object]:
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
