"""Whole traces: each step is judged by itself, without a search."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from krafla.match.moves import Moves
from krafla.match.reasons import nearest_of, not_initial, refusal
from krafla.match.seen import Seen, named_actions
from krafla.oracle import Explanation
from krafla.oracle.assigned import always_assigned
from krafla.oracle.errors import EvaluationError, IncompleteAction
from krafla.traces import Observation, Step
from krafla.traces.trace import INITIAL
from krafla.values import same, sort_key
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from krafla.match.moves import Choice, Move
    from krafla.match.nearest import Nearest
    from krafla.oracle import Spec, State
    from krafla.traces import Trace
    from krafla.values import Value

__all__ = ["Whole", "seen_in"]

_REMEMBERED = 20_000
# The values of ``back`` for an unknown action: TLC writes Next for any action.
_ANY = frozenset({"", "Next"})


class Whole:
    """The judge of single steps of one spec; it remembers the actions with their parameters."""

    def __init__(self, spec: Spec, choices: Collection[Choice] = ()) -> None:
        self.spec = spec
        self.moves = Moves(spec, choices)
        self._known = {one.name: one for one in named_actions(spec)}
        self._variables = frozenset(spec.variables)
        self._action_class = spec.classes("tlc2.tool.Action")
        self._actions: dict[tuple[Any, ...], Any] = {}
        self._complete: dict[str, bool] = {}
        # The last state that was reached by values, with these: most are the next ones, too.
        self._last: tuple[State | None, Mapping[str, Value]] = None, {}

    @cached_property
    def _initial(self) -> frozenset[int]:
        return frozenset(state.fingerprint for state in self.spec.initial_states())

    def first(self, step: Step) -> State:
        """Return the state of a step; ``KraflaError`` if it has a variable that the spec lacks."""
        unknown = sorted(set(map(str, step.state)) - self._variables)
        if unknown:
            known = ", ".join(self.spec.variables)
            raise KraflaError(
                f"{', '.join(unknown)}: no variable of {self.spec.name} (it has {known})", "step 0"
            )
        return self.spec.state({str(name): value for name, value in step.state.items()})

    def is_initial(self, step: Step, state: State) -> bool:
        """Return whether the step is an initial state of the spec."""
        return step.action == INITIAL and state.fingerprint in self._initial

    def after(self, before: State, last: Step, step: Step) -> tuple[State, list[str]]:
        """Return the state after a step, and the variables that the step changed."""
        old = last.state
        if len(old) != len(step.state):
            raise KraflaError(f"{step.action} has other variables than {last.action} before it")
        changed: dict[str, Value] = {}
        for name, value in step.state.items():
            known = old.get(name)
            if known is not value and (known is None or not same(known, value)):
                changed[str(name)] = value
        return (before.replace(**changed) if changed else before), list(changed)

    def takes(self, before: State, step: Step, after: State) -> bool:
        """Return whether the spec has this step, by the action that it names."""
        if step.parameters is None:
            steps = self.moves.of((step.action,), before, seen_in(self.spec, step, 0))
            return any(end.fingerprint == after.fingerprint for _, _, end in steps)
        return self.has_step(before, step.action, step.parameters, after)

    def offers(self, before: State, step: Step, after: State) -> bool:
        """Return whether Next offers a step that its action allows; see ``Moves.offers``."""
        known = step.parameters
        return known is None or self.moves.offers(before, step.action, known, after)

    def has_step(
        self, before: State, action: str, parameters: tuple[Value, ...], after: State
    ) -> bool:
        """Return whether an action with these parameters leads from one state to another.

        ``EvaluationError`` if TLC cannot evaluate the action, and Next gives it the parameters.
        """
        if not self.moves.is_whole(action):
            return self.moves.offers(before, action, parameters, after)
        known = self._action(action, parameters)
        try:
            return bool(self.spec.asked(self.spec.tool.isValid, known, before.java, after.java))
        except EvaluationError:
            # The action is defined inside Next, or a value after the step is of another kind.
            ends = self.moves.outcomes(before, action, parameters)
            return any(end.fingerprint == after.fingerprint for end in ends)

    def check_complete(
        self, before: State, action: str, parameters: tuple[Value, ...], after: State
    ) -> None:
        """Raise ``IncompleteAction`` if a step leaves open what becomes of some variables.

        TLC sees that when it makes the states after a step, not when it compares two states.
        """
        if not self.moves.is_whole(action):
            try:
                # TLC makes the states after it, and complains.
                self.moves.outcomes(before, action, parameters)
            except IncompleteAction:
                raise
            except EvaluationError:
                pass  # There are states without number.
            return
        if self._is_complete(action):
            return
        spec, known = self.spec, self._action(action, parameters)
        text = spec.classes("util.UniqueString").uniqueStringOf
        missing = []
        for variable in spec.variables:
            without = after.java.copy().bind(text(variable), None)
            try:
                # An action that has a word on the variable fails without its value.
                if spec.asked(spec.tool.isValid, known, before.java, without):
                    missing.append(variable)
            except EvaluationError:
                continue
        if missing:
            raise IncompleteAction(spec.name, action, missing)

    def _is_complete(self, action: str) -> bool:
        """Return whether the text of an action says something of each variable in every way."""
        found = self._complete.get(action)
        if found is None:
            body, context = self.spec.definition(action).getBody(), self.spec.empty_context
            found = self._variables <= always_assigned(self.spec, body, context)
            self._complete[action] = found
        return found

    def reached(self, before: State, values: Mapping[str, Value]) -> tuple[State, list[str]]:
        """Return the state with these values, and the variables in which it is another."""
        old = self._last[1] if self._last[0] is before else before
        changed = {
            name: one
            for name, one in values.items()
            if one is not (was := old[name]) and not same(was, one)
        }
        after = before.replace(**changed) if changed else before
        self._last = after, values
        return after, list(changed)

    def check_names(self, index: int, step: Step) -> None:
        """Raise ``KraflaError`` if the spec has no such action, or it takes other parameters."""
        named = self._known.get(step.action)
        if named is None or (
            step.parameters is not None and len(step.parameters) != len(named.parameters)
        ):
            seen_in(self.spec, step, index)

    def refusal(self, before: State, index: int, step: Step) -> tuple[Explanation, Nearest | None]:
        """Return why the spec does not have a step, and the nearest one that it has."""
        seen = seen_in(self.spec, step, index)
        return refusal(self.spec, self.moves, before, seen), self.nearest(before, index, step)

    def nearest(self, before: State, index: int, step: Step) -> Nearest | None:
        """Return the step of the spec whose state is nearest to that of the given step."""
        return nearest_of(self.moves, before, seen_in(self.spec, step, index))

    def closes(self, trace: Trace) -> bool:
        """Return whether the lasso of a trace closes; ``True`` without a lasso.

        It closes by a step of the action ``back``, or of any action if the trace names none. It
        needs no step if the last state equals the one at which the lasso starts.
        """
        return self.stays(trace) or self.closing(trace) is not None

    def stays(self, trace: Trace) -> bool:
        """Return whether the trace needs no closing step."""
        if trace.lasso is None or trace.stutters:
            return True
        return not trace.back and same(trace.steps[-1].state, trace.steps[trace.lasso].state)

    def closing(self, trace: Trace) -> Step | None:
        """Return the first step that closes a lasso; ``None`` if there is none."""
        state, seen = self._return(trace)
        wanted = seen.observation.action
        # Chosen parameters may miss some that Next offers, and Next may offer too few.
        steps = chain(self.moves.claimed(state, seen), self._offered(state))
        for action, parameters, after in steps:
            if wanted in {None, action} and seen.fits(after):
                return Step(action, parameters, after.as_function())
        return None

    def no_return(self, trace: Trace) -> tuple[Explanation, Nearest | None]:
        """Return why a lasso does not close, and the nearest step from its last state."""
        state, seen = self._return(trace)
        denied = refusal(self.spec, self.moves, state, seen)
        finding = f"the lasso does not close, no step leads back to step {trace.lasso}"
        explanation = Explanation(
            f"{finding}: {denied.finding}", denied.reasons, denied.differences
        )
        return explanation, nearest_of(self.moves, state, seen)

    def _offered(self, state: State) -> Iterator[Move]:
        """Yield the steps of Next; they are generated only when the first one is needed."""
        yield from self.spec.successors(state)

    def _return(self, trace: Trace) -> tuple[State, Seen]:
        assert trace.lasso is not None, "the trace is a lasso"
        values = tuple(((name,), value) for name, value in trace.steps[trace.lasso].state.items())
        action = None if trace.back in _ANY else trace.back
        place = f"the return to step {trace.lasso}"
        seen = Seen(self.spec, Observation(action, None, values), place)
        return self.first(trace.steps[-1]), seen

    def not_initial(self, step: Step) -> Explanation:
        """Return why the step is no initial state of the spec."""
        return not_initial(self.spec, seen_in(self.spec, step, 0))

    def _action(self, name: str, parameters: tuple[Value, ...]) -> Any:
        key = (name, *map(sort_key, parameters))
        known = self._actions.get(key)
        if known is None:
            if len(self._actions) >= _REMEMBERED:
                self._actions.clear()
            definition = self.spec.definition(name)
            context = self.spec.bind(definition, parameters)
            known = self._action_class(definition.getBody(), context, definition)
            self._actions[key] = known
        return known


def seen_in(spec: Spec, step: Step, index: int) -> Seen:
    """Return a step of a whole trace as an observation; ``KraflaError`` if it does not fit."""
    values = tuple(((name,), value) for name, value in step.state.items())
    return Seen(spec, Observation(step.action, step.parameters, values), f"step {index}")
