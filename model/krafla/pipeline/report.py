"""The report on an ingest and its audit, as one page that opens offline."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from krafla.pipeline.audit import read_audit
from krafla.pipeline.folders import opened, write_whole
from krafla.pipeline.ingest import INGEST, read_summary
from krafla.report.page import render
from krafla.verdict import Verdict
from kraft.errors import printable

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["PAGE", "write_report"]

PAGE: Final = "report.html"
_ROWS_MAX: Final = 1_000
_PARTS_MAX: Final = 20


def write_report(out: Path) -> Path:
    """Write the page of a finished output into it and return its path.

    ``KraflaError`` if the folder holds no finished ingest.
    """
    opened(out, INGEST)
    data = _ingest(out, printable(out.absolute().name))
    page = out / PAGE
    write_whole(page, render("pipeline.html", data=data, **data.pop("head")).encode())
    return page


def _ingest(out: Path, name: str) -> dict[str, Any]:
    facts, done, audit = opened(out, INGEST).facts, read_summary(out), read_audit(out)
    clusters = None if audit is None else _audit(audit)
    slowest = sorted(enumerate(facts["milliseconds"]), key=lambda one: (-one[1], one[0]))
    return {
        "head": {"title": _title_of_ingest(name, clusters, len(done.quarantined))},
        "kind": INGEST,
        "verdict": done.verdict.value,
        "subject": f"the ingest of {', '.join(facts['roots'])}",
        "sections": [
            (one, one.capitalize()) for one in ("quarantine", "audit", "files", "records")
        ],
        "labels": {},
        "counts": {
            "files": done.files,
            "read": done.good,
            "quarantined": len(done.quarantined),
            "bytes": done.bytes,
            **done.rows,
        },
        "types": _types(out),
        "kinds": _kinds(out),
        "left_out": list(facts["left_out"].items()),
        "parts": [(f"part {i}", max(1, took)) for i, took in slowest[:_PARTS_MAX]],
        "quarantine": [list(one) for one in done.quarantined[:_ROWS_MAX]],
        "audit": clusters,
        "commands": [f"krafla pipeline audit {printable(str(out))}"],
    }


def _title_of_ingest(name: str, audit: dict[str, Any] | None, quarantined: int) -> str:
    """Return what went wrong, else what was done."""
    for cluster in () if audit is None else audit["clusters"]:
        if cluster["verdict"] == Verdict.VIOLATED.value and cluster["findings"]:
            return f"Violated: {cluster['findings'][0]}"
    if quarantined:
        return f"{quarantined:,} unreadable file{'' if quarantined == 1 else 's'} in {name}"
    return f"{name}: every file was read"


def _types(out: Path) -> list[list[Any]]:
    """Return the number of records of each type, the most frequent first."""
    import pyarrow.dataset as ds  # type: ignore[import-untyped]  # pyarrow ships no types

    counts: Counter[str] = Counter()
    for part in sorted((out / "records").glob("part-*.parquet")):
        for rows in ds.dataset(part).to_batches(columns=["type"]):
            for one in rows.column("type").value_counts().to_pylist():
                counts[one["values"]] += one["counts"]
    return [[name, count] for name, count in sorted(counts.items(), key=lambda i: (-i[1], i[0]))]


def _kinds(out: Path) -> list[list[Any]]:
    """Return for each kind of file its name, how many were read, quarantined, and their bytes."""
    import pyarrow.parquet as pq  # type: ignore[import-untyped]  # pyarrow ships no types

    kinds: dict[str, dict[str, Any]] = {}
    for row in pq.read_table(out / "files", partitioning=None).to_pylist():
        known = kinds.setdefault(
            row["kind"], {"kind": row["kind"], "good": 0, "quarantined": 0, "bytes": 0}
        )
        known[row["status"]] += 1
        known["bytes"] += row["bytes"]
    return [list(kinds[name].values()) for name in sorted(kinds)]


def _audit(report: dict[str, Any]) -> dict[str, Any]:
    clusters = [
        {
            "folder": cluster["folder"],
            "id": cluster["cluster_id"] or "unknown",
            "verdict": cluster["verdict"],
            "directories": len(cluster["directories"]),
            "records": sum(one["records"] for one in cluster["directories"]),
            "findings": [
                f"{one['weight']}: {one['kind']}: {one['detail']}"
                for one in [
                    *cluster["findings"],
                    *(f for d in cluster["directories"] for f in d["findings"]),
                ]
            ][:_ROWS_MAX],
        }
        for cluster in report["clusters"]
    ]
    return {"verdict": report["verdict"], "counts": report["counts"], "clusters": clusters}
