"""The page of a campaign, which opens offline: its rows summed up by Spark, its findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.manifest import find_specs
from krafla.pipeline.campaign.plan import WAVE
from krafla.pipeline.campaign.result import CAMPAIGN, read_outcome
from krafla.pipeline.campaign.rows import RUNS
from krafla.pipeline.campaign.sketches import states_curve
from krafla.report.explain.meaning import Meanings
from krafla.report.page import render
from krafla.verdict import Verdict
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

    from krafla.pipeline.campaign.result import CampaignResult
    from krafla.pipeline.store import Store

__all__ = ["campaign_page", "how_shrunk"]

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


def campaign_page(store: Store, folder: Path | None, load: str | None = None) -> str:
    """Return the page of a finished campaign; ``KraflaError`` if the store holds none.

    ``folder`` is where the files of its findings are, if they have been saved.
    """
    outcome = read_outcome(store, load)
    data = _data(outcome, store, folder)
    return render("pipeline.html", data=data, **data.pop("head"))


def _data(outcome: CampaignResult, store: Store, folder: Path | None) -> dict[str, Any]:
    name = printable(store.uri.rpartition("/")[2])
    tallies = {name: list(counts.items()) for name, counts in outcome.tallies.items()}
    actions = sorted(tallies["actions"], key=lambda one: (-one[1], one[0]))
    findings = [_finding(one, folder, outcome.system) for one in outcome.findings]
    sections = ["findings", "verdicts", "coverage", "faults", "throughput", "again"]
    if not tallies["faults"]:
        sections.remove("faults")
    rows = store.read(RUNS, WAVE).dropDuplicates(["seed"])
    return {
        "head": {"title": _title(outcome, findings)},
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
        "states": _curve(store) if outcome.counts.get("states") else [],
        "profiles": _profiles(rows),
        "workers": _workers(rows),
        "chunks": _throughput(rows),
        "findings": findings,
        "doubts": list(outcome.doubts),
        "missed": list(outcome.missed),
        "commands": [f"{outcome.reproduce} OUT"],
    }


def _title(outcome: CampaignResult, findings: Sequence[dict[str, Any]]) -> str:
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


def _curve(store: Store) -> list[list[int]]:
    """Return about how many distinct states the seeds up to each number had visited."""
    points = [[0, 0], *([last + 1, states] for last, states in states_curve(store))]
    return points[:: -(-len(points) // _POINTS_MAX)]


def _profiles(rows: DataFrame) -> list[list[Any]]:
    """Return for each profile its name, the seeds of each verdict, and the steps."""
    from pyspark.sql import functions as f

    each = rows.groupBy("profile").agg(
        *(f.count_if(f.col("verdict") == one.value).alias(one.value) for one in Verdict),
        f.sum("steps").alias("steps"),
    )
    names = ("profile", "held", "violated", "inconclusive", "steps")
    return sorted([row[name] for name in names] for row in each.collect())


def _workers(rows: DataFrame) -> list[list[Any]]:
    """Return the share of each Python process: name, seeds, steps, seconds, steps a second."""
    from pyspark.sql import functions as f

    each = rows.groupBy("worker").agg(
        f.count("*").alias("seeds"), f.sum("steps").alias("steps"),
        f.sum("milliseconds").alias("time"),
    )  # fmt: skip
    first = each.orderBy(f.desc("seeds"), "worker").limit(_ROWS_MAX).collect()
    return [
        [
            row["worker"], row["seeds"], row["steps"], round(row["time"] / 1000),
            round(1000 * row["steps"] / row["time"]) if row["time"] else 0,
        ]
        for row in first
    ]  # fmt: skip


def _throughput(rows: DataFrame) -> list[list[int]]:
    """Return for groups of seeds the first and the steps taken in a second of its process."""
    from pyspark.sql import functions as f

    ends = rows.agg(f.min("seed").alias("first"), f.max("seed").alias("last")).collect()[0]
    width = -(-(ends["last"] - ends["first"] + 1) // _POINTS_MAX)
    group = f.floor((f.col("seed") - ends["first"]) / width).alias("part")
    each = rows.groupBy(group).agg(
        f.min("seed").alias("seed"), f.sum("steps").alias("steps"),
        f.sum("milliseconds").alias("time"),
    )  # fmt: skip
    return sorted(
        [row["seed"], round(1000 * row["steps"] / row["time"]) if row["time"] else 0]
        for row in each.collect()
    )


def _finding(finding: dict[str, Any], folder: Path | None, system: str) -> dict[str, Any]:
    saved = () if folder is None else finding["saved"]
    return {
        "kind": " ".join(filter(None, finding["kind"])),
        "meaning": _meaning(system, finding["kind"][1]) if finding["kind"][0] == "property" else "",
        "seeds": finding["seeds"],
        "seed": finding["number"],
        "profile": finding["profile"],
        "steps": finding["steps"],
        "shrunk": how_shrunk(finding),
        "detail": finding["detail"],
        "commands": [f"krafla replay {printable(str(folder and folder / name))}" for name in saved],
    }


def how_shrunk(finding: dict[str, Any]) -> str:
    """Return in words how small a finding of a campaign was made."""
    if finding["smallest"] is None:
        return "not shrunk"
    return f"shrunk from {finding['size']} {finding['unit']} to {finding['smallest']}"
