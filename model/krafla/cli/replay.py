"""``krafla replay``: a trace on the spec or on the implementation; a recording on both at once."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.verdict import ExitCode, Verdict, worst

if TYPE_CHECKING:
    from krafla.fuzz.play import Run

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
    r"""Replay what was found: on the spec, on the implementation, or on both in lockstep.

    A trace is replayed on its spec, step by step: each must be a step of the named action and
    keep every property. With --impl, the implementation is made to take the same steps, and the
    spec judges what it does. A recording (what krafla fuzz --save writes as .json) always runs on
    the implementation, judged. A folder with an index.toml is a corpus: each of its traces must
    come to what the index says.

    Exit status: 0 if everything agreed; 1 if a step was denied or a property broken; 3 if the
    implementation could not take the steps of a trace, rightly.

    \b
    Examples:
      krafla replay traces
      krafla replay found/kafka-4-1-7-FenceStaleBroker.json
      krafla replay traces/accepted/lease/late-copy-amends.ndjson --impl
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
    if path.is_dir():
        return _corpus(path)
    if path.suffix == ".json":
        from krafla.fuzz.recorded import play_recording

        return _judged(play_recording(path), quiet)
    from krafla.traces import read

    trace = read(path)
    if implementation:
        from krafla.fuzz.recorded import play_trace

        run = play_trace(trace)
        verdict, lines = _judged(run, quiet)
        if run.finding is None and run.steps < len(trace) - 1:
            left_out = f"  it does not follow: {len(trace) - 1 - run.steps} steps were not possible"
            return Verdict.INCONCLUSIVE, [*lines, left_out]
        return verdict, lines
    from krafla.refinement.trace_check import check_trace

    report = check_trace(trace)
    if report.rejection is not None:
        return report.verdict, [f"  {line}" for line in str(report.rejection).splitlines()]
    return report.verdict, [] if quiet else [f"  {report.steps} steps of {trace.spec}"]


def _corpus(folder: Path) -> tuple[Verdict, list[str]]:
    from krafla.refinement.corpus import check_corpus, root_of

    corpus = check_corpus(root_of(folder), within=folder)
    return corpus.verdict, [f"  {line}" for line in (*corpus.reasons, *corpus.evidence)]


def _judged(run: Run, quiet: bool) -> tuple[Verdict, list[str]]:
    from krafla.fuzz.render import step_lines

    lines = [] if quiet else list(step_lines(run))
    if run.finding is None:
        agreed = Verdict.HELD if run.steps else Verdict.INCONCLUSIVE
        return agreed, [*lines, f"  {run.steps} steps of the implementation, each agreed to"]
    return Verdict.VIOLATED, [*lines, *(f"  {line}" for line in str(run.finding).splitlines())]
