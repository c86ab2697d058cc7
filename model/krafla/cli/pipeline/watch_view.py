"""How ``krafla pipeline watch`` tells what it sees."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from krafla.cli import screen
from krafla.cli.pipeline.finding import finding_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.pipeline.session import Session
    from krafla.pipeline.watch.stream import Watched
    from krafla.verdict import ExitCode

__all__ = ["Told", "told_watch"]


class Told:
    """Prints each finding when it comes, on a line of its own or, with JSON, as one object."""

    def __init__(self, session: Session, *, as_json: bool) -> None:
        self._session, self._as_json = session, as_json

    def __call__(self, row: dict[str, Any], finding: dict[str, Any]) -> None:
        """Print a finding of a row."""
        if self._as_json:
            placed = {name: row[name] for name in ("cluster", "directory", "turn")}
            _print_json(placed | finding)
            return
        if sys.stderr.isatty():
            # The line of progress makes room for one that stays.
            self._session.show("")
        screen.line(screen.stdout(), finding_line(finding))


def told_watch(watched: Watched, *, as_json: bool) -> ExitCode:
    """Print where everything stands at the end of a watch, and return its exit status."""
    verdict = watched.verdict
    if as_json:
        document = {
            "schema": 1, "verdict": verdict.value, "exit_code": int(verdict.exit_code),
            "out": watched.out, "standings": list(watched.rows),
        }  # fmt: skip
        _print_json(document)
        return verdict.exit_code
    console = screen.stdout()
    for row in watched.rows:
        if row["directory"] is not None:
            screen.line(console, f"  {row['verdict']:<13}{row['directory']}: {_counts(row)}")
    records = sum(row["records"] or 0 for row in watched.rows)
    clusters = len({row["cluster"] for row in watched.rows})
    directories = sum(row["directory"] is not None for row in watched.rows)
    if not records:
        screen.line(console, "  it ended before a first batch was judged")
    counts = f"  {records:,} records judged in {directories:,} directories, {clusters:,} clusters"
    screen.line(console, (verdict.name, screen.VERDICT_STYLES[verdict]), counts)
    screen.line(console, f"  kept       {watched.out}/watch; the same command goes on from there")
    return verdict.exit_code


def _counts(row: dict[str, Any]) -> str:
    return ", ".join(_parts(row))


def _parts(row: dict[str, Any]) -> Iterator[str]:
    if row["judged_to"] is None:
        yield "not judged yet"
    else:
        yield f"judged from {row['judged_from']} to {row['judged_to']}"
    if row["stopped_at"] is not None:
        yield f"stopped at {row['stopped_at']}"
    for name in ("waiting", "unjudged"):
        if row[name]:
            yield f"{row[name]:,} batches {name}"
    if row["uncompared"]:
        yield f"{row['uncompared']:,} checkpoints not compared"


def _print_json(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()
