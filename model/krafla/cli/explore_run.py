"""One run of ``krafla explore``, from the request to the verdict."""

from __future__ import annotations

import resource
import shlex
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krafla.cli import screen
from krafla.cli.account_view import counterexample, show_account
from krafla.cli.ci.checks import explored_entry
from krafla.cli.ci.reports import tell
from krafla.cli.endless import Endless
from krafla.cli.explore_view import reporter, show_graph
from krafla.counted import counted
from krafla.files import check_writable, write_text
from krafla.graph import Question, StateGraph, build, components, dead_ends
from krafla.graph.behaviour import behaviour, violation_trace
from krafla.graph.export import around, dot, graphml
from krafla.graph.judge import judge
from krafla.graph.paths import Answer, answer, way_to
from krafla.manifest import load, on_these_specs
from krafla.match.counterexample import replayable
from krafla.project.models import argument_of
from krafla.tlc.config import read_config
from krafla.traces import write_trace
from krafla.verdict import KraflaError, Verdict, worst

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from krafla.cli.screen import LiveLine
    from krafla.graph import DeadEnds, Way
    from krafla.manifest import Model
    from krafla.tlc.judge import Judgement
    from krafla.traces import Trace
    from krafla.verdict import ExitCode

__all__ = ["Request", "run"]

# More nodes than that no picture can show.
_DOT_MAX = 500


@dataclass(frozen=True, slots=True)
class Request:
    """The options of ``krafla explore``, as in its help."""

    model: str
    start: str | None = None
    goal: str | None = None
    save: Path | None = None
    progress: str | None = None
    marks: tuple[str, ...] = ()
    limit: int | None = None
    page: Path | None = None
    page_limit: int = 50_000
    graphml: Path | None = None
    dot: Path | None = None
    around: str | None = None
    radius: int = 2
    quiet: bool = False

    def questions(self, model: Model) -> list[Question]:
        """Return every predicate that is asked for, with the option that does."""
        asked = [
            ("--from", self.start), ("--to", self.goal), ("--progress", self.progress),
            ("--around", self.around), *(("--mark", text) for text in self.marks),
        ]  # fmt: skip
        mine = [Question(text, option) for option, text in asked if text is not None]
        witnesses = [Question(name, f"a witness of {model.name}") for name in model.witnesses]
        return list({one.text: one for one in (*witnesses, *mine)}.values())


def run(request: Request) -> ExitCode:
    """Explore the model, print the answers, write the files; return the exit status."""
    began = time.monotonic()
    model = _model(request.model)
    if request.dot is not None and request.around is None and request.limit is None:
        # Before the work, where the manifest already knows.
        _check_picture(model.distinct or 0, request.dot)
    for path in (request.save, request.page, request.graphml, request.dot):
        if path is not None:
            check_writable(path)
    config = read_config(model.config)
    expected = model.distinct or request.limit
    with screen.LiveLine(quiet=request.quiet) as live:
        live.show(f"{model.name}: loading")
        endless = Endless(model.name, live.remark, ", or by --limit") if not expected else None
        graph = build(
            model,
            request.questions(model),
            limit=request.limit,
            progress=reporter(live, expected, endless=endless),
        )
        live.show(f"{model.name}: looking at the graph")
        ends = dead_ends(graph)
        judgement = judge(model, graph, ends, checks_deadlock=config.checks_deadlock)
        result = _Result(
            request, model, graph, judgement, screen.stdout(), live,
            judgement.verdict, judgement.reasons,
        )  # fmt: skip
        artefacts = result.show(ends)
    states = counted(graph.found.distinct, "distinct state")
    tell(explored_entry, model, result.verdict, result.reasons, states, result.evidence(ends))
    result.show_end(artefacts, time.monotonic() - began)
    return result.verdict.exit_code


def _model(name: str) -> Model:
    return load().select((name,))[0]


