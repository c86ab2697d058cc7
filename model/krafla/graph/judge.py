"""The verdict on an explored model, by what the manifest expects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.pins import pin_of, witness_doubts
from krafla.tlc.config import read_config
from krafla.tlc.judge import Judgement
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from krafla.graph.dead_ends import DeadEnds
    from krafla.graph.state_graph import StateGraph
    from krafla.manifest import Model

__all__ = ["judge"]


def judge(
    model: Model,
    graph: StateGraph,
    ends: DeadEnds,
    *,
    checks_deadlock: bool = False,
    answers_liveness: bool = True,
) -> Judgement:
    """Return the verdict that a state graph supports, by the rules of ``krafla check``.

    ``graph.holds`` must have the model's witnesses. A model that should hold is held if the graph
    is complete, nothing is violated, the numbers of states and steps are the pinned ones, every
    action was taken and every witness reached. A graph cannot judge properties of whole behaviours:
    they make the verdict inconclusive, unless ``answers_liveness`` is false.
    """
    violated = _violation(graph, ends, checks_deadlock=checks_deadlock)
    if model.expect == "violates":
        return _expected_failure(model, graph, violated)
    if violated is not None:
        return Judgement(Verdict.VIOLATED, (f"{violated} is violated",))
    doubts = _doubts(model, graph)
    if answers_liveness and graph.found.unchecked:
        names = ", ".join(graph.found.unchecked)
        doubts.append(f"{names}: about whole behaviours; krafla check judges them")
    asks_no_action = graph.found.is_complete and not model.listing.needs_actions
    notes = tuple(f"note: {one}" for one in _action_doubts(model, graph)) if asks_no_action else ()
    if doubts:
        return Judgement(Verdict.INCONCLUSIVE, tuple(doubts), notes)
    return Judgement(Verdict.HELD, ("no error in any reachable state",), notes)


def _violation(graph: StateGraph, ends: DeadEnds, *, checks_deadlock: bool) -> str | None:
    if graph.found.violation is not None:
        return graph.found.violation.name
    return "absence of deadlock" if checks_deadlock and ends.stepless else None


def _expected_failure(model: Model, graph: StateGraph, violated: str | None) -> Judgement:
    if violated == model.property:
        return Judgement(Verdict.HELD, (f"{model.property} failed, as it must",))
    if violated is not None:
        return Judgement(Verdict.VIOLATED, (f"{model.property} should fail, but {violated} does",))
    if model.property in graph.found.unchecked or not graph.found.is_complete:
        why = "of whole behaviours" if graph.found.is_complete else "the search was cut"
        return Judgement(Verdict.INCONCLUSIVE, (f"{model.property} should fail; not known: {why}",))
    reason = f"{model.property} should fail in this model, but holds in every reachable state"
    return Judgement(Verdict.VIOLATED, (reason,))


def _doubts(model: Model, graph: StateGraph) -> list[str]:
    found = graph.found
    doubts = witness_doubts(model)
    if not found.is_complete:
        doubts.append(f"the search was cut at {len(graph):,} states")
    else:
        doubts += _count_doubts(model, "distinct", found.distinct)
        if model.generated is not None:
            doubts += _count_doubts(model, "generated", found.generated)
        doubts += _action_doubts(model, graph) if model.listing.needs_actions else ()
        doubts += [
            f"witness {name} was not reached"
            for name in model.witnesses
            if not any(graph.holds[name]) and name not in graph.beyond
        ]
    return doubts


def _count_doubts(model: Model, key: str, found: int) -> list[str]:
    pinned, pin = getattr(model, key), pin_of(model, key, found)
    if pinned is None and not model.listing.needs_pins:
        return []
    if pinned is None:
        return [f"no number of {key} states is pinned; there are {found:,}"]
    where = "" if pin is None else f": {pin}"
    return [] if pinned == found else [f"{found:,} {key} states, but {pinned:,} are pinned{where}"]


def _action_doubts(model: Model, graph: StateGraph) -> list[str]:
    excused = dict(model.untaken)
    for action, other in read_config(model.config).replacements:
        # TLC names an action by the operator that the cfg puts in its place.
        if other in excused:
            excused.setdefault(action, excused[other])
    uses = graph.found.coverage
    spec = graph.found.spec
    doubts = [
        f"action {name} was never taken"
        for name, use in uses.items()
        if not use.taken and name not in excused and not spec.is_left_out(name)
    ]
    return doubts + [
        f"action {name} was taken, but is listed as untaken"
        for name, use in uses.items()
        if use.taken and name in excused
    ]
