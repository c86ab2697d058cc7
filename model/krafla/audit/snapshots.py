"""Checks of checkpoint files: epochs of ids, records missing before a log, equal images.

The id of a checkpoint is the offset that it ends before, and the epoch of the record before that.

Kafka: KafkaMetadataLog.createNewSnapshot, SnapshotGenerator.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from krafla.audit import checkpoints
from krafla.audit.compare import agrees
from krafla.audit.image_checks import Fault
from krafla.audit.invariants import CHECKPOINTS_EQUAL
from krafla.audit.inventory import unreadable
from krafla.audit.result import Finding, Invariant, Weight, evidence_of
from kraft.errors import CorruptRecordError, UnreadableFileError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from krafla.audit.inventory import Inventory
    from kraft.log.checkpoint import Checkpoint

CHECKPOINT_EPOCH: Final = Invariant(
    "S1",
    "KIP-630; Kafka: KafkaMetadataLog.createNewSnapshot",
)
NODE_STARTS: Final = Invariant(
    "S2",
    "KIP-630; Kafka: KafkaMetadataLog.recoverSnapshots",
)


def id_findings(members: Sequence[Inventory]) -> dict[Path, list[Finding]]:
    """Return, by directory, the violations by checkpoints whose ids have a wrong epoch.

    A log tells the epoch of an offset that it has: the node's own, or one that agrees with it.
    Beyond that, epochs do not fall from one checkpoint to the next, to the log and after it, and
    an offset has one epoch on all nodes.
    """
    found: dict[Path, list[Finding]] = {member.path: [] for member in members}
    known: dict[int, Checkpoint] = {}
    for member in members:
        floor = 0
        for checkpoint in member.checkpoints:
            said = _epoch_objection(member, checkpoint, members, floor)
            other = known.setdefault(checkpoint.end_offset, checkpoint)
            if said is None and checkpoint.epoch != other.epoch:
                said = (
                    f"epoch {checkpoint.epoch}, but {other.epoch} in {printable(str(other.path))}"
                )
            if said is not None:
                fault = Fault(CHECKPOINT_EPOCH, f"the id has {said}")
                offset = checkpoint.end_offset
                found[member.path].append(checkpoints.fault_finding(fault, checkpoint.path, offset))
            floor = max(floor, checkpoint.epoch)
    return found


def with_fetched(members: Sequence[Inventory]) -> tuple[Inventory, ...]:
    """Return logs with the checkpoints that each fetched although its tail was never committed.

    A follower keeps a fetched checkpoint before it drops its log. If it stops between the two, the
    old tail stands beside a checkpoint of a later epoch, and its next start drops the log. Another
    log, which differs, shows that the checkpoint is its own.

    Kafka: KafkaMetadataLog.truncateToLatestSnapshot.
    """
    return tuple(
        replace(
            member,
            fetched=tuple(
                one
                for one in member.checkpoints
                if member.marks
                and one.epoch > member.epoch_at(len(member.marks) - 1)
                and any(has(log, one) and not agrees(member, log) for log in members)
            ),
        )
        for member in members
    )


def has(log: Inventory, checkpoint: Checkpoint) -> bool:
    """Return whether a log shows that a checkpoint is its own: by a record or another copy."""
    end, epoch = checkpoint.end_offset, checkpoint.epoch
    if not log.marks or log.epoch_at(len(log.marks) - 1) < epoch:
        return False
    if log.first < end <= log.end:
        return log.epoch_of(end - 1) == epoch
    return any((one.end_offset, one.epoch) == (end, epoch) for one in log.checkpoints)


def start_finding(member: Inventory) -> Finding:
    """Return the violation by a log that starts after the end of its newest checkpoint."""
    newest = max((one.end_offset for one in member.checkpoints), default=0)
    held = f"the newest checkpoint ends at offset {newest}" if newest else "there is no checkpoint"
    detail = (
        f"the node cannot start: the log starts at offset {member.first}, and {held}; the records"
        f" of offsets {newest} to {member.first - 1} are missing"
    )
    evidence = evidence_of(NODE_STARTS)
    return Finding(
        Weight.VIOLATION, NODE_STARTS.id, detail, member.path, None, member.first, evidence
    )


def unequal(members: Sequence[Inventory], compared: frozenset[Path]) -> Iterator[Finding]:
    """Yield the violations by checkpoints of one id whose images differ from node to node.

    `compared` are those that a history has compared with its image. Checkpoints before the
    whole log are left out: nodes are formatted one by one.
    """
    first: dict[tuple[int, int], Checkpoint] = {}
    for checkpoint in (one for member in members for one in member.log.checkpoints):
        other = first.setdefault((checkpoint.end_offset, checkpoint.epoch), checkpoint)
        both = {checkpoint.path, other.path} <= compared
        if other is not checkpoint and checkpoint.end_offset and not both:
            found = _difference(other, checkpoint)
            if found is not None:
                yield found


def _difference(one: Checkpoint, other: Checkpoint) -> Finding | None:
    try:
        if one.path.read_bytes() == other.path.read_bytes():
            return None
        images = [checkpoints.read(each.path).image for each in (one, other)]
    except OSError:
        return None  # the directory has a finding about the file
    except (CorruptRecordError, UnreadableFileError) as error:
        return unreadable(error)
    found = checkpoints.difference(images[0], images[1])
    if found is None:
        return None
    said = f'unlike {printable(str(one.path))} ("the log"): {found[1]}'
    return checkpoints.fault_finding(Fault(CHECKPOINTS_EQUAL, said), other.path, other.end_offset)


def _epoch_objection(
    member: Inventory, checkpoint: Checkpoint, members: Sequence[Inventory], floor: int
) -> str | None:
    end, epoch = checkpoint.end_offset, checkpoint.epoch
    for log in (member, *(other for other in members if agrees(member, other))):
        if log.marks and log.first < end <= log.end:
            there = log.epoch_of(end - 1)
            if there != epoch:
                return f"epoch {epoch}, but the record at offset {end - 1} has epoch {there}"
            return None
    if epoch < floor:
        return f"epoch {epoch}, after a checkpoint of epoch {floor}"
    if member.marks and end <= member.first and epoch > member.epoch_at(0):
        return f"epoch {epoch}, but the log goes on in epoch {member.epoch_at(0)}"
    if member.marks and end > member.end and epoch < member.epoch_at(len(member.marks) - 1):
        return f"epoch {epoch}, but the log before it is in a later epoch"
    return None
