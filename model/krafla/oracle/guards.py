"""The guards of actions: the conjuncts that say whether an action is enabled, each by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krafla.oracle.errors import EvaluationError
from krafla.oracle.jvm import java_error
from krafla.oracle.nodes import ACTION_LEVEL, Opcode
from krafla.oracle.steps import Stepper
from krafla.oracle.variables_read import variables_read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.oracle.actions import Branch
    from krafla.oracle.sources import Place
    from krafla.oracle.spec import Spec
    from krafla.oracle.state import State
    from krafla.values import Value

__all__ = ["Guard", "Guards", "Instance"]

_CONJUNCTIONS = (Opcode.CONJUNCTION_LIST, Opcode.AND)
_DISJUNCTIONS = (Opcode.DISJUNCTION_LIST, Opcode.OR)
# Formulas over primed variables that have no solution where there is nothing to choose from.
_SELECTIONS = (Opcode.EXISTS, Opcode.CASE, Opcode.IN)
# A recursive operator has no end of definitions.
_DEPTH_MAX = 20


@dataclass(frozen=True, slots=True)
class Guard:
    """One conjunct of an action that must be true for the action to be enabled."""

    action: str
    text: str
    place: Place

    def __str__(self) -> str:
        return f"{self.action}: {' '.join(self.text.split())}"


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A guard for one choice of its action's parameters: TLC's formula and its context."""

    guard: Guard
    node: Any
    context: Any

    @property
    def is_of_state(self) -> bool:
        """Return whether the formula reads no primed variable."""
        return int(self.node.getLevel()) < ACTION_LEVEL


@dataclass(frozen=True, slots=True, eq=False)
class _Leaf:
    """A guard with the operators around it, outermost first: each with its application."""

    guard: Guard
    node: Any
    around: tuple[tuple[Any, Any], ...] = ()


