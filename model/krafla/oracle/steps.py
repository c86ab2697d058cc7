"""The steps TLC finds from one state, by one action or by all of Next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.oracle.errors import IncompleteAction
from krafla.oracle.jvm import java_error
from krafla.oracle.nodes import ACTION_LEVEL
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
            parameters = self._parameters(branch, branch.context, state)
            yield from ((owner.name, parameters, after) for after in found)
            return
        for context in self._choices(branch.quantifiers, branch.context, state):
            found = self.successors(branch.inner, context, state, owner)
            if found:
                parameters = self._parameters(branch, context, state)
                yield from ((owner.name, parameters, after) for after in found)

    def choices(self, branch: Branch, state: State) -> Iterator[tuple[tuple[Value, ...], Any]]:
        """Yield the parameters that a branch offers in a state, enabled or not, with their context.

        The context is the one of ``branch.inner``, or of ``branch.node`` without quantifiers.
        """
        for context in self._choices(branch.quantifiers, branch.context, state):
            yield self._parameters(branch, context, state), context

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
        while (bound := enumerator.nextElement()) is not None:
            yield from self._choices(quantifiers[1:], bound, state)

    def _parameters(self, branch: Branch, context: Any, state: State) -> tuple[Value, ...]:
        """Return the values a branch gives the operator's parameters in one choice.

        An action that is handed to another (``Heals(Crash)``) is no value, and left out.
        """
        if branch.is_application:
            values = [
                self._spec.asked(self._tool.eval, argument, context, state.java)
                for argument in branch.inner.getArgs()
                if int(argument.getLevel()) < ACTION_LEVEL
            ]
        else:
            values = [context.lookup(formal) for formal in branch.owner.formals]
        return tuple(map(self._spec.converter.to_python, values))
