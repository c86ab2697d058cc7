"""The start of a log's history: offset 0, or the first checkpoint that the log continues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.audit import checkpoints
from krafla.audit.image import Image
from krafla.audit.invariants import CHECKPOINT_ALIGNED
from krafla.audit.inventory import unreadable
from krafla.audit.result import Finding, Weight, evidence_of
from krafla.audit.snapshots import start_finding
from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.log.text_files import read_quorum_state

if TYPE_CHECKING:
    from krafla.audit.inventory import Inventory
    from kraft.log.checkpoint import Checkpoint

FORMATTED: Final = "freshly formatted"


class Start(NamedTuple):
    """The first offset at which a log's state is known; `checkpoint` is None for no image."""

    offset: int
    checkpoint: Checkpoint | None
    image: Image


def start_of(
    member: Inventory, findings: list[Finding], first: Checkpoint | None = None
) -> Start | None:
    """Return the start of a log's history; None if it has no records, or no state is known.

    `first` is the cluster's checkpoint before the whole log, if a node has one.
    """
    _check_ends(member, findings)
    if not member.marks:
        findings += _without_records(member, findings)
        return None
    if member.first == 0:
        image = None if first is None else _image(first, findings)
        return Start(0, None, Image()) if image is None else Start(0, first, image)
    for checkpoint in member.checkpoints:
        if member.first <= checkpoint.end_offset <= member.end:
            image = _image(checkpoint, findings)
            if image is not None:
                _note_skipped(member, checkpoint, findings)
                return Start(checkpoint.end_offset, checkpoint, image)
    is_short = any(checkpoint.end_offset > member.end for checkpoint in member.checkpoints)
    if is_short or member.fetched:
        why = "ends before" if is_short else "is older than"
        detail = f"the log {why} the newest checkpoint; a start drops it (KafkaMetadataLog)"
        findings.append(Finding(Weight.NOTE, "not judged", detail, member.path))
    elif not any(checkpoint.end_offset >= member.first for checkpoint in member.checkpoints):
        findings.append(start_finding(member))
    return None


def first_checkpoint(member: Inventory) -> Checkpoint | None:
    """Return a node's checkpoint before the whole log, as formatting writes it.

    It names the voters of a dynamic quorum (KIP-853), and the features (KIP-1170).
    """
    return next((one for one in member.checkpoints if one.end_offset == 0), None)


def images_of(member: Inventory) -> int:
    """Return how many checkpoints of a log without a history are judged as images."""
    return sum(one.end_offset > 0 for one in member.log.checkpoints)


def _without_records(member: Inventory, findings: list[Finding]) -> list[Finding]:
    """Return what is to be said about a log without records."""
    if images_of(member) or any(f.weight is Weight.UNREADABLE for f in findings):
        return []
    epoch = 0 if member.log.quorum_state is None else _epoch(member)
    formatted = member.log.meta_properties is not None or member.checkpoints
    if formatted and not member.torn and epoch == 0:
        detail = "a node that was formatted and has fetched no record yet"
        return [Finding(Weight.NOTE, FORMATTED, detail, member.path)]
    reason = f", though the node has been in epoch {epoch}" if epoch else ""
    detail = f"no record to judge: the log was never written{reason}"
    return [_doubt(member, "empty log", detail)]


def _epoch(member: Inventory) -> int:
    assert member.log.quorum_state is not None, "the node has the file"
    try:
        return read_quorum_state(member.log.quorum_state).leader_epoch
    except (CorruptRecordError, UnreadableFileError):
        return -1


def _image(checkpoint: Checkpoint, findings: list[Finding]) -> Image | None:
    """Return the image of a checkpoint, and append what it breaks by itself to the findings."""
    try:
        image, faults = checkpoints.read(checkpoint.path, judge=True)
    except (CorruptRecordError, UnreadableFileError) as error:
        findings.append(unreadable(error))
        return None
    for fault in faults:
        found = checkpoints.fault_finding(fault, checkpoint.path, checkpoint.end_offset)
        if found not in findings:
            findings.append(found)
    return image


def _note_skipped(member: Inventory, checkpoint: Checkpoint, findings: list[Finding]) -> None:
    if checkpoint.end_offset > member.first:
        skipped = f"offsets {member.first} to {checkpoint.end_offset - 1}"
        detail = f"{skipped} precede the oldest checkpoint"
        findings.append(Finding(Weight.NOTE, "not judged", detail, member.path))


def _check_ends(member: Inventory, findings: list[Finding]) -> None:
    """Check that checkpoints end at batch ends; judge the checkpoints that no history compares."""
    for checkpoint in member.fetched:
        _image(checkpoint, findings)
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


def _doubt(member: Inventory, kind: str, detail: str) -> Finding:
    return Finding(Weight.INCONCLUSIVE, kind, detail, member.path)