class Guards:
    """The guards of each action of one spec.

    Conjunctions are taken apart, also inside the operators that an action applies. A formula that
    chooses next values and may find none (a quantifier, ``IF``, a disjunction) is one guard.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._stepper = Stepper(spec)
        self._nothing = spec.classes("tlc2.tool.TLCStateFun").Empty
        self._known: dict[tuple[str, Place], Guard] = {}
        self._leaves: dict[Branch, tuple[_Leaf, ...]] = {}
        # A disjunct of Next without a name is nothing that an implementation can be asked to do.
        self.branches = tuple(
            branch
            for branch in spec.branches
            if branch.owner.definition is not None
            and branch.owner.name != self._next_name()
            and not spec.is_left_out(branch.owner.name)
        )

    def _next_name(self) -> str:
        definition = self._spec.tool.getNextStateSpec().getOpDef()
        return "" if definition is None else str(definition.getName().toString())

    def all(self) -> tuple[Guard, ...]:
        """Return every guard, action by action, in the order of the spec."""
        return tuple(dict.fromkeys(one for branch in self.branches for one in self.of(branch)))

    def of(self, branch: Branch) -> tuple[Guard, ...]:
        """Return the guards of one branch of Next."""
        return tuple(leaf.guard for leaf in self._leaves_of(branch))

    def reads(self, branch: Branch) -> frozenset[str]:
        """Return the variables on which depends what a branch offers, and with which guards."""
        bounds = (bound for one in branch.quantifiers for bound in one.getBdedQuantBounds())
        nodes = [*bounds]
        if branch.is_application:
            nodes += branch.inner.getArgs()
        for leaf in self._leaves_of(branch):
            nodes += [leaf.node, *(one for _, node in leaf.around for one in node.getArgs())]
        return frozenset[str]().union(*(variables_read(self._spec, one) for one in nodes))

    def choices(
        self, branch: Branch, state: State
    ) -> Iterator[tuple[tuple[Value, ...], tuple[Instance, ...]]]:
        """Yield the parameters that Next offers in a state, with the guards for them."""
        leaves = self._leaves_of(branch)
        for parameters, context in self._stepper.choices(branch, state):
            inside = context
            if branch.is_application:
                # An argument that is an operator is none of the parameters.
                inside = self._spec.tool.getOpContext(
                    branch.owner.definition, branch.inner.getArgs(), context, False
                )
            yield parameters, tuple(self._instance(leaf, inside) for leaf in leaves)

    def fixed(self, branch: Branch) -> tuple[Instance, ...]:
        """Return the guards of a branch whose parameters are the same in every state."""
        assert branch.is_fixed, "its parameters depend on the state"
        return tuple(self._instance(leaf, branch.context) for leaf in self._leaves_of(branch))

    def _instance(self, leaf: _Leaf, context: Any) -> Instance:
        for definition, node in leaf.around:
            # Not cached: the context outlives the state that it is first used for.
            context = self._spec.tool.getOpContext(definition, node.getArgs(), context, False)
        return Instance(leaf.guard, leaf.node, context)

    def is_false(self, instance: Instance, state: State) -> bool:
        """Return whether a guard is false in a state; what TLC cannot evaluate is not."""
        spec = self._spec
        try:
            if instance.is_of_state:
                return not spec.tool.eval(
                    instance.node, instance.context, state.java, self._nothing, 0
                ).val
            node, context = instance.node, instance.context
            return spec.tool.enabled(node, context, state.java, self._nothing) is None
        except java_error():
            return False

    def lone_false(self, instances: tuple[Instance, ...], state: State) -> Guard | None:
        """Return the guard that is false in a state; ``None`` if none is, or several are."""
        lone: Guard | None = None
        for one in instances:
            if self.is_false(one, state):
                if lone is not None:
                    return None
                lone = one.guard
        return lone

    def refused(self, guard: Guard, state: State) -> tuple[Value, ...] | None:
        """Return parameters with which only this guard stops its action in a state.

        ``None`` if there are none. Next offers the parameters; with them the action is not enabled.
        """
        for branch in self.branches:
            if branch.owner.name == guard.action:
                for parameters, instances in self.choices(branch, state):
                    if self.lone_false(instances, state) == guard and not self._is_enabled(
                        state, guard.action, parameters
                    ):
                        return parameters
        return None

    def _is_enabled(self, state: State, action: str, parameters: tuple[Value, ...]) -> bool:
        try:
            return bool(self._spec.outcomes(state, action, *parameters))
        except EvaluationError:
            return False

    def _leaves_of(self, branch: Branch) -> tuple[_Leaf, ...]:
        known = self._leaves.get(branch)
        if known is None:
            node, context = branch.inner or branch.node, branch.context
            if branch.is_application:
                node, context = branch.owner.definition.getBody(), self._spec.empty_context
            known = self._leaves[branch] = tuple(self._taken_apart(branch, node, context))
        return known

    def _taken_apart(
        self,
        branch: Branch,
        node: Any,
        context: Any,
        around: tuple[tuple[Any, Any], ...] = (),
    ) -> Iterator[_Leaf]:
        tree = self._spec.tree
        node = tree.strip(node)
        if not tree.is_application(node):
            yield self._leaf(branch, node, around)
            return
        opcode = tree.opcode(node, context)
        if opcode in _CONJUNCTIONS:
            for conjunct in node.getArgs():
                yield from self._taken_apart(branch, conjunct, context, around)
        elif opcode == Opcode.USER and len(around) < _DEPTH_MAX:
            yield from self._applied(branch, node, context, around)
        elif self._can_fail(node, context):
            yield self._leaf(branch, node, around)

    def _applied(
        self, branch: Branch, node: Any, context: Any, around: tuple[tuple[Any, Any], ...]
    ) -> Iterator[_Leaf]:
        """Yield the guards inside an operator; itself, if that is one formula about the state."""
        definition = self._spec.tree.definition(node, context)
        if definition is None or definition.getBody() is None:
            yield self._leaf(branch, node, around)
            return
        inside = self._spec.tool.getOpContext(definition, node.getArgs(), context, False)
        deeper = (*around, (definition, node))
        found = list(self._taken_apart(branch, definition.getBody(), inside, deeper))
        if int(node.getLevel()) < ACTION_LEVEL and len(found) == 1:
            found = [self._leaf(branch, node, around)]
        yield from found

    def _leaf(self, branch: Branch, node: Any, around: tuple[tuple[Any, Any], ...]) -> _Leaf:
        place = self._spec.sources.place(node)
        key = (branch.owner.name, place)
        guard = self._known.get(key)
        if guard is None:
            text = self._spec.sources.text(place)
            guard = self._known[key] = Guard(branch.owner.name, text, place)
        return _Leaf(guard, node, around)

    def _can_fail(self, node: Any, context: Any, depth: int = 0) -> bool:
        """Return whether a formula can be false; one that gives a variable its value cannot."""
        tree = self._spec.tree
        node = tree.strip(node)
        if int(node.getLevel()) < ACTION_LEVEL or not tree.is_application(node):
            return True
        opcode, deeper = tree.opcode(node, context), depth + 1
        if opcode in _SELECTIONS:
            return True
        if opcode == Opcode.IF:
            return any(self._can_fail(one, context, deeper) for one in list(node.getArgs())[1:])
        if opcode in _CONJUNCTIONS:
            return any(self._can_fail(one, context, deeper) for one in node.getArgs())
        if opcode in _DISJUNCTIONS:
            return all(self._can_fail(one, context, deeper) for one in node.getArgs())
        if opcode != Opcode.USER or depth >= _DEPTH_MAX:
            return False
        definition = tree.definition(node, context)
        if definition is None or definition.getBody() is None:
            return False
        inside = self._spec.tool.getOpContext(definition, node.getArgs(), context, False)
        return self._can_fail(definition.getBody(), inside, deeper)
