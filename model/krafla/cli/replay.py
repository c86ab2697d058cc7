"""``krafla replay``: a trace on the spec or on the implementation; a recording on both at once."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.verdict import ExitCode, KraflaError, Verdict, worst

if TYPE_CHECKING:
    from krafla.traces import Trace

__all__ = ["command"]


def command(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Traces (.ndjson), recordings (.json), a corpus."),
    ],
    implementation: Annotated[
        bool, typer.Option("--impl", help="Play traces on the implementation, judged by the spec.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only verdicts.")] = False,
) -> ExitCode:
    r"""Replay a trace or a run: on the spec, on the implementation, or on both in lockstep.

    A trace is replayed on its spec, step by step: each must be a step of the named action and
    keep every property but the one that the trace claims to violate, which is judged anew.
    With --impl, the implementation is made to take the same steps: after each its state is
    compared with the trace's, and the spec judges it. Where one side cannot follow, krafla shows
    the step, the false conjunct with its values, and the nearest possible action.

    A run that krafla fuzz kept (.json), of any system, runs on the implementation, judged. With
    --impl so do the choices in a trace that it kept, but of the lease, whose traces are forced. A
    folder with an index.toml is a corpus: each of its files must show what the index says.

    A trace that goes round must close: some step leads from its end back to where it repeats.

    Exit status: 0 if everything agreed; 1 if a step was denied or a property violated, as claimed
    or not; 3 if the implementation rightly did not take the steps of a trace, or a trace does
    not show the violation that it claims, shows no step at all, or its file was cut short.

    \b
    Examples:
      krafla replay traces
      krafla replay found/krafla-lease-7-31-FenceStaleBroker.json
      krafla replay traces/accepted/lease/late-copy-amends.ndjson --impl
      krafla check NoSelfFence --trace overlap.ndjson && krafla replay overlap.ndjson --impl
    """
    from krafla.cli import screen

    console = screen.stdout()
    verdicts = []
    for path in paths:
        verdict, lines = _replayed(path, implementation, quiet)
        for line in lines:
            screen.line(console, line)
        word = (verdict.name, screen.VERDICT_STYLES[verdict])
        screen.line(console, word, f"  {path}")
        verdicts.append(verdict)
    return worst(verdicts).exit_code


def _replayed(path: Path, implementation: bool, quiet: bool) -> tuple[Verdict, list[str]]:
    from krafla.cli.recording import is_run, refuse_logs, trace_in

    if path.is_dir():
        refuse_logs(path)
        return _corpus(path)
    if is_run(path):
        from krafla.fuzz.engine.run_file import replay_file

        replay = replay_file(path)
        return replay.verdict, [*(() if quiet else replay.lines), f"  {replay.sentence}"]
    trace = trace_in(path)
    try:
        return _on_implementation(trace, quiet) if implementation else _checked(trace, quiet)
    except KraflaError as error:
        where = str(path) if error.place is None else f"{path}, {error.place}"
        raise KraflaError(error.message, where) from None


def _checked(trace: Trace, quiet: bool) -> tuple[Verdict, list[str]]:
    """Return the spec's verdict on a trace and on its claim."""
    from krafla.match.claim_check import claim_shown
    from krafla.match.trace_check import check_trace, shows_no_step

    report = check_trace(trace)
    if report.rejection is not None:
        return report.verdict, [*_indented(str(report.rejection)), *_other_text(trace)]
    lines = [] if quiet else [f"  {report.steps - 1} steps of {trace.spec}", *_other_text(trace)]
    shown = claim_shown(trace)
    if shown is None:
        nothing = ["  the trace shows no step"] if shows_no_step(trace) else []
        return report.verdict, [*lines, *nothing]
    lines.append(f"  {shown.sentence}")
    if shown.explanation is not None:
        lines += _indented(str(shown.explanation))
    return Verdict.VIOLATED if shown.is_shown else Verdict.INCONCLUSIVE, lines


def _other_text(trace: Trace) -> list[str]:
    from krafla.match.spec_source import other_text

    found = other_text(trace)
    return [] if found is None else [f"  {found}"]


def _on_implementation(trace: Trace, quiet: bool) -> tuple[Verdict, list[str]]:
    """Force a trace of the lease on the implementation; play the choices of any other again."""
    from krafla.fuzz.lease.system import SYSTEM

    if trace.spec in SYSTEM.modules or trace.origin is None or trace.origin.plan is None:
        return _followed(trace, quiet)
    from krafla.fuzz.engine.choice_system import planned
    from krafla.fuzz.engine.run_file import header_of, with_bug

    place = "the choices in its header"
    system, plan = planned(trace, place)
    with with_bug(system, header_of(plan, place), place):
        run = system.play(system.decoded(plan, place))
    lines = [] if quiet else _indented(run.detail)
    ended = "nothing was found" if run.finding is None else "ended by a finding"
    verdict = Verdict.HELD if run.finding is None else Verdict.VIOLATED
    return verdict, [*lines, f"  {run.steps:,} choices of {system.name} played again, {ended}"]


def _followed(trace: Trace, quiet: bool) -> tuple[Verdict, list[str]]:
    """Return how far the implementation takes the steps of a trace."""
    from krafla.fuzz.lease.follow import follow
    from krafla.traces import step_changes
    from krafla.values import fmt

    followed = follow(trace)
    lines = []
    for index in range(1, 0 if quiet else followed.steps):
        step = trace.steps[index]
        lines.append(f"  step {index}  {step.action}({', '.join(map(fmt, step.parameters or ()))})")
        lines += [f"      {change}" for change in step_changes(trace, index)]
    for found in (followed.finding, followed.apart):
        if found is not None:
            lines += _indented(str(found))
    return followed.verdict, [*lines, *_other_text(trace), f"  {followed.sentence}"]


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]


def _corpus(folder: Path) -> tuple[Verdict, list[str]]:
    from krafla.fuzz.engine.kept_trace import check_corpus
    from krafla.match.corpus import root_of

    corpus = check_corpus(root_of(folder), within=folder)
    return corpus.verdict, [f"  {line}" for line in (*corpus.reasons, *corpus.evidence)]
