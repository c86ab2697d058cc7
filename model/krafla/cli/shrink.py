"""``krafla shrink``: a trace or a recording made as small as can be, showing the same."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.cli.options import Quiet  # noqa: TC001 - typer reads the annotations
from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.fuzz.engine.choice_system import ChoiceSystem
    from krafla.fuzz.engine.runs import Run
    from krafla.shrink import Shrunk
    from krafla.traces import Claim, Trace

__all__ = ["command"]


def command(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="A trace (.ndjson), or a run of choices (.json).")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where the shrunk trace goes."),
    ] = None,
    tries: Annotated[int, typer.Option(min=1, help="Try at most this many candidates.")] = 4_000,
    quiet: Quiet = False,
) -> ExitCode:
    r"""Shrink a trace: fewer steps, then smaller data, then fewer faults.

    A candidate counts only if it is a behaviour of the side the trace came from, and the same
    conjunct of the same property is false in it. So a counterexample of a spec is played on that
    spec (set KRAFLA_SPECS if it was an edited copy), and a run of the simulator on the
    implementation, judged by the spec. Minimal means that no one step, and no two, can be left
    out. The trace is written beside the old one, unless --output says where.

    Exit status: 0 if the result is minimal; 2 if the file does not show what it claims; 3 if
    the tries ran out before, or the file was cut short.

    \b
    Examples:
      krafla shrink found/krafla-lease-7-31-FenceStaleBroker.ndjson
      krafla shrink counterexample.ndjson --output small.ndjson
    """
    from krafla.cli import screen
    from krafla.files import check_writable
    from krafla.shrink import Size
    from krafla.traces import write

    console = screen.stdout()
    target = output or path.with_name(f"{path.name.split('.')[0]}.shrunk.ndjson")
    if target.resolve() == path.resolve():
        raise KraflaError("would be overwritten: give another file as --output", str(path))
    check_writable(target)
    with screen.LiveLine(quiet=quiet) as live:
        live.show("loading the spec")
        before, shrunk = _shrunk(path, tries, live.show)
    after = shrunk.result
    write(after, target)
    screen.line(console, f"  before     {Size.of(before)}")
    screen.line(console, f"  after      {Size.of(after)}")
    screen.line(console, f"  shows      {_shown(after.claim)}")
    if shrunk.is_minimal:
        screen.line(console, ("MINIMAL", "bold green"), f"  after {shrunk.tries:,} candidates: "
                    "no one step and no two can be left out")  # fmt: skip
    else:
        screen.line(console, ("NOT MINIMAL", "bold yellow"),
                    f"  {shrunk.tries:,} candidates were tried: give more --tries")  # fmt: skip
    screen.line(console, f"  saved      {target}")
    screen.line(console, f"  look       krafla explain {target}")
    return ExitCode.HELD if shrunk.is_minimal else ExitCode.INCONCLUSIVE


def _shrunk(path: Path, tries: int, show: Callable[[str], None]) -> tuple[Trace, Shrunk[Trace]]:
    """Return the trace as it was, and the smallest one found."""
    if path.suffix == ".json":
        from krafla.fuzz.engine.choice_system import play_file
        from krafla.fuzz.engine.run_file import header_of, read_bytes, system_of, with_bug

        data, place = read_bytes(path), str(path)
        with with_bug(system_of(data, place), header_of(data, place), place):
            return _of_run(*play_file(path), path, tries, show)
    from krafla.traces import ClaimKind, read

    trace = read(path)
    made_by = trace.origin.made_by if trace.origin else None
    if made_by == "simulator" and trace.origin is not None and trace.origin.plan is not None:
        from krafla.fuzz.engine.choice_system import play_plan

        return _of_run(*play_plan(trace, str(path)), path, tries, show)
    if trace.claim is not None and trace.claim.kind in {ClaimKind.DIVERGENCE, ClaimKind.FAILURE}:
        raise KraflaError("lacks the choices of the run that it came from", str(path))
    from krafla.shrink import shrink_behaviour

    _same_spec(trace, path)
    try:
        return trace, shrink_behaviour(trace, show, tries)
    except KraflaError as error:
        raise KraflaError(error.message, error.place or str(path)) from error


def _of_run(
    system: ChoiceSystem, run: Run, path: Path, tries: int, show: Callable[[str], None]
) -> tuple[Trace, Shrunk[Trace]]:
    from krafla.fuzz.engine.choice_shrink import shrink
    from krafla.shrink import Shrunk

    if run.finding is None:
        raise KraflaError(
            "the implementation agrees with the spec on this run: there is nothing to shrink",
            str(path),
        )
    shrunk = shrink(system, run, lambda steps: show(f"{steps:,} steps"), tries)
    smallest = system.trace(shrunk.result)
    return system.trace(run), Shrunk(smallest, shrunk.is_minimal, shrunk.tries)


def _same_spec(trace: Trace, path: Path) -> None:
    """Refuse a trace that another text of the spec was the judge of: it may mean nothing here."""
    from krafla.match.validation import digest_of

    expected = trace.origin.digest if trace.origin else None
    if expected is not None and expected != digest_of(trace):
        raise KraflaError(
            f"was made with another text of {trace.spec}; set KRAFLA_SPECS to the folder of specs "
            "it came from",
            str(path),
        )


def _shown(claim: Claim | None) -> str:
    if claim is None:
        return "nothing"
    where = "" if claim.conjunct is None else f", false at {claim.conjunct.place}"
    return f"{claim}{where}"
