"""``krafla shrink``: a trace or a run made as small as can be, showing the same."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import partial
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Final

import typer

from krafla.cli.options import Quiet, SpecPath, use_spec
from krafla.cli.recording import is_run, is_run_on_machines, trace_in
from krafla.testing.origins import MACHINE, SESSION
from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.fuzz.engine.system import System
    from krafla.shrink import Shrunk
    from krafla.traces import Claim, Trace

__all__ = ["command"]

_UNPLANNED: Final = "lacks the choices of the run that it came from"
# By the origin of the trace.
_UNSHRINKABLE: Final = {
    MACHINE: "was found by a machine, and Hypothesis has shrunk it",
    SESSION: (
        "was recorded by krafla judge, and krafla cannot run your program again: shorten the "
        "schedule there (fewer calls, another seed)"
    ),
}


def command(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="A trace, or a run of Kafka's code.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where the result goes."),
    ] = None,
    tries: Annotated[int, typer.Option(min=1, help="Try at most this many candidates.")] = 4_000,
    spec: SpecPath = None,
    quiet: Quiet = False,
) -> ExitCode:
    r"""Shrink a trace: fewer steps, then smaller data, then fewer faults.

    A candidate counts only if it is a behaviour of the side the trace came from, and the same
    conjunct of the same property is false in it. So a counterexample of a spec is played on that
    spec, and a run of the simulator on the implementation, judged by the spec. Minimal means that
    no one step, and no two, can be left out. Of a run on simulated computers (raft, stack) only
    faults are left out; each that remains is needed. The result is written beside the old file,
    unless --output says where. Hypothesis has shrunk the trace of a machine of yours already.

    Exit status: 0 if the result is minimal; 2 if the file does not show what it claims; 3 if
    the tries ran out before, or the file was cut short.

    \b
    Examples:
      krafla shrink found/krafla-lease-7-31-FenceStaleBroker.ndjson
      krafla shrink found/krafla-raft-7-3-RestartProp.json
      krafla shrink counterexample.ndjson --output small.ndjson
    """
    from krafla.cli import screen
    from krafla.files import check_writable
    from krafla.manifest import on_these_specs
    from krafla.pipes import is_pipe

    use_spec(spec)
    console = screen.stdout()
    if output is None and is_pipe(path):
        raise KraflaError("has no folder for the result: name a file with --output", str(path))
    ending = "json" if is_run_on_machines(path) else "ndjson"
    target = output or path.with_name(f"{path.name.split('.')[0]}.shrunk.{ending}")
    if target.resolve() == path.resolve():
        raise KraflaError("would be overwritten: give another file as --output", str(path))
    check_writable(target)
    with screen.LiveLine(quiet=quiet) as live:
        live.show("loading the spec")
        found = _shrunk(path, tries, live.show)
    found.write(target)
    screen.line(console, f"  before     {found.before}")
    screen.line(console, f"  after      {found.after}")
    screen.line(console, f"  shows      {found.shows}")
    if found.is_minimal:
        screen.line(console, ("MINIMAL", "bold green"), f"  after {found.tries:,} candidates: "
                    f"{found.needs_all}")  # fmt: skip
    else:
        screen.line(console, ("NOT MINIMAL", "bold yellow"),
                    f"  {found.tries:,} candidates were tried: give more --tries")  # fmt: skip
    screen.line(console, f"  saved      {target}")
    look = on_these_specs(f"krafla {found.verb} {shlex.quote(str(target))}")
    screen.line(console, f"  look       {look}")
    return ExitCode.HELD if found.is_minimal else ExitCode.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class _Result:
    """The smallest recording found, what is told of it, and how it is written to a file."""

    before: str
    after: str
    shows: str
    is_minimal: bool
    tries: int
    write: Callable[[Path], object]
    needs_all: str = "no one step and no two can be left out"
    verb: str = "explain"

    @classmethod
    def of(cls, before: Trace, shrunk: Shrunk[Trace]) -> _Result:
        """Return the result for a trace."""
        from krafla.shrink import Size
        from krafla.traces import write_trace

        after = shrunk.result
        return cls(
            str(Size.of(before)), str(Size.of(after)), _shown(after.claim),
            shrunk.is_minimal, shrunk.tries, partial(write_trace, after),
        )  # fmt: skip


def _shrunk(path: Path, tries: int, show: Callable[[str], None]) -> _Result:
    if is_run(path):
        from krafla.fuzz.engine.run_file import read_bytes, system_of

        data = read_bytes(path)
        return _of_run(system_of(data, str(path)), data, path, tries, show)
    from krafla.traces import ClaimKind

    trace = trace_in(path)
    if trace.origin is not None and trace.origin.plan is not None:
        from krafla.fuzz.engine.choice_system import planned

        return _of_run(*planned(trace, str(path)), path, tries, show)
    if trace.claim is not None and trace.claim.kind in {ClaimKind.DIVERGENCE, ClaimKind.FAILURE}:
        made_by = "" if trace.origin is None else trace.origin.made_by
        raise KraflaError(_UNSHRINKABLE.get(made_by, _UNPLANNED), str(path))
    from krafla.shrink import shrink_behaviour

    _same_spec(trace, path)
    try:
        return _Result.of(trace, shrink_behaviour(trace, show, tries))
    except KraflaError as error:
        raise KraflaError(error.message, error.place or str(path)) from error


def _of_run(
    system: System, data: bytes, path: Path, tries: int, show: Callable[[str], None]
) -> _Result:
    """Return the smallest run with the finding of a run, which is played with its seeded bug."""
    from krafla.fuzz.engine.run_file import header_of, naming_bug, with_bug, write

    place = str(path)
    header = header_of(data, place)
    with with_bug(system, header, place):
        run = system.play(system.decoded(data, place))
        if run.finding is None:
            raise KraflaError("nothing is found in this run: there is nothing to shrink", place)
        shrunk = system.shrink(run, lambda size: show(f"{size:,} {system.unit}"), tries)
        before, after = (system.trace(one) for one in (run, shrunk.result))
    if before is not None and after is not None:
        from krafla.shrink import Shrunk

        smallest = naming_bug(after, header.mutant)
        return _Result.of(before, Shrunk(smallest, shrunk.is_minimal, shrunk.tries))
    larger, smaller = (f"{one.case.size:,} {system.unit}" for one in (run, shrunk.result))
    return _Result(
        larger, smaller, run.detail, shrunk.is_minimal, shrunk.tries,
        lambda target: write(system, shrunk.result, target, header.mutant),
        "it needs each of its faults", "replay",
    )  # fmt: skip


def _same_spec(trace: Trace, path: Path) -> None:
    """Refuse a trace that another version of the spec judged: it may mean nothing here."""
    from krafla.match.spec_source import other_text

    if trace.text is None and other_text(trace) is not None:
        raise KraflaError(
            f"was made with another version of {trace.spec}, which it does not carry: set "
            "KRAFLA_SPECS to the folder of specs it came from",
            str(path),
        )


def _shown(claim: Claim | None) -> str:
    if claim is None:
        return "nothing"
    where = "" if claim.conjunct is None else f", false at {claim.conjunct.place}"
    return f"{claim}{where}"
