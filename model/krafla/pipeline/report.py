"""The report on the logs of a store, or on a campaign, as one page that opens offline."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.manifest import find_specs
from krafla.pipeline import sketch
from krafla.pipeline.campaign import CAMPAIGN, read_outcome, read_results
from krafla.pipeline.folders import write_whole
from krafla.pipeline.ingest import INGEST
from krafla.pipeline.listing import is_local
from krafla.pipeline.report_logs import logs_report
from krafla.pipeline.session import told
from krafla.report.explain.meaning import Meanings
from krafla.report.page import render
from krafla.verdict import KraflaError
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.pipeline.campaign import CampaignResult
    from krafla.pipeline.chunks import ChunkResults, SeedRow
    from krafla.pipeline.session import Session
    from krafla.pipeline.store import Store

__all__ = ["PAGE", "how_shrunk", "write_report"]

PAGE: Final = "report.html"
_POINTS_MAX: Final = 200
_ROWS_MAX: Final = 1_000
# The counts whose names are too short to be read alone.
_LABELS: Final = {
    "states": "distinct states, about",
    "judged": "judged by the spec",
    "unpromised": "steps that promise less",
    "simulated_seconds": "simulated seconds",
    "acknowledged": "values acknowledged",
}
# The rooms of specs that name the properties of a system, if it has none of its own name.
_ROOMS: Final = {"stack": ("metadata", "raft", "lease")}


def write_report(session: Session, store: Store, page: Path | None = None) -> Path:
    """Write the page of a store and return its path: ``report.html`` in a store that is a folder.

    ``KraflaError`` if the store holds nothing, or if it is no folder and no page is named.
    """
    if page is None:
        if not is_local(store.uri):
            raise KraflaError("name the page, which is a file here: --page FILE", store.uri)
        page = Path(store.uri) / PAGE
    name = printable(store.uri.rpartition("/")[2])
    with told(session.log):
        if not store.commits(INGEST):
            raise KraflaError("nothing was ingested here", store.uri)
        session.phase("adding up")
        data = logs_report(store, name)
    write_whole(page, render("pipeline.html", data=data, **data.pop("head")).encode())
    return page


def _campaign(out: Path, name: str) -> dict[str, Any]:
    outcome, results = read_outcome(out), read_results(out)
    rows = [row for one in results for row in one.rows]
    tallies = {name: list(counts.items()) for name, counts in outcome.tallies.items()}
    actions = sorted(tallies["actions"], key=lambda one: (-one[1], one[0]))
    findings = [_finding(one, out, outcome.system) for one in outcome.findings]
    sections = ["findings", "verdicts", "coverage", "faults", "throughput", "again"]
    if not tallies["faults"]:
        sections.remove("faults")
    return {
        "head": {"title": _title_of_campaign(outcome, findings)},
        "kind": CAMPAIGN,
        "verdict": outcome.verdict.value,
        "subject": f"the campaign {name} of {outcome.system}",
        "sections": [(one, one.capitalize()) for one in sections],
        "labels": _LABELS,
        "counts": outcome.counts,
        "summary": outcome.summary,
        "digest": outcome.digest,
        **tallies,
        "actions": actions,
        "states": _curve(results) if outcome.counts.get("states") else [],
        "profiles": _profiles(rows),
        "workers": _workers(rows),
        "chunks": _throughput(results),
        "findings": findings,
        "doubts": list(outcome.doubts),
        "missed": list(outcome.missed),
        "commands": [f"{outcome.reproduce} OUT"],
    }


def _title_of_campaign(outcome: CampaignResult, findings: Sequence[dict[str, Any]]) -> str:
    """Return what went wrong: the violated property's sentence, if it has one."""
    if findings:
        more = f" and {len(findings) - 1} more" if len(findings) > 1 else ""
        return f"Violated: {findings[0]['meaning'] or findings[0]['kind']}{more}"
    if outcome.doubts:
        return f"Inconclusive: {outcome.doubts[0]}"
    return f"Nothing found in a campaign of {outcome.system}"


def _meaning(system: str, name: str) -> str:
    """Return the sentence above a property in the rooms of a system; empty if there is none."""
    for room in _ROOMS.get(system, (system,)):
        module = min((find_specs() / room).glob("*.tla"), default=None)
        found = "" if module is None else Meanings(module.stem).of(name)
        if found:
            return found
    return ""


def _curve(results: Sequence[ChunkResults]) -> list[list[int]]:
    """Return about how many distinct states the seeds up to each number had visited."""
    stride = -(-len(results) // _POINTS_MAX)
    seen, points, seeds = bytes(sketch.empty()), [[0, 0]], 0
    for start in range(0, len(results), stride):
        group = results[start : start + stride]
        seen = reduce(sketch.merged, (one.states for one in group), seen)
        seeds += sum(len(one.rows) for one in group)
        points.append([seeds, sketch.estimate(seen)])
    return points


def _profiles(rows: Sequence[SeedRow]) -> list[list[Any]]:
    """Return for each profile its name, the seeds of each verdict, and the steps."""
    known: dict[str, dict[str, Any]] = {}
    for row in rows:
        counts = known.setdefault(
            row.profile,
            {"profile": row.profile, "held": 0, "violated": 0, "inconclusive": 0, "steps": 0},
        )
        counts[row.verdict] += 1
        counts["steps"] += row.steps
    return [list(known[name].values()) for name in sorted(known)]


def _workers(rows: Sequence[SeedRow]) -> list[list[Any]]:
    """Return the share of each Python process: name, seeds, steps, seconds, steps a second."""
    known: dict[str, dict[str, Any]] = {}
    for row in rows:
        one = known.setdefault(
            row.worker, {"worker": row.worker, "seeds": 0, "steps": 0, "seconds": 0.0}
        )
        one["seeds"] += 1
        one["steps"] += row.steps
        one["seconds"] += row.milliseconds / 1000
    ordered = sorted(known.values(), key=lambda one: (-one["seeds"], one["worker"]))[:_ROWS_MAX]
    return [
        [
            one["worker"], one["seeds"], one["steps"], round(one["seconds"]),
            round(one["steps"] / one["seconds"]) if one["seconds"] else 0,
        ]
        for one in ordered
    ]  # fmt: skip


def _throughput(results: Sequence[ChunkResults]) -> list[list[int]]:
    """Return for each chunk its first seed and the steps taken in a second of its process."""
    stride = -(-len(results) // _POINTS_MAX)
    points = []
    for start in range(0, len(results), stride):
        rows = [row for one in results[start : start + stride] for row in one.rows]
        seconds = sum(row.milliseconds for row in rows) / 1000
        steps = sum(row.steps for row in rows)
        points.append([rows[0].seed, round(steps / seconds) if seconds else 0])
    return points


def _finding(finding: dict[str, Any], out: Path, system: str) -> dict[str, Any]:
    saved = [printable(str(out / "found" / name)) for name in finding["saved"]]
    return {
        "kind": " ".join(filter(None, finding["kind"])),
        "meaning": _meaning(system, finding["kind"][1]) if finding["kind"][0] == "property" else "",
        "seeds": finding["seeds"],
        "seed": finding["number"],
        "profile": finding["profile"],
        "steps": finding["steps"],
        "shrunk": how_shrunk(finding),
        "detail": finding["detail"],
        "commands": [f"krafla replay {path}" for path in saved],
    }


def how_shrunk(finding: dict[str, Any]) -> str:
    """Return in words how small a finding of a campaign was made."""
    if finding["smallest"] is None:
        return "not shrunk"
    return f"shrunk from {finding['size']} {finding['unit']} to {finding['smallest']}"
