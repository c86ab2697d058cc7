"""Comparing the nodes of a cluster: where two logs hold the same offset, they hold the same batch.

What Raft promises is log matching: two logs that have an entry with the same offset and epoch agree
on everything up to it. Two entries of different epochs at one offset may both exist, as long as the
older one was never committed: a node that stopped before it could truncate its log keeps it.

Kafka: KafkaRaftClient, which truncates a follower to where the logs agree.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from krafla.audit.invariants import LEADER_OF_EPOCH, LOGS_MATCH
from krafla.audit.result import Finding, Weight, evidence_of
from kraft.errors import CorruptRecordError, UnreadableFileError, printable
from kraft.log.text_files import read_quorum_state

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from krafla.audit.inventory import Inventory


class Split(NamedTuple):
    """The first batches in which two logs differ, by their index in either."""

    left: int
    right: int


def split_of(left: Inventory, right: Inventory) -> Split | None:
    """Return where two logs differ first, None if they agree wherever both have batches."""
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
    """Return whether two logs hold the same batches wherever both have some."""
    return split_of(left, right) is None


def compare(inventories: Sequence[Inventory]) -> tuple[Finding, ...]:
    """Return one finding for each log that differs from one before it, naming both files."""
    findings = []
    for index, log in enumerate(inventories):
        for other in inventories[:index]:
            split = split_of(other, log)
            if split is not None:
                findings.append(_divergence(other, log, split))
                break
    return tuple(findings)


def leader_conflicts(inventories: Sequence[Inventory]) -> tuple[Finding, ...]:
    """Return one finding for each epoch that has several leaders, by logs or quorum-state files."""
    said: dict[int, tuple[int, Path]] = {}
    findings: dict[int, Finding] = {}
    for log in inventories:
        named = [(one.epoch, one.node_id, log.path, one.offset) for one in log.leaders]
        for epoch, node, path, offset in (*named, *_by_quorum_state(log)):
            before, where = said.setdefault(epoch, (node, path))
            if before == node:
                continue
            detail = f"node {node} leads epoch {epoch}, by {printable(str(where))} node {before}"
            evidence = evidence_of(LEADER_OF_EPOCH)
            found = Finding(Weight.VIOLATION, LEADER_OF_EPOCH.id, detail, path, None, offset,
                            evidence)  # fmt: skip
            findings.setdefault(epoch, found)
    return tuple(findings.values())


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


def _divergence(left: Inventory, right: Inventory, split: Split) -> Finding:
    offset = max(left.offsets[split.left], right.offsets[split.right])
    epochs = left.epoch_at(split.left), right.epoch_at(split.right)
    what = (
        f"{printable(str(left.path))} and {printable(str(right.path))} differ from offset {offset}"
        f" on: epoch {epochs[0]} and epoch {epochs[1]}"
    )
    older = left if epochs[0] < epochs[1] else right
    if epochs[0] == epochs[1]:
        reason = "the same epoch"
    elif _meet_again(left, right, split):
        reason = "yet a later record has the same offset and epoch in both"
    elif any(checkpoint.end_offset > offset for checkpoint in older.checkpoints):
        reason = f"and {printable(str(older.path))} has committed it, by its checkpoint"
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


def _meet_again(left: Inventory, right: Inventory, split: Split) -> bool:
    """Return whether two logs have a batch of equal offset and epoch behind their split."""
    later = {(left.offsets[i], left.epoch_at(i)) for i in range(split.left + 1, len(left.marks))}
    return any(
        (right.offsets[j], right.epoch_at(j)) in later
        for j in range(split.right + 1, len(right.marks))
    )


def _covering(log: Inventory, offset: int) -> int:
    """Return the index of the batch that holds an offset; behind the last, if none does."""
    index = bisect_left(log.offsets, offset, 0, len(log.marks))
    if index < len(log.marks) and log.offsets[index] == offset:
        return index
    return max(index - 1, 0) if offset < log.end else len(log.marks)
