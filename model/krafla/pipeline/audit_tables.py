"""The audit of a store in its tables, and made whole again from them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from krafla.pipeline.tables import COVERAGE, FINDINGS, VERDICTS, spark_schema
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.pipeline.store import Commit, Store

__all__ = ["AUDIT", "keep_audit", "latest_audit", "read_audit"]

AUDIT: Final = "audit"
_OF_DIRECTORY: Final = (
    *("path", "node_id", "verdict", "batches", "records", "first_offset", "end_offset"),
    *("judged_from", "judged_to", "judged_records", "judged_on", "torn_at", "checkpoints"),
    *("images", "same_history_as"),
)


def keep_audit(store: Store, load: str, report: dict[str, Any]) -> None:
    """Write a report of ``krafla audit --json`` as tables, and commit them."""
    clusters = report["clusters"]
    rows = {
        VERDICTS: [row for number, one in enumerate(clusters) for row in _verdicts(number, one)],
        FINDINGS: [*_findings(report)],
        COVERAGE: [row for number, one in enumerate(clusters) for row in _coverage(number, one)],
    }
    for table, found in rows.items():
        if found:
            names = spark_schema(table).fieldNames()
            ordered = [tuple(row.get(name) for name in names) for row in found]
            store.write(table, load, store.spark.createDataFrame(ordered, spark_schema(table)))
    facts = {name: value for name, value in report.items() if name != "clusters"}
    store.commit(load, AUDIT, {"number": 1 + len(store.commits()), "report": facts})


def latest_audit(store: Store) -> Commit | None:
    """Return the commit of the audit that was kept last, ``None`` if there is none."""
    return max(store.commits(AUDIT), key=lambda one: int(one.facts["number"]), default=None)


def read_audit(store: Store, load: str) -> dict[str, Any]:
    """Return the report that a load has kept; ``KraflaError`` if there is none."""
    commit = next((one for one in store.commits(AUDIT) if one.load == load), None)
    if commit is None:
        raise KraflaError("there is no such audit", store.uri)
    clusters = []
    if VERDICTS in commit.tables:
        whole = store.written(VERDICTS, load).where("document IS NOT NULL").orderBy("cluster")
        clusters = [json.loads(row["document"]) for row in whole.select("document").collect()]
    report = commit.facts["report"]
    return {
        "schema": report["schema"], "verdict": report["verdict"],
        "exit_code": report["exit_code"], "paths": report["paths"], "clusters": clusters,
        "findings": report["findings"], "counts": report["counts"],
    }  # fmt: skip


def _verdicts(number: int, cluster: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the row of a cluster, which has its whole document, and those of its directories."""
    named = {"cluster": number, "cluster_id": cluster["cluster_id"], "folder": cluster["folder"]}
    yield named | {
        "verdict": cluster["verdict"], "releases": cluster["releases"],
        "document": json.dumps(cluster),
    }  # fmt: skip
    for one in cluster["directories"]:
        yield named | {name: one[name] for name in _OF_DIRECTORY}


def _findings(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for finding in report["findings"]:
        yield _finding(None, None, finding)
    for number, cluster in enumerate(report["clusters"]):
        for finding in cluster["findings"]:
            yield _finding(number, None, finding)
        for one in cluster["directories"]:
            for finding in one["findings"]:
                yield _finding(number, one["path"], finding)
        for finding in (cluster["server_logs"] or {"findings": ()})["findings"]:
            yield _finding(number, None, finding)


def _finding(cluster: int | None, directory: str | None, one: dict[str, Any]) -> dict[str, Any]:
    evidence = None if one["evidence"] is None else json.dumps(one["evidence"])
    return {**one, "cluster": cluster, "directory": directory, "evidence": evidence}


def _coverage(number: int, cluster: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield how often each invariant was asked, and each spec stepped, in a cluster."""
    named = {"cluster": number, "cluster_id": cluster["cluster_id"]}
    for name, count in cluster["asked"].items():
        yield named | {"what": "invariant asked", "name": name, "count": count}
    for name, stepped in cluster["stepped"].items():
        yield named | {"what": "steps", "name": name, "count": stepped["steps"]}
        yield named | {"what": "records judged", "name": name, "count": stepped["records"]}
        for reason, count in stepped["passed_over"].items():
            yield named | {
                "what": "records passed over", "name": name, "reason": reason, "count": count,
            }  # fmt: skip
