"""The report on the logs of a store: what was read, what is in quarantine, what the audit says.

Spark adds up; only sums, and the first rows of a list, come to this process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.pipeline.audit_tables import latest_audit
from krafla.pipeline.faults import sentence
from krafla.pipeline.ingest import current_files
from krafla.pipeline.load import GOOD, INGEST, QUARANTINED
from krafla.pipeline.tables import QUARANTINE, RECORDS
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from krafla.pipeline.store import Store

__all__ = ["logs_report"]

_ROWS_MAX: Final = 1_000
_SLOWEST: Final = 20


def logs_report(store: Store, name: str) -> dict[str, Any]:
    """Return what the page of a store shows, as its template takes it."""
    files = current_files(store)
    kinds = _kinds(store)
    audit = latest_audit(store)
    clusters = None if audit is None else _audit(audit)
    sums = {
        "files": sum(row[1] + row[2] for row in kinds),
        "read": sum(row[1] for row in kinds),
        "quarantined": sum(row[2] for row in kinds),
        "bytes": sum(row[3] for row in kinds),
    }
    rows = files.selectExpr("sum(batches) batches", "sum(records) records", "sum(events) events")
    sums |= {key: value or 0 for key, value in rows.collect()[0].asDict().items()}
    commits = store.commits(INGEST)
    left_out = {k: v for one in commits for k, v in one.facts["left_out"].items()}
    roots = sorted({root for one in commits for root in one.facts["roots"]})
    verdict = Verdict.INCONCLUSIVE if sums["quarantined"] else Verdict.HELD
    return {
        "head": {"title": _title(name, clusters, sums["quarantined"])},
        "kind": INGEST,
        "verdict": verdict.value,
        "subject": f"the ingest of {', '.join(roots)}",
        "sections": [
            (one, one.capitalize()) for one in ("quarantine", "audit", "files", "records")
        ],
        "labels": {},
        "counts": sums,
        "types": _types(store),
        "kinds": kinds,
        "left_out": sorted(left_out.items()),
        "parts": _slowest(store),
        "quarantine": _quarantine(store),
        "audit": clusters,
        "commands": [f"krafla pipeline audit {store.uri}"],
    }


def _title(name: str, audit: dict[str, Any] | None, quarantined: int) -> str:
    """Return what went wrong, else what was done."""
    for cluster in () if audit is None else audit["clusters"]:
        if cluster["verdict"] == Verdict.VIOLATED.value and cluster["findings"]:
            return f"Violated: {cluster['findings'][0]}"
    if quarantined:
        return f"{quarantined:,} unreadable file{'' if quarantined == 1 else 's'} in {name}"
    return f"{name}: every file was read"


def _kinds(store: Store) -> list[list[Any]]:
    """Return for each kind of file its name, how many were read, quarantined, and their bytes."""
    sums = (
        current_files(store)
        .groupBy("kind")
        .agg(
            *(
                _expression(text)
                for text in (
                    f"count_if(status = '{GOOD}') good",
                    f"count_if(status = '{QUARANTINED}') bad",
                    "sum(bytes) bytes",
                )
            )
        )
    )
    return [[*row] for row in sums.orderBy("kind").collect()]


def _expression(text: str) -> Any:
    from pyspark.sql.functions import expr

    aggregate, _, name = text.rpartition(" ")
    return expr(aggregate).alias(name)


def _types(store: Store) -> list[list[Any]]:
    """Return the number of records of each type, the most frequent first."""
    counts = store.read(RECORDS, INGEST).groupBy("type").count()
    return [[*row] for row in counts.orderBy("count", "type", ascending=[False, True]).collect()]


def _slowest(store: Store) -> list[tuple[str, int]]:
    files = current_files(store).where("milliseconds > 0").select("path", "milliseconds")
    rows = files.orderBy("milliseconds", "path", ascending=[False, True]).limit(_SLOWEST)
    return [("/".join(row["path"].split("/")[-3:]), row["milliseconds"]) for row in rows.collect()]


def _quarantine(store: Store) -> list[list[str]]:
    bad = current_files(store).where(f"status = '{QUARANTINED}'").select("path", "load")
    rows = store.read(QUARANTINE, INGEST).join(bad, ["path", "load"]).orderBy("path")
    return [
        [row["path"], sentence(row["reason"], row["place"])]
        for row in rows.limit(_ROWS_MAX).collect()
    ]


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
