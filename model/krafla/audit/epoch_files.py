"""A node's quorum-state and leader-epoch-checkpoint files, compared with its log.

Only contradictions are findings. A file may lag behind its log: nodes are copied while they run. A
crash may also keep a file and lose the end of a log, or the reverse. If a log was truncated at its
start, its oldest epoch starts at the new start (LeaderEpochFileCache.truncateFromStart).
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
    from kraft.log.text_files import QuorumState

_NOT_VOTED: Final = -1
"""Kafka: ElectionState.NOT_VOTED."""
QUORUM_EPOCH: Final = Invariant(
    "QuorumEpoch",
    "KIP-595; Kafka: QuorumState, FileQuorumStateStore",
)
EPOCH_STARTS: Final = Invariant(
    "EpochStarts",
    "KIP-101; Kafka: LeaderEpochFileCache",
)


def contradictions(member: Inventory) -> list[Finding]:
    """Return the contradictions between a node's files and its log; skip unreadable files."""
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
    state, last = read_quorum_state(path), member.epoch_at(len(member.marks) - 1)
    if state.leader_epoch >= last:
        return _of_vote(member, state)
    said = f"the file has epoch {state.leader_epoch}, but the last batch has epoch {last}"
    return [_finding(QUORUM_EPOCH, said, path, member.offsets[len(member.marks) - 1])]


def _of_vote(member: Inventory, state: QuorumState) -> list[Finding]:
    """Return the contradiction, if any, of a node's vote and the one that its log says it gave.

    A node writes its vote down before it answers, and gives no other in the epoch. Before 4.1 a
    node that follows a leader forgets its vote, and the leader does in each release.

    Kafka: UnattachedState.canGrantVote.
    """
    led = next((one for one in member.leaders if one.epoch == state.leader_epoch), None)
    if led is None or member.node_id not in led.granting:
        return []
    if state.voted_id in (_NOT_VOTED, led.node_id):
        return []
    said = f"the file has a vote for node {state.voted_id} in epoch {led.epoch}, but"
    said = f"{said} by the log node {member.node_id} voted for {led.node_id}"
    return [_finding(QUORUM_EPOCH, said, state.path, led.offset)]


def _of_leader_epochs(member: Inventory) -> list[Finding]:
    path = member.log.leader_epochs
    if path is None:
        return []
    starts: dict[int, int] = {}
    for index in range(len(member.marks)):
        starts.setdefault(member.epoch_at(index), member.offsets[index])
    found = []
    entries = [(e.epoch, e.start_offset) for e in read_leader_epochs(path)]
    for number, (epoch, start) in enumerate(entries):
        if start <= member.first and epoch > member.epoch_at(0):
            said = f"epoch {epoch} starts at offset {start} by the file"
            begins = f"the log begins at offset {member.first} in epoch {member.epoch_at(0)}"
            found.append(_finding(EPOCH_STARTS, f"{said}, but {begins}", path, member.first))
        if not member.first < start < member.end:
            continue
        batch = bisect_right(member.offsets, start) - 1
        cut = number == 0 and member.epoch_at(batch) == epoch
        if starts.get(epoch) != start and not cut:
            said = f"epoch {epoch} starts at offset {start} by the file, but not in the log"
            found.append(_finding(EPOCH_STARTS, said, path, start))
    return found or _of_missing_epochs(starts, entries, path)


def _of_missing_epochs(
    starts: dict[int, int], entries: list[tuple[int, int]], path: Path
) -> list[Finding]:
    """Return the contradiction, if any, of a file without an epoch between two that it has.

    A node writes all entries to the device before it appends the batch that begins an epoch. Where
    a later entry is as in the log, the log before it was the same one.

    Kafka: LeaderEpochFileCache.assign, .writeToFile.
    """
    listed = [epoch for epoch, start in entries if starts.get(epoch) == start]
    missing = [
        epoch for epoch in sorted(starts)
        if listed and entries[0][0] < epoch < listed[-1] and epoch not in dict(entries)
    ]  # fmt: skip
    if not missing:
        return []
    epoch = missing[0]
    said = f"epoch {epoch} starts at offset {starts[epoch]} in the log, and is missing in the file"
    return [_finding(EPOCH_STARTS, said, path, starts[epoch])]


def _finding(invariant: Invariant, said: str, path: Path, offset: int) -> Finding:
    evidence = evidence_of(invariant)
    return Finding(Weight.VIOLATION, invariant.id, said, path, offset=offset, evidence=evidence)