def _check_picture(states: int, path: Path) -> None:
    if states > _DOT_MAX:
        raise KraflaError(
            f"a picture shows at most {_DOT_MAX} states, and there are {states:,}: "
            "choose some with --around and a small --radius",
            str(path),
        )


@dataclass(slots=True)
class _Result:
    """The result of a search, and where to show it."""

    request: Request
    model: Model
    graph: StateGraph
    judgement: Judgement
    console: Console
    live: LiveLine
    verdict: Verdict
    reasons: tuple[str, ...]
    # The last state of the path that was asked for, if there is one.
    end: int | None = None

    def say(self, text: str = "") -> None:
        self.live.erase()
        screen.line(self.console, text)

    def show(self, ends: DeadEnds) -> list[str]:
        """Write the files, print what was found, return their names; `run` prints the verdict."""
        request, graph = self.request, self.graph
        found = graph.found
        # The reader of the output may leave before its end.
        path = self._path() if request.goal is not None else None
        written = self._written()
        if not request.quiet:
            self.say(
                f"{self.model.name}: {counted(len(graph), 'state')}, "
                f"{counted(found.edges, 'step')}, {counted(found.generated, 'state')} generated, "
                f"depth {found.depth}, {counted(len(graph.initial()), 'initial state')}"
            )
        # What was asked for comes before what is told of every graph.
        artefacts = self._answer(path) if path is not None else []
        if not request.quiet:
            self._show_whole(ends)
        self._show_evidence(ends)
        return artefacts + written

    def _show_whole(self, ends: DeadEnds) -> None:
        self.live.show("looking for strongly connected components")
        parts = components(self.graph)
        wanted = self.request.progress
        progress = None if wanted is None else (wanted, self.graph.holds[wanted])
        self.live.erase()
        self.say()
        show_graph(self.console, self.graph, self.graph.action_uses(), parts, ends, progress)
        if self.graph.holds:
            self.say()
            self.say("predicates")
        for text, holds in self.graph.holds.items():
            count = sum(holds)
            told = f"true in {counted(count, 'state')}"
            if count:
                told += f"; the nearest is {self._nearest(text, holds)}"
            told += "; also out of the bounds" if text in self.graph.beyond else ""
            self.say(f"  {text}: {told}")

    def _nearest(self, text: str, holds: bytes) -> str:
        """Return the first of the nearest states, or the one to which the path asked for leads."""
        request = self.request
        is_end = self.end is not None and text == request.goal and request.start is None
        state = self.end if is_end and self.end is not None else holds.index(1)
        return f"state {state}, depth {self.graph.depths[state]}"

    def evidence(self, ends: DeadEnds) -> Trace | None:
        """Return the path to the violation, or to a state without any step, if there is one."""
        if self.graph.found.violation is not None:
            return violation_trace(self.graph, **self._origin())
        return self._trace(way_to(self.graph, ends.stepless[0])) if ends.stepless else None

    def _show_evidence(self, ends: DeadEnds) -> None:
        """Print the path to the fault: a violation, or a state without any step."""
        violation = self.graph.found.violation
        if violation is not None and self.judgement.verdict is not Verdict.HELD:
            self.say()
            self.say(f"the way to where {violation.name} is false")
            self._show(violation_trace(self.graph, **self._origin()))
        is_asked = not self.request.quiet or self.judgement.verdict is Verdict.VIOLATED
        if ends.stepless and is_asked:
            self.say()
            self.say("the way to the nearest state without any step")
            self._show(self._trace(way_to(self.graph, ends.stepless[0])))

    def _show(self, trace: Trace) -> None:
        show_account(self.console, counterexample(trace))

    def _path(self) -> Answer:
        """Return the path that was asked for; write it, if a file was named for it."""
        goal = self.request.goal
        assert goal is not None, "asked only with --to"
        found = answer(self.graph, self.request.start, goal)
        self.end = found.end
        if self.request.save is not None and found.whole is not None:
            write_trace(replayable(self._trace(found.whole), self.model), self.request.save)
        return found

    def _answer(self, found: Answer) -> list[str]:
        """Print the path that was asked for; return the name of its file, if it has one."""
        if found.verdict is not Verdict.HELD:
            # What decides comes first.
            mine = (found.reason,)
            decides = self.judgement.verdict is not Verdict.VIOLATED
            self.reasons = mine + self.reasons if decides else self.reasons + mine
        self.verdict = worst((self.verdict, found.verdict))
        self.say()
        if found.whole is None or found.lead is None:
            self.say(f"path: {found.reason}")
            return []
        self._show(self._trace(found.whole))
        if found.lead.steps:
            self.say(f"    the path begins after step {len(found.lead.steps)}; "
                     "before it is a shortest way there")  # fmt: skip
        self.say(f"path: {found.reason}")
        return [] if self.request.save is None else [str(self.request.save)]

    def _trace(self, way: Way) -> Trace:
        return behaviour(self.graph, way, **self._origin())

    def _origin(self) -> dict[str, Any]:
        return {"spec": self.model.spec, "model": self.model.name}

    def _written(self) -> list[str]:
        request, graph = self.request, self.graph
        artefacts: list[str] = []
        states = self._near()
        if request.graphml is not None:
            self.live.show(f"writing {request.graphml}")
            write_text(request.graphml, graphml(graph, states))
            artefacts.append(str(request.graphml))
        if request.dot is not None:
            shown = range(len(graph)) if states is None else states
            _check_picture(len(shown), request.dot)
            marked = [] if request.around is None else graph.holds[request.around]
            write_text(request.dot, dot(graph, shown, [n for n, one in enumerate(marked) if one]))
            artefacts.append(str(request.dot))
        if request.page is not None:
            from krafla.graph.page import page

            self.live.show(f"writing {request.page}")
            text = page(graph, self.model, self.judgement, limit=request.page_limit)
            write_text(request.page, [text])
            artefacts.append(str(request.page))
        return artefacts

    def _near(self) -> list[int] | None:
        """Return the states that --around chooses; all, as ``None``, without it."""
        if self.request.around is None:
            return None
        holds = self.graph.holds[self.request.around]
        if not any(holds):
            raise KraflaError("true in no state, so nothing lies around it", "--around")
        return around(self.graph, holds.index(1), self.request.radius)

    def show_end(self, artefacts: list[str], seconds: float) -> None:
        """Print the verdict, its evidence, the files written, and the command that repeats it."""
        found = self.graph.found
        self.say()
        word = (self.verdict.name, screen.VERDICT_STYLES[self.verdict])
        screen.line(self.console, word, f"  {self.model.name}: {self.reasons[0]}")
        for reason in (*self.reasons[1:], *self.judgement.notes):
            self.say(f"    {reason}")
        pinned = " (as pinned)" if found.distinct == self.model.distinct else ""
        if self.model.distinct is None and not self.model.listing.needs_pins:
            pinned = " (not pinned)"
        # Linux counts in kilobytes, macOS in bytes.
        unit = 2**20 if sys.platform == "darwin" else 2**10
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
        self.say(f"    {counted(found.distinct, 'distinct state')}{pinned}, "
                 f"{found.generated:,} generated, depth {found.depth}, "
                 f"{seconds:.1f} s, at most {memory:,.0f} MB")  # fmt: skip
        if self.model.bounds:
            self.say(f"    bounds: {self.model.bounds}")
        for name in artefacts:
            self.say(f"    written: {name}")
        screen.line(self.console, (f"    reproduce: {self._command()}", "dim"))

    def _command(self) -> str:
        request = self.request
        words = ["krafla", "explore", argument_of(self.model)]
        for option, value in (
            ("--from", request.start), ("--to", request.goal), ("--progress", request.progress),
            ("--limit", request.limit),
        ):  # fmt: skip
            words += [] if value is None else [option, str(value)]
        return on_these_specs(shlex.join(words))
