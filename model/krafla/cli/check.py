"""``krafla check``: run models under TLC, with live progress, verdicts and counterexamples."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.cli import check_view, screen
from krafla.cli.check_selection import Selection
from krafla.cli.check_total import Total, total_of
from krafla.cli.options import Json  # noqa: TC001 - typer reads the annotations
from krafla.files import check_writable
from krafla.manifest import TIERS, load
from krafla.tlc.command import Simulation
from krafla.tlc.kept import KeptChecks, inputs_of
from krafla.tlc.model_check import Check, check_model
from krafla.tlc.pace import Pace
from krafla.tlc.side_by_side import jobs_at_once, side_by_side
from krafla.traces import write
from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console

    from krafla.cli.check_view import Answer
    from krafla.manifest import Model
    from krafla.tlc.output import Progress

__all__ = ["command"]

# TLC does not start with less, and no model of ours needs more.
_HEAP_MB_MIN, _HEAP_MB_MAX = 16, 65_536

_Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="MODEL", help="Names from the manifest, or patterns as MCKRaft*."),
]
_Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="A room, a tag, a spec or a kind; may be repeated."),
]
_Tier = Annotated[
    str | None,
    typer.Option(help="smoke (the default, unless models are named), full, nightly or all."),
]
_Workers = Annotated[
    str, typer.Option(help="Threads of TLC; auto is what the manifest says, else all; see --jobs.")
]
_Jobs = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Models at once; by default several of the smoke tier."),
]
_Heap = Annotated[
    int | None,
    typer.Option(
        metavar="MB", min=_HEAP_MB_MIN, max=_HEAP_MB_MAX,
        help="Memory for TLC; by default a quarter of the machine's, at most 4096.",
    ),
]  # fmt: skip
_Timeout = Annotated[float | None, typer.Option(help="Seconds each model may take.", min=0.1)]
_Coverage = Annotated[
    bool,
    typer.Option("--coverage", help="Show each action, and how often its conjuncts held."),
]
_Simulate = Annotated[
    int | None, typer.Option(metavar="N", help="N random behaviours instead of all.", min=1)
]
_Depth = Annotated[int, typer.Option(help="Longest behaviour to simulate.", min=1)]
_Seed = Annotated[int, typer.Option(help="Seed of the simulation.")]
_TraceFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write the counterexample to a file.")
]
_Results = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keep what held; a later run goes on from there, as far as no file has changed.",
    ),
]
_List = Annotated[bool, typer.Option("--list", help="List the models and stop.")]
_Markdown = Annotated[bool, typer.Option("--markdown", help="With --list: the page of models.")]


def command(
    models: _Names = None,
    tag: _Tags = None,
    tier: _Tier = None,
    workers: _Workers = "auto",
    jobs: _Jobs = None,
    heap: _Heap = None,
    timeout: _Timeout = None,
    coverage: _Coverage = False,
    simulate: _Simulate = None,
    depth: _Depth = 100,
    seed: _Seed = 1,
    trace: _TraceFile = None,
    results: _Results = None,
    as_json: Json = False,
    list_models: _List = False,
    markdown: _Markdown = False,
) -> ExitCode:
    r"""Check models with TLC.

    A model holds only if TLC finished, the numbers of states and of properties are the
    pinned ones, every action was taken and every witness reached. A model that must fail
    holds if exactly the property it names failed. A whole tier holds only if, in addition,
    its models together took every action of every spec and checked every claim.

    \b
    Examples:
      krafla check --list --tier all
      krafla check                          every smoke model
      krafla check MCBrokerLeaseSmoke       one model, whatever its tier
      krafla check 'MCKRaft*' --coverage    those whose names match
      krafla check --tag raft --tier full   those of a room
      krafla check MCBrokerLeaseSmoke --simulate 1000 --seed 7
      krafla check --tier full --results full.jsonl   an hour, in as many parts as you like
    """
    manifest = load()
    selection = Selection(tuple(models or ()), tuple(tag or ()), tier)
    chosen = selection.models(manifest)
    console = screen.stdout()
    if list_models or markdown:
        check_view.show_list(console, chosen, as_page=markdown)
        return ExitCode.HELD
    simulation = None if simulate is None else Simulation(simulate, depth, seed)
    if trace is not None:
        _check_trace(trace, chosen)
    kept = _results(results, simulation)
    at_once, threads = _at_once(chosen, jobs, _threads(workers))
    with screen.LiveLine() as live:
        asking = _Asking(live, threads, timeout, heap, simulation, kept)
        answers: list[Answer] = []
        for answer in side_by_side(asking.tasks(chosen), at_once):
            with asking.quiet():
                if not as_json:
                    if answers:
                        screen.line(console, "")
                    check_view.show(console, answer, coverage=coverage, asked_for=len(chosen) == 1)
                _save(answer, trace)
            answers.append(answer)
    total = total_of(manifest, selection, chosen, answers)
    return _end(console, total, as_json=as_json, coverage=coverage)


def _check_trace(name: str, chosen: Sequence[Model]) -> None:
    if len(chosen) != 1:
        raise typer.BadParameter("--trace takes the counterexample of one model; name it")
    check_writable(Path(name))


def _results(path: Path | None, simulation: Simulation | None) -> KeptChecks | None:
    if path is not None and simulation is not None:
        raise typer.BadParameter("--results keeps what was searched whole, no simulations")
    return None if path is None else KeptChecks(path)


def _end(console: Console, total: Total, *, as_json: bool, coverage: bool) -> ExitCode:
    if as_json:
        document = {
            "exit_status": int(total.exit_code),
            "models": [check_view.data(one, coverage=coverage) for one in total.answers],
            "specs": [check_view.spec_data(one) for one in total.specs],
            "doubts": list(total.doubts),
        }
        console.print(json.dumps(document, indent=2), markup=False, soft_wrap=True)
    elif len(total.answers) > 1:
        check_view.show_total(console, total)
    return total.exit_code


def _threads(workers: str) -> int | None:
    if workers == "auto":
        return None
    if not workers.isdecimal() or int(workers) < 1:
        raise typer.BadParameter(f"--workers is a number from 1, or auto; not {workers!r}")
    return int(workers)


def _at_once(
    chosen: Sequence[Model], jobs: int | None, threads: int | None
) -> tuple[int, int | None]:
    """Return how many models run at once, and the threads of each; ``None``: the model decides.

    Small models spend most of their time on the start of Java, so those of the smoke tier run side
    by side, with one thread each. A large one profits from all threads.
    """
    small = len(chosen) > 1 and all(model.tier == TIERS[0] for model in chosen)
    if jobs is None:
        jobs = jobs_at_once() if small and threads is None else 1
    return jobs, threads or (1 if jobs > 1 else None)


class _Asking:
    """How every model of a run is asked about, and the line that tells how far they are."""

    def __init__(
        self,
        live: screen.LiveLine,
        threads: int | None,
        timeout: float | None,
        heap_mb: int | None,
        simulation: Simulation | None,
        kept: KeptChecks | None,
    ) -> None:
        self._live = live
        self._threads = threads
        self._timeout = timeout
        self._heap_mb = heap_mb
        self._simulation = simulation
        self._kept = kept
        self._one_at_a_time = threading.Lock()

    def tasks(self, models: Sequence[Model]) -> list[Callable[[], Answer]]:
        """Return the task for each model, in their order."""
        count = len(models)
        prefixes = [f"[{n}/{count}] " if count > 1 else "" for n in range(1, count + 1)]
        return [partial(self._answer, *pair) for pair in zip(models, prefixes, strict=True)]

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Keep the line of progress away from the output inside."""
        with self._one_at_a_time:
            self._live.erase()
            yield

    def _show(self, text: str) -> None:
        with self._one_at_a_time:
            self._live.show(text)

    def _answer(self, model: Model, prefix: str) -> Answer:
        """Return the check of a model, or why it could not be checked."""
        try:
            earlier = self._kept.find(model) if self._kept is not None else None
            if earlier is not None:
                return earlier
            inputs = inputs_of(model) if self._kept is not None else ""
            self._show(f"{prefix}{model.name}: starting TLC")
            check = check_model(
                model,
                workers=self._threads,
                progress=_reporter(self._show, model, f"{prefix}{model.name}: "),
                timeout=self._timeout,
                simulation=self._simulation,
                heap_mb=self._heap_mb,
            )
        except KraflaError as error:
            return error
        if self._kept is not None:
            self._keep(self._kept, check, inputs)
        return check

    def _keep(self, kept: KeptChecks, check: Check, inputs: str) -> None:
        """Keep a check for a later run; what cannot be kept has been answered all the same."""
        try:
            kept.add(check, inputs)
        except KraflaError as error:
            with self.quiet():
                screen.line(screen.stderr(), f"krafla: {check.model.name} is not kept: {error}")


