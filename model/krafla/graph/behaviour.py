"""Steps of the graph as steps of the spec, with parameters and states of the spec."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from krafla.oracle import OUTSIDE
from krafla.traces import Claim, ClaimKind, Origin, Step, Trace
from krafla.traces.trace import INITIAL
from krafla.values import sort_key
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krafla.graph.paths import Way
    from krafla.graph.state_graph import StateGraph
    from krafla.oracle import Spec, State
    from krafla.values import Value

__all__ = ["StepWords", "behaviour", "step_words", "violation_trace"]

# Actions with their parameters.
StepWords: TypeAlias = "list[tuple[str, tuple[Value, ...]]]"


def behaviour(
    graph: StateGraph,
    way: Way,
    *,
    spec: str,
    model: str | None = None,
) -> Trace:
    """Return a way as a trace of the module ``spec``, with parameters, states and constants.

    Under SYMMETRY a state of the graph stands for several; the trace has states that really follow
    each other. ``KraflaError`` if a VIEW merged two states that have different steps.
    """
    found = graph.found
    places = {one.name: f"{one.place.module}:{one.place.line}" for one in found.spec.actions}
    with found.spec.reduced():
        state = found.states[way.start]
        steps = [Step(INITIAL, (), state.as_function())]
        for step in way.steps:
            name, parameters, state = _taken(graph, state, step)
            steps.append(Step(name, parameters, state.as_function(), places[name]))
    claim = Claim(ClaimKind.BEHAVIOUR)
    constants = found.spec.constants_of(spec)
    return Trace(spec, tuple(steps), constants, claim, model=model, origin=Origin("oracle"))


def violation_trace(
    graph: StateGraph,
    *,
    spec: str,
    model: str | None = None,
) -> Trace:
    """Return the way to ``graph.found.violation``; its end may lie out of bounds."""
    found = graph.found
    violation = found.violation
    assert violation is not None, "there is a violation"
    places = {one.name: f"{one.place.module}:{one.place.line}" for one in found.spec.actions}
    steps = [Step(INITIAL, (), violation.path[0][1].as_function())]
    with found.spec.reduced():
        for (_, before), (name, after) in pairwise(violation.path):
            parameters = _parameters(found.spec, before, name, after)
            steps.append(Step(name, parameters, after.as_function(), places[name]))
    kind = ClaimKind.ACTION_PROPERTY if violation.is_step else ClaimKind.INVARIANT
    claim = Claim(kind, violation.name)
    constants = found.spec.constants_of(spec)
    return Trace(spec, tuple(steps), constants, claim, model=model, origin=Origin("oracle"))


def _parameters(spec: Spec, before: State, name: str, after: State) -> tuple[Value, ...] | None:
    fitting = (
        parameters
        for action, parameters, end in spec.successors(before)
        if action == name and end.fingerprint == after.fingerprint
    )
    return next(fitting, None)


def _taken(graph: StateGraph, before: State, step: int) -> tuple[str, tuple[Value, ...], State]:
    found = graph.found
    wanted = found.fingerprints[found.targets[step]]
    for name, parameters, after in found.spec.steps_through(found.branches[step], before):
        if after.fingerprint == wanted:
            return name, parameters, after
    raise KraflaError(
        f"the VIEW of {found.spec.name} hides what {found.actions[found.labels[step]]} needs: "
        "this way through the graph is no behaviour of the spec"
    )


def step_words(graph: StateGraph, states: Iterable[int]) -> tuple[StepWords, array[int]]:
    """Return the actions with parameters that occur from some states, and the one of each step.

    The numbers are indexes into the list, one for each step, state by state in the order of
    ``graph.out``.
    """
    namer = _Namer(graph)
    numbers = array("i")
    with graph.found.spec.reduced():
        for state in states:
            numbers.extend(namer.numbers(state))
    return namer.words, numbers


class _Namer:
    """The parameters of steps; the spec is asked only where they depend on the state."""

    def __init__(self, graph: StateGraph) -> None:
        self._graph = graph
        self._spec: Spec = graph.found.spec
        self._fixed: dict[int, int] = {}
        self._known: dict[tuple[Any, ...], int] = {}
        self.words: StepWords = []

    def numbers(self, state: int) -> list[int]:
        """Return the number of the action with parameters of each step from a state."""
        found = self._graph.found
        steps = self._graph.out[state]
        by_branch: dict[int, list[int]] = {}
        for step in steps:
            by_branch.setdefault(found.branches[step], []).append(step)
        numbers: dict[int, int] = {}
        for branch, together in by_branch.items():
            if branch in self._fixed:
                numbers.update(dict.fromkeys(together, self._fixed[branch]))
            else:
                numbers.update(self._asked(state, branch, together))
        return [numbers[step] for step in steps]

    def _asked(self, state: int, branch: int, steps: list[int]) -> Iterator[tuple[int, int]]:
        """Yield each step with its number; several steps to one state have different numbers."""
        found = self._graph.found
        inside = {
            found.targets[step]: found.fingerprints[found.targets[step]]
            for step in steps
            if found.targets[step] != OUTSIDE
        }
        choices: dict[int, list[int]] = {}
        for name, parameters, after in self._spec.steps_through(branch, found.states[state]):
            # A state out of bounds is not in the graph, so all such steps share one key.
            end = after.fingerprint if after.fingerprint in inside.values() else OUTSIDE
            choices.setdefault(end, []).append(self._number(name, parameters))
        if self._spec.branches[branch].is_fixed:
            self._fixed[branch] = next(iter(choices.values()))[0]
        for step in steps:
            fitting = choices[inside.get(found.targets[step], OUTSIDE)]
            yield step, fitting.pop(0) if len(fitting) > 1 else fitting[0]

    def _number(self, name: str, parameters: tuple[Value, ...]) -> int:
        # TRUE and 1 are different parameters, and equal keys in Python.
        key = (name, *map(sort_key, parameters))
        number = self._known.setdefault(key, len(self.words))
        if number == len(self.words):
            self.words.append((name, parameters))
        return number
