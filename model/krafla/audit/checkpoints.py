"""Checkpoints as images: a history starts from one, and is compared with later ones.

Kafka: MetadataImage, RecordsSnapshotReader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.audit.directories import MIGRATING, NOT_NAMED_YET, led_in_lost_directories
from krafla.audit.image import IMAGE_API_KEYS, NO_MIGRATION, Image
from krafla.audit.image_checks import (
    CHANGE_API_KEYS,
    Fault,
    changing_fault,
    described,
    dictated,
    image_faults,
    order_faults,
    record_faults,
    written_faults,
)
from krafla.audit.invariants import (
    LEADER_EPOCH,
    ONE_LEADER_AN_EPOCH,
    PARTITION_EPOCH,
    PARTITIONS_STAY,
    REGISTERED_ONCE,
)
from krafla.audit.invariants_log import LOG_INVARIANTS, OLD_BEGINNING, VERSION_FIRST
from krafla.audit.invariants_topics import TOPIC_ABORTED
from krafla.audit.mapping import STATE_API_KEYS
from krafla.audit.partitions import key_of, key_text
from krafla.audit.releases import signs_of
from krafla.audit.result import Finding, Weight, evidence_of
from kraft.log.checkpoint import read_checkpoint
from kraft.records.lease import lease_record
from kraft.records.limits import MAX_RECORDS_PER_BATCH
from kraft.records.metadata_schemas import (
    ABORT_TRANSACTION,
    BEGIN_TRANSACTION,
    END_TRANSACTION,
    PARTITION,
    REGISTER_BROKER,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from krafla.audit.partition_state import PartitionState
    from krafla.audit.releases import ReleaseSigns
    from krafla.audit.result import Invariant
    from kraft.records.record import MetadataRecord

_UNASSIGNED_UNTIL: Final = "3.7"
"""The last release that may give a replica without a directory UNASSIGNED (KAFKA-16583)."""
_WANTED: Final = IMAGE_API_KEYS | STATE_API_KEYS | CHANGE_API_KEYS
_TRANSACTION: Final = frozenset(
    {BEGIN_TRANSACTION.api_key, END_TRANSACTION.api_key, ABORT_TRANSACTION.api_key}
)
BEFORE_ALL: Final = f"{0:020d}-"
"""The beginning of the name of a checkpoint that stands before the whole log."""


class CheckpointImage(NamedTuple):
    """The image of a checkpoint, and the invariants that the checkpoint breaks by itself."""

    image: Image
    faults: tuple[Fault, ...]


def read(path: Path, *, judge: bool = False) -> CheckpointImage:
    """Return the image of a checkpoint file.

    With `judge`, the image is asked all that it can be asked without a log; else only what no
    comparison with a log shows. Raises UnreadableFileError, or CorruptRecordError or a subclass.
    """
    image = Image()
    faults: dict[str, Fault] = {}
    named: set[tuple[object, ...]] = set()
    partitions: dict[bytes, MetadataRecord] = {}
    before: MetadataRecord | None = None
    for batch in read_checkpoint(path):
        for fault in written_faults(batch):
            faults.setdefault(fault.invariant.id, fault)
        for record in batch.metadata_records(None if judge else _WANTED):
            lease = None
            if record.api_key in STATE_API_KEYS:
                lease = lease_record(record.api_key, record.fields)
            asked = record_faults(image, record, lease) if judge else dictated(image, record)
            placed = (*_misplaced(image, record), *order_faults(record, before))
            for fault in (*placed, *described(image, record, named), *asked):
                faults.setdefault(fault.invariant.id, fault)
            before = record
            if lease is not None:
                image.apply_lease(lease)
                image.copies_unsaid |= bool(record.fields.get("isMigratingZkBroker"))
            elif record.api_key in IMAGE_API_KEYS and record.api_key not in _TRANSACTION:
                image.apply_other(record)
            if judge and record.api_key == PARTITION.api_key:
                partitions[key_of(record.fields)] = record
    # The checkpoint that formats a dynamic quorum has the voters and no metadata records.
    if image.metadata_version is None and not path.name.startswith(BEFORE_ALL):
        faults["L2"] = Fault(
            VERSION_FIRST, f"the checkpoint names no metadata version: {OLD_BEGINNING}"
        )
    image.partitions.settle()
    image.copies_in_1 = False  # a checkpoint names a state from Kafka 3.5 on
    _excuse_brokers(image)
    if judge:
        for fault in image_faults(image, partitions):
            faults.setdefault(fault.invariant.id, fault)
    return CheckpointImage(image, tuple(faults.values()))


def _misplaced(image: Image, record: MetadataRecord) -> Iterator[Fault]:
    """Yield what is wrong with a record that stands in a checkpoint."""
    if record.api_key == REGISTER_BROKER.api_key:
        broker = record.fields["brokerId"]
        if broker in image.registrations:
            yield Fault(REGISTERED_ONCE, f"broker {broker} is registered twice", record)
    if record.api_key in _TRANSACTION:
        yield Fault(LOG_INVARIANTS[0], "a checkpoint has a transaction", record)
    changing = changing_fault(record)
    if changing is not None:
        yield changing


def _excuse_brokers(image: Image) -> None:
    """Excuse the brokers of a checkpoint that may lead although they look inactive.

    Every fenced broker counts as one whose new incarnation replaced an unfenced one: a checkpoint
    does not tell them apart, and before eligible leader replicas such a broker stays in the ISR and
    leads until it is fenced or unfenced again (KAFKA-18106). It may have come back without a
    directory that it leads in, and leads there after it is unfenced, too. With more partitions than
    fit in a batch, a checkpoint may be taken within a controlled shutdown, because Kafka cuts that
    operation (QuorumController), or after a failover that broke it off.
    """
    if not image.elr_enabled:
        image.astray = led_in_lost_directories(
            image.partitions.states.values(), image.registrations
        )
    image.displaced |= {b for b, registered in image.registrations.items() if registered.fenced}
    if len(image.partitions.states) >= MAX_RECORDS_PER_BATCH:
        leaving = {b for b, r in image.registrations.items() if r.in_controlled_shutdown}
        image.left_over |= leaving


def fault_finding(fault: Fault, path: Path, offset: int) -> Finding:
    """Return the finding about a checkpoint that ends at an offset: a violation, or L2's doubt."""
    from krafla.audit.redact import record_text  # only where something is wrong

    record = fault.record
    return Finding(
        Weight.INCONCLUSIVE if fault.invariant is VERSION_FIRST else Weight.VIOLATION,
        fault.invariant.id,
        fault.said,
        path,
        None if record is None else record.position,
        offset,
        evidence_of(fault.invariant, None if record is None else record_text(record)),
        known_bug=fault.known_bug,
    )


