"""A report on the state graphs of many models: livelocks, dead ends, untaken actions."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from krafla.counted import counted
from krafla.graph.behaviour import behaviour, violation_trace
from krafla.graph.build import Question, build
from krafla.graph.components import components
from krafla.graph.dead_ends import dead_ends
from krafla.graph.judge import judge
from krafla.graph.paths import way_to
from krafla.graph.progress import Progress, aimless, progress_of
from krafla.report.explain.view import view_of
from krafla.tlc.config import read_config
from krafla.values import fmt
from krafla.verdict import ExitCode, KraflaError, Verdict, worst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krafla.graph.components import Components
    from krafla.graph.dead_ends import DeadEnds
    from krafla.graph.state_graph import StateGraph
    from krafla.manifest import Model
    from krafla.oracle import Exploration
    from krafla.traces import Trace

__all__ = ["UNPINNED", "Place", "Row", "Survey", "Unasked", "as_json", "select", "survey"]

UNPINNED = "no number of states is pinned"
"""The reason why a model that may be of any size is left out."""
# The most places that a row lists; its counts are complete.
_PLACES_MAX = 5


@dataclass(frozen=True, slots=True)
class Place:
    """A state of the graph, the number of states it stands for, and the shortest way to it."""

    state: int
    depth: int
    size: int
    way: tuple[str, ...]
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """The findings about the graph of one model.

    ``livelocks`` and ``dead_ends`` hold the nearest places of each kind. ``livelock_count`` and
    ``dead_end_counts`` count all of them; dead ends have no step, only steps out of bounds, or only
    steps back to themselves. ``unrested`` counts the dead ends in which the spec is not at rest,
    without those at the bound. ``untaken`` has each action that was never taken, with the reason
    why it need not be. ``fruitless`` actions were taken but never led to another state of the
    model. ``elsewhere`` names the properties of whole behaviours, which TLC judges.
    ``violation`` is the way to a violation.
    """

    model: str
    room: str
    tier: str
    kind: str
    spec: str
    bounds: str
    verdict: Verdict
    reasons: tuple[str, ...]
    seconds: float
    could_run: bool = True
    states: int = 0
    pinned: int | None = None
    steps: int = 0
    depth: int = 0
    components: int = 0
    largest: int = 0
    terminal: int = 0
    bounded: int = 0
    progress: tuple[str, ...] = ()
    livelock_count: int = 0
    livelocks: tuple[Place, ...] = ()
    dead_end_counts: tuple[int, int, int] = (0, 0, 0)
    unrested: int = 0
    dead_ends: tuple[tuple[str, Place], ...] = ()
    untaken: tuple[tuple[str, str], ...] = ()
    fruitless: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    violation: tuple[str, ...] = ()

    @property
    def ends(self) -> int:
        """Return the number of dead ends that are not due to the bounds."""
        return self.dead_end_counts[0] + self.dead_end_counts[2]


@dataclass(frozen=True, slots=True)
class Unasked:
    """A model that was not explored, with the reason."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class Survey:
    """The rows of the explored models, and the models that were not explored."""

    rows: tuple[Row, ...]
    unasked: tuple[Unasked, ...] = ()
    seconds: float = 0.0
    untaken: tuple[tuple[str, str], ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Return the worst verdict of all rows; of no rows it is inconclusive."""
        return worst(row.verdict for row in self.rows)

    @property
    def exit_code(self) -> ExitCode:
        """Return 1 if a property is violated, else 2 if a model could not run, else 3 or 0."""
        if self.verdict is not Verdict.VIOLATED and not all(row.could_run for row in self.rows):
            return ExitCode.COULD_NOT_RUN
        return self.verdict.exit_code


def select(models: Iterable[Model], states_max: int) -> tuple[list[Model], list[Unasked]]:
    """Return the models to explore, and the others with the reason."""
    chosen: list[Model] = []
    others: list[Unasked] = []
    for model in models:
        reason = None
        if model.expect != "holds":
            reason = "must fail: its graph says nothing of a correct spec"
        elif model.kind == "simulation":
            reason = "a simulation has no whole graph"
        elif model.distinct is None:
            reason = UNPINNED
        elif model.distinct > states_max:
            reason = f"{model.distinct:,} states, more than {states_max:,}"
        if reason is None:
            chosen.append(model)
        else:
            others.append(Unasked(model.name, reason))
    return chosen, others


def survey(
    models: Iterable[Model],
    *,
    unasked: Iterable[Unasked] = (),
    states_max: int | None = None,
    begun: Callable[[Model], Callable[[Exploration], None] | None] = lambda _: None,
    answered: Callable[[Row], None] = lambda _: None,
) -> Survey:
    """Return the rows of some models, in their order.

    ``begun`` is called with each model before it is explored, and may return a function to call
    with the progress. ``answered`` is called with each row. A model that cannot be explored gives a
    row with the reason. The search of a model is cut at ``states_max`` states.
    """
    started = time.monotonic()
    rows: list[Row] = []
    for model in models:
        began = time.monotonic()
        try:
            row = _row(model, begun(model), began, states_max)
        except KraflaError as error:
            row = _failed(model, str(error), began)
        rows.append(row)
        answered(row)
    return Survey(tuple(rows), tuple(unasked), time.monotonic() - started, _never_taken(rows))


def _never_taken(rows: list[Row]) -> tuple[tuple[str, str], ...]:
    """Return the actions that no model took, each as spec and action."""
    taken = {(row.spec, action) for row in rows for action in row.taken}
    known = {(row.spec, action) for row in rows for action, _ in row.untaken}
    return tuple(sorted(known - taken))


def _failed(model: Model, reason: str, began: float) -> Row:
    return Row(
        model.name, model.room, model.tier, model.kind, model.spec, model.bounds,
        Verdict.INCONCLUSIVE, (f"could not run: {reason}",), time.monotonic() - began,
        could_run=False, pinned=model.distinct,
    )  # fmt: skip


def _row(
    model: Model,
    told: Callable[[Exploration], None] | None,
    began: float,
    states_max: int | None,
) -> Row:
    progress = progress_of(model.spec)
    graph = build(model, _questions(model, progress), limit=states_max, progress=told)
    parts, ends = components(graph), dead_ends(graph)
    config = read_config(model.config)
    judgement = judge(
        model, graph, ends, checks_deadlock=config.checks_deadlock, answers_liveness=False
    )
    round_and_round = aimless(graph, parts, progress)
    unrested = _unrested(graph, ends, progress)
    doubts = list(judgement.reasons) if judgement.verdict is not Verdict.HELD else []
    if round_and_round:
        doubts.append(f"{counted(len(round_and_round), 'component')} without progress")
    if unrested:
        doubts.append(f"{counted(len(unrested), 'state')} where nothing leads on, not at rest")
    verdict = judgement.verdict
    if doubts:
        verdict = worst((verdict, Verdict.INCONCLUSIVE))
    found, uses = graph.found, graph.action_uses()
    return Row(
        model.name, model.room, model.tier, model.kind, model.spec, model.bounds,
        verdict, tuple(doubts) or judgement.reasons, time.monotonic() - began,
        states=len(graph), pinned=model.distinct, steps=found.edges, depth=found.depth,
        components=len(parts.found), largest=parts.found[parts.largest].size,
        terminal=sum(part.is_terminal for part in parts.found),
        bounded=sum(part.is_cut and not part.is_left for part in parts.found),
        progress=_words(progress),
        livelock_count=len(round_and_round),
        livelocks=_livelocks(model, graph, parts, round_and_round),
        dead_end_counts=(len(ends.stepless), len(ends.bounded), len(ends.looping)),
        unrested=len(unrested),
        dead_ends=_ends(model, graph, ends, unrested),
        untaken=tuple((name, _excuse(model, graph, name)) for name in uses if not uses[name].taken),
        fruitless=tuple(
            name for name, use in uses.items() if use.taken and use.taken == use.loops + use.cut
        ),
        taken=tuple(name for name, use in uses.items() if use.taken),
        elsewhere=found.unchecked,
        violation=_violation(model, graph),
    )  # fmt: skip


def _questions(model: Model, progress: Progress) -> list[Question]:
    asked = [Question(name, f"a witness of {model.name}") for name in model.witnesses]
    asked += [
        Question(text, f"progress of {progress.spec}")
        for text in (progress.goal, progress.rest)
        if text is not None
    ]
    return list({one.text: one for one in asked}.values())


def _unrested(graph: StateGraph, ends: DeadEnds, progress: Progress) -> list[int]:
    if progress.rest is None:
        return []
    rests = graph.holds[progress.rest]
    return [state for state in sorted((*ends.stepless, *ends.looping)) if not rests[state]]


def _words(progress: Progress) -> tuple[str, ...]:
    parts = [f"idle: {', '.join(sorted(progress.idle)) or 'nothing'}"]
    parts += [f"goal: {progress.goal}"] if progress.goal else []
    parts += [f"rest: {progress.rest}"] if progress.rest else []
    parts += [progress.why] if progress.why else []
    return tuple(parts)


def _excuse(model: Model, graph: StateGraph, action: str) -> str:
    reasons = dict(model.untaken)
    other = dict(read_config(model.config).replacements).get(action, action)
    reason = reasons.get(action, reasons.get(other))
    if reason is None and graph.found.spec.is_left_out(action):
        return "left out by the cfg"
    return reason or "no reason given"


def _livelocks(
    model: Model, graph: StateGraph, parts: Components, chosen: list[int]
) -> tuple[Place, ...]:
    nearest = [parts.found[index] for index in chosen[:_PLACES_MAX]]
    return tuple(_place(model, graph, part.first, part.size) for part in nearest)


def _ends(
    model: Model, graph: StateGraph, ends: DeadEnds, unrested: list[int]
) -> tuple[tuple[str, Place], ...]:
    chosen = [(what, states[0], len(states)) for what, states in (
        ("not at rest", unrested),
        ("without any step", ends.stepless),
        ("with steps only back to itself", ends.looping),
    ) if states]  # fmt: skip
    return tuple((what, _place(model, graph, state, size)) for what, state, size in chosen)


def _place(model: Model, graph: StateGraph, state: int, size: int) -> Place:
    try:
        trace = behaviour(graph, way_to(graph, state), spec=model.spec, model=model.name)
        way = _steps(trace)
    except KraflaError as error:
        way = (str(error),)
    found = graph.found.states[state]
    values = tuple((name, fmt(found[name])) for name in graph.found.spec.variables)
    return Place(state, graph.depths[state], size, way, values)


def _violation(model: Model, graph: StateGraph) -> tuple[str, ...]:
    if graph.found.violation is None:
        return ()
    return _steps(violation_trace(graph, spec=model.spec, model=model.name))


def _steps(trace: Trace) -> tuple[str, ...]:
    """Return the steps in the words of the view in ``views.toml``."""
    return tuple(step.call for step in view_of(trace).steps[1:])


def as_json(found: Survey) -> dict[str, Any]:
    """Return the survey with plain values only."""
    rows = [asdict(row) | {"verdict": row.verdict.value} for row in found.rows]
    return {
        "format": 1,
        "verdict": found.verdict.value,
        "exit_code": int(found.exit_code),
        "seconds": round(found.seconds, 3),
        "rows": rows,
        "unasked": [asdict(one) for one in found.unasked],
        "taken_nowhere": [list(pair) for pair in found.untaken],
    }