def _reporter(show: Callable[[str], None], model: Model, prefix: str) -> Callable[[Progress], None]:
    # A model that must fail stops on the way, at an unknown place.
    pace = Pace(model.distinct if model.expect == "holds" else None)
    started = time.monotonic()

    def report(progress: Progress) -> None:
        show(prefix + _told(pace, model, time.monotonic() - started, progress))

    return report


def _told(pace: Pace, model: Model, seconds: float, progress: Progress) -> str:
    if progress.distinct < 0:
        # A simulation counts nothing but the states it came by.
        return f"{progress.generated or 0:,} states in random behaviours"
    speed = pace.add(seconds, progress)
    if speed.share is None:
        text = f"{progress.distinct:,} states, {progress.queue:,} queued, depth {progress.depth}"
    else:
        text = f"{int(100 * speed.share)}% of {model.distinct:,} states, depth {progress.depth}"
    if progress.is_temporal:
        return f"{text}, checking temporal properties"
    if speed.states_per_second is not None:
        text += f", {speed.states_per_second:,.0f}/s"
    if speed.seconds_left is not None:
        if_so = "" if speed.share is not None else " if the queue falls on so"
        text += f", about {_duration(speed.seconds_left)} left{if_so}"
    return text


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:,.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


def _save(answer: Answer, name: str | None) -> None:
    if name is None or not isinstance(answer, Check):
        return
    if answer.result.counterexample is None:
        screen.line(screen.stderr(), f"no counterexample, so {name} was not written")
    else:
        from krafla.match.counterexample import replayable

        write(replayable(answer.result.counterexample, answer.model), Path(name))
        screen.line(screen.stderr(), f"    saved: {name}; look: krafla explain {name}")
