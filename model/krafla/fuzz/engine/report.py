"""A campaign's report as text and as data."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from krafla.fuzz.engine.seen import TALLIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from krafla.fuzz.engine.campaign import Report
    from krafla.fuzz.engine.run_source import Kept

__all__ = ["document", "kept_lines", "text_lines"]


def text_lines(report: Report) -> Iterator[str]:
    """Yield the report line by line: coverage, the finding, the verdict, the digest."""
    seen = report.seen
    yield from seen.lines()
    if report.failure is not None:
        yield from report.failure.lines()
    summary = seen.summary(max(report.seconds, 1e-9))
    properties = report.campaign.runs.properties
    asked = f"; {properties} properties" if properties else ""
    yield f"{report.verdict.name}  {report.examples:,} runs, {summary}{asked}"
    for doubt in report.doubts if report.failure is None else ():
        yield f"  {doubt}"
    yield f"  digest     {report.digest}"
    if report.examples:
        yield f"  reproduce  {report.reproduce}"


def kept_lines(kept: Kept, folder: Path) -> Iterator[str]:
    """Yield for each file of a failure the command that plays it."""
    for command, name in zip(kept.replay, kept.saved, strict=True):
        yield f"  replay     {command} {shlex.quote(str(folder / name))}"


def document(report: Report, saved: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the report as JSON data; ``saved`` are the files of the finding."""
    runs, seen, failure = report.campaign.runs, report.seen, report.failure
    tallies: dict[str, Any] = {
        name: dict(seen.counts(name)) for name in TALLIES if name != "totals"
    }
    tallies["witnesses"] = {
        name: report.first_reached.get(name) for name in seen.counts("witnesses")
    }
    return {
        "schema": 1,
        "system": runs.system,
        "verdict": report.verdict.value,
        "exit_code": int(report.exit_code),
        "seed": runs.seed,
        "runs": report.examples,
        "seconds": round(report.seconds, 3),
        **seen.totals,
        "properties": runs.properties,
        **tallies,
        "doubts": list(report.doubts) if failure is None else [],
        "digest": report.digest,
        "failure": None if failure is None else failure.document(),
        "saved": list(saved),
        "reproduce": report.reproduce,
    }
