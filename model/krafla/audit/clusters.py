"""Clusters of metadata logs, by cluster id and folder.

Copies of one cluster in two folders, taken at different times, count as two clusters. Nodes of
different clusters in one cluster's folder are a finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.audit.result import Finding, Weight
from kraft.errors import UnreadableFileError, printable
from kraft.log.directory import check_identities, find_metadata_logs
from kraft.log.findings import FindingKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krafla.audit.inventory import Inventory
    from kraft.log.directory import MetadataLog
    from kraft.log.findings import Finding as LogFinding


@dataclass(frozen=True, slots=True)
class Cluster:
    """The logs of one cluster; `cluster_id` is None unless the logs name exactly one id."""

    cluster_id: str | None
    folder: Path
    members: tuple[Inventory, ...]
    findings: tuple[Finding, ...]


def find_logs(paths: Iterable[Path]) -> tuple[list[MetadataLog], list[Finding]]:
    """Return the metadata logs at or below the paths, each once, and findings about the paths.

    The last findings are notes about the symbolic links that lead out of what the paths have.
    """
    found: dict[Path, MetadataLog] = {}
    findings = []
    roots: list[Path] = []
    links: set[Path] = set()
    for path in paths:
        noticed: list[LogFinding] = []
        try:
            logs = find_metadata_logs(path, findings=noticed)
        except UnreadableFileError as error:
            a_file = "is a file: an audit takes the directory that has it"
            reason = a_file if path.is_file() else error.reason
            findings.append(Finding(Weight.UNREADABLE, "unreadable", reason, error.path))
            continue
        if not logs:
            nothing = "no __cluster_metadata-0 directory here or below"
            if noticed:
                nothing += f"; the link {printable(str(noticed[0].path))} is not followed"
            findings.append(Finding(Weight.UNREADABLE, "nothing to audit", nothing, path))
        for log in logs:
            found.setdefault(log.directory.resolve(), log)
        roots.append(path.resolve())
        links |= {link.path for link in noticed}
    findings += [link_note(link) for link in sorted(links) if not _is_below(link, roots)]
    return sorted(found.values(), key=lambda log: log.directory), findings


def links_not_followed(paths: Iterable[Path]) -> list[Path]:
    """Return the symbolic links to directories about which `find_logs` has a note."""
    kind = FindingKind.LINK_NOT_FOLLOWED.value
    return [found.path for found in find_logs(paths)[1] if found.kind == kind and found.path]


def link_note(link: Path) -> Finding:
    """Return the note that a symbolic link to a directory was not followed."""
    detail = "a symbolic link to a directory is not followed: name it as a PATH of its own"
    return Finding(Weight.NOTE, FindingKind.LINK_NOT_FOLLOWED.value, detail, link)


def _is_below(link: Path, roots: Sequence[Path]) -> bool:
    """Return whether a link leads to one of some directories or below it."""
    target = link.resolve()
    return any(target.is_relative_to(root) for root in roots)


def group(inventories: Sequence[Inventory]) -> list[Cluster]:
    """Return the clusters that logs belong to, in order of their folders."""
    named = [member for member in inventories if member.cluster_id is not None]
    parts = _parts(named)
    for member in inventories:
        if member.cluster_id is None:
            _nearest(member, parts).append(member)
    clusters = [_cluster(part) for part in parts]
    return sorted(clusters, key=lambda cluster: (cluster.folder, cluster.cluster_id or ""))


def _parts(named: Sequence[Inventory]) -> list[list[Inventory]]:
    """Split logs by folder until each part is one cluster, or a folder mixes several."""
    if not named:
        return []
    if len({member.cluster_id for member in named}) == 1:
        return [list(named)]
    depth = len(_common([_node(member) for member in named]).parts)
    below: dict[Path | None, list[Inventory]] = {}
    for member in named:
        node = _node(member)
        child = Path(*node.parts[: depth + 1]) if len(node.parts) > depth else None
        below.setdefault(child, []).append(member)
    if len(below) == 1:
        return [list(named)]
    singles = [part[0] for part in below.values() if len(part) == 1]
    if _is_mixed(singles):
        rest = [part for part in below.values() if len(part) > 1]
        return [singles, *(p for part in rest for p in _parts(part))]
    return [found for part in below.values() for found in _parts(part)]


def _is_mixed(nodes: Sequence[Inventory]) -> bool:
    """Return whether nodes of several cluster ids share one cluster's folder."""
    ids = [member.cluster_id for member in nodes]
    if len(set(ids)) < 2:
        return False
    siblings = len({_node(member).parent for member in nodes}) == 1
    return siblings or len(set(ids)) < len(ids)


def _cluster(part: list[Inventory]) -> Cluster:
    members = tuple(sorted(part, key=lambda member: member.path))
    ids = sorted({m.cluster_id for m in members if m.cluster_id is not None})
    folder = _common([_node(member) for member in members])
    conflicts: dict[Path, Finding] = {}
    present = [member.log for member in members if not _is_set_aside(member, members)]
    for found in check_identities(present):
        if found.kind is not FindingKind.UNREADABLE_IDENTITY:
            finding = Finding(Weight.UNREADABLE, found.kind.value, found.detail, found.path)
            conflicts.setdefault(found.path, finding)
    return Cluster(ids[0] if len(ids) == 1 else None, folder, members, tuple(conflicts.values()))


def _is_set_aside(member: Inventory, members: Sequence[Inventory]) -> bool:
    """Return whether a log lies inside its own node's folder: an old disk, set aside."""
    return any(
        other.node_id == member.node_id and _node(other) in _node(member).parents
        for other in members
    )


def _nearest(member: Inventory, parts: list[list[Inventory]]) -> list[Inventory]:
    """Return the part that a log without an identity belongs to, or a new part for it.

    Such a log (an old disk set aside, a bare copy) belongs to the nearest cluster with which it
    shares a batch. Batches carry timestamps and CRCs, so two clusters never share one.
    """
    related = [part for part in parts if any(_share_a_batch(member, other) for other in part)]
    for folder in _node(member).parents:
        near = [p for p in related if any(_node(other).is_relative_to(folder) for other in p)]
        if near:
            return near[0]
    parts.append([])
    return parts[-1]


def _share_a_batch(left: Inventory, right: Inventory) -> bool:
    theirs = set(zip(right.offsets, right.marks, strict=False))
    return any(batch in theirs for batch in zip(left.offsets, left.marks, strict=False))


def _node(member: Inventory) -> Path:
    return member.path.parent.absolute()


def _common(paths: Sequence[Path]) -> Path:
    common = paths[0]
    while not all(path.is_relative_to(common) for path in paths):
        common = common.parent
    return common
