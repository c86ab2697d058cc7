"""The audit: from paths to a report.

Every log is read once for its batches. Then the clusters are judged one by one, and their server
logs on request.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from krafla.audit.cluster_audit import audit_cluster
from krafla.audit.clusters import find_logs, group
from krafla.audit.inventory import take_inventory
from krafla.audit.report import AuditReport
from krafla.audit.specs import LoadingSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from krafla.audit.cluster_audit import ClusterAudit
    from krafla.audit.result import Finding
    from krafla.audit.server_logs.settings import ServerLogOptions


def audit(
    paths: Sequence[Path],
    progress: Callable[[str], None] = lambda _: None,
    loading: LoadingSpec | None = None,
    server_logs: ServerLogOptions | None = None,
) -> AuditReport:
    """Return the report on the metadata logs at or below `paths`.

    With `server_logs`, server logs are judged too. `progress` receives short status texts;
    `loading` are the specs, if the caller has begun to load them. Faults of the input are findings
    of the report. Raises KraflaError if there is a log, and a spec or its engine cannot be loaded.
    """
    logs, findings = find_logs(paths)
    loading = loading or LoadingSpec(needed=bool(logs))
    inventories = []
    for number, log in enumerate(logs, 1):
        progress(f"reading {number} of {len(logs)}: {log.directory}")
        inventories.append(take_inventory(log))
    clusters = group(inventories)
    judged = [audit_cluster(cluster, loading, progress) for cluster in clusters]
    if clusters:
        loading.get()
    if server_logs is not None:
        from krafla.audit.server_log_audit import with_server_logs

        judged, found = with_server_logs(paths, clusters, judged, server_logs, progress)
        findings += found
    return replace(report_of(paths, judged, findings), server_log_options=server_logs)


def report_of(
    paths: Sequence[Path], judged: Sequence[ClusterAudit], findings: Sequence[Finding]
) -> AuditReport:
    """Return the report on judged clusters, with the findings about the paths."""
    return AuditReport(
        tuple(paths),
        tuple(one.result for one in judged),
        tuple(findings),
        sum(one.histories for one in judged),
        sum(one.steps for one in judged),
    )
