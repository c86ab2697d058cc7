"""The audit of one cluster: each distinct history of its logs is judged once.

Nodes of a cluster mostly have the same batches. A log that is a part of a judged history is not
judged again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from krafla.audit.check_counts import total_spec_counts
from krafla.audit.compare import agrees, compare, leader_conflicts
from krafla.audit.epoch_files import contradictions
from krafla.audit.history import History
from krafla.audit.invariants import CHECKPOINT_ALIGNED
from krafla.audit.inventory import unreadable
from krafla.audit.registry import check_totals
from krafla.audit.releases import ReleaseSigns
from krafla.audit.report import ClusterResult, DirectoryResult
from krafla.audit.snapshots import has, id_findings, unequal, with_fetched
from krafla.audit.starts import first_checkpoint, images_of, start_of
from krafla.collector import gc_paused
from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.log.checkpoint import checkpoint_at
from kraft.log.directory import read_metadata_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from krafla.audit.clusters import Cluster
    from krafla.audit.history_outcome import HistoryOutcome
    from krafla.audit.inventory import Inventory
    from krafla.audit.result import Finding
    from krafla.audit.specs import LoadingSpec
    from krafla.audit.starts import Start

    Judging = Callable[
        [Inventory, Start, LoadingSpec, dict[int, tuple[Path, ...]]],
        tuple[HistoryOutcome, CorruptRecordError | UnreadableFileError | None],
    ]


@dataclass(frozen=True, slots=True)
class JudgedHistory:
    """A judged history: its log, its start and its outcome.

    `expected` are the checkpoints that it was compared with, by their end offsets.
    """

    inventory: Inventory
    start: Start
    outcome: HistoryOutcome
    expected: Mapping[int, tuple[Path, ...]]

    def covers(self, inventory: Inventory, start: Start) -> bool:
        """Return whether this history covers a log from a start on."""
        reach = self.inventory.end
        if self.start.offset > start.offset or inventory.end > reach:
            return False
        stop = self.outcome.stopped_at
        if stop is not None and stop < start.offset:
            return False
        return agrees(self.inventory, inventory)


@dataclass(frozen=True, slots=True)
class ClusterAudit:
    """The result of a judged cluster, with its distinct histories and their steps counted.

    `steps` are those of all four specs.
    """

    result: ClusterResult
    histories: int
    steps: int


def audit_cluster(
    cluster: Cluster,
    loading: LoadingSpec,
    progress: Callable[[str], None] = lambda _: None,
    judging: Judging | None = None,
) -> ClusterAudit:
    """Return the audit of one cluster. Raises KraflaError if a spec cannot be loaded.

    `judging` judges a log's history, as `whole` does unless it is given.
    """
    judging = judging or whole
    cluster = replace(cluster, members=with_fetched(cluster.members))
    findings = [*cluster.findings]
    if not cluster.findings:
        findings += [*compare(cluster.members), *leader_conflicts(cluster.members)]
    first = next(filter(None, map(first_checkpoint, cluster.members)), None)
    judged: list[JudgedHistory] = []
    results: dict[Path, DirectoryResult] = {}
    own: dict[Path, list[Finding]] = {}
    starts: dict[Path, Start | None] = {}
    for member in cluster.members:
        own[member.path] = [*member.findings, *contradictions(member)]
        starts[member.path] = start_of(member, own[member.path], first)
    if not cluster.findings:
        for path, found in id_findings(cluster.members).items():
            own[path] += [f for f in found if not _says_unaligned(own[path], f)]
    longest_first = sorted(cluster.members, key=lambda m: _length(m, starts[m.path]), reverse=True)
    for member in longest_first:
        start = starts[member.path]
        if start is None:
            results[member.path] = _result(member, None, None, own[member.path])
            continue
        history = next((h for h in judged if h.covers(member, start)), None)
        if history is None:
            # A whole path would fill a terminal's line.
            progress(f"judging {'/'.join(member.path.parts[-2:])}")
            expected = _expected(cluster.members, member, start)
            history = _judged(member, start, loading, expected, judging)
            judged.append(history)
        results[member.path] = _result(member, start, history, own[member.path])
    if not cluster.findings:
        findings += unequal(cluster.members, _compared(judged))
        findings += _about_fetched(cluster.members, judged)
    members = tuple(results[member.path] for member in cluster.members)
    checks = check_totals(one.outcome.check_counts for one in judged)
    spec_counts = total_spec_counts(one.outcome.spec_counts for one in judged)
    result = ClusterResult(
        cluster.cluster_id,
        cluster.folder,
        members,
        tuple(findings),
        checks=checks,
        spec_counts=spec_counts,
        releases=_releases(judged),
    )
    steps = sum(one.steps for one in spec_counts.values())
    return ClusterAudit(result, len(judged), steps)


def _releases(judged: Sequence[JudgedHistory]) -> str | None:
    """Return in words which releases the histories come from, None without a history."""
    signs = ReleaseSigns()
    for one in judged:
        signs |= one.outcome.releases
    return str(signs) if judged else None


def _says_unaligned(findings: Sequence[Finding], found: Finding) -> bool:
    """Return whether a checkpoint ends inside a batch, so that its id has no epoch."""
    return any(f.path == found.path and f.kind == CHECKPOINT_ALIGNED.id for f in findings)


def _compared(judged: Sequence[JudgedHistory]) -> frozenset[Path]:
    """Return the checkpoints that histories began with or compared with their images."""
    starts = {one.start.checkpoint.path for one in judged if one.start.checkpoint is not None}
    reached = {
        path
        for one in judged
        for offset, paths in one.expected.items()
        if offset <= one.outcome.judged_to
        for path in paths
    }
    return frozenset(starts | reached)


def _about_fetched(
    members: Sequence[Inventory], judged: Sequence[JudgedHistory]
) -> Iterator[Finding]:
    """Yield what histories found about checkpoints that a node with another log fetched."""
    paths = {checkpoint.path for member in members for checkpoint in member.fetched}
    for one in judged:
        yield from (found for found in one.outcome.findings if found.path in paths)


def _expected(
    members: Sequence[Inventory], member: Inventory, start: Start
) -> dict[int, tuple[Path, ...]]:
    """Return the checkpoints to compare with a history, from its log and the logs that agree.

    A checkpoint that a node fetched from this log is compared as well.

    Not those before the whole log: nodes are formatted one by one, and only the first leader's
    features count (KIP-1170).
    """
    expected: dict[int, tuple[Path, ...]] = {}
    for other in members:
        is_same = other is member or agrees(other, member)
        own = other.checkpoints if is_same else [c for c in other.fetched if has(member, c)]
        for checkpoint in own:
            if checkpoint != start.checkpoint and checkpoint.end_offset >= max(start.offset, 1):
                known = expected.get(checkpoint.end_offset, ())
                expected[checkpoint.end_offset] = (*known, checkpoint.path)
    return expected


def _judged(
    member: Inventory,
    start: Start,
    loading: LoadingSpec,
    expected: dict[int, tuple[Path, ...]],
    judging: Judging,
) -> JudgedHistory:
    outcome, error = judging(member, start, loading, expected)
    broken: list[Finding] = []
    if error is not None:
        finding = unreadable(error, member.log)
        if finding not in member.findings:
            broken.append(finding)
    source = member.path if start.checkpoint is None else start.checkpoint.path
    found = [replace(f, path=f.path or source) for f in outcome.findings]
    outcome = replace(outcome, findings=(*found, *broken))
    return JudgedHistory(member, start, outcome, expected)


@gc_paused()
def whole(
    member: Inventory,
    start: Start,
    loading: LoadingSpec,
    expected: dict[int, tuple[Path, ...]],
) -> tuple[HistoryOutcome, CorruptRecordError | UnreadableFileError | None]:
    """Return the outcome of a log's history, judged at once, and why it was not read on, if so."""
    origin = None if start.checkpoint is None else start.checkpoint.path
    history = History(loading, start.offset, start.image.copy(), expected, origin)
    history.compare_start()
    try:
        for batch in read_metadata_log(member.log, findings=[]):
            if batch.base_offset >= start.offset:
                history.add(batch)
                if history.stopped:
                    break
    except (CorruptRecordError, UnreadableFileError) as error:
        return history.outcome(), error
    return history.outcome(), None


def _result(
    member: Inventory, start: Start | None, history: JudgedHistory | None, own: list[Finding]
) -> DirectoryResult:
    findings = list(own)
    judged_from = judged_to = member.end
    shared = on = None
    if history is not None and start is not None:
        judged_from = start.offset
        on = None if start.checkpoint is None else start.checkpoint.path
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
        checkpoints=len(member.log.checkpoints),
        findings=tuple(findings),
        same_history_as=shared,
        judged_on=on,
        torn_at=member.end if member.torn else None,
        images=images_of(member) if start is None else 0,
    )


def _of(finding: Finding, member: Inventory) -> bool:
    """Return whether a finding about a history concerns a log that shares the history.

    A batch is in every log that reaches its offset, a checkpoint only in its own directory.
    """
    if finding.path is not None and checkpoint_at(finding.path) is not None:
        return finding.path.parent == member.path
    return finding.offset is None or finding.offset < member.end


def _length(member: Inventory, start: Start | None) -> int:
    return -1 if start is None else member.end - start.offset
