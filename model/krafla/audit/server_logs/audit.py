"""Server logs in an audit: which logs belong to which cluster, and what they come to with it."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from krafla.audit.result import Finding, Weight
from krafla.audit.server_logs.files import find_server_logs
from krafla.audit.server_logs.judge import Judgement, judge
from krafla.audit.server_logs.lease import Settings
from krafla.audit.server_logs.operations import read_operations
from krafla.audit.server_logs.properties import DEFAULT_TIMEOUT_MS, session_timeouts
from krafla.audit.starts import start_of
from krafla.verdict import Verdict
from kraft.errors import CorruptRecordError, UnreadableFileError, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from krafla.audit.cluster_audit import ClusterAudit
    from krafla.audit.clusters import Cluster
    from krafla.audit.inventory import Inventory
    from krafla.audit.server_log_options import Wish
    from krafla.audit.server_logs.files import NodeLogs
    from krafla.audit.starts import Start


def with_server_logs(
    paths: Sequence[Path],
    clusters: Sequence[Cluster],
    judged: Sequence[ClusterAudit],
    wish: Wish,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[list[ClusterAudit], list[Finding]]:
    """Return the audits with their server logs judged, and findings about logs of no cluster.

    A cluster that has no server logs, or whose metadata log is violated, stays as it was; a
    finding says so. Raises KraflaError if the spec cannot be loaded.
    """
    logs, findings = find_server_logs(paths, progress)
    shares: list[list[NodeLogs]] = [[] for _ in clusters]
    for node in logs:
        index = _cluster_of(node, clusters)
        if index is not None:
            shares[index].append(node)
        elif node.events:
            detail = "server logs of a cluster without a metadata log here"
            findings.append(Finding(Weight.NOTE, "not judged", detail, node.folder))
    audited = [
        _judged(cluster, audit, share, wish, progress)
        for cluster, audit, share in zip(clusters, judged, shares, strict=True)
    ]
    return audited, findings


def _cluster_of(node: NodeLogs, clusters: Sequence[Cluster]) -> int | None:
    """Return the index of the cluster that a node's logs name; the nearest if there are several."""
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


def _judged(
    cluster: Cluster,
    audit: ClusterAudit,
    logs: Sequence[NodeLogs],
    wish: Wish,
    progress: Callable[[str], None],
) -> ClusterAudit:
    if not any(node.events for node in logs):
        detail = "no server log of this cluster says anything of the lease"
        return _noting(
            audit, Finding(Weight.INCONCLUSIVE, "no server logs", detail, cluster.folder)
        )
    if audit.result.verdict is Verdict.VIOLATED:
        detail = "the server logs were not judged: the metadata log is violated"
        return _noting(audit, Finding(Weight.NOTE, "not judged", detail, cluster.folder))
    longest = _longest(cluster)
    if longest is None:
        detail = "no metadata log whose state is known somewhere to join the server logs with"
        return _noting(audit, Finding(Weight.INCONCLUSIVE, "not judged", detail, cluster.folder))
    member, start = longest
    settings, doubts = _settings(cluster, logs, wish)
    try:
        log = read_operations(member.log, start.offset, start.image, start.checkpoint)
    except (CorruptRecordError, UnreadableFileError) as error:
        return _noting(audit, Finding(Weight.UNREADABLE, "unreadable", str(error), member.path))
    judgement = judge(logs, log, settings, progress)
    judgement = replace(judgement, findings=(*judgement.findings, *doubts))
    return _with(audit, judgement)


def _longest(cluster: Cluster) -> tuple[Inventory, Start] | None:
    known = [(m, s) for m in cluster.members if (s := start_of(m, [])) is not None]
    return max(known, key=lambda pair: pair[0].end - pair[1].offset, default=None)


def _settings(
    cluster: Cluster, logs: Sequence[NodeLogs], wish: Wish
) -> tuple[Settings, list[Finding]]:
    """Return how to judge a cluster; a doubt if its controllers do not agree about it."""
    if wish.session_timeout_ms is not None:
        return Settings(wish.skew_ms, wish.session_timeout_ms), []
    folders = [node.folder for node in logs] + [member.path for member in cluster.members]
    configured = session_timeouts(sorted(set(folders)))
    timeouts = sorted({one.timeout_ms for one in configured})
    if not configured:
        detail = (
            f"no server.properties says broker.session.timeout.ms: {DEFAULT_TIMEOUT_MS} is assumed"
        )
        note = Finding(Weight.NOTE, "session timeout", detail, cluster.folder)
        return Settings(wish.skew_ms, DEFAULT_TIMEOUT_MS), [note]
    if len(timeouts) == 1:
        return Settings(wish.skew_ms, timeouts[0]), []
    other = next(one for one in configured if one.timeout_ms != configured[0].timeout_ms)
    detail = (
        f"broker.session.timeout.ms is {configured[0].timeout_ms} in"
        f" {printable(str(configured[0].path))} and {other.timeout_ms} here: judged by the former"
    )
    doubt = Finding(Weight.INCONCLUSIVE, "session timeout", detail, other.path)
    return Settings(wish.skew_ms, configured[0].timeout_ms), [doubt]


def _noting(audit: ClusterAudit, finding: Finding) -> ClusterAudit:
    result = replace(audit.result, findings=(*audit.result.findings, finding))
    return replace(audit, result=result)


def _with(audit: ClusterAudit, judgement: Judgement) -> ClusterAudit:
    return replace(audit, result=replace(audit.result, server_logs=judgement))
