"""The audit: from paths to a report.

Every log is read once for its batches, then every distinct history is judged once: nodes of a
cluster hold mostly the same batches, and a node that holds a part of another's history is covered
by it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from krafla.audit import checkpoints
from krafla.audit.check_counts import together
from krafla.audit.clusters import Cluster, find_logs, group
from krafla.audit.compare import agrees, compare, one_leader
from krafla.audit.epoch_files import contradictions
from krafla.audit.history import History, Outcome
from krafla.audit.image import Image
from krafla.audit.invariants import CHECKPOINT_ALIGNED, evidence_of
from krafla.audit.inventory import Inventory, take_inventory, unreadable
from krafla.audit.registry import asked_in
from krafla.audit.result import ClusterResult, DirectoryResult, Finding, Report, Weight
from krafla.audit.specs import LoadingSpec
from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.log.checkpoint import checkpoint_at
from kraft.log.directory import read_metadata_log

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from krafla.audit.server_log_options import Wish
    from kraft.log.checkpoint import Checkpoint


class Start(NamedTuple):
    """Where the state of a log is known first; `checkpoint` is None at offset 0."""

    offset: int
    checkpoint: Checkpoint | None
    image: Image


@dataclass(frozen=True, slots=True)
class Judged:
    """A history that was judged: whose log, from where, up to where, with which findings."""

    inventory: Inventory
    start: Start
    outcome: Outcome

    def covers(self, inventory: Inventory, start: Start) -> bool:
        """Return whether judging that log from there would say nothing new."""
        reach = self.inventory.end
        if self.start.offset > start.offset or inventory.end > reach:
            return False
        stop = self.outcome.stopped_at
        if stop is not None and stop < start.offset:
            return False
        return agrees(self.inventory, inventory)


def audit(
    paths: Sequence[Path],
    progress: Callable[[str], None] = lambda _: None,
    loading: LoadingSpec | None = None,
    server_logs: Wish | None = None,
) -> Report:
    """Return what the metadata logs at or below `paths` say, judged; with `server_logs`, those too.

    `progress` is told in a few words what is being done; `loading` is the spec, if the caller has
    begun to load it. What is wrong with the input is a finding of the report. Raises KraflaError
    if the spec or its engine cannot be loaded.
    """
    loading = loading or LoadingSpec()
    logs, findings = find_logs(paths)
    inventories = []
    for number, log in enumerate(logs, 1):
        progress(f"reading {number} of {len(logs)}: {log.directory}")
        inventories.append(take_inventory(log))
    clusters = group(inventories)
    judged = [audit_cluster(cluster, loading, progress) for cluster in clusters]
    loading.get()
    if server_logs is not None:
        from krafla.audit.server_logs.audit import with_server_logs

        judged, found = with_server_logs(paths, clusters, judged, server_logs, progress)
        findings += found
    return replace(report_of(paths, judged, findings), wish=server_logs)


@dataclass(frozen=True, slots=True)
class ClusterAudit:
    """A cluster that was judged, in how many distinct histories and steps of the spec."""

    result: ClusterResult
    histories: int
    steps: int


def report_of(
    paths: Sequence[Path], judged: Sequence[ClusterAudit], findings: Sequence[Finding]
) -> Report:
    """Return the report over clusters that were judged, and what is wrong with the paths."""
    return Report(
        tuple(paths),
        tuple(one.result for one in judged),
        tuple(findings),
        sum(one.histories for one in judged),
        sum(one.steps for one in judged),
    )


def audit_cluster(
    cluster: Cluster, loading: LoadingSpec, progress: Callable[[str], None] = lambda _: None
) -> ClusterAudit:
    """Return what the logs of one cluster say, judged. Raises KraflaError as `audit` does."""
    findings = [*cluster.findings]
    if not cluster.findings:
        findings += [*compare(cluster.members), *one_leader(cluster.members)]
    judged: list[Judged] = []
    results: dict[Path, DirectoryResult] = {}
    own: dict[Path, list[Finding]] = {}
    starts: dict[Path, Start | None] = {}
    for member in cluster.members:
        own[member.path] = [*member.findings, *contradictions(member)]
        starts[member.path] = start_of(member, own[member.path])
    longest_first = sorted(cluster.members, key=lambda m: _length(m, starts[m.path]), reverse=True)
    for member in longest_first:
        start = starts[member.path]
        if start is None:
            results[member.path] = _result(member, None, None, own[member.path])
            continue
        history = next((h for h in judged if h.covers(member, start)), None)
        if history is None:
            progress(f"judging {member.path}")
            expected = _expected(cluster.members, member, start)
            history = _judge(member, start, loading, expected)
            judged.append(history)
        results[member.path] = _result(member, start, history, own[member.path])
    members = tuple(results[member.path] for member in cluster.members)
    asked = asked_in(one.outcome.asked for one in judged)
    stepped = together(one.outcome.stepped for one in judged)
    result = ClusterResult(
        cluster.cluster_id, cluster.folder, members, tuple(findings), asked=asked, stepped=stepped
    )
    return ClusterAudit(result, len(judged), sum(one.outcome.steps for one in judged))


def start_of(member: Inventory, findings: list[Finding]) -> Start | None:
    """Return where a log's state is known first; if nowhere, None, and a finding says so."""
    _check_ends(member, findings)
    if not member.marks:
        if not any(f.weight is Weight.UNREADABLE for f in findings):
            reason = "only checkpoints" if member.checkpoints else "nothing was ever written here"
            findings.append(_doubt(member, "empty log", f"no record to judge: {reason}"))
        return None
    if member.first == 0:
        return Start(0, None, Image())
    for checkpoint in member.checkpoints:
        if member.first <= checkpoint.end_offset <= member.end:
            image = _image(checkpoint, findings)
            if image is not None:
                _note_skipped(member, checkpoint, findings)
                return Start(checkpoint.end_offset, checkpoint, image)
    reason = f"the log starts at offset {member.first}, and no checkpoint says what was before"
    findings.append(_doubt(member, "no state to start from", reason))
    return None


