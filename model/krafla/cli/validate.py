"""``krafla validate``: partial traces against the spec."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from krafla.cli import screen
from krafla.cli.ci.reports import reported, tell
from krafla.cli.ci.traces import refused_entry, validate_entry
from krafla.cli.options import Json, SpecPath, use_spec
from krafla.verdict import ExitCode, KraflaError, worst_status

if TYPE_CHECKING:
    from krafla.match import MatchReport
    from krafla.traces import PartialTrace

__all__ = ["command"]

_FRONTIER = 2_000

_Paths = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="Traces (.ndjson), whole or partial.")
]
_Hidden = Annotated[
    list[str] | None,
    typer.Option(metavar="ACTION", help="An action that may happen unseen; may be repeated."),
]
_AnyHidden = Annotated[bool, typer.Option("--any-hidden", help="Any action may happen unseen.")]
_MaxHidden = Annotated[
    int | None, typer.Option(metavar="N", help="Hidden steps in a row, at most.", min=0)
]
_Frontier = Annotated[
    int, typer.Option(metavar="N", help="Candidate states followed at a time.", min=1)
]
_Only = Annotated[
    list[str] | None,
    typer.Option(metavar="VARIABLE", help="Compare this variable; others were not seen."),
]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only verdicts.")]


@reported(sarif=True)
def command(
    paths: _Paths,
    hidden: _Hidden = None,
    any_hidden: _AnyHidden = False,
    max_hidden: _MaxHidden = None,
    frontier: _Frontier = _FRONTIER,
    only: _Only = None,
    spec: SpecPath = None,
    as_json: Json = False,
    quiet: _Quiet = False,
) -> ExitCode:
    r"""Ask whether the spec has a behaviour that fits a trace.

    A partial trace need not name every action or show every variable, and it may miss steps. Where
    no candidate can continue, krafla shows the observation that fits no step, the false conjunct
    with its values, and the longest part that has a behaviour.

    Without options a partial trace declares itself which steps may be hidden, and a whole trace
    hides none. Visible steps must keep the properties of the spec, too.

    Exit status: 0 if there is such a behaviour; 1 if there is none within the stated bounds;
    3 if the search was cut off before, or if the trace shows nothing to compare.

    \b
    Examples:
      krafla validate found/broker.ndjson
      krafla validate run.ndjson --any-hidden --max-hidden 4
      krafla validate run.ndjson --only status --only registrations
    """
    if any_hidden and hidden:
        raise typer.BadParameter("--any-hidden leaves nothing for --hidden to name")
    use_spec(spec)
    console = screen.stdout()
    how = None if any_hidden else tuple(hidden or ())
    statuses: list[ExitCode] = []
    documents: list[dict[str, Any]] = []
    for path in paths:
        try:
            trace, excused = _read(path, how, only, max_hidden)
            report = _validated(path, trace, frontier, excused, quiet or as_json)
        except KraflaError as error:
            if len(paths) == 1:
                raise
            screen.line(screen.stderr(), f"krafla: {error}")
            tell(refused_entry, path, error)
            statuses.append(ExitCode.COULD_NOT_RUN)
            documents.append({"file": str(path), "error": str(error)})
            continue
        statuses.append(report.verdict.exit_code)
        if as_json:
            documents.append(_document(path, report))
            continue
        word = (report.verdict.name, screen.VERDICT_STYLES[report.verdict])
        screen.line(console, word, f"  {path}")
        if not quiet:
            _show(console, report, path, any_hidden=any_hidden)
    status = worst_status(statuses)
    if as_json:
        _print_documents(documents, status)
    return status


def _document(path: Path, report: MatchReport) -> dict[str, Any]:
    from krafla.match.render import document

    return {"file": str(path), **document(report)}


def _print_documents(documents: list[dict[str, Any]], status: ExitCode) -> None:
    text = json.dumps({"exit_status": int(status), "files": documents}, indent=2)
    screen.stdout().print(text, markup=False, soft_wrap=True)


def _read(
    path: Path, hidden: tuple[str, ...] | None, only: list[str] | None, hidden_max: int | None
) -> tuple[PartialTrace, str | None]:
    """Return a trace as a partial one, and the property that it claims to break."""
    from krafla.cli.recording import any_trace_in
    from krafla.match.trace_check import excused_by
    from krafla.match.validation import narrowed
    from krafla.traces import Trace, partial

    found = any_trace_in(path)
    excused = None
    if isinstance(found, Trace):
        excused = excused_by(found)
        found = partial(found, hidden)
    elif hidden != ():
        found = replace(found, hidden=hidden)
    observations = tuple(
        replace(one, place=one.place or f"{path}:{line}")
        for line, one in enumerate(found.observations, start=2)
    )
    found = replace(found, observations=observations)
    if hidden_max is not None:
        found = replace(found, hidden_max=hidden_max)
    try:
        return (found if only is None else narrowed(found, only)), excused
    except KraflaError as error:
        raise KraflaError(error.message, f"{path}, --only") from None


def _validated(
    path: Path, trace: PartialTrace, frontier: int, excused: str | None, quiet: bool
) -> MatchReport:
    from krafla.match.validation import validate

    with screen.LiveLine(quiet=quiet) as live:
        live.show(f"{path}: loading {trace.spec}")

        def report(observations: int, states: int) -> None:
            live.show(f"{path}: {observations:,} of {len(trace):,} observations, {states:,} states")

        try:
            found = validate(trace, frontier=frontier, excused=excused, progress=report)
        except KraflaError as error:
            place = "" if error.place is None else str(error.place)
            told = (
                place
                if place.startswith(str(path))
                else ", ".join(filter(None, (str(path), place)))
            )
            raise KraflaError(error.message, told) from None
    tell(validate_entry, path, found)
    return found


def _show(console: Any, report: MatchReport, path: Path, *, any_hidden: bool) -> None:
    """Print the observation that fits no step, if there is one, and the extent of the search."""
    from krafla.cli.account_view import command, show_account, show_commands
    from krafla.match.render import text_lines
    from krafla.match.spec_source import other_text
    from krafla.report.explain.match_account import account_of_match

    account = account_of_match(report)
    if account is not None:
        show_account(console, account)
        screen.line(console, "")
    for line in text_lines(report):
        screen.line(console, f"  {line}")
    found = other_text(report.trace)
    if found is not None:
        screen.line(console, f"  {found}")
    if account is not None and not any_hidden:
        line = f"krafla validate {shlex.quote(str(path))} --any-hidden"
        show_commands(console, command(line, "whether steps that were not seen explain it"))
