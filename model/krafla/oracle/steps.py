"""The steps TLC finds from one state, by one action or by all of Next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.oracle.errors import IncompleteAction
from krafla.oracle.given import Given
from krafla.oracle.jvm import java_error
from krafla.oracle.state import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.oracle.actions import Branch, Owner
    from krafla.oracle.spec import Spec
    from krafla.values import Value

__all__ = ["Stepper"]


class Stepper:
    """The successors of states of one spec."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._tool = spec.tool
        self._action_class = spec.classes("tlc2.tool.Action")
        self._given = Given(spec)

    def steps_by(
        self, branch: Branch, state: State
    ) -> Iterator[tuple[str, tuple[Value, ...], State]]:
        """Yield the steps of one branch of Next, choosing for its quantifiers as TLC does."""
        owner = branch.owner
        found = self.successors(branch.node, branch.context, state, owner)
        # Asked as a whole first: most branches allow nothing, and few choices of the others do.
        if not found:
            return
        if not branch.quantifiers:
            parameters = self._given.parameters(branch, branch.context, state)
            yield from ((owner.name, parameters, after) for after in found)
            return
        for context in self._choices(branch.quantifiers, branch.context, state):
            found = self.successors(branch.inner, context, state, owner)
            if found:
                parameters = self._given.parameters(branch, context, state)
                yield from ((owner.name, parameters, after) for after in found)

    def steps_with(
        self, branch: Branch, state: State, given: Sequence[Value | None]
    ) -> Iterator[tuple[str, tuple[Value, ...], State]]:
        """Yield those steps of a branch whose parameters agree with the given ones.

        No other step is evaluated. ``None`` is a parameter that is not known.
        """
        node = branch.inner or branch.node
        for parameters, context in self._given.contexts(branch, state, given):
            for after in self.successors(node, context, state, branch.owner):
                yield branch.owner.name, parameters, after

    def formulas(
        self, branch: Branch, state: State, given: Sequence[Value | None]
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the formula of a branch in the context of each choice that agrees, for its blame.

        Without anything given every choice agrees.
        """
        for _, context in self._given.contexts(branch, state, given):
            yield branch.inner or branch.node, context

    def gives(self, branch: Branch, state: State, parameters: tuple[Value, ...]) -> bool:
        """Return whether a branch offers these parameters in a state, enabled or not."""
        return any(True for _ in self._given.contexts(branch, state, parameters))

    def leads(
        self, branch: Branch, before: State, parameters: tuple[Value, ...], after: State
    ) -> bool:
        """Return whether a branch has a step with these parameters from one state to another."""
        node, definition = branch.inner or branch.node, branch.owner.definition
        return any(
            self._spec.asked(
                self._tool.isValid,
                self._action_class(node, context, definition),
                before.java,
                after.java,
            )
            for _, context in self._given.contexts(branch, before, parameters)
        )

    def choices(self, branch: Branch, state: State) -> Iterator[tuple[tuple[Value, ...], Any]]:
        """Yield the parameters that a branch offers in a state, enabled or not, with their context.

        The context is the one of ``branch.inner``, or of ``branch.node`` without quantifiers.
        """
        for context in self._choices(branch.quantifiers, branch.context, state):
            yield self._given.parameters(branch, context, state), context

    def successors(self, node: Any, context: Any, state: State, owner: Owner) -> tuple[State, ...]:
        """Return the distinct states after one action."""
        action = self._action_class(node, context, owner.definition)
        found = self._spec.asked(self._tool.getNextStates, action, state.java)
        states = [found.elementAt(index) for index in range(found.size())]
        try:
            if len(states) == 1:
                return (State(self._spec, states[0]),)
            return tuple(dict.fromkeys(State(self._spec, java) for java in states))
        except java_error():
            # A variable without a value has no fingerprint.
            missing = {str(node.getName()) for java in states for node in java.getUnassigned()}
            raise IncompleteAction(self._spec.name, owner.name, missing) from None

    def _choices(self, quantifiers: Sequence[Any], context: Any, state: State) -> Iterator[Any]:
        if not quantifiers:
            yield context
            return
        enumerator = self._spec.asked(
            self._tool.contexts, quantifiers[0], context, state.java, self._spec.empty_state, 0
        )
        while (bound := self._spec.asked(enumerator.nextElement)) is not None:
            yield from self._choices(quantifiers[1:], bound, state)