def difference(
    log: Image, checkpoint: Image, *, continued: bool = True, signs: ReleaseSigns | None = None
) -> tuple[Invariant | None, str] | None:
    """Return the first difference between a log's image and a checkpoint's, in a sentence.

    The invariant is None unless a specific one forbids the difference. `continued` says that the
    log's image began with a checkpoint's; `signs` are those of all releases that wrote the log,
    those of the two images unless given.
    """
    for broker in sorted(log.registrations.keys() | checkpoint.registrations.keys()):
        ours, theirs = log.registrations.get(broker), checkpoint.registrations.get(broker)
        if ours != theirs:
            return None, (
                f"broker {broker} is {ours or 'not registered'} by the log,"
                f" {theirs or 'not registered'} in the checkpoint"
            )
    for name in sorted(log.features.keys() | checkpoint.features.keys()):
        levels = log.features.get(name, 0), checkpoint.features.get(name, 0)
        if levels[0] != levels[1]:
            said = f"{levels[0]} by the log, {levels[1]} in the checkpoint"
            return None, f"feature {name} has level {said}"
    migration = _migration_difference(log, checkpoint, continued=continued)
    if migration is not None:
        return None, migration
    for topic in sorted(checkpoint.entities.topic_names):
        if topic in log.entities.aborted_topics and topic not in log.entities.topic_names:
            said = f"topic {checkpoint.entities.topic_names[topic]} was created in a transaction"
            return TOPIC_ABORTED, f"{said} that was aborted"
    signs = signs_of(log) | signs_of(checkpoint) if signs is None else signs
    given = NOT_NAMED_YET if signs.reach_back_to(_UNASSIGNED_UNTIL) else frozenset({MIGRATING})
    found = _partition_difference(log, checkpoint, given)
    if found is None:
        other = log.entities.difference(checkpoint.entities)
        return None if other is None else (None, other)
    return found


