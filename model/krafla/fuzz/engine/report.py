"""A campaign's report as text and as data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krafla.files import write_bytes
from krafla.fuzz.engine.run import trace_of
from krafla.traces import step_changes, write
from krafla.values import fmt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from krafla.fuzz.engine.campaign import Failure, Report
    from krafla.fuzz.engine.run import Run

__all__ = ["document", "save", "step_lines", "text_lines"]


def text_lines(report: Report) -> Iterator[str]:
    """Yield the report line by line: what was covered, the finding, the verdict, the command."""
    coverage = report.coverage
    for name in sorted(coverage.all_actions, key=lambda name: (-coverage.actions[name], name)):
        yield f"  {coverage.actions[name]:>9,}  {name}"
    for name in coverage.all_witnesses:
        first = coverage.witnesses.get(name)
        yield f"  {'never' if first is None else f'step {first:,}':>9}  {name}"
    if report.failure is not None:
        yield from _failure_lines(report.failure)
    yield f"{report.verdict.name}  {_counts(report)}"
    for doubt in report.doubts if report.failure is None else ():
        yield f"  {doubt}"
    if report.examples:
        yield f"  reproduce  {report.reproduce}"


def _counts(report: Report) -> str:
    coverage = report.coverage
    rate = coverage.steps / report.seconds if report.seconds else 0.0
    taken = len(coverage.all_actions) - len(coverage.missed_actions)
    return (
        f"{report.examples:,} runs, {coverage.steps:,} judged steps, {rate:,.0f} steps/s, "
        f"{coverage.states:,} distinct states, actions {taken}/{len(coverage.all_actions)}, "
        f"witnesses {len(coverage.witnesses)}/{len(coverage.all_witnesses)}"
    )


def _failure_lines(failure: Failure) -> Iterator[str]:
    shrunk = failure.shrunk
    yield (
        f"run {failure.example} ({failure.profile}): found at step {failure.run.steps}, "
        f"shrunk to {shrunk.steps}"
    )
    yield from step_lines(shrunk)
    yield from (f"  {text}" for text in str(shrunk.finding).splitlines())
    yield f"  plan  {shrunk.game.to_json(shrunk.recording).decode()}"


def step_lines(run: Run) -> Iterator[str]:
    """Yield each step of a run and what it changed, and nothing else."""
    trace = trace_of(run)
    for index, step in enumerate(trace.steps[1:], start=1):
        parameters = ", ".join(map(fmt, step.parameters or ()))
        yield f"  step {index}  {step.action}({parameters})"
        yield from (f"      {change}" for change in step_changes(trace, index))


def document(report: Report) -> dict[str, Any]:
    """Return the report as JSON data."""
    coverage, failure = report.coverage, report.failure
    return {
        "schema": 1,
        "verdict": report.verdict.value,
        "exit_code": int(report.exit_code),
        "seed": report.campaign.seed,
        "runs": report.examples,
        "steps": coverage.steps,
        "refused": coverage.steps - coverage.actions.total(),
        "seconds": round(report.seconds, 3),
        "states": coverage.states,
        "actions": {name: coverage.actions[name] for name in coverage.all_actions},
        "witnesses": {name: coverage.witnesses.get(name) for name in coverage.all_witnesses},
        "doubts": [] if failure is not None else list(report.doubts),
        "failure": None if failure is None else _failure_document(failure),
        "reproduce": report.reproduce,
    }


def _failure_document(failure: Failure) -> dict[str, Any]:
    shrunk = failure.shrunk
    return {
        "run": failure.example,
        "profile": failure.profile,
        "steps": failure.run.steps,
        "shrunk_steps": shrunk.steps,
        "finding": str(shrunk.finding),
        "recording": json.loads(shrunk.game.to_json(shrunk.recording)),
    }


def save(failure: Failure, folder: Path) -> tuple[Path, Path]:
    """Write the shrunk run into a folder, as a trace and as a recording; return both paths."""
    folder.mkdir(parents=True, exist_ok=True)
    shrunk = failure.shrunk
    assert shrunk.finding is not None
    name = f"{failure.profile}-{failure.example}-{shrunk.finding.kind[1]}"
    stem = "".join(letter if letter.isalnum() else "-" for letter in name)[:80]
    trace, recording = folder / f"{stem}.ndjson", folder / f"{stem}.json"
    write(trace_of(shrunk, profile=failure.profile, seed=failure.seed), trace)
    write_bytes(recording, [shrunk.game.to_json(shrunk.recording)])
    return trace, recording
