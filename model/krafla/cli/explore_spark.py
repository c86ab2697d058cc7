"""One run of ``krafla explore --spark``, from the request to the verdict."""

from __future__ import annotations

import shlex
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from krafla.cli import screen
from krafla.cli.account_view import counterexample, show_account
from krafla.cli.ci.checks import explored_entry
from krafla.cli.ci.reports import tell
from krafla.cli.spark_options import without_token
from krafla.counted import counted
from krafla.graph import DeadEnds, StateGraph
from krafla.graph.behaviour import violation_trace
from krafla.graph.build import named_violation, unchecked_properties
from krafla.graph.judge import judge
from krafla.manifest import load, on_these_specs
from krafla.oracle import Exploration, Violation
from krafla.oracle.exploration import Coverage
from krafla.pipeline.frontier.plan import plan_of
from krafla.pipeline.frontier.search import Bounds, search
from krafla.pipeline.frontier.task import search_store
from krafla.pipeline.frontier.way import path_to, way_to_fault
from krafla.pipeline.server import Settings
from krafla.pipeline.session import DEFAULT_MASTER, session
from krafla.project.models import argument_of
from krafla.scratch import scratch_folder
from krafla.tlc.config import read_config
from krafla.traces import Claim, ClaimKind
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krafla.manifest import Model
    from krafla.oracle import Spec
    from krafla.pipeline.frontier.plan import Plan
    from krafla.pipeline.frontier.search import Reached
    from krafla.pipeline.store import Store
    from krafla.tlc.judge import Judgement
    from krafla.traces import Trace
    from krafla.verdict import ExitCode

__all__ = ["SparkRequest", "run_on_spark"]

_DEADLOCK = "absence of deadlock"


@dataclass(frozen=True, slots=True)
class SparkRequest:
    """The options of ``krafla explore --spark``, as in its help."""

    model: str
    master: str | None = None
    remote: str | None = None
    checkpoint: str | None = None
    limit: int | None = None
    settings: Settings = field(default_factory=Settings)
    quiet: bool = False
    asked_by: str = ""

    @property
    def command(self) -> str:
        """Return the command that asks the same again."""
        words = ["krafla", "explore", self.asked_by or self.model, "--spark"]
        # A token is a secret, and no part of the question.
        remote = None if self.remote is None else without_token(self.remote)
        for option, value in (
            ("--master", self.master), ("--remote", remote),
            ("--checkpoint", self.checkpoint), ("--limit", self.limit),
        ):  # fmt: skip
            words += [] if value is None else [option, str(value)]
        return on_these_specs(shlex.join(words))


def run_on_spark(request: SparkRequest) -> ExitCode:
    """Search the model's states on Spark, print what was found; return the exit status."""
    began = time.monotonic()
    (model,) = load().select((request.model,))
    request = replace(request, asked_by=argument_of(model))
    checks_deadlock = read_config(model.config).checks_deadlock
    with screen.LiveLine(quiet=request.quiet) as live, _uri(request) as uri:
        live.show(f"{model.name}: loading")
        plan, spec = plan_of(model)
        live.begin("starting Spark" if request.remote is None else "connecting to --remote")
        with session(
            f"krafla explore {model.name}", request.master or DEFAULT_MASTER,
            remote=request.remote, settings=request.settings, show=live.show,
        ) as running:  # fmt: skip
            # A search tells its own progress.
            running.show = lambda _: None
            place = search_store(running.spark, uri)
            reached = search(
                running.spark, place, plan, Bounds(limit=request.limit),
                checks_deadlock=checks_deadlock, progress=_reporter(live.show, model),
            )  # fmt: skip
            graph = _graph(model, spec, reached)
            trace = _evidence(graph, model, place, plan, reached, checks_deadlock=checks_deadlock)
    ends = DeadEnds((0,) if reached.tally.stuck is not None else (), (), ())
    judgement = judge(model, graph, ends, checks_deadlock=checks_deadlock)
    states = counted(reached.distinct, "distinct state")
    tell(explored_entry, model, judgement.verdict, judgement.reasons, states, trace)
    _show(request, model, graph, reached, judgement, trace, time.monotonic() - began)
    return judgement.verdict.exit_code


@contextmanager
def _uri(request: SparkRequest) -> Iterator[str]:
    """Yield where the search is kept: for this run only, unless a place was named."""
    if request.checkpoint is not None:
        yield request.checkpoint
        return
    if request.remote is not None or not (request.master or "local").startswith("local"):
        raise KraflaError(
            "on other machines a search needs a place that all of them reach: --checkpoint URI"
        )
    with scratch_folder("frontier") as folder:
        yield folder.as_uri()


