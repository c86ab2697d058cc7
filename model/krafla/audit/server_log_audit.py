"""The server logs of an audit: each is assigned to a cluster and judged with its metadata log."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from krafla.audit.result import Finding, Weight
from krafla.audit.server_logs.files import find_server_logs
from krafla.audit.server_logs.judge import Judgement, judge
from krafla.audit.server_logs.operations import read_operations
from krafla.audit.server_logs.settings import settings_of
from krafla.audit.starts import start_of
from krafla.verdict import Verdict
from kraft.errors import CorruptRecordError, UnreadableFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from krafla.audit.cluster_audit import ClusterAudit
    from krafla.audit.clusters import Cluster
    from krafla.audit.inventory import Inventory
    from krafla.audit.server_logs.files import NodeLogs
    from krafla.audit.server_logs.settings import ServerLogOptions
    from krafla.audit.starts import Start


def with_server_logs(
    paths: Sequence[Path],
    clusters: Sequence[Cluster],
    judged: Sequence[ClusterAudit],
    options: ServerLogOptions,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[list[ClusterAudit], list[Finding]]:
    """Return the audits with judged server logs, and findings about logs of no cluster.

    Server logs are not judged if a cluster has none or its metadata log is violated; a finding says
    so. Raises KraflaError if the spec cannot be loaded.
    """
    logs, findings = find_server_logs(paths, progress)
    shares, strays = shares_of(logs, clusters)
    audited = [
        judged_with(cluster, audit, share, options, progress)
        for cluster, audit, share in zip(clusters, judged, shares, strict=True)
    ]
    return audited, [*findings, *strays]


def shares_of(
    logs: Sequence[NodeLogs], clusters: Sequence[Cluster]
) -> tuple[list[list[NodeLogs]], list[Finding]]:
    """Return the server logs of each cluster, and findings about those of no cluster."""
    shares: list[list[NodeLogs]] = [[] for _ in clusters]
    findings = []
    for node in logs:
        index = _cluster_of(node, clusters)
        if index is not None:
            shares[index].append(node)
        elif node.events:
            detail = "server logs of a cluster without a metadata log here"
            findings.append(Finding(Weight.NOTE, "not judged", detail, node.folder))
    return shares, findings


def _cluster_of(node: NodeLogs, clusters: Sequence[Cluster]) -> int | None:
    """Return the index of the nearest cluster that a node's logs may belong to, None if none."""
    named = [
        index
        for index, cluster in enumerate(clusters)
        if cluster.cluster_id in node.cluster_ids or not node.cluster_ids
    ]
    near = [
        (len(os.path.commonpath([node.folder.resolve(), clusters[index].folder.resolve()])), -index)
        for index in named
    ]
    return -max(near)[1] if near else None


def judged_with(
    cluster: Cluster,
    audit: ClusterAudit,
    logs: Sequence[NodeLogs],
    options: ServerLogOptions,
    progress: Callable[[str], None] = lambda _: None,
) -> ClusterAudit:
    """Return the audit of a cluster with its server logs. Raises as `with_server_logs`."""
    if not any(node.events for node in logs):
        detail = "no server log of this cluster has a line about the lease"
        return _with_finding(
            audit, Finding(Weight.INCONCLUSIVE, "no server logs", detail, cluster.folder)
        )
    if audit.result.verdict is Verdict.VIOLATED:
        detail = "the server logs were not judged: the metadata log is violated"
        return _with_finding(audit, Finding(Weight.NOTE, "not judged", detail, cluster.folder))
    longest = _longest(cluster)
    if longest is None:
        detail = "no metadata log with a known state to join the server logs with"
        return _with_finding(
            audit, Finding(Weight.INCONCLUSIVE, "not judged", detail, cluster.folder)
        )
    member, start = longest
    settings, doubts = settings_of(
        cluster.folder,
        [*(node.folder for node in logs), *(member.path for member in cluster.members)],
        options,
    )
    try:
        log = read_operations(member.log, start.offset, start.image, start.checkpoint)
    except (CorruptRecordError, UnreadableFileError) as error:
        return _with_finding(
            audit, Finding(Weight.UNREADABLE, "unreadable", str(error), member.path)
        )
    judgement = judge(logs, log, settings, progress)
    judgement = replace(judgement, findings=(*judgement.findings, *doubts))
    return _with_judgement(audit, judgement)


def _longest(cluster: Cluster) -> tuple[Inventory, Start] | None:
    known = [(m, s) for m in cluster.members if (s := start_of(m, [])) is not None]
    return max(known, key=lambda pair: pair[0].end - pair[1].offset, default=None)


def _with_finding(audit: ClusterAudit, finding: Finding) -> ClusterAudit:
    result = replace(audit.result, findings=(*audit.result.findings, finding))
    return replace(audit, result=result)


def _with_judgement(audit: ClusterAudit, judgement: Judgement) -> ClusterAudit:
    return replace(audit, result=replace(audit.result, server_logs=judgement))
