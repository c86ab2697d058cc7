"""Checkpoints as images: what a history starts from, and what it must agree with on its way.

Kafka: MetadataImage, RecordsSnapshotReader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.image import IMAGE_API_KEYS, Image
from krafla.audit.mapping import STATE_API_KEYS
from krafla.audit.partitions import key_text
from kraft.log.checkpoint import read_checkpoint
from kraft.records.lease import lease_record

if TYPE_CHECKING:
    from pathlib import Path

_WANTED: Final = IMAGE_API_KEYS | STATE_API_KEYS


def image_at(path: Path) -> Image:
    """Return the image that a checkpoint file holds.

    Raises UnreadableFileError, CorruptRecordError and its kinds.
    """
    image = Image()
    for batch in read_checkpoint(path):
        for record in batch.metadata_records(_WANTED):
            if record.api_key in STATE_API_KEYS:
                image.apply_lease(lease_record(record.api_key, record.fields))
            else:
                image.apply_other(record)
    image.partitions.settle()
    return image


def difference(log: Image, checkpoint: Image) -> str | None:
    """Return in a sentence the first thing in which a checkpoint is not the fold of the log."""
    for broker in sorted(log.registrations.keys() | checkpoint.registrations.keys()):
        ours, theirs = log.registrations.get(broker), checkpoint.registrations.get(broker)
        if ours != theirs:
            return (
                f"broker {broker} is {ours or 'not registered'} by the log, {theirs or 'not'} in it"
            )
    for name in sorted(log.features.keys() | checkpoint.features.keys()):
        levels = log.features.get(name, 0), checkpoint.features.get(name, 0)
        if levels[0] != levels[1]:
            return f"feature {name} has level {levels[0]} by the log, {levels[1]} in it"
    if log.partitions.states != checkpoint.partitions.states:
        return _partition_difference(log, checkpoint)
    return None


def _partition_difference(log: Image, checkpoint: Image) -> str:
    ours, theirs = log.partitions.states, checkpoint.partitions.states
    key = min(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
    return f"partition {key_text(key)} is {ours.get(key)} by the log, {theirs.get(key)} in it"
