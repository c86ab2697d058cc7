"""What all judges of one spec share: its moves, its properties, and how values are read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from krafla.manifest import meant
from krafla.match.moves import Moves
from krafla.match.property_checker import (
    PropertyChecker,
    configured_properties,
    left_out_of_cfg,
)
from krafla.match.reasons import not_initial
from krafla.match.seen import Seen
from krafla.match.spec_source import text_of
from krafla.match.whole import Whole
from krafla.oracle.constants import given_constants
from krafla.oracle.errors import EvaluationError, IncompleteAction, SpecError, ValueOutOfRange
from krafla.oracle.properties import Properties
from krafla.testing.known_answers import KnownAnswers
from krafla.testing.origins import MACHINE
from krafla.testing.patience import answered
from krafla.testing.plain import PlainReader
from krafla.traces import Call, Observation, Origin
from krafla.values import ModelValue
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from krafla.match.moves import Move
    from krafla.oracle import Explanation, Spec, State
    from krafla.traces import Called, SpecText
    from krafla.traces.partial import ObservedKind, Part
    from krafla.values import Value

__all__ = ["Grounds"]

Answer = TypeVar("Answer")

_REMEMBERED_STATES = 20_000
# What TLC says of a set that it cannot list.
_ENDLESS = re.compile("non-enumerable|not (?:both )?enumerable|infinite")


class Grounds:
    """A spec with the properties that are judged, and the actions whose steps may be hidden."""

    def __init__(
        self,
        spec: Spec,
        hidden: Sequence[str] | None,
        invariants: Sequence[str] | None,
        properties: Sequence[str] | None,
        limit_s: float,
    ) -> None:
        self.spec = spec
        self._limit_s = limit_s
        self.moves = Moves(spec)
        self.known = KnownAnswers()
        self._variables = frozenset(spec.variables)
        self.hidden = self._hidden(hidden)
        self._hidden_steps: dict[int, tuple[Move, ...]] = {}
        models = {name: ModelValue(name) for name in spec.converter.model_values}
        self._reader = PlainReader(models)
        judged = self._properties(invariants, properties)
        self._checker = PropertyChecker(spec, judged) if judged.invariants or judged.steps else None
        self.step_properties = judged.steps
        self.not_judged = judged.temporal
        self.left_out = left_out_of_cfg(spec, (*judged.invariants, *judged.steps))

    def _hidden(self, names: Sequence[str] | None) -> tuple[str, ...]:
        if names is None:
            return self.moves.names
        for name in names:
            if name not in self.moves.names:
                near = meant(name, self.moves.names)
                raise KraflaError(f"hidden: {name}: no action of {self.spec.name}{near}")
        return tuple(names)

    def _properties(
        self, invariants: Sequence[str] | None, properties: Sequence[str] | None
    ) -> Properties:
        config = self.spec.configuration
        found = Properties((), (), ())
        if config is not None and (invariants is None or properties is None):
            found = configured_properties(self.spec, config)
        steps, temporal = found.steps, found.temporal
        if properties is not None:
            steps = tuple(properties)
            demands = self.spec.predicates.of_property
            temporal = tuple(one for one in steps if not demands(one).is_all)
        return Properties(
            found.invariants if invariants is None else tuple(invariants), steps, (), temporal
        )

    def is_listed(self, name: str) -> bool:
        """Return whether the cfg lists a property, so that `krafla check` asks about it."""
        config = self.spec.configuration
        if config is None:
            return False
        listed = configured_properties(self.spec, config)
        return name in (*listed.invariants, *listed.steps)

    def ask(self, question: Callable[[], Answer], what: Callable[[], str]) -> Answer:
        """Return the answer to a question; ``Inconclusive`` if it takes too long."""
        __tracebackhide__ = True
        return answered(self.spec, question, what, self._limit_s)

    def hidden_steps(self, state: State) -> tuple[Move, ...]:
        """Return the steps from a state that may be hidden, and that keep the properties."""
        # A machine comes back to the same states, run for run, and asks several times in each.
        found = self._hidden_steps.get(state.fingerprint)
        if found is None:
            if len(self._hidden_steps) >= _REMEMBERED_STATES:
                self._hidden_steps.clear()
            moves = self.moves.of(self.hidden, state, self.seen(Observation(None)))
            found = tuple(one for one in moves if self.broken_by(state, one[2]) is None)
            self._hidden_steps[state.fingerprint] = found
        return found

    def denied_hidden_steps(self, state: State) -> Iterator[tuple[Move, tuple[str, Explanation]]]:
        """Yield the steps that could be hidden but break a property, with it, and how."""
        for move in self.moves.of(self.hidden, state, self.seen(Observation(None))):
            fault = self.broken_by(state, move[2])
            if fault is not None:
                yield move, fault

    def initial_states(self, seen: Seen) -> tuple[State, ...]:
        """Return the initial states: of those without number at most the one that was seen whole.

        ``EvaluationError`` if they are without number and the first was not seen whole.
        """
        try:
            return self._initial_states
        except EvaluationError as error:
            if seen.state is None:
                raise _without_number(error, seen.place) from None
            return (seen.state,) if self._is_initial(seen.state) else ()

    def not_initial(self, seen: Seen) -> Explanation:
        """Return where the code's first state differs from the nearest initial state.

        Of initial states without number: which conjunct of Init is false.
        """
        try:
            return not_initial(self.spec, seen)
        except EvaluationError:
            assert seen.state is not None, "of a state that was seen in part there is no telling"
            return self.spec.explain_invariant("Init", seen.state)

    @cached_property
    def _initial_states(self) -> tuple[State, ...]:
        return tuple(self.spec.initial_states())

    def _is_initial(self, state: State) -> bool:
        tool = self.spec.tool
        predicates = tool.getInitStateSpec()
        return all(
            self.spec.asked(tool.isValid, predicates.elementAt(at), state.java)
            for at in range(predicates.size())
        )

    def claimed(self, state: State, seen: Seen) -> Iterator[Move]:
        """Yield every step with the observed action and parameters that Next offers.

        ``EvaluationError`` if the spec cannot be evaluated, or there are parameters without number.
        """
        try:
            yield from self.moves.claimed(state, seen, only_next=True)
        except EvaluationError as error:
            raise _without_number(error, seen.place) from None

    @cached_property
    def _whole(self) -> Whole:
        return Whole(self.spec)

    @cached_property
    def constants(self) -> tuple[tuple[str, Value], ...]:
        """Return the constants of the spec that have a finite value."""
        return given_constants(self.spec)

    @cached_property
    def text(self) -> SpecText | None:
        """Return the text of the spec, ``None`` if it was shipped."""
        return text_of(self.spec.module, self.spec.configuration)

    @cached_property
    def origin(self) -> Origin:
        """Return the origin of traces that were judged here."""
        from krafla.oracle.digest import spec_digest

        return Origin(MACHINE, digest=spec_digest(self.spec.name, self.spec.module))

    def broken_by(
        self, before: State | None, after: State, changed: Collection[str] | None = None
    ) -> tuple[str, Explanation] | None:
        """Return the first property that a step breaks, and how; ``None`` if it keeps all.

        Without a state ``before`` the code begins in the other. ``changed`` names the only
        variables that the step changed.
        """
        return None if self._checker is None else self._checker.broken_by(before, after, changed)

    def follows(self, before: State, observation: Observation) -> State | None:
        """Return the state after a step of which all was seen, unless something is wrong with it.

        ``None`` also if something of the step was not seen, or Next has no such action: then it
        takes a search, which says what is wrong.
        ``EvaluationError`` if the action leaves open what becomes of some variables.
        """
        action, parameters = observation.action, observation.parameters
        if action not in self.moves.names or parameters is None or None in parameters:
            return None
        values = {str(part[0]): value for part, value in observation.seen if len(part) == 1}
        if values.keys() != self._variables or len(values) < len(observation.seen):
            return None
        known = tuple(one for one in parameters if one is not None)
        try:
            after, changed = self._whole.reached(before, values)
            has_it = self._whole.has_step(before, action, known, after)
            if not has_it or not self.moves.offers(before, action, known, after):
                return None
        except (EvaluationError, SpecError, ValueOutOfRange):
            # The search says where the fault lies.
            return None
        try:
            # Asked of each step: another way through an action may leave open what this one sets.
            self._whole.check_complete(before, action, known, after)
        except IncompleteAction as error:
            raise EvaluationError(error.message, observation.place) from None
        return None if self.broken_by(before, after, changed) else after

    def seen(self, observation: Observation) -> Seen:
        """Return an observation, ready to be compared; ``KraflaError`` if it does not fit."""
        try:
            for value in (*(observation.parameters or ()), *(one for _, one in observation.seen)):
                if value is not None:
                    self.spec.converter.to_java(value)
            return Seen(self.spec, observation, observation.place)
        except ValueOutOfRange as error:
            raise KraflaError(error.message, observation.place) from None

    def observation(
        self,
        action: str | None,
        parameters: Sequence[Any] | None,
        seen: Mapping[Any, Any] | None,
        place: str,
        kind: ObservedKind = "step",
        call: Called = None,
    ) -> Observation:
        """Return an observation of plain data; ``KraflaError`` if a value is none of TLA+."""
        known = None if parameters is None else self.parameters(parameters, place)
        values = () if seen is None else tuple(self._parts(seen, place))
        return Observation(action, known, values, place, None, kind, self._kept(call, place))

    def parameters(self, given: Sequence[Any], place: str) -> tuple[Value | None, ...]:
        """Return plain parameters as values, ``...`` as ``None``; ``KraflaError`` as above."""
        read = self._reader.value
        return tuple(
            None if one is ... else read(one, f"{place}, parameter {number}")
            for number, one in enumerate(given, start=1)
        )

    def _kept(self, call: Called, place: str) -> Called:
        """Return a call with values; without parameters if one of them is no value of TLA+."""
        if not isinstance(call, Call):
            return call
        try:
            known = self.parameters(call.parameters or (), place)
        except KraflaError:
            return Call(call.method)
        return Call(call.method, tuple(one for one in known if one is not None))

    def _parts(self, seen: Mapping[Any, Any], place: str) -> list[tuple[Part, Value]]:
        if not isinstance(seen, Mapping):
            raise KraflaError(
                f"what was seen is a {type(seen).__name__}, not a mapping from variables to values",
                place,
            )
        read = self._reader.value
        found: list[tuple[Part, Value]] = []
        for key, value in seen.items():
            name, *path = key if isinstance(key, tuple) else (key,)
            where = f"{place}, {name}"
            part = (name, *(read(one, where) for one in path))
            found.append((part, read(value, where)))
        return found


def _without_number(error: EvaluationError, place: str) -> EvaluationError:
    """Return TLC's complaint with its place, and with what to do about a set without end."""
    said = error.message
    if _ENDLESS.search(said):
        said += "; give every parameter of the step, or bound the set: Nat <- 0..9 in the cfg"
    return EvaluationError(said, place)
