"""Shortest behaviours that take each action, or that let each guard alone stop its action."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from krafla.graph import behaviour, way_to
from krafla.graph.effects import first_effects
from krafla.match.claims import claim_of
from krafla.oracle.exploration import OUTSIDE
from krafla.oracle.guards import Guards
from krafla.testing.setting import NamedTrace, NoBehaviour
from krafla.traces import ClaimKind, Step
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.graph import StateGraph
    from krafla.oracle import Spec
    from krafla.oracle.guards import Guard
    from krafla.testing.setting import Setting
    from krafla.traces import Trace

__all__ = ["ShortestPaths", "shortest_paths"]

Goal: TypeAlias = Literal["actions", "effects", "conjuncts"]

_STATES_MAX: Final = 20_000
_NAME_ROOM: Final = 60


def shortest_paths(to: Goal = "actions", *, states_max: int = _STATES_MAX) -> ShortestPaths:
    """Return shortest behaviours, found among the first ``states_max`` states of the spec.

    To ``"actions"``: for each action one that takes it last. To ``"effects"``: the same for each
    set of variables that a step of the action changes. To ``"conjuncts"``: for each conjunct of the
    guard of each action one that ends where this conjunct alone is false, and then tries the
    action: the code must refuse it, or take no step. A test whose action is never taken, or whose
    conjunct is never the only false one, is skipped with this reason.
    """
    if to not in get_args(Goal):
        known = ", ".join(map(repr, get_args(Goal)))
        raise KraflaError(f"shortest_paths leads to one of {known}, not to {to!r}")
    return ShortestPaths(to, states_max)


@dataclass(frozen=True, slots=True)
class ShortestPaths:
    """Shortest behaviours; ``shortest_paths`` makes it."""

    to: Goal
    states_max: int

    def cases(self, setting: Setting) -> Sequence[NamedTrace]:
        """Return one case for each goal; the spec is loaded for that, for effects also explored."""
        spec = setting.spec
        if self.to == "effects":
            graph = setting.graph(self.states_max)
            return [
                NamedTrace(
                    f"{action} changes {', '.join(changed) or 'nothing'}",
                    partial(_through, graph, step),
                )
                for (action, changed), step in first_effects(graph).items()
            ]
        if self.to == "actions":
            names = [one.name for one in spec.actions if not spec.is_left_out(one.name)]
            return [NamedTrace(name, partial(self._to_action, setting, name)) for name in names]
        return [
            NamedTrace(_name(guard), partial(self._to_guard, setting, guard))
            for guard in Guards(spec).all()
        ]

    def _to_action(self, setting: Setting, name: str) -> Trace:
        graph = setting.graph(self.states_max)
        found = graph.found
        label = found.actions.index(name)
        steps = [step for step, one in enumerate(found.labels) if one == label]
        inside = (step for step in steps if found.targets[step] != OUTSIDE)
        step = next(inside, None)
        if step is None:
            raise NoBehaviour(f"{name} is never taken{_within(graph)}")
        return _through(graph, step)

    def _to_guard(self, setting: Setting, guard: Guard) -> Trace:
        graph = setting.graph(self.states_max)
        state = setting.lone_guards(self.states_max).get(guard)
        if state is None:
            raise NoBehaviour(
                f"no state makes {_short(guard.text)} ({guard.place}) the only false conjunct of "
                f"{guard.action}{_within(graph)}"
            )
        found = behaviour(graph, way_to(graph, state), spec=graph.found.spec.name)
        return _tried(graph.found.spec, found, guard)


def _through(graph: StateGraph, step: int) -> Trace:
    """Return a shortest behaviour that ends with a step of the graph."""
    way = way_to(graph, graph.found.sources[step])
    return behaviour(graph, replace(way, steps=(*way.steps, step)), spec=graph.found.spec.name)


def _tried(spec: Spec, trace: Trace, guard: Guard) -> Trace:
    """Return a behaviour with the refused action as its last step, which changes nothing."""
    last = trace.steps[-1].state
    state = spec.state({str(name): value for name, value in last.items()})
    parameters = Guards(spec).refused(guard, state)
    assert parameters is not None, "the guard alone is false in this state"
    explanation = spec.explain(state, guard.action, parameters)
    step = Step(guard.action, parameters, last, f"{guard.place.module}:{guard.place.line}")
    claim = claim_of(ClaimKind.DIVERGENCE, guard.action, explanation)
    return replace(trace.with_steps((*trace.steps, step)), claim=claim)


def _within(graph: StateGraph) -> str:
    cut = "" if graph.found.is_complete else "; the search was cut there"
    return f" in the {len(graph):,} states of {graph.found.spec.name}{cut}"


def _name(guard: Guard) -> str:
    """Return the name of a guard in a report, where pytest would double each backslash."""
    text = str(guard).replace("/\\", "and").replace("\\/", "or")
    return _short(text.replace("\\", ""))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _NAME_ROOM else f"{line[: _NAME_ROOM - 3]}..."