def _reporter(show: Callable[[str], None], model: Model) -> Callable[[Reached], None]:
    began, before = time.monotonic(), -1

    def report(reached: Reached) -> None:
        nonlocal began, before
        if before < 0:
            # What an earlier run found says nothing of the speed of this one.
            began, before = time.monotonic(), reached.distinct
        speed = (reached.distinct - before) / max(time.monotonic() - began, 1e-3)
        left = f", frontier {reached.levels[-1].frontier:,}" if reached.levels else ""
        share = f", {100 * reached.distinct // model.distinct}%" if model.distinct else ""
        show(
            f"{model.name}: depth {reached.depth}, {reached.distinct:,} states{left}, "
            f"{speed:,.0f} states/s{share}"
        )

    return report


def _graph(model: Model, spec: Spec, reached: Reached) -> StateGraph:
    """Return what the rules of the verdict ask of a graph; it has no single state or step."""
    names = tuple(action.name for action in spec.actions)
    states: Any = range(reached.distinct)
    found = Exploration(spec, states, names)
    found.generated, found.depth = reached.tally.generated, reached.depth
    found.expanded, found.is_complete = reached.tally.expanded, reached.is_complete
    found.coverage = {name: Coverage(reached.tally.taken[name]) for name in names}
    found.unchecked = tuple(map(str, spec.tool.getImpliedTemporalNames()))
    found.unchecked = unchecked_properties(model, found)
    holds = {name: b"\1" * (name in reached.tally.reached) for name in model.witnesses}
    return StateGraph(found, holds, frozenset(reached.tally.beyond))


def _evidence(
    graph: StateGraph,
    model: Model,
    place: Store,
    plan: Plan,
    reached: Reached,
    *,
    checks_deadlock: bool,
) -> Trace | None:
    """Return the way to the fault, ``None`` if there is none; the graph learns its name."""
    spec, fault, stuck = graph.found.spec, reached.tally.fault, reached.tally.stuck
    if fault is not None:
        path = way_to_fault(place, reached, plan, spec, fault)
        graph.found.violation = Violation(fault.name, path, fault.is_step)
        graph.found.violation = named_violation(model, graph.found)
        return violation_trace(graph, spec=model.spec, model=model.name)
    if stuck is None or not checks_deadlock:
        return None
    path = path_to(place, reached, plan, spec, *stuck)
    graph.found.violation = Violation(_DEADLOCK, path, is_step=False)
    trace = violation_trace(graph, spec=model.spec, model=model.name)
    graph.found.violation = None
    return replace(trace, claim=Claim(ClaimKind.BEHAVIOUR))


def _show(
    request: SparkRequest,
    model: Model,
    graph: StateGraph,
    reached: Reached,
    judgement: Judgement,
    trace: Trace | None,
    seconds: float,
) -> None:
    console, found, tally = screen.stdout(), graph.found, reached.tally
    if not request.quiet:
        width = max(6, *(len(name) for name in found.actions))
        screen.line(console, f"{'action':<{width}} {'taken':>12}")
        for name in found.actions:
            screen.line(console, f"{name:<{width}} {tally.taken[name]:>12,}")
        screen.line(console, "")
    if trace is not None:
        what = _DEADLOCK if found.violation is None else found.violation.name
        screen.line(console, f"the way to where {what} is false")
        show_account(console, counterexample(trace))
    word = (judgement.verdict.name, screen.VERDICT_STYLES[judgement.verdict])
    screen.line(console, word, f"  {model.name}: {judgement.reasons[0]}")
    lines = list(judgement.reasons[1:])
    pinned = " (as pinned)" if reached.distinct == model.distinct else ""
    lines += [
        f"{counted(reached.distinct, 'distinct state')}{pinned}, "
        f"{tally.generated:,} generated, depth {reached.depth}, "
        f"{seconds:.1f} s, of which tasks used {tally.seconds:.1f} s of processor time",
        f"the odds that two states shared a fingerprint: {reached.collision_odds:.1e}",
    ]
    lines += [f"bounds: {model.bounds}"] if model.bounds else []
    lines += [f"kept: {request.checkpoint}"] if request.checkpoint is not None else []
    for text in lines:
        screen.line(console, f"    {text}")
    screen.line(console, (f"    reproduce: {request.command}", "dim"))
