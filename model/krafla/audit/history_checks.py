"""The checks of a history: the violations of a record, a change, a batch or a checkpoint."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from krafla.audit import checkpoints
from krafla.audit.directories import directory_online, offline_leader
from krafla.audit.image_checks import Fault
from krafla.audit.invariants import (
    CHECKPOINT_ALIGNED,
    CHECKPOINT_CONTINUED,
    CHECKPOINT_REPLAYED,
    CHECKPOINTS_EQUAL,
    LEADER_ACTIVE,
    LEADER_ONLINE,
    PARTITION_EXISTS,
    REPLICAS_REGISTERED,
    PartitionInvariant,
    Subject,
    inactive_leader,
    partition_objections,
    replicas_objection,
)
from krafla.audit.invariants_features import DEPENDENCIES_MET, dependency_objection
from krafla.audit.invariants_log import (
    VERSION_FIRST,
    VERSIONS_DICTATED,
    beginning_objection,
    version_objection,
)
from krafla.audit.invariants_partitions import CHANGE_INVARIANTS, Transition
from krafla.audit.invariants_reassignment import REASSIGNMENT_INVARIANTS
from krafla.audit.invariants_states import state_objections
from krafla.audit.invariants_topics import BATCH_INVARIANTS, TOPIC_ABORTED, TOPIC_REMOVED
from krafla.audit.invariants_written import (
    CHANGE_NAMES_CHANGES,
    FRAMES_WRITTEN,
    HEADER_WRITTEN,
    frame_objection,
    header_objection,
)
from krafla.audit.inventory import unreadable
from krafla.audit.lease_steps import broken_by_unmappable
from krafla.audit.mapping import SPEC, STATE_API_KEYS
from krafla.audit.partition_state import state_of
from krafla.audit.partitions import key_of, key_text
from krafla.audit.registry import RECORD_INVARIANTS
from krafla.audit.releases import bug_of_change, bug_of_election, bug_of_last_known, signs_of
from krafla.audit.result import Finding, Invariant, Weight, evidence_of
from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.records.metadata_schemas import (
    BEGIN_TRANSACTION,
    DELEGATION_TOKEN,
    PARTITION,
    PARTITION_CHANGE,
    USER_SCRAM_CREDENTIAL,
)
from kraft.records.record import ControlRecord

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from krafla.audit.history_state import HistoryState
    from krafla.audit.image import Image
    from krafla.audit.noted_changes import PlacedBatch
    from krafla.audit.partitions import Objections, Refusal
    from krafla.audit.releases import Bugs
    from kraft.records.batch import RecordBatch
    from kraft.records.lease import LeaseRecord
    from kraft.records.record import MetadataRecord

_CHANGES: Final = (*REASSIGNMENT_INVARIANTS, *CHANGE_INVARIANTS, CHANGE_NAMES_CHANGES)
_COPIED: Final = frozenset(
    (schema.api_key, 0) for schema in (PARTITION, USER_SCRAM_CREDENTIAL, DELEGATION_TOKEN)
)
"""A migration from ZooKeeper writes these at any metadata version. Kafka: ZkMigrationClient."""
_OPENED: Final = (BEGIN_TRANSACTION.api_key, 0)
_ONE_ACTION: Final = Invariant(f"{SPEC}!Next", SPEC)


def record_violations(
    state: HistoryState, record: MetadataRecord, lease: LeaseRecord | None
) -> Iterator[Finding]:
    """Yield the violations of a record; `lease` is the decoded record if it is of the lease."""
    subject = Subject(state.image, record, lease, state.begins)
    for invariant in RECORD_INVARIANTS.get(record.api_key, ()):
        objection = invariant.objection(subject)
        if objection is not None:
            yield violation(state, invariant, objection, record)


def unmodelled_lease_record(state: HistoryState, record: MetadataRecord, reason: str) -> Finding:
    """Return the violation that a record of the lease is no single action of the spec."""
    found = violation(state, _ONE_ACTION, reason, record)
    assert found.evidence is not None, "a violation has evidence"
    return replace(found, evidence=replace(found.evidence, invariants=broken_by_unmappable(reason)))


def unmodelled_abort(state: HistoryState, record: MetadataRecord) -> Finding:
    """Return the finding that no spec models an aborted change of registrations."""
    return Finding(
        Weight.INCONCLUSIVE,
        "not modelled",
        "an aborted transaction changes registrations, which the spec does not model",
        state.path,
        record.position,
        record.offset,
    )


def new_partition_violations(state: HistoryState, record: MetadataRecord) -> Iterator[Finding]:
    """Yield the violations of the partition that a PartitionRecord describes."""
    objection = replicas_objection(state.image, (), record.fields["replicas"])
    if objection is not None:
        yield violation(state, REPLICAS_REGISTERED, objection, record)
        return
    for invariant, said in state_objections(state_of(record.fields), state.image):
        yield violation(state, invariant, said, record)


def refusal_violations(
    state: HistoryState, batch: RecordBatch, refusal: Refusal
) -> Iterator[Finding]:
    """Yield the violations of the PartitionChangeRecord that was refused."""
    (record,) = (
        r
        for r in batch.metadata_records(frozenset({PARTITION_CHANGE.api_key}))
        if r.offset == batch.base_offset + refusal.record_index
    )
    key = key_of(record.fields)
    if not refusal.objections:
        said = f"there is no partition {key_text(key)}"
        yield violation(state, _missing_partition_invariant(state.image, key), said, record)
    for invariant, objection in refusal.objections:
        yield violation(state, invariant, f"partition {key_text(key)}: {objection}", record)


def creation_violations(state: HistoryState) -> Iterator[Finding]:
    """Yield the violations of the topics and partitions that a whole batch created.

    A migration copies a topic in several batches, its partitions in any order.
    """
    if state.image.is_copying:
        return
    for invariant in BATCH_INVARIANTS:
        found = invariant.objection(state.created, state.image)
        if found is not None:
            yield violation(state, invariant, found[1], found[0])


def beginning_doubts(state: HistoryState, batch: RecordBatch) -> Iterator[Finding]:
    """Yield the finding, if any, that a log begins without a metadata version."""
    objection = beginning_objection(state.image) if state.begins else None
    if objection is not None:
        found = _violation_of_batch(state, VERSION_FIRST, objection, batch)
        yield replace(found, weight=Weight.INCONCLUSIVE)


def written_violations(
    state: HistoryState, batch: RecordBatch, *, is_unusual: bool
) -> Iterator[Finding]:
    """Yield the violation, if any, by header or frames that Kafka does not write.

    Unless a batch `is_unusual`, its frames were read in the one form that Kafka writes.
    """
    said = header_objection(batch)
    if said is not None:
        yield _violation_of_batch(state, HEADER_WRITTEN, said, batch)
    elif is_unusual or batch.is_control:
        found = frame_objection(batch)
        record, said = found or (None, "")
        if isinstance(record, ControlRecord):
            of_batch = _violation_of_batch(state, FRAMES_WRITTEN, said, batch)
            yield replace(of_batch, position=record.position, offset=record.offset)
        elif record is not None:
            yield violation(state, FRAMES_WRITTEN, said, record)


def feature_violations(state: HistoryState) -> list[Finding]:
    """Return the violation, if any, of the dependencies of the features that a batch changed.

    The records of one update stand in any order, and bootstrap records in one transaction.
    """
    if not state.features or state.image.before_transaction() is not None:
        return []
    changed, state.features = state.features, {}
    for name in sorted(state.image.features):
        said = dependency_objection(state.image, name)
        if said is not None:
            last = max(changed.values(), key=lambda record: record.offset)
            return [violation(state, DEPENDENCIES_MET, said, changed.get(name, last))]
    return []


def version_violations(
    state: HistoryState, batch: RecordBatch, counts: dict[tuple[int, int], int]
) -> list[Finding]:
    """Return the violation, if any, of a batch's first record of a wrong type or version.

    `counts` has the batch's types and versions. A batch that changes the metadata version may hold
    records of the old and of the new one. The transaction that begins a log names its version, so
    the record that opens it comes first.
    """
    versions = (state.image.metadata_version, state.metadata_version)
    wrong = {
        type_
        for type_ in counts
        if all(version_objection(*type_, version) is not None for version in versions)
    }
    if state.image.is_copying:
        wrong -= _COPIED
    if state.begins and versions[0] is None:
        wrong.discard(_OPENED)
    if not wrong:
        return []
    record = next(r for r in batch.metadata_records() if (r.api_key, r.version) in wrong)
    said = version_objection(record.api_key, record.version, versions[0]) or "wrong"
    return [violation(state, VERSIONS_DICTATED, said, record)]


def operation_violations(state: HistoryState, batch: RecordBatch) -> list[Finding]:
    """Count an operation; return the violations of partitions at its end, one per invariant.

    Only partitions touched since the last call are checked, or all if a broker changed.
    """
    state.counts.operations += 1
    partitions = state.image.partitions
    states = partitions.settle()
    if state.brokers_changed:
        states = partitions.present()
        state.brokers_changed = False
    active, excused = state.image.active(), state.image.excused()
    broken: dict[str, tuple[PartitionInvariant, str, bytes]] = {}
    for partition in sorted(states):
        objections = partition_objections(state.image, partition, active, excused)
        key = partitions.holder(partition) if objections else None
        if key is not None:
            for invariant, objection in objections:
                broken.setdefault(invariant.id, (invariant, objection, key))
    found = []
    for invariant, objection, key in broken.values():
        said = f"partition {key_text(key)}: {objection}"
        record = _record_to_blame(batch, key)
        if record is None:
            found.append(_violation_of_batch(state, invariant, said, batch))
        else:
            found.append(violation(state, invariant, said, record))
    return found


def checkpoint_findings(state: HistoryState, path: Path, offset: int) -> list[Finding]:
    """Return the violations of a checkpoint whose end offset the history has reached."""
    state.counts.checkpoints += 1
    image = state.image
    try:
        read, faults = checkpoints.read(path)
    except (CorruptRecordError, UnreadableFileError) as error:
        return [unreadable(error)]
    if image.before_transaction() is not None:
        said = "the checkpoint ends inside a transaction"
        faults = (*faults, Fault(CHECKPOINT_ALIGNED, said))
    signs = state.signs | signs_of(image)
    found = checkpoints.difference(image, read, continued=state.continued, signs=signs)
    if found is not None:
        faults = (*faults, Fault(found[0] or _checkpoint_invariant(state), found[1]))
    return [checkpoints.fault_finding(fault, path, offset) for fault in faults]


def _checkpoint_invariant(state: HistoryState) -> Invariant:
    """Return the invariant broken by a difference that no more specific invariant names."""
    if not state.continued:
        return CHECKPOINT_REPLAYED
    return CHECKPOINT_CONTINUED if state.records else CHECKPOINTS_EQUAL


def change_objections(transition: Transition) -> tuple[Objections, Bugs]:
    """Return the invariants that a PartitionChangeRecord breaks, each with a sentence.

    Those that a known bug of the release explains come apart, with the bug.
    """
    before, after, image = transition.before, transition.after, transition.image
    if before.replicas != after.replicas:
        said = replicas_objection(image, before.replicas, after.replicas)
        if said is not None:
            return ((REPLICAS_REGISTERED, said),), ()
    asked = ((invariant, invariant.objection(transition)) for invariant in _CHANGES)
    found = tuple((invariant, said) for invariant, said in asked if said is not None)
    bugs = list(_bugs_of_election(transition))
    objections: list[tuple[Invariant, str]] = []
    if not bugs and _goes_astray(transition):
        objections.append((LEADER_ONLINE, offline_leader(after)))
    if not bugs and after in image.led_by_inactive and after.leader != before.leader:
        objections.append((LEADER_ACTIVE, inactive_leader(after)))
    for invariant, said in (*found, *state_objections(after, image)):
        bug = bug_of_change(invariant, transition)
        if bug is None:
            objections.append((invariant, said))
        else:
            bugs.append((invariant, said, bug))
    return tuple(objections), tuple(bugs)


def _bugs_of_election(t: Transition) -> Bugs:
    """Return the known bug that elects a leader that is not active, or not online, if one did."""
    bug = bug_of_last_known(t.image, t.before, t.after)
    if t.after.leader in t.image.active():
        bug = bug or bug_of_election(t.image, t.before, t.after)
        return () if bug is None else ((LEADER_ONLINE, offline_leader(t.after), bug),)
    return () if bug is None else ((LEADER_ACTIVE, inactive_leader(t.after), bug),)


def _goes_astray(t: Transition) -> bool:
    """Return whether a change brings a partition into a state that only others are excused in.

    A leader may move out of an online directory: the next record gives its partition another one.
    """
    registered, leader = t.image.registrations, t.after.leader
    if t.after not in t.image.astray or directory_online(t.after, leader, registered):
        return False
    return leader != t.before.leader or not directory_online(t.before, leader, registered)


def with_place(finding: Finding, key: bytes, batch: PlacedBatch) -> Finding:
    """Return a finding with its partition and path, and its record if this batch has it."""
    from krafla.audit.redact import record_text  # only where something is wrong

    detail = f"partition {key_text(key)}: {finding.detail}"
    records = batch.metadata_records(frozenset({PARTITION_CHANGE.api_key}) | STATE_API_KEYS)
    record = next((r for r in records if r.offset == finding.offset), None)
    if record is None or finding.evidence is None:
        return replace(finding, detail=detail, path=batch.path, position=None)
    evidence = replace(finding.evidence, record=record_text(record))
    return replace(finding, detail=detail, path=batch.path, position=record.position,
                   evidence=evidence)  # fmt: skip


def _missing_partition_invariant(image: Image, key: bytes) -> Invariant:
    """Return the invariant broken by a change of a partition that does not exist."""
    if key[4:] in image.entities.removed_topics:
        return TOPIC_REMOVED
    return TOPIC_ABORTED if key[4:] in image.entities.aborted_topics else PARTITION_EXISTS


def _record_to_blame(batch: RecordBatch, key: bytes) -> MetadataRecord | None:
    """Return the last record of a batch that changes a partition, else the last about a broker."""
    of_brokers = None
    of_partition = None
    wanted = frozenset({PARTITION.api_key, PARTITION_CHANGE.api_key}) | STATE_API_KEYS
    for record in batch.metadata_records(wanted):
        if record.api_key in STATE_API_KEYS:
            of_brokers = record
        elif key == key_of(record.fields):
            of_partition = record
    return of_partition or of_brokers


def violation(
    state: HistoryState, invariant: Invariant, objection: str, record: MetadataRecord
) -> Finding:
    """Return the violation of an invariant by a record."""
    from krafla.audit.redact import record_text  # only where something is wrong

    return Finding(
        Weight.VIOLATION,
        invariant.id,
        objection,
        state.path,
        record.position,
        record.offset,
        evidence_of(invariant, record_text(record)),
    )


def _violation_of_batch(
    state: HistoryState, invariant: Invariant, objection: str, batch: RecordBatch
) -> Finding:
    """Return the violation of an invariant by a batch as a whole."""
    return Finding(
        Weight.VIOLATION,
        invariant.id,
        objection,
        state.path,
        batch.position,
        batch.base_offset,
        evidence_of(invariant),
    )
