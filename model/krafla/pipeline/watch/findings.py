"""What a watch finds itself, beside the audit's findings about a history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.audit import checkpoints
from krafla.audit.image_checks import Fault
from krafla.audit.invariants import CHECKPOINT_ALIGNED, LOGS_MATCH
from krafla.audit.result import Finding, Weight, evidence_of
from krafla.audit.snapshots import CHECKPOINT_EPOCH
from krafla.pipeline.watch.cells import label_of

if TYPE_CHECKING:
    from krafla.pipeline.watch.cells import HeldCheckpoint
    from krafla.pipeline.watch.marks import Clash
    from kraft.records.batch import RecordBatch

__all__ = ["cut_back", "end_fault", "not_compared", "older_copy", "other_bytes", "overwritten"]


def end_fault(held: HeldCheckpoint, batch: RecordBatch) -> Finding | None:
    """Return the violation by a checkpoint that does not end where a batch of its epoch ends.

    None also if the checkpoint does not end in this batch.
    """
    if batch.base_offset < held.end < batch.next_offset:
        said = f"the checkpoint ends at offset {held.end}, inside a batch"
        fault = Fault(CHECKPOINT_ALIGNED, said)
    elif held.end == batch.next_offset and held.epoch != batch.leader_epoch:
        said = (
            f"the id has epoch {held.epoch}, but the record at offset {held.end - 1} has epoch"
            f" {batch.leader_epoch}"
        )
        fault = Fault(CHECKPOINT_EPOCH, said)
    else:
        return None
    return checkpoints.fault_finding(fault, label_of(held.path), held.end)


def other_bytes(batch: RecordBatch, clash: Clash) -> Finding:
    """Return the violation by a batch that cannot stand in one log with one that came before."""
    offset, epoch = max(batch.base_offset, clash.first), batch.leader_epoch
    if (clash.first, clash.end) == (batch.base_offset, batch.next_offset):
        said = "has come with other bytes before"
    else:
        said = f"has come before in another batch, of offsets {clash.first} to {clash.end - 1}"
    return _divergence(f"offset {offset} of epoch {epoch} {said}", batch, offset)


def overwritten(batch: RecordBatch, held: HeldCheckpoint) -> Finding:
    """Return the violation by a batch of a later epoch in the place of a committed one."""
    return _divergence(
        f"epoch {batch.leader_epoch} has another batch at offset {batch.base_offset}, which was"
        f" committed by the checkpoint that ends at {held.end} in epoch {held.epoch}",
        batch,
        batch.base_offset,
    )


def cut_back(batch: RecordBatch, reached: int) -> Finding:
    """Return the note that a batch stands in the place of others, which were cut off."""
    offset = batch.base_offset
    detail = (
        f"offsets {offset} to {reached - 1} were cut off: epoch {batch.leader_epoch} has others"
        " there"
    )
    return Finding(Weight.NOTE, "cut back", detail, batch.path, None, offset)


def older_copy(batch: RecordBatch, epoch: int) -> Finding:
    """Return the note that a batch is older than what was judged there, in an epoch."""
    offset = batch.base_offset
    detail = (
        f"a batch of epoch {batch.leader_epoch} comes at offset {offset}, where the log has been"
        f" in epoch {epoch}: an older copy, not judged"
    )
    return Finding(Weight.NOTE, "older copy", detail, batch.path, None, offset)


def not_compared(batch: RecordBatch, folder: str) -> Finding:
    """Return the doubt that nothing is known any more of what others have at a batch's offset."""
    offset = batch.base_offset
    detail = (
        f"the batch at offset {offset}, and perhaps others, came too late to be compared with those"
        " of other directories: audit the cluster"
    )
    return Finding(Weight.INCONCLUSIVE, "not compared", detail, label_of(folder), None, offset)


def _divergence(detail: str, batch: RecordBatch, offset: int) -> Finding:
    evidence = evidence_of(LOGS_MATCH)
    place = (batch.path, batch.position, offset)
    return Finding(Weight.VIOLATION, "divergence", detail, *place, evidence)
