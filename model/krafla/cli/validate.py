"""``krafla validate``: partial traces, and logs of programs, against the spec."""

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
from krafla.cli.options import Json, SpecPath, names_in, use_spec
from krafla.cli.spec_options import Cfg, Constants, SpecOptions
from krafla.cli.validate_hints import hidden_before, shown_in_part
from krafla.cli.validate_input import Bounds, Subject, logs_subject, subject
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
    typer.Option(metavar="ACTION,...", help="Actions that may happen unseen; may be repeated."),
]
_AnyHidden = Annotated[bool, typer.Option("--any-hidden", help="Any action may happen unseen.")]
_MaxHidden = Annotated[
    int | None, typer.Option(metavar="N", help="Hidden steps followed in a row.", min=0)
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

    Without options, the header of a partial trace says which steps may be hidden, and a whole
    trace hides none. Every step must keep the properties of the spec, too.

    A plain log has one JSON object a line, for each step, and names no spec: give --spec. A string
    in it that names a model value of the cfg is that model value.

    \b
    {"action": "Acquire", "parameters": ["c1"], "seen": {"holder": "c1"}, "time_ms": 17}

    All fields are optional. "kind": "stay" says that the program took no step; "refusal", that it
    refused the action. With --merge the files are the logs of the processes of one
    behaviour, ordered by "lamport" if every line has it, else by "time_ms". Where these leave the
    order open, any order that the spec allows is accepted.

    Exit status: 0 if there is such a behaviour; 1 if there is none within the stated bounds;
    2 for bad input; 3 if the search was cut off before it found one, if the trace shows no step
    or nothing to compare a behaviour with, or if the log was cut short and all that is left of it
    fits.

    \b
    Examples:
      krafla validate found/broker.ndjson
      krafla validate run.ndjson --any-hidden --max-hidden 4
      krafla validate run.ndjson --hidden LoseMessage,Tick
      krafla validate run.ndjson --only status --only registrations
      krafla validate lock.log --spec Lock.tla --cfg Lock.cfg
      krafla validate --merge p1.log p2.log --spec Lock.tla
    """
    if any_hidden and hidden:
        raise typer.BadParameter("--any-hidden leaves nothing for --hidden to name")
    options = SpecOptions(spec, cfg, constants)
    if spec is None and options.has_constants:
        raise typer.BadParameter("--cfg and --constants need --spec FILE.tla")
    use_spec(spec)
    bounds = Bounds(
        None if any_hidden else tuple(names_in(hidden)),
        max_hidden,
        None if only is None else tuple(only),
    )
    questions = _questions(paths, bounds, options, merge=merge)
    return _answered(questions, frontier, any_hidden, as_json=as_json, quiet=quiet)


@dataclass(frozen=True, slots=True)
class _Question:
    """Files that are validated as one, how they are read, and further options about them."""

    paths: list[Path]
    read: Callable[[], Subject]
    options: list[str]

    @property
    def name(self) -> str:
        return ", ".join(map(str, self.paths))

    def more_hidden(self, report: MatchReport) -> str:
        """Return the command that asks the same with more steps hidden, or with any."""
        found = hidden_before(report)
        hidden = ["--hidden", ",".join(found)] if found else ["--any-hidden"]
        return shlex.join(["krafla", "validate", *map(str, self.paths), *self.options, *hidden])


def _questions(
    paths: list[Path], bounds: Bounds, options: SpecOptions, *, merge: bool
) -> list[_Question]:
    if merge:
        read = partial(logs_subject, paths, bounds, options)
        return [_Question(paths, read, [_MERGE, *options.words])]
    return [
        _Question([path], partial(subject, path, bounds, options), options.words) for path in paths
    ]


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
            _show(console, report, "" if any_hidden else one.more_hidden(report))
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

        def report(observations: int, states: int) -> None:
            live.show(f"{name}: {observations:,} of {total:,} observations, {states:,} states")

        try:
            answer = found.validated(frontier, report)
        except KraflaError as error:
            place = "" if error.place is None else str(error.place)
            told = place if place.startswith(name) else ", ".join(filter(None, (name, place)))
            raise KraflaError(error.message, told) from None
    tell(validate_entry, question.paths[0], answer)
    return answer


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
    if hint := shown_in_part(report):
        screen.line(console, f"  {hint}")
    for line in text_lines(report):
        screen.line(console, f"  {line}")
    found = other_text(report.trace)
    if found is not None:
        screen.line(console, f"  {found}")
    if account is not None and more_hidden:
        show_commands(console, command(more_hidden, "whether steps that were not seen explain it"))
