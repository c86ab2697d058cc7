"""A campaign's report as text and as data."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from krafla.fuzz.engine.seen import TALLIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from krafla.fuzz.engine.campaign import Report
    from krafla.fuzz.engine.runs import Kept

__all__ = ["document", "replay_lines", "text_lines"]


def text_lines(report: Report) -> Iterator[str]:
    """Yield the report line by line: coverage, the finding, the verdict, the digest."""
    yield from report.seen.lines()
    if report.failure is not None:
        yield from report.failure.lines()
    properties = len(report.campaign.runs.system.properties)
    asked = f"; {properties} properties" if properties else ""
    yield f"{report.verdict.name}  {report.progress}{asked}"
    for doubt in report.doubts if report.failure is None else ():
        yield f"  {doubt}"
    yield f"  digest     {report.digest}"
    if report.seen.runs:
        yield f"  reproduce  {report.reproduce}"


def replay_lines(kept: Kept, folder: Path) -> Iterator[str]:
    """Yield for each file of a failure the command that plays it."""
    for name in kept.saved:
        yield f"  replay     krafla replay {shlex.quote(str(folder / name))}"


def document(report: Report, kept: Kept | None = None) -> dict[str, Any]:
    """Return the report as JSON data; ``kept`` has the files of the finding."""
    runs, seen, failure = report.campaign.runs, report.seen, report.failure
    tallies: dict[str, Any] = {name: dict(seen.counts(name)) for name in TALLIES}
    del tallies["totals"]
    tallies["witnesses"] = {name: report.reached.get(name) for name in seen.counts("witnesses")}
    return {
        "schema": 1,
        "system": runs.name,
        "verdict": report.verdict.value,
        "exit_code": int(report.exit_code),
        "seed": runs.seed,
        "runs": seen.runs,
        "seconds": round(report.seconds, 3),
        **seen.totals,
        "properties": len(runs.system.properties),
        **tallies,
        "doubts": list(report.doubts) if failure is None else [],
        "digest": report.digest,
        "failure": None if failure is None else asdict(kept or failure.kept()),
        "reproduce": report.reproduce,
    }
