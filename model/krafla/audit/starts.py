"""The start of a log's history: offset 0, or the first checkpoint that the log continues."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from krafla.audit import checkpoints
from krafla.audit.image import Image
from krafla.audit.invariants import CHECKPOINT_ALIGNED
from krafla.audit.inventory import unreadable
from krafla.audit.result import Finding, Weight, evidence_of
from kraft.errors import CorruptRecordError, UnreadableFileError

if TYPE_CHECKING:
    from krafla.audit.inventory import Inventory
    from kraft.log.checkpoint import Checkpoint


class Start(NamedTuple):
    """The first offset at which a log's state is known; `checkpoint` is None at offset 0."""

    offset: int
    checkpoint: Checkpoint | None
    image: Image


def start_of(member: Inventory, findings: list[Finding]) -> Start | None:
    """Return the start of a log's history; None, with a finding, if no state is known."""
    _check_ends(member, findings)
    if not member.marks:
        if not any(f.weight is Weight.UNREADABLE for f in findings):
            reason = "only checkpoints" if member.checkpoints else "the log was never written"
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
    reason = f"the log starts at offset {member.first}, and no checkpoint holds the state there"
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
    """Check that checkpoints end at batch ends; read the checkpoints that no history compares."""
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
