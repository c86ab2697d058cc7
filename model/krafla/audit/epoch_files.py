"""A node's own files about epochs against its log: quorum-state and leader-epoch-checkpoint.

Only contradictions are findings. A file may lag behind: nodes are copied while they run, and a
crash may keep a file and lose the end of a log, or the other way round. Where a log was shortened
at its start, behind a checkpoint, the oldest epoch starts at its new start
(LeaderEpochFileCache.truncateFromStart).
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from krafla.audit.result import Finding, Invariant, Weight, evidence_of
from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.log.text_files import read_leader_epochs, read_quorum_state

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.audit.inventory import Inventory

QUORUM_EPOCH: Final = Invariant(
    "QuorumEpoch",
    "a node has written down the epoch of its last batch, or a later one",
    "KIP-595; Kafka: QuorumState, FileQuorumStateStore",
)
EPOCH_STARTS: Final = Invariant(
    "EpochStarts",
    "an epoch starts in the log where the node has written down that it does",
    "KIP-101; Kafka: LeaderEpochFileCache",
)


def contradictions(member: Inventory) -> list[Finding]:
    """Return where the files of a node contradict its log; what is unreadable is said elsewhere."""
    if not member.marks:
        return []
    try:
        return [*_of_quorum_state(member), *_of_leader_epochs(member)]
    except (CorruptRecordError, UnreadableFileError):
        return []


def _of_quorum_state(member: Inventory) -> list[Finding]:
    path = member.log.quorum_state
    if path is None:
        return []
    known, last = read_quorum_state(path).leader_epoch, member.epoch_at(len(member.marks) - 1)
    if known >= last:
        return []
    said = f"it names epoch {known}, the last batch is of epoch {last}"
    return [_finding(QUORUM_EPOCH, said, path, member.offsets[len(member.marks) - 1])]


def _of_leader_epochs(member: Inventory) -> list[Finding]:
    path = member.log.leader_epochs
    if path is None:
        return []
    starts: dict[int, int] = {}
    for index in range(len(member.marks)):
        starts.setdefault(member.epoch_at(index), member.offsets[index])
    found = []
    for number, (epoch, start) in enumerate(
        (e.epoch, e.start_offset) for e in read_leader_epochs(path)
    ):
        if not member.first < start < member.end:
            continue
        batch = bisect_right(member.offsets, start) - 1
        cut = number == 0 and member.epoch_at(batch) == epoch
        if starts.get(epoch) != start and not cut:
            said = f"epoch {epoch} starts at offset {start} by it, and not in the log"
            found.append(_finding(EPOCH_STARTS, said, path, start))
    return found


def _finding(invariant: Invariant, said: str, path: Path, offset: int) -> Finding:
    evidence = evidence_of(invariant)
    return Finding(Weight.VIOLATION, invariant.id, said, path, offset=offset, evidence=evidence)
