"""``krafla explain``: a trace, node by node, and the fault at its end."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.cli.options import SpecPath, use_spec
from krafla.files import write_text
from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from rich.console import Console

    from krafla.report.explain.view import TraceView

__all__ = ["command"]

_RANGE = re.compile(r"(?P<first>\d{1,9})?(?P<dash>-)?(?P<last>\d{1,9})?")


def command(
    trace: Annotated[Path, typer.Argument(metavar="FILE", help="A trace, or a run.")],
    steps: Annotated[
        str | None, typer.Option(metavar="RANGE", help="Only these steps: 7, 3-9, 12-, 3-5,9.")
    ] = None,
    node: Annotated[
        list[str] | None,
        typer.Option("--node", metavar="NAME", help="Only these columns; may be repeated."),
    ] = None,
    whole: Annotated[bool, typer.Option("--all", help="The whole state after each step.")] = False,
    markdown: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write Markdown for an issue; - is stdout.")
    ] = None,
    html: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write one offline page; - is stdout.")
    ] = None,
    asks: Annotated[
        bool,
        typer.Option("--ask/--no-ask", help="Ask the spec what is false, or only read the file."),
    ] = True,
    spec: SpecPath = None,
) -> ExitCode:
    r"""Show a trace: the false formula at its end, and the changes of each step, node by node.

    What is wrong comes first: the property that is violated, as its sentence, and the false
    conjunct with the values of its parts; for a trace that the spec does not have, the step at
    which it diverges, the state that the spec expects there, and the one in the trace. Of each
    step only changes are shown, down to the field. Step 0 is the initial state.

    Of a partial trace, of observations, the behaviour is shown that the spec has for them, with
    the hidden steps marked; or for as many of them as it has one, and why it has none for the next.

    Exit status: 0 if the trace could be shown, whatever it shows; 2 if not; 3 if the file was cut
    short: `krafla convert --salvage` saves its whole steps.

    \b
    Examples:
      krafla explain traces/rejected/lease/session-not-renewed.ndjson
      krafla explain found.ndjson --steps 9- --node p1 --all
      krafla explain found.ndjson --html found.html
      krafla explain found.ndjson --markdown - > issue.md
    """
    from krafla.cli import screen
    from krafla.cli.recording import is_run_on_machines

    _refuse_overwriting(trace, markdown, html)
    use_spec(spec)
    if is_run_on_machines(trace):
        given = {"--steps": steps, "--node": node, "--markdown": markdown, "--html": html}
        return _explain_run(trace, given | {"--all": whole})
    with screen.LiveLine() as live:
        live.show("asking the spec")
        view = _view(trace, asks=asks)
    chosen = None if steps is None else _steps(steps, view)
    columns = None if not node else _columns(view, node)
    if not _documents(view, trace, markdown, html):
        _show(screen.stdout(), view, trace, chosen, columns, whole=whole)
    return ExitCode.HELD


def _view(path: Path, *, asks: bool) -> TraceView:
    """Return the view of a trace, or of what the spec has for a partial one."""
    from krafla.cli.recording import any_trace_in
    from krafla.report.explain.outcome import outcome_of
    from krafla.report.explain.view import view_of
    from krafla.traces import PartialTrace

    loaded = any_trace_in(path)
    if isinstance(loaded, PartialTrace):
        return _view_of_partial(path, asks=asks)
    if not loaded.steps:
        raise KraflaError("a trace without a single state shows nothing", str(path))
    return view_of(loaded, outcome_of(loaded, asks=asks))


def _view_of_partial(path: Path, *, asks: bool) -> TraceView:
    from krafla.cli.spec_options import SpecOptions
    from krafla.cli.validate_input import Bounds, subject
    from krafla.match import FRONTIER_DEFAULT
    from krafla.report.explain.match_account import view_of_match

    if not asks:
        raise typer.BadParameter("--no-ask: only the spec knows the steps of a partial trace")
    found = subject(path, Bounds(), SpecOptions(None, None, None))
    view = view_of_match(found.validated(FRONTIER_DEFAULT, lambda _observations, _states: None))
    if view is None:
        what = "no initial state of the spec fits its first observation"
        raise KraflaError(f"{what}: `krafla validate {_quoted(path)}` says why", str(path))
    return view


def _refuse_overwriting(trace: Path, *names: str | None) -> None:
    for name in filter(None, names):
        if name != "-" and Path(name).resolve() == trace.resolve():
            raise KraflaError("would be overwritten: give another file", str(trace))


def _explain_run(path: Path, given: dict[str, object]) -> ExitCode:
    """Play a run on machines again, and show what is found in it and the last steps to there.

    An option that is ``given`` is refused: each of them is about states, which such a run lacks.
    """
    from krafla.cli import screen
    from krafla.cli.account_view import run_commands, show_account, show_commands
    from krafla.fuzz.engine.run_file import replay_file
    from krafla.report.explain.words import inert

    for option, value in given.items():
        if value:
            raise typer.BadParameter(f"a run on machines has no states: it takes no {option}")
    with screen.LiveLine() as live:
        live.show("playing it")
        replay = replay_file(path)
    console = screen.stdout()
    screen.line(console, ("a run on machines", "bold"), f"  {inert(str(path))}")
    screen.line(console, (f"    {replay.sentence}", "dim"))
    show_account(console, replay.account)
    show_commands(console, *run_commands((path,)))
    return ExitCode.HELD


def _show(
    console: Console,
    view: TraceView,
    path: Path,
    steps: set[int] | None,
    columns: set[int] | None,
    *,
    whole: bool,
) -> None:
    """Print the outcome first, then the facts and the steps, and how to play the trace again."""
    from krafla.cli import screen
    from krafla.cli.account_view import command, show_commands
    from krafla.report.explain.terminal import LEGEND, outcome_lines, step_lines
    from krafla.report.explain.words import inert

    screen.line(console, (view.title, "bold"), f"  {inert(str(path))}")
    if view.outcome is not None:
        screen.styled(console, outcome_lines(view.outcome, console.width))
        screen.line(console, (f"    said by: {view.outcome.source}", "dim"))
    screen.line(console, "")
    for name, value in view.facts:
        screen.line(console, (f"    {name}: {value}", "dim"))
    screen.line(console, "")
    screen.line(console, (f"  the steps ({LEGEND})", "bold"))
    lines = step_lines(view, console.width, steps=steps, nodes=columns, whole=whole)
    screen.styled(console, lines)
    file = _quoted(path)
    show_commands(
        console,
        command(f"krafla explain {file} --html FILE", "the same as a page to step through"),
        command(f"krafla {view.judged_by} {file}", "the same steps, judged by the spec again"),
    )


def _documents(view: TraceView, path: Path, markdown: str | None, html: str | None) -> list[str]:
    """Write what was asked for, and return the names of the files."""
    from krafla.cli import screen

    written = []
    if markdown is not None:
        from krafla.report.explain.markdown import markdown_of

        _write(markdown, markdown_of(view, _quoted(path)))
        written.append(markdown)
    if html is not None:
        from krafla.report.explain.html import page_of

        _write(html, page_of(view, _quoted(path)))
        written.append(html)
    for name in written if "-" not in written else ():
        screen.line(screen.stdout(), f"written: {name}")
    return written


def _quoted(path: Path) -> str:
    """Return the path as a shell reads it."""
    from krafla.report.explain.words import inert

    return inert(shlex.quote(str(path)))


def _write(name: str, text: str) -> None:
    if name == "-":
        sys.stdout.write(text)
        return
    write_text(Path(name), [text])


def _steps(text: str, view: TraceView) -> set[int]:
    """Return the places of the steps with these numbers, and of what comes after without one."""
    last = view.steps[-1].counted
    chosen: set[int] = set()
    for piece in text.split(","):
        found = _RANGE.fullmatch(piece.strip())
        if found is None or not (found["first"] or found["last"]):
            raise typer.BadParameter(f"--steps takes 7, 3-9, 12- or 3-5,9; not {text!r}")
        first = int(found["first"] or 0)
        end = int(found["last"]) if found["last"] else last if found["dash"] else first
        chosen |= set(range(first, min(end, last) + 1))
    if not chosen:
        raise typer.BadParameter(f"--steps {text}: the trace has steps 0 to {last}")
    return {one.number for one in view.steps if one.counted in chosen}


def _columns(view: TraceView, names: list[str]) -> set[int]:
    known = {column.name: index for index, column in enumerate(view.columns)}
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"--node {name}: the columns are {', '.join(known)}")
    return {known[name] for name in names}
