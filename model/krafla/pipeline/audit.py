"""The audit of an ingest, in executors: the verdicts of ``krafla audit`` on the same sources.

It reads only the output of the ingest, which has the files byte for byte. They are laid out again
below a scratch folder; one task takes the inventory of a directory, another judges a cluster, both
by the audit's own code. Findings name the original places.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.audit.cluster_audit import audit_cluster
from krafla.audit.clusters import find_logs, group, link_note
from krafla.audit.inventory import take_inventory
from krafla.audit.render import document
from krafla.audit.run import report_of
from krafla.audit.specs import LoadingSpec
from krafla.pipeline.folders import exclusive, opened, seal, write_whole
from krafla.pipeline.ingest import INGEST
from krafla.pipeline.restore import place_below, restore
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.audit.cluster_audit import ClusterAudit
    from krafla.audit.clusters import Cluster
    from krafla.audit.inventory import Inventory
    from krafla.pipeline.pool import Session
    from kraft.log.directory import MetadataLog

__all__ = ["AUDIT", "audit_ingest", "read_audit"]

AUDIT: Final = "audit"
_loading: LoadingSpec | None = None


@dataclass(frozen=True, slots=True)
class _Judging:
    """A cluster to judge, with its place among the others."""

    place: int
    cluster: Cluster


def audit_ingest(
    out: Path, session: Session, progress: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Return the audit of a finished ingest, in the form of ``krafla audit --json``.

    It is kept in the folder ``audit`` of the output. ``KraflaError`` if the output is not a
    finished ingest or has no directory of a metadata log, ``JobError`` if a task failed for good.
    """
    out = out.absolute()
    facts = opened(out, INGEST).facts
    if not facts["logs"]:
        raise KraflaError("no directory of a metadata log was ingested here", str(out))
    with exclusive(out):
        scratch = (out / ".audit-scratch").absolute()
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(mode=0o700)
        try:
            progress("laying out the logs")
            report = _audited(out, scratch, facts, session, progress)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        _keep(out, report)
    return report


def read_audit(out: Path) -> dict[str, Any] | None:
    """Return the audit that is kept with an ingest, ``None`` if there is none.

    ``KraflaError`` if it is damaged.
    """
    folder = out / AUDIT
    if not folder.exists():
        return None
    opened(folder, AUDIT)
    report: dict[str, Any] = json.loads((folder / "report" / "report.json").read_bytes())
    return report


def _audited(
    out: Path,
    scratch: Path,
    facts: dict[str, Any],
    session: Session,
    progress: Callable[[str], None],
) -> dict[str, Any]:
    restore(out, scratch, facts["logs"])
    roots = [place_below(scratch, root) for root in facts["roots"]]
    folders = [root for root in roots if root.is_dir()]
    logs, findings = find_logs(folders)
    findings += [link_note(Path(link)) for link in facts.get("links", ())]
    progress(f"reading {len(logs)} directories")
    inventories = session.map(_inventory, logs)
    clusters = group(inventories)
    # The longest first: it decides when all are done.
    ordered = sorted(
        (_Judging(place, cluster) for place, cluster in enumerate(clusters)),
        key=lambda one: (-sum(m.records for m in one.cluster.members), one.place),
    )
    progress(f"judging {len(clusters)} clusters")
    judged = sorted(session.map(_judge, ordered), key=lambda one: one[0])
    report = document(report_of(folders, [one for _, one in judged], findings))
    return _placed(report, scratch)


def _inventory(log: MetadataLog) -> Inventory:
    """Return the inventory of a directory, in an executor."""
    return take_inventory(log)


def _judge(one: _Judging) -> tuple[int, ClusterAudit]:
    """Judge a cluster in an executor, with the spec that an earlier task there has loaded."""
    global _loading
    if _loading is None:
        _loading = LoadingSpec(brief=True)
    _loading.get()
    return one.place, audit_cluster(one.cluster, _loading)


def _placed(report: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Return a report about files below the scratch folder as one about where they lay."""
    prefix = json.dumps(str(scratch))[1:-1]
    text = json.dumps(report)
    placed: dict[str, Any] = json.loads(text.replace(f"{prefix}/", "/").replace(prefix, "/"))
    return placed


def _keep(out: Path, report: dict[str, Any]) -> None:
    staging, folder = out / ".audit-staging", out / AUDIT
    shutil.rmtree(staging, ignore_errors=True)
    (staging / "report").mkdir(parents=True)
    write_whole(staging / "report" / "report.json", json.dumps(report, indent=2).encode() + b"\n")
    seal(staging, AUDIT, {"verdict": report["verdict"]}, ["report"])
    shutil.rmtree(folder, ignore_errors=True)
    staging.rename(folder)
