"""The HTML page for walking through a state graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.graph.behaviour import step_words
from krafla.report.explain.meaning import Meanings
from krafla.report.page import render
from krafla.traces import FORMAT_VERSION
from krafla.traces.encoding import encode
from krafla.values import fmt

if TYPE_CHECKING:
    from krafla.graph.state_graph import StateGraph
    from krafla.manifest import Model
    from krafla.tlc.judge import Judgement

__all__ = ["page"]


def page(graph: StateGraph, model: Model, judgement: Judgement, *, limit: int) -> str:
    """Return the page of the first ``limit`` states: those nearest to the initial ones.

    Each value stands once in the page; states and steps are rows of numbers, some 100 bytes for a
    state with its steps. The page says where it was cut.
    """
    states = min(limit, len(graph))
    broken = _broken(graph, model, states)
    return render(
        "explore.html",
        title=f"{model.name}: state graph" if broken is None else broken["title"],
        model=model,
        broken=broken,
        judgement=judgement,
        graph=graph,
        shown=states,
        uses=graph.action_uses(),
        histograms=[
            ("States by depth", graph.depth_histogram()),
            ("States by the number of steps from them", graph.out_degrees()),
        ],
        reduced=any(one is not None for one in graph.found.spec.reductions),
        data=_data(graph, model, states) | {"broken": broken},
    )


def _broken(graph: StateGraph, model: Model, states: int) -> dict[str, Any] | None:
    """Return what is violated: its sentence, the actions that lead there, the walk on the page."""
    violation = graph.found.violation
    if violation is None:
        return None
    numbers = {one: state for state, one in enumerate(graph.found.fingerprints[:states])}
    walk = [numbers.get(state.fingerprint) for _, state in violation.path]
    known = walk[: walk.index(None)] if None in walk else walk
    name = violation.name
    meaning = Meanings(model.spec).of(name)
    where = "in the step to this state" if violation.is_step else "in this state"
    if known != walk:
        where = "after a step from this state out of the bounds, or off this page"
    return {
        "name": name,
        "title": f"Violated: {meaning or name}",
        "actions": [action for action, _ in violation.path],
        "walk": known,
        "state": known[-1] if known else None,
        "told": f"{name} is false {where}.",
    }


def _data(graph: StateGraph, model: Model, states: int) -> dict[str, Any]:
    found = graph.found
    known = range(min(states, found.expanded))
    words, numbers = step_words(graph, known)
    values, columns = [], []
    for variable in found.spec.variables:
        column, distinct = found.values(variable, states)
        columns.append(column.tolist())
        values.append([encode(value) for value in distinct])
    targets = [
        # A state of the model that is not on the page differs from one out of bounds.
        target if target < states else -2
        for state in known
        for target in (found.targets[step] for step in graph.out[state])
    ]
    return {
        "model": model.name,
        "spec": model.spec,
        "format": FORMAT_VERSION,
        "constants": {name: encode(value) for name, value in found.spec.constants_of(model.spec)},
        "states": states,
        "total": len(graph),
        "initial": len(graph.initial()),
        "variables": list(found.spec.variables),
        "values": values,
        "columns": columns,
        "degrees": [len(graph.out[state]) for state in known],
        "targets": targets,
        "steps": numbers.tolist(),
        "words": [
            [name, [fmt(one) for one in parameters], [encode(one) for one in parameters]]
            for name, parameters in words
        ],
        "places": {one.name: f"{one.place.module}:{one.place.line}" for one in found.spec.actions},
        "actions": [name for name, use in found.coverage.items() if use.taken],
        "predicates": _predicates(graph, states),
    }


def _predicates(graph: StateGraph, states: int) -> list[list[Any]]:
    """Return each predicate with its states on the page, and the number of its states in all."""
    return [
        [text, [state for state in range(states) if holds[state]], sum(holds)]
        for text, holds in graph.holds.items()
    ]
