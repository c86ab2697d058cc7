"""``krafla check``: run models under TLC, with live progress, verdicts and counterexamples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.cli.check_selection import Selection
from krafla.cli.ci.checks import check_entries
from krafla.cli.ci.reports import reported, tell
from krafla.cli.options import Json  # noqa: TC001 - typer reads the annotations
from krafla.cli.shipped_notice import tell_of_shipped
from krafla.files import check_writable
from krafla.manifest import TIERS, load
from krafla.project.asked import names_asked
from krafla.verdict import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.cli.check_run import Request
    from krafla.manifest import Manifest, Model
    from krafla.tlc.trial import Trial

__all__ = ["command"]

# TLC does not start with less, and no model of ours needs more.
_HEAP_MB_MIN, _HEAP_MB_MAX = 16, 65_536

_Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MODEL...",
        help="Names of models (krafla check --list), patterns as MCKRaft*, or paths: a .tla, a "
        ".cfg, a folder, a krafla.toml.",
    ),
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
    str, typer.Option(help="Threads of TLC; auto is what the model says, else all; see --jobs.")
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
        help="Keep the models that held; a later run skips them unless their files changed.",
    ),
]
_Invariant = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FORMULA",
        help="Ask only whether this TLA+ formula is true in every state; may be repeated.",
    ),
]
_Property = Annotated[
    list[str] | None,
    typer.Option(
        "--property", metavar="NAME", help="Check only this operator of the model's module."
    ),
]
_Pin = Annotated[
    bool,
    typer.Option(
        "--pin",
        help="Write the numbers found where they are pinned, and coverage.json, if all else held.",
    ),
]
_Measure = Annotated[
    bool,
    typer.Option(
        "--measure", help="Count how often each action is taken, even if coverage.json says it."
    ),
]
_List = Annotated[bool, typer.Option("--list", help="List the models and stop.")]
_Markdown = Annotated[bool, typer.Option("--markdown", help="With --list: the page of models.")]


@reported(sarif=True)
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
    invariant: _Invariant = None,
    property_name: _Property = None,
    pin: _Pin = False,
    measure: _Measure = False,
    as_json: Json = False,
    list_models: _List = False,
    markdown: _Markdown = False,
) -> ExitCode:
    r"""Check models with TLC.

    A model holds only if TLC finished, the numbers of states, properties and witnesses are the
    pinned ones, every action was taken and every witness reached. A model that must fail holds
    only if TLC finds the property it names violated, and no other. A whole tier holds only if,
    in addition, its models together took every action of every spec and checked every claim.
    A project's krafla.toml need not pin numbers. Without one, an action that was never taken is
    only a note.

    --invariant and --property try something without an edit: a model is asked this alone, not its
    own properties, witnesses and pinned numbers. --pin writes the numbers that were found.

    \b
    Examples:
      krafla check                          every smoke model
      krafla check Lock.tla                 your own spec, with Lock.cfg beside it
      krafla check 'MCKRaft*' --coverage    those whose names match
      krafla check MCBrokerLeaseSmoke --invariant 'log_end < 5' --trace found.ndjson
      krafla check --tier full --results full.jsonl   an hour, in as many parts as you like
    """
    selection = Selection(names_asked(models or ()), tuple(tag or ()), tier)
    if not tag:
        tell_of_shipped("krafla check", selection.names)
    manifest = load()
    chosen = selection.models(manifest)
    trial = _trial(invariant, property_name, is_named=bool(models or tag))
    _refuse_together(simulate, trial, results, pin=pin)
    if list_models or markdown:
        return _listed(chosen, as_page=markdown)
    _check_files(trace, chosen, pin=pin)
    from krafla.cli.check_run import Request
    from krafla.tlc.command import Simulation
    from krafla.tlc.kept import KeptChecks

    request = Request(
        *_at_once(chosen, jobs, _threads(workers)), heap, timeout,
        None if simulate is None else Simulation(simulate, depth, seed),
        None if results is None else KeptChecks(results), trial,
        measure or pin or coverage, pin, coverage, trace, as_json,
    )  # fmt: skip
    return _answered(manifest, selection, chosen, request)


def _listed(chosen: Sequence[Model], *, as_page: bool) -> ExitCode:
    from krafla.cli import check_view, screen

    check_view.show_list(screen.stdout(), chosen, as_page=as_page)
    return ExitCode.HELD


def _trial(formulas: list[str] | None, names: list[str] | None, *, is_named: bool) -> Trial | None:
    if not formulas and not names:
        return None
    if not is_named:
        raise typer.BadParameter("--invariant and --property need a MODEL or --tag")
    from krafla.tlc.trial import Trial

    return Trial(tuple(formulas or ()), tuple(names or ()))


def _refuse_together(
    simulate: int | None, trial: Trial | None, results: Path | None, *, pin: bool
) -> None:
    if results is not None and simulate is not None:
        raise typer.BadParameter("--results keeps whole searches only: leave out --simulate")
    if results is not None and trial is not None:
        raise typer.BadParameter("--results cannot be combined with --invariant or --property")
    if pin and (trial is not None or simulate is not None):
        raise typer.BadParameter(
            "--pin needs a whole check: leave out --simulate, --invariant and --property"
        )


def _check_files(trace: str | None, chosen: Sequence[Model], *, pin: bool) -> None:
    """Refuse, before the work, what could not be written after it."""
    if trace is not None:
        if len(chosen) != 1:
            raise typer.BadParameter("--trace takes the counterexample of one model; name it")
        check_writable(Path(trace))
    if pin:
        from krafla.pins import check_pinnable

        check_pinnable(chosen)


def _answered(
    manifest: Manifest, selection: Selection, chosen: Sequence[Model], request: Request
) -> ExitCode:
    """Ask about the models, and tell what they come to together."""
    from krafla.cli import check_view, screen
    from krafla.cli.check_run import answers_of
    from krafla.cli.check_total import total_of

    answers, pinned = answers_of(request, chosen)
    total = total_of(manifest, selection, chosen, answers, is_trial=request.trial is not None)
    tell(check_entries, chosen, total)
    console = screen.stdout()
    if request.is_silent:
        document = {
            "exit_status": int(total.exit_code),
            "models": [check_view.data(one, coverage=request.coverage) for one in total.answers],
            "specs": [check_view.spec_data(one) for one in total.specs],
            "doubts": list(total.doubts),
            "pinned": list(map(str, pinned)),
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

    Small models spend most of their time on the start of the JVM, so those of the smoke tier run
    side by side, with one thread each. A large one profits from all threads.
    """
    from krafla.tlc.side_by_side import jobs_at_once

    small = len(chosen) > 1 and all(model.tier == TIERS[0] for model in chosen)
    if jobs is None:
        jobs = jobs_at_once() if small and threads is None else 1
    return jobs, threads or (1 if jobs > 1 else None)