def _image(checkpoint: Checkpoint, findings: list[Finding]) -> Image | None:
    try:
        image, faults = checkpoints.read(checkpoint.path)
    except (CorruptRecordError, UnreadableFileError) as error:
        findings.append(unreadable(error))
        return None
    for invariant, said in faults:
        findings.append(
            Finding(
                Weight.VIOLATION,
                invariant.id,
                said,
                checkpoint.path,
                offset=checkpoint.end_offset,
                evidence=evidence_of(invariant),
            )
        )
    return image


def _note_skipped(member: Inventory, checkpoint: Checkpoint, findings: list[Finding]) -> None:
    if checkpoint.end_offset > member.first:
        skipped = f"offsets {member.first} to {checkpoint.end_offset - 1}"
        detail = f"{skipped} precede the oldest checkpoint"
        findings.append(Finding(Weight.NOTE, "not judged", detail, member.path))


def _check_ends(member: Inventory, findings: list[Finding]) -> None:
    """Check that checkpoints end where batches do; read those that no history will compare."""
    for checkpoint in member.checkpoints:
        if not member.marks or not member.first < checkpoint.end_offset <= member.end:
            _image(checkpoint, findings)
        if member.marks and not _aligned(member, checkpoint):
            findings.append(
                Finding(
                    Weight.VIOLATION,
                    CHECKPOINT_ALIGNED.id,
                    f"the checkpoint ends at offset {checkpoint.end_offset}, inside a batch",
                    checkpoint.path,
                    None,
                    checkpoint.end_offset,
                    evidence_of(CHECKPOINT_ALIGNED),
                )
            )


def _aligned(member: Inventory, checkpoint: Checkpoint) -> bool:
    inside = member.first < checkpoint.end_offset < member.end
    return not inside or checkpoint.end_offset in member.offsets


def _expected(
    members: Sequence[Inventory], member: Inventory, start: Start
) -> dict[int, tuple[Path, ...]]:
    """Return the checkpoints to compare a history with: of its log and of those that agree."""
    expected: dict[int, tuple[Path, ...]] = {}
    for other in members:
        if other is not member and not agrees(other, member):
            continue
        for checkpoint in other.checkpoints:
            if checkpoint != start.checkpoint and checkpoint.end_offset >= start.offset:
                known = expected.get(checkpoint.end_offset, ())
                expected[checkpoint.end_offset] = (*known, checkpoint.path)
    return expected


def _judge(
    member: Inventory,
    start: Start,
    loading: LoadingSpec,
    expected: dict[int, tuple[Path, ...]],
) -> Judged:
    history = History(loading, start.offset, start.image.copy(), expected)
    broken: list[Finding] = []
    history.compare_start()
    try:
        for batch in read_metadata_log(member.log, findings=[]):
            if batch.base_offset >= start.offset:
                history.add(batch)
                if history.stopped:
                    break
    except (CorruptRecordError, UnreadableFileError) as error:
        finding = unreadable(error)
        if finding not in member.findings:
            broken.append(finding)
    outcome = history.outcome()
    source = member.path if start.checkpoint is None else start.checkpoint.path
    found = [replace(f, path=f.path or source) for f in outcome.findings]
    return Judged(member, start, replace(outcome, findings=(*found, *broken)))


def _result(
    member: Inventory, start: Start | None, history: Judged | None, own: list[Finding]
) -> DirectoryResult:
    findings = list(own)
    judged_from = judged_to = member.end
    shared = None
    if history is not None and start is not None:
        judged_from = start.offset
        judged_to = min(history.outcome.judged_to, member.end)
        findings += [f for f in history.outcome.findings if f not in findings and _of(f, member)]
        shared = None if history.inventory is member else history.inventory.path
    return DirectoryResult(
        path=member.path,
        node_id=member.node_id,
        batches=len(member.marks),
        records=member.records,
        first_offset=member.first,
        end_offset=member.end,
        judged_from=judged_from,
        judged_to=judged_to,
        checkpoints=len(member.checkpoints),
        findings=tuple(findings),
        same_history_as=shared,
    )


def _of(finding: Finding, member: Inventory) -> bool:
    """Return whether a finding about a history concerns a log that shares it.

    A batch is in every log that reaches that far, a checkpoint only in its own directory.
    """
    if finding.path is not None and checkpoint_at(finding.path) is not None:
        return finding.path.parent == member.path
    return finding.offset is None or finding.offset < member.end


def _length(member: Inventory, start: Start | None) -> int:
    return -1 if start is None else member.end - start.offset


def _doubt(member: Inventory, kind: str, detail: str) -> Finding:
    return Finding(Weight.INCONCLUSIVE, kind, detail, member.path)
