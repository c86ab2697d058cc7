"""``krafla validate``: partial traces against the spec."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from krafla.cli import screen
from krafla.cli.ci.reports import reported, tell
from krafla.cli.ci.traces import refused_entry, validate_entry
from krafla.cli.options import Json, SpecPath  # noqa: TC001 - typer reads the annotations
from krafla.cli.spec_options import Cfg, Constants  # noqa: TC001 - as above
from krafla.cli.validate_input import Bounds, Given, Subject, logs_subject, subject
from krafla.verdict import ExitCode, KraflaError, worst_status

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.match import MatchReport

__all__ = ["command"]

_FRONTIER = 2_000
_MERGE = "--merge"

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
_Merge = Annotated[
    bool, typer.Option(_MERGE, help="The files are logs of processes of one behaviour.")
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
    cfg: Cfg = None,
    constants: Constants = None,
    merge: _Merge = False,
    as_json: Json = False,
    quiet: _Quiet = False,
) -> ExitCode:
    r"""Ask whether the spec has a behaviour that fits a trace, or the log of a program.

    A partial trace need not name every action or show every variable, and it may miss steps. Where
    no candidate can continue, krafla shows the observation that fits no step, the false conjunct
    with its values, and the longest part that has a behaviour.

    Without options a partial trace declares itself which steps may be hidden, and a whole trace
    hides none. Visible steps must keep the properties of the spec, too.

    A plain log has one JSON object a line, for each step, and names no spec: give --spec. A string
    in it that names a model value of the cfg is that model value.

    \b
    {"action": "Acquire", "parameters": ["c1"], "seen": {"holder": "c1"}, "time_ms": 17}

    All fields are optional. With --merge the files are the logs of the processes of one
    behaviour, ordered by "lamport" if every line has it, else by "time_ms".

    Exit status: 0 if there is such a behaviour; 1 if there is none within the stated bounds;
    3 if the search was cut off before, if the trace shows nothing to compare, or if all of a log
    that was cut short fits.

    \b
    Examples:
      krafla validate found/broker.ndjson
      krafla validate run.ndjson --any-hidden --max-hidden 4
      krafla validate run.ndjson --only status --only registrations
      krafla validate lock.log --spec Lock.tla --cfg Lock.cfg
      krafla validate --merge p1.log p2.log --spec Lock.tla
    """
    if any_hidden and hidden:
        raise typer.BadParameter("--any-hidden leaves nothing for --hidden to name")
    if spec is None and (merge or cfg is not None or constants is not None):
        raise typer.BadParameter("--cfg, --constants and --merge need --spec FILE.tla")
    bounds = Bounds(
        None if any_hidden else tuple(hidden or ()),
        max_hidden,
        None if only is None else tuple(only),
    )
    given = None if spec is None else Given.by(spec, cfg, constants)
    questions = _questions(paths, bounds, given, _options(spec, cfg, constants, merge))
    return _answered(questions, frontier, any_hidden, as_json=as_json, quiet=quiet)


@dataclass(frozen=True, slots=True)
class _Question:
    """Files that are validated as one, the options about their spec, and how they are read."""

    paths: list[Path]
    options: list[str]
    read: Callable[[], Subject]

    @property
    def name(self) -> str:
        return ", ".join(map(str, self.paths))

    @property
    def more_hidden(self) -> str:
        """Return the command that asks the same with any step hidden."""
        words = ["krafla", "validate", *map(str, self.paths), *self.options, "--any-hidden"]
        return shlex.join(words)


def _questions(
    paths: list[Path], bounds: Bounds, given: Given | None, options: list[str]
) -> list[_Question]:
    if given is not None and _MERGE in options:
        return [_Question(paths, options, partial(logs_subject, paths, bounds, given))]
    return [_Question([path], options, partial(subject, path, bounds, given)) for path in paths]


def _options(spec: str | None, cfg: Path | None, constants: Path | None, merge: bool) -> list[str]:
    files = {"--spec": spec, "--cfg": cfg, "--constants": constants}
    words = [_MERGE] if merge else []
    for option, path in files.items():
        words += [] if path is None else [option, str(path)]
    return words


def _answered(
    questions: list[_Question], frontier: int, any_hidden: bool, *, as_json: bool, quiet: bool
) -> ExitCode:
    console = screen.stdout()
    statuses: list[ExitCode] = []
    documents: list[dict[str, Any]] = []
    for one in questions:
        try:
            report = _validated(one, frontier, quiet or as_json)
        except KraflaError as error:
            if len(questions) == 1:
                raise
            screen.line(screen.stderr(), f"krafla: {error}")
            tell(refused_entry, one.paths[0], error)
            statuses.append(error.exit_code)
            documents.append({"file": one.name, "error": str(error)})
            continue
        statuses.append(report.verdict.exit_code)
        if as_json:
            documents.append(_document(one.name, report))
            continue
        word = (report.verdict.name, screen.VERDICT_STYLES[report.verdict])
        screen.line(console, word, f"  {one.name}")
        if not quiet:
            _show(console, report, "" if any_hidden else one.more_hidden)
    status = worst_status(statuses)
    if as_json:
        _print_documents(documents, status)
    return status


def _document(name: str, report: MatchReport) -> dict[str, Any]:
    from krafla.match.render import document

    return {"file": name, **document(report)}


def _print_documents(documents: list[dict[str, Any]], status: ExitCode) -> None:
    text = json.dumps({"exit_status": int(status), "files": documents}, indent=2)
    screen.stdout().print(text, markup=False, soft_wrap=True)


def _validated(question: _Question, frontier: int, quiet: bool) -> MatchReport:
    name = question.name
    with screen.LiveLine(quiet=quiet) as live:
        live.show(f"{name}: loading")
        found = question.read()
        total = len(found.trace)

        def observed(observations: int, states: int) -> None:
            live.show(f"{name}: {observations:,} of {total:,} observations, {states:,} states")

        try:
            report = found.validated(frontier, observed)
        except KraflaError as error:
            place = "" if error.place is None else str(error.place)
            told = place if place.startswith(name) else ", ".join(filter(None, (name, place)))
            raise KraflaError(error.message, told) from None
    tell(validate_entry, question.paths[0], report)
    return report


def _show(console: Any, report: MatchReport, more_hidden: str) -> None:
    """Print the observation that fits no step, if there is one, and the extent of the search.

    ``more_hidden`` is the command to go on with, if there is one.
    """
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
    if account is not None and more_hidden:
        show_commands(console, command(more_hidden, "whether steps that were not seen explain it"))
