"""``krafla check``: run models under TLC, with live progress, verdicts and counterexamples."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from krafla.cli import screen
from krafla.cli.trace_view import show_trace
from krafla.manifest import TIERS, Manifest, Model, load
from krafla.tlc.checking import Check, check_model, evidence
from krafla.tlc.command import Simulation
from krafla.tlc.outcome import describe
from krafla.tlc.pace import Pace
from krafla.traces import write
from krafla.verdict import ExitCode, KraflaError, Verdict, worst

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from krafla.tlc.output import Progress

__all__ = ["command"]

Answer = Check | KraflaError


_Names = Annotated[
    list[str] | None, typer.Argument(metavar="MODEL", help="Names from the manifest.")
]
_Tier = Annotated[
    str | None, typer.Option(help="smoke (the default without names), full, nightly or all.")
]
_Workers = Annotated[
    str, typer.Option(help="Threads of TLC; auto is what the manifest says, else all.")
]
_Timeout = Annotated[float | None, typer.Option(help="Seconds each model may take.", min=0.1)]
_Coverage = Annotated[
    bool, typer.Option("--coverage", help="Show how often each action was taken.")
]
_Simulate = Annotated[
    int | None, typer.Option(metavar="N", help="N random behaviours instead of all.", min=1)
]
_Depth = Annotated[int, typer.Option(help="Longest behaviour to simulate.", min=1)]
_Seed = Annotated[int, typer.Option(help="Seed of the simulation.")]
_TraceFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write the counterexample to a file.")
]
_Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
_List = Annotated[bool, typer.Option("--list", help="List the models and stop.")]


def command(
    models: _Names = None,
    tier: _Tier = None,
    workers: _Workers = "auto",
    timeout: _Timeout = None,
    coverage: _Coverage = False,
    simulate: _Simulate = None,
    depth: _Depth = 100,
    seed: _Seed = 1,
    trace: _TraceFile = None,
    as_json: _Json = False,
    list_models: _List = False,
) -> ExitCode:
    r"""Check models with TLC.

    A model holds only if TLC finished, the number of states is the pinned one, every
    action was taken and every witness reached. A model that must fail holds if exactly
    the property it names failed.

    \b
    Examples:
      krafla check --list
      krafla check                          every smoke model
      krafla check MCBrokerLeaseSmoke       one model, whatever its tier
      krafla check --tier full --workers 4
      krafla check MCBrokerLeaseSmoke --simulate 1000 --seed 7
    """
    manifest = load()
    chosen = _choose(manifest, tuple(models or ()), tier)
    console = screen.stdout()
    if list_models:
        _list(console, chosen)
        return ExitCode.HELD
    threads = _threads(workers)
    simulation = None if simulate is None else Simulation(simulate, depth, seed)
    if trace is not None and len(chosen) != 1:
        raise typer.BadParameter("--trace takes the counterexample of one model; name it")
    answers: list[Answer] = []
    for number, model in enumerate(chosen, 1):
        prefix = f"[{number}/{len(chosen)}] "
        answers.append(_answer(model, threads, timeout, simulation, prefix))
        if not as_json:
            shows = len(chosen) == 1
            _show(console, answers[-1], coverage=coverage, first=number == 1, shows=shows)
        _keep(answers[-1], trace)
    status = _status(answers)
    if as_json:
        document = {"exit_status": int(status), "models": [_data(one) for one in answers]}
        console.print(json.dumps(document, indent=2), markup=False, soft_wrap=True)
    elif len(answers) > 1:
        screen.line(console, "")
        screen.line(console, _totals(answers))
    _warn_unlisted(manifest, quiet=bool(models))
    return status


def _choose(manifest: Manifest, names: tuple[str, ...], tier: str | None) -> tuple[Model, ...]:
    if tier not in {None, "all", *TIERS}:
        raise typer.BadParameter(f"--tier is one of {', '.join(TIERS)}, all; not {tier!r}")
    wanted = "smoke" if tier is None and not names else tier
    chosen = manifest.select(names, None if wanted == "all" else wanted)
    if not chosen:
        raise KraflaError(f"no model of tier {wanted}", str(manifest.path))
    return chosen


def _threads(workers: str) -> int | None:
    if workers == "auto":
        return None
    if not workers.isdecimal() or int(workers) < 1:
        raise typer.BadParameter(f"--workers is a number from 1, or auto; not {workers!r}")
    return int(workers)


def _answer(
    model: Model,
    threads: int | None,
    timeout: float | None,
    simulation: Simulation | None,
    prefix: str,
) -> Answer:
    with screen.LiveLine() as live:
        live.show(f"{prefix}{model.name}: starting TLC")
        report = _reporter(live, f"{prefix}{model.name}: ")
        try:
            return check_model(
                model, workers=threads, progress=report, timeout=timeout, simulation=simulation
            )
        except KraflaError as error:
            return error


def _reporter(live: screen.LiveLine, prefix: str) -> Callable[[Progress], None]:
    pace = Pace()
    started = time.monotonic()

    def report(progress: Progress) -> None:
        speed = pace.add(time.monotonic() - started, progress)
        text = f"{progress.distinct:,} states, {progress.queue:,} queued, depth {progress.depth}"
        if speed.states_per_second is not None:
            text += f", {speed.states_per_second:,.0f}/s"
        if speed.seconds_left is not None:
            text += f", about {speed.seconds_left:,.0f} s left if the queue falls on so"
        live.show(prefix + text)

    return report


def _show(
    console: Console, answer: Answer, *, coverage: bool, first: bool, shows: bool = False
) -> None:
    if not first:
        screen.line(console, "")
    if isinstance(answer, KraflaError):
        screen.line(console, ("COULD NOT RUN", "bold red"), f"  {answer}")
        return
    model, result = answer.model, answer.result
    trace = result.counterexample
    # A model that must fail is asked for by name to see how.
    if trace is not None and (shows or answer.verdict is not Verdict.HELD):
        show_trace(console, trace)
    verdict = answer.verdict
    word = (verdict.name, screen.VERDICT_STYLES[verdict])
    screen.line(console, word, f"  {model.name}: {answer.judgement.reasons[0]}")
    for reason in answer.judgement.reasons[1:]:
        screen.line(console, f"    {reason}")
    screen.line(console, f"    {', '.join(evidence(model, result))}")
    if model.bounds:
        screen.line(console, f"    bounds: {model.bounds}")
    if coverage and result.coverage is not None:
        for action in result.coverage:
            counts = f"{action.taken:>12,} taken {action.distinct:>12,} new"
            screen.line(console, f"    {counts}  {action.name}  {action.location}")
    screen.line(console, (f"    reproduce: {result.reproduce}", "dim"))


def _keep(answer: Answer, name: str | None) -> None:
    if name is None or isinstance(answer, KraflaError):
        return
    if answer.result.counterexample is None:
        screen.line(screen.stderr(), f"no counterexample, so {name} was not written")
    else:
        from krafla.refinement.counterexample import stands_alone

        write(stands_alone(answer.result.counterexample, answer.model), Path(name))
        screen.line(screen.stderr(), f"    saved: {name}; look: krafla explain {name}")


def _status(answers: Sequence[Answer]) -> ExitCode:
    """Return the status of all: a violation counts most, then what could not be run."""
    found = worst(one.verdict for one in answers if isinstance(one, Check))
    if found is Verdict.VIOLATED:
        return ExitCode.VIOLATED
    if any(isinstance(one, KraflaError) for one in answers):
        return ExitCode.COULD_NOT_RUN
    return found.exit_code


def _totals(answers: Sequence[Answer]) -> str:
    counts = dict.fromkeys(Verdict, 0)
    for one in answers:
        if isinstance(one, Check):
            counts[one.verdict] += 1
    failed = len(answers) - sum(counts.values())
    parts = [f"{count} {verdict.value}" for verdict, count in counts.items() if count]
    return f"{len(answers)} models: " + ", ".join(
        parts + [f"{failed} could not run"] * bool(failed)
    )


def _list(console: Console, models: Sequence[Model]) -> None:
    for model in models:
        expected = "holds" if model.property is None else f"{model.property} must fail"
        pinned = "" if model.distinct is None else f", {model.distinct:,} states"
        screen.line(
            console, (model.name, "bold"), f"  {model.tier}, {model.kind}, {expected}{pinned}"
        )


def _warn_unlisted(manifest: Manifest, *, quiet: bool) -> None:
    if not quiet:
        for path in manifest.unlisted:
            screen.line(screen.stderr(), f"note: {path.name} is in no [[model]] of the manifest")


def _data(answer: Answer) -> dict[str, Any]:
    if isinstance(answer, KraflaError):
        return {"error": answer.message, "place": answer.place}
    model, result = answer.model, answer.result
    return {
        "model": model.name,
        "verdict": answer.verdict.value,
        "reasons": list(answer.judgement.reasons),
        "outcome": type(result.outcome).__name__,
        "outcome_text": describe(result.outcome),
        "bounds": model.bounds,
        "distinct": result.distinct,
        "pinned_distinct": model.distinct,
        "generated": result.generated,
        "depth": result.depth,
        "queue_left": result.queue_left,
        "seconds": round(result.seconds, 3),
        "actions": None
        if result.coverage is None
        else {one.name: {"taken": one.taken, "distinct": one.distinct} for one in result.coverage},
        "witnesses_reached": list(result.reached),
        "counterexample_steps": len(result.counterexample) if result.counterexample else None,
        "tlc_exit_status": result.exit_status,
        "tlc_version": result.version,
        "tlc_sha256": result.jar.sha256,
        "java": result.java.version,
        "reproduce": result.reproduce,
    }
