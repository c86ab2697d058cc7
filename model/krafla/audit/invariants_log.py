"""The invariants of a log as such: record types, versions, beginnings, transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.invariants import MINIMUM_METADATA_VERSION, RecordInvariant
from krafla.audit.result import Invariant
from kraft.records import metadata_schemas as schemas
from kraft.records.metadata_schemas import METADATA_SCHEMAS

if TYPE_CHECKING:
    from krafla.audit.image import Image
    from krafla.audit.invariants import Subject

_GATES: Final[dict[int, tuple[tuple[int, int], ...]]] = {
    schemas.REGISTER_BROKER.api_key: ((1, 0), (7, 1), (8, 2), (17, 3)),
    schemas.PARTITION.api_key: ((1, 0), (17, 1), (23, 2)),
    schemas.PARTITION_CHANGE.api_key: ((1, 0), (17, 1), (23, 2)),
    schemas.BROKER_REGISTRATION_CHANGE.api_key: ((6, 0), (7, 1), (17, 2)),
    schemas.NO_OP.api_key: ((5, 0),),
    schemas.ZK_MIGRATION_STATE.api_key: ((8, 0),),
    schemas.USER_SCRAM_CREDENTIAL.api_key: ((11, 0),),
    schemas.REMOVE_USER_SCRAM_CREDENTIAL.api_key: ((11, 0),),
    schemas.BEGIN_TRANSACTION.api_key: ((13, 0),),
    schemas.END_TRANSACTION.api_key: ((13, 0),),
    schemas.ABORT_TRANSACTION.api_key: ((13, 0),),
    schemas.DELEGATION_TOKEN.api_key: ((14, 0),),
    schemas.REMOVE_DELEGATION_TOKEN.api_key: ((14, 0),),
    schemas.REGISTER_CONTROLLER.api_key: ((15, 0),),
    schemas.CLEAR_ELR.api_key: ((23, 0),),
}
"""By record type, pairs of a metadata version and the record version written from it on.

Kafka: MetadataVersion.
"""
_LEAST: Final = frozenset({schemas.BROKER_REGISTRATION_CHANGE.api_key})
"""Kafka writes these in the least version with the field: in real logs, fencing is version 0."""
_SUPERSEDED: Final = {schemas.FENCE_BROKER.api_key: 6, schemas.UNFENCE_BROKER.api_key: 6}
"""By record type, the metadata version from which on Kafka no longer writes it."""

VERSIONS_DICTATED: Final = Invariant(
    "L1",
    "KIP-778; Kafka: MetadataVersion",
)
EPOCHS_STAY: Final = Invariant(
    "L8",
    "KIP-595; Kafka: UnifiedLog.appendAsLeader, LeaderEpochFileCache.assign",
)
OFFSETS_CONTINUE: Final = Invariant(
    "L13",
    "KIP-595; Kafka: BatchAccumulator.append, UnifiedLog.append",
)
VERSION_FIRST: Final = Invariant(
    "L2",
    "KIP-778; Kafka: ActivationRecordsGenerator.recordsForEmptyLog",
)
OLD_BEGINNING: Final = (
    "Kafka 3.2 or before began it, or it lacks its beginning; it is judged by the rules of 3.0-IV1"
    " until it names one"
)


def version_objection(api_key: int, version: int, metadata_version: int | None) -> str | None:
    """Return what is wrong with a record's version, None if nothing."""
    metadata_version = metadata_version or MINIMUM_METADATA_VERSION
    name = METADATA_SCHEMAS[api_key].name
    gates = _GATES.get(api_key, ((1, 0),))
    expected = max((v for gate, v in gates if gate <= metadata_version), default=None)
    until = _SUPERSEDED.get(api_key)
    if expected is None or (until is not None and metadata_version >= until):
        return f"no {name} is written at metadata version {metadata_version}"
    if version > expected or (version < expected and api_key not in _LEAST):
        return (
            f"{name} has version {version}, not {expected} of metadata version {metadata_version}"
        )
    return None


def beginning_objection(image: Image) -> str | None:
    """Return what is doubtful after the first batch, or the first transaction, of a log."""
    if image.before_transaction() is None and image.metadata_version is None:
        return f"the log begins without a metadata version: {OLD_BEGINNING}"
    return None


def _nested(subject: Subject) -> str | None:
    opened = subject.image.before_transaction() is not None
    begins = subject.record.api_key == schemas.BEGIN_TRANSACTION.api_key
    if begins == opened:
        return "a transaction begins inside another" if begins else "no transaction is open"
    return None


def _least_with_the_field(subject: Subject) -> str | None:
    """Return an objection to a change of a broker in a later version than that of its field."""
    record, fields = subject.record, subject.record.fields
    least = 0 if fields["fenced"] else 1 if fields.get("inControlledShutdown") else record.version
    if record.version == least:
        return None
    what = "a fencing or unfencing" if least == 0 else "a controlled shutdown"
    name = METADATA_SCHEMAS[record.api_key].name
    return f"{name} has version {record.version}, not {least} of {what}"


LOG_INVARIANTS: Final = (
    RecordInvariant(
        "L3",
        "KIP-868; Kafka: OffsetControlManager.replay",
        _nested,
        frozenset(
            {
                schemas.BEGIN_TRANSACTION.api_key,
                schemas.END_TRANSACTION.api_key,
                schemas.ABORT_TRANSACTION.api_key,
            }
        ),
    ),
    RecordInvariant(
        "L1",
        "KIP-841; Kafka: ReplicationControlManager.handleBrokerFenced, .handleBrokerUnfenced, "
        ".handleBrokerInControlledShutdown",
        _least_with_the_field,
        _LEAST,
    ),
)