def _migration_difference(log: Image, checkpoint: Image, *, continued: bool) -> str | None:
    """Return the difference of the states of a migration from ZooKeeper, if it is one.

    Kafka 3.4 and 4.x write no state into a checkpoint, and a node that restarts from one goes on
    with 0. So 0 in a checkpoint, and after one, may be any state.

    Kafka: FeaturesImage.write.
    """
    ours, theirs = log.zk_migration, checkpoint.zk_migration
    if ours is None or theirs in (None, NO_MIGRATION, ours):
        return None
    if ours == NO_MIGRATION and continued:
        return None
    return f"the migration from ZooKeeper is in state {ours} by the log, {theirs} in the checkpoint"


def _partition_difference(
    log: Image, checkpoint: Image, given: frozenset[str]
) -> tuple[Invariant | None, str] | None:
    """Return the first difference of the partitions, as `difference`.

    `given` are the directories that a checkpoint may name of replicas whose record names none.
    """
    ours, theirs = log.partitions, checkpoint.partitions
    keys = (
        sorted(ours.states.keys() | theirs.states.keys())
        if ours.states.keys() != theirs.states.keys()
        else ours.states
    )
    different = [
        key
        for key in keys
        if not _same(ours.states.get(key), theirs.states.get(key), given)
        or ours.epochs(key) != theirs.epochs(key)
    ]
    if not different:
        return None
    key = min(different)
    before, after = ours.states.get(key), theirs.states.get(key)
    said = f"partition {key_text(key)} is {before} by the log, {after} in the checkpoint"
    if before is None or after is None:
        missing = after is None and key[4:] in checkpoint.entities.topic_names
        return PARTITIONS_STAY if missing else None, said
    epochs, found = ours.epochs(key), theirs.epochs(key)
    if before.leader != after.leader and epochs.leader == found.leader:
        return ONE_LEADER_AN_EPOCH, f"{said}; leader epoch {epochs.leader} in both"
    if not _same(before, after, given):
        return None, said
    if epochs.leader != found.leader:
        numbers = f"{epochs.leader} by the log, {found.leader} in the checkpoint"
        return LEADER_EPOCH, f"the leader epoch of partition {key_text(key)} is {numbers}"
    numbers = f"{epochs.partition} by the log, {found.partition} in the checkpoint"
    return PARTITION_EPOCH, f"the partition epoch of partition {key_text(key)} is {numbers}"


def _same(log: PartitionState | None, saved: PartitionState | None, given: frozenset[str]) -> bool:
    if log == saved or log is None or saved is None:
        return log == saved
    return _named_later(log, saved, given) and log == saved._replace(directories=())


def _named_later(log: PartitionState, saved: PartitionState, given: frozenset[str]) -> bool:
    """Return whether the checkpoint has directories of replicas whose record names none.

    A checkpoint has them from metadata version 3.7-IV2 on, the record in the log may be older. Each
    is MIGRATING; Kafka 3.7.0 gives a replica that a change adds UNASSIGNED (KAFKA-16583).

    Kafka: PartitionRegistration.defaultToMigrating, DirectoryId.createDirectoriesFrom.
    """
    if log.directories:
        return False
    return len(saved.directories) == len(log.replicas) and given.issuperset(saved.directories)
