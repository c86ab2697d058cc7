"""The comparison of a cluster's logs: they must have the same batches at the same offsets.

Raft promises log matching: two logs that have an entry with the same offset and epoch agree on
everything up to it. Two entries of different epochs may exist at one offset if the older one was
never committed: a node that stopped before it could truncate its log keeps that entry. If most
voters have the newer entry, no majority ever had the older one: such a tail is legal.

Kafka: KafkaRaftClient, which truncates a follower to the point where the logs agree.
Spec: KRaftProperties!LeaderCompletenessInv.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.audit.invariants import LEADER_OF_EPOCH, LOGS_MATCH
from krafla.audit.result import Finding, Weight, evidence_of
from kraft.errors import CorruptRecordError, UnreadableFileError, printable
from kraft.log.text_files import read_quorum_state

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from krafla.audit.inventory import Inventory


UNCOMMITTED_TAIL: Final = "uncommitted tail"


class Split(NamedTuple):
    """The index, in each of two logs, of the first batch in which they differ."""

    left: int
    right: int


def split_of(left: Inventory, right: Inventory) -> Split | None:
    """Return the first difference of two logs, None if they agree wherever both have batches."""
    start = max(left.first, right.first)
    i = _covering(left, start)
    j = _covering(right, start)
    length = min(len(left.marks) - i, len(right.marks) - j)
    if length <= 0:
        return None
    if (
        left.offsets[i : i + length] == right.offsets[j : j + length]
        and left.marks[i : i + length] == right.marks[j : j + length]
    ):
        return None
    for step in range(length):
        if (
            left.offsets[i + step] != right.offsets[j + step]
            or left.marks[i + step] != right.marks[j + step]
        ):
            return Split(i + step, j + step)
    raise AssertionError("slices that differ have a first difference")


def agrees(left: Inventory, right: Inventory) -> bool:
    """Return whether two logs agree wherever both have batches."""
    return split_of(left, right) is None


def compare(inventories: Sequence[Inventory]) -> tuple[Finding, ...]:
    """Return a finding, naming both logs, for each log that differs from an earlier one."""
    findings = []
    for index, log in enumerate(inventories):
        for other in inventories[:index]:
            split = split_of(other, log)
            if split is not None:
                findings.append(_divergence(other, log, split, inventories))
                break
    return tuple(dict.fromkeys(findings))


def leader_conflicts(inventories: Sequence[Inventory]) -> tuple[Finding, ...]:
    """Return a finding for each epoch with several leaders in logs or quorum-state files."""
    said: dict[int, tuple[int, Path]] = {}
    findings: dict[int, Finding] = {}
    for log in inventories:
        named = [(one.epoch, one.node_id, log.path, one.offset) for one in log.leaders]
        for epoch, node, path, offset in (*named, *_by_quorum_state(log)):
            before, where = said.setdefault(epoch, (node, path))
            if before == node:
                continue
            detail = leader_text(node, epoch, before, str(where))
            evidence = evidence_of(LEADER_OF_EPOCH)
            found = Finding(Weight.VIOLATION, LEADER_OF_EPOCH.id, detail, path, None, offset,
                            evidence)  # fmt: skip
            findings.setdefault(epoch, found)
    return tuple(findings.values())


def leader_text(node: int, epoch: int, other: int, where: str) -> str:
    """Return in words that two nodes lead an epoch, one of them by a file or directory."""
    return f"node {node} leads epoch {epoch}, but node {other} by {printable(where)}"


def divergence_text(left: str, right: str, offset: int, epochs: tuple[int, int]) -> str:
    """Return in words that two logs differ from an offset on, with their epochs there."""
    return (
        f"{printable(left)} and {printable(right)} differ from offset {offset} on, with epochs"
        f" {epochs[0]} and {epochs[1]}"
    )


def _by_quorum_state(log: Inventory) -> list[tuple[int, int, Path, int | None]]:
    path = log.log.quorum_state
    if path is None:
        return []
    try:
        state = read_quorum_state(path)
    except (CorruptRecordError, UnreadableFileError):
        return []
    if state.leader_id < 0:
        return []
    return [(state.leader_epoch, state.leader_id, path, None)]


def _divergence(
    left: Inventory, right: Inventory, split: Split, members: Sequence[Inventory]
) -> Finding:
    offset = max(left.offsets[split.left], right.offsets[split.right])
    epochs = left.epoch_at(split.left), right.epoch_at(split.right)
    what = divergence_text(str(left.path), str(right.path), offset, epochs)
    older, newer = (left, right) if epochs[0] < epochs[1] else (right, left)
    if epochs[0] == epochs[1]:
        reason = "which are equal"
    elif _meet_again(left, right, split):
        reason = "but a later record has the same offset and epoch in both"
    elif any(checkpoint.end_offset > offset for checkpoint in older.checkpoints):
        reason = f"and {printable(str(older.path))} has committed that offset, by a checkpoint"
    elif _most_hold(newer, offset, members):
        first = older.offsets[split.left if older is left else split.right]
        detail = (
            f"offsets {first} to {older.end - 1} are the uncommitted tail of epoch {min(epochs)}:"
            f" most voters have epoch {max(epochs)} there"
        )
        return Finding(Weight.NOTE, UNCOMMITTED_TAIL, detail, older.path, None, first)
    else:
        detail = f"{what}; the older one may never have been committed"
        return Finding(Weight.INCONCLUSIVE, "divergence", detail, right.path, None, offset)
    return Finding(
        Weight.VIOLATION,
        "divergence",
        f"{what}, {reason}",
        right.path,
        None,
        offset,
        evidence_of(LOGS_MATCH),
    )


def _most_hold(log: Inventory, offset: int, members: Sequence[Inventory]) -> bool:
    """Return whether most voters have the batch at an offset that a log has there.

    The voters are those of the leader that was elected without the other batch.
    """
    epoch = log.epoch_at(_covering(log, offset))
    voters = next((one.voters for one in log.leaders if one.epoch == epoch), frozenset())
    holders = {
        other.node_id for other in members
        if other.node_id in voters and other.end > offset and agrees_at(log, other, offset)
    }  # fmt: skip
    return bool(voters) and 2 * len(holders) > len(voters)


def agrees_at(left: Inventory, right: Inventory, offset: int) -> bool:
    """Return whether two logs that reach an offset have the same batch there."""
    i, j = _covering(left, offset), _covering(right, offset)
    if i == len(left.marks) or j == len(right.marks):
        return False
    return left.offsets[i] == right.offsets[j] and left.marks[i] == right.marks[j]


def _meet_again(left: Inventory, right: Inventory, split: Split) -> bool:
    """Return whether two logs have a batch of equal offset and epoch after their split."""
    later = {(left.offsets[i], left.epoch_at(i)) for i in range(split.left + 1, len(left.marks))}
    return any(
        (right.offsets[j], right.epoch_at(j)) in later
        for j in range(split.right + 1, len(right.marks))
    )


def _covering(log: Inventory, offset: int) -> int:
    """Return the index of the batch that has an offset; the number of batches if none does."""
    index = bisect_left(log.offsets, offset, 0, len(log.marks))
    if index < len(log.marks) and log.offsets[index] == offset:
        return index
    return max(index - 1, 0) if offset < log.end else len(log.marks)
