"""What a history asks about a batch, a change or a checkpoint: the answers, without its state."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from krafla.audit import checkpoints
from krafla.audit.invariants import (
    CHECKPOINT_ALIGNED,
    PARTITION_EXISTS,
    REPLICAS_REGISTERED,
    Invariant,
    evidence_of,
    replicas_objection,
)
from krafla.audit.invariants_log import version_objection
from krafla.audit.invariants_partitions import CHANGE_INVARIANTS, Transition, state_objections
from krafla.audit.invariants_reassignment import REASSIGNMENT_INVARIANTS
from krafla.audit.invariants_topics import TOPIC_ABORTED, TOPIC_REMOVED
from krafla.audit.inventory import unreadable
from krafla.audit.mapping import STATE_API_KEYS
from krafla.audit.partitions import key_of, key_text
from krafla.audit.result import Finding, Weight
from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.records.metadata_schemas import PARTITION, PARTITION_CHANGE

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.audit.image import Image
    from krafla.audit.partitions import Objections
    from kraft.records.batch import RecordBatch
    from kraft.records.record import MetadataRecord

_CHANGES: Final = (*REASSIGNMENT_INVARIANTS, *CHANGE_INVARIANTS)


def change_objections(transition: Transition) -> Objections:
    """Return the invariants that a PartitionChangeRecord breaks, and how."""
    before, after, image = transition.before, transition.after, transition.image
    if before.replicas != after.replicas:
        said = replicas_objection(image, before.replicas, after.replicas)
        if said is not None:
            return ((REPLICAS_REGISTERED, said),)
    asked = ((invariant, invariant.objection(transition)) for invariant in _CHANGES)
    found = tuple((invariant, said) for invariant, said in asked if said is not None)
    return (*found, *state_objections(after, image))


def lost(image: Image, key: bytes) -> Invariant:
    """Return which invariant a change of a partition breaks that is not there."""
    if key[4:] in image.entities.removed_topics:
        return TOPIC_REMOVED
    return TOPIC_ABORTED if key[4:] in image.entities.aborted_topics else PARTITION_EXISTS


def wrong_version(
    batch: RecordBatch,
    counts: dict[tuple[int, int], int],
    versions: tuple[int | None, int | None],
) -> tuple[MetadataRecord, str] | None:
    """Return a batch's first record of a wrong type or version, and what is wrong; else None.

    `counts` has the batch's types and versions, `versions` the metadata versions behind and before
    it: a batch that changes the version may have what either says.
    """
    wrong = {
        type_
        for type_ in counts
        if all(version_objection(*type_, version) is not None for version in versions)
    }
    if not wrong:
        return None
    record = next(r for r in batch.metadata_records() if (r.api_key, r.version) in wrong)
    return record, version_objection(record.api_key, record.version, versions[0]) or "wrong"


def compared(image: Image, path: Path, offset: int, whole: Invariant) -> list[Finding]:
    """Return what is wrong with a checkpoint that ends where a log has led to this image.

    `whole` is the invariant it breaks where no other speaks of the difference.
    """
    try:
        read, faults = checkpoints.read(path)
    except (CorruptRecordError, UnreadableFileError) as error:
        return [unreadable(error)]
    if image.before_transaction() is not None:
        faults = (*faults, (CHECKPOINT_ALIGNED, "the checkpoint ends inside a transaction"))
    found = checkpoints.difference(image, read)
    if found is not None:
        faults = (*faults, (found[0] or whole, found[1]))
    return [
        Finding(
            Weight.VIOLATION,
            invariant.id,
            said,
            path,
            offset=offset,
            evidence=evidence_of(invariant),
        )
        for invariant, said in faults
    ]


def blamed(finding: Finding, key: bytes, batch: RecordBatch) -> Finding:
    """Return a finding about a partition with its place: the record, if this batch has it."""
    from krafla.audit.record_text import record_text  # only where something is wrong

    detail = f"partition {key_text(key)}: {finding.detail}"
    changes = batch.metadata_records(frozenset({PARTITION_CHANGE.api_key}))
    record = next((r for r in changes if r.offset == finding.offset), None)
    if record is None or finding.evidence is None:
        return replace(finding, detail=detail, path=batch.path, position=None)
    evidence = replace(finding.evidence, record=record_text(record))
    return replace(finding, detail=detail, path=batch.path, position=record.position,
                   evidence=evidence)  # fmt: skip


def responsible(batch: RecordBatch, key: bytes) -> MetadataRecord | None:
    """Return the last record of a batch that changes a partition, else a broker; None if none."""
    of_brokers = None
    of_partition = None
    wanted = frozenset({PARTITION.api_key, PARTITION_CHANGE.api_key}) | STATE_API_KEYS
    for record in batch.metadata_records(wanted):
        if record.api_key in STATE_API_KEYS:
            of_brokers = record
        elif key == key_of(record.fields):
            of_partition = record
    return of_partition or of_brokers
