"""The tasks of an audit: the audit's own code, on files that are laid out for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from krafla.audit.cluster_audit import audit_cluster
from krafla.audit.clusters import find_logs
from krafla.audit.inventory import take_inventory
from krafla.audit.server_log_audit import judged_with
from krafla.audit.server_logs.files import find_server_logs
from krafla.audit.specs import LoadingSpec
from krafla.pipeline.asking import answer_row
from krafla.pipeline.carry import packed, place_below, unpacked
from krafla.pipeline.layout import bench, grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

    from krafla.audit.cluster_audit import ClusterAudit

__all__ = ["judge_clusters", "read_server_logs", "take_inventories"]

_loading: LoadingSpec | None = None


def take_inventories(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answer each question, about the folder of a log, with its ``Inventory``."""
    for slot, rows in grouped(batches, "slot"):
        with bench() as own:
            place_below(own.root, next(rows)["path"]).mkdir(parents=True, exist_ok=True)
            for row in rows:
                own.lay(row)
            (log,) = find_logs([own.root])[0]
            yield answer_row(slot, packed(take_inventory(log), own.root))


def read_server_logs(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answer each question, about a folder, with its ``NodeLogs`` and findings about its files."""
    for slot, rows in grouped(batches, "slot"):
        with bench() as own:
            folder = place_below(own.root, next(rows)["path"])
            for row in rows:
                own.lay(row)
            yield answer_row(slot, packed(find_server_logs([folder]), own.root))


def judge_clusters(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answer each question, a cluster, with its ``ClusterAudit``.

    The value is a cluster with its server logs and the options for them, or None twice. The specs
    stay loaded for the next task of this process.
    """
    global _loading
    for slot, rows in grouped(batches, "slot"):
        if _loading is None:
            _loading = LoadingSpec(brief=True)
        with bench() as own:
            question = next(rows)["content"]
            for row in rows:
                own.lay(row)
            cluster, logs, options = unpacked(question, own.root)
            for member in cluster.members:
                member.path.mkdir(parents=True, exist_ok=True)
            _loading.get()
            audited = audit_cluster(cluster, _loading)
            if options is not None:
                audited = _without_states(judged_with(cluster, audited, logs, options))
            yield answer_row(slot, packed(audited, own.root))


def _without_states(audited: ClusterAudit) -> ClusterAudit:
    """Return an audit without the behaviour that was found, whose states are of this JVM."""
    judged = audited.result.server_logs
    if judged is None:
        return audited
    return replace(audited, result=replace(audited.result, server_logs=replace(judged, taken=None)))
