"""The transactions of a metadata log (KIP-868): what a controller writes in one.

Only two parts of a controller begin a transaction: the activation of one that finds no metadata
version, for its bootstrap records, and a migration from ZooKeeper, while it copies.

Kafka: ActivationRecordsGenerator.recordsForEmptyLog, QuorumController.MigrationRecordConsumer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from krafla.audit.entities import BROKER_RESOURCE, MIN_INSYNC_REPLICAS
from krafla.audit.image import PRE_MIGRATION
from krafla.audit.invariants import RecordInvariant
from krafla.audit.result import Invariant
from kraft.records import metadata_schemas as schemas
from kraft.records.metadata_schemas import METADATA_SCHEMAS

if TYPE_CHECKING:
    from krafla.audit.image import Image
    from krafla.audit.invariants import Subject
    from kraft.records.batch import RecordBatch
    from kraft.records.record import MetadataRecord

_NUMBER: Final = re.compile("[1-9][0-9]{0,9}")
_MAX_INT32: Final = 0x7FFF_FFFF
_MV_3_6_IV1: Final = 13
"""The first metadata version with transactions."""
BOOTSTRAP: Final = "Bootstrap records"
ZK_MIGRATION: Final = "ZK Migration"
FAILOVER: Final = "Controller failover"
"""The only reason for which a controller aborts a transaction: the one that its last leader left.

Kafka: ActivationRecordsGenerator.recordsForNonEmptyLog.
"""
_ENDS: Final = frozenset({schemas.END_TRANSACTION.api_key, schemas.ABORT_TRANSACTION.api_key})
_BOOTSTRAP_RECORDS: Final = _ENDS | {
    schema.api_key
    for schema in (
        schemas.BEGIN_TRANSACTION, schemas.FEATURE_LEVEL, schemas.USER_SCRAM_CREDENTIAL,
        schemas.ZK_MIGRATION_STATE,
    )
}  # fmt: skip
"""Features, credentials, and whether the cluster migrates; one configuration may stand there."""
_LAST: Final = _ENDS | {schemas.BEGIN_TRANSACTION.api_key, schemas.ZK_MIGRATION_STATE.api_key}
"""Records in the transaction of a migration that ends. L3 is about nested transactions."""


def _begun_by_a_controller(subject: Subject) -> str | None:
    name, image = subject.record.fields["name"], subject.image
    if name == ZK_MIGRATION and not image.is_copying:
        return f"a transaction {name!r} begins, and no migration copies metadata"
    if name == BOOTSTRAP and image.metadata_version is not None:
        return f"a transaction {name!r} begins in a log that has a metadata version"
    return None


BEGUN: Final = RecordInvariant(
    "W3",
    "KIP-868; Kafka: ActivationRecordsGenerator.recordsForEmptyLog, "
    "QuorumController.MigrationRecordConsumer.beginMigration",
    _begun_by_a_controller,
    frozenset({schemas.BEGIN_TRANSACTION.api_key}),
)
BOOTSTRAP_ONLY: Final = Invariant(
    "W3",
    "KIP-868; Kafka: ActivationRecordsGenerator.recordsForEmptyLog",
)


def is_bootstrap(image: Image) -> bool:
    """Return whether the open transaction is that of the bootstrap records."""
    before = image.before_transaction()
    return before is not None and before.metadata_version is None


def stranger_in_bootstrap(
    image: Image, batch: RecordBatch, counts: dict[tuple[int, int], int]
) -> tuple[MetadataRecord, str] | None:
    """Return the first record of a batch that a controller never writes into its transaction.

    `image` is that before the batch, `counts` has the batch's types and versions. Any record may
    stand in the transaction of a migration while that copies, and only there.
    """
    is_open, is_first = image.before_transaction() is not None, is_bootstrap(image)
    if not is_open and (schemas.BEGIN_TRANSACTION.api_key, 0) not in counts:
        return None
    is_copying = image.is_copying
    for record in batch.metadata_records():
        key = record.api_key
        if key == schemas.ZK_MIGRATION_STATE.api_key:
            is_copying = record.fields["zkMigrationState"] == PRE_MIGRATION
        if is_open and not (
            _is_bootstrap_record(record) if is_first else is_copying or key in _LAST
        ):
            where = "among bootstrap records" if is_first else "in a migration that copies nothing"
            return record, f"{_described(record)} stands {where}"
        if key == schemas.BEGIN_TRANSACTION.api_key:
            is_first = record.fields["name"] == BOOTSTRAP
        is_open = key == schemas.BEGIN_TRANSACTION.api_key or (is_open and key not in _ENDS)
    return None


def _is_bootstrap_record(record: MetadataRecord) -> bool:
    """Return whether a controller writes a record among its bootstrap records.

    Kafka: ActivationRecordsGenerator.recordsForEmptyLog.
    """
    if record.api_key != schemas.CONFIG.api_key:
        return record.api_key in _BOOTSTRAP_RECORDS
    fields = record.fields
    of_cluster = fields["resourceType"] == BROKER_RESOURCE and not fields["resourceName"]
    return of_cluster and fields["name"] == MIN_INSYNC_REPLICAS


def _minimum_bootstrapped(subject: Subject) -> str | None:
    """Return an objection to the bootstrap minimum unless it is a number that a node starts with.

    It is the value of the static configuration, written again as an int.
    """
    fields = subject.record.fields
    if fields["name"] != MIN_INSYNC_REPLICAS or not is_bootstrap(subject.image):
        return None
    value = fields["value"]
    if value is not None and _NUMBER.fullmatch(value) and int(value) <= _MAX_INT32:
        return None
    return f"{MIN_INSYNC_REPLICAS} is {value!r} among bootstrap records"


MINIMUM_BOOTSTRAPPED: Final = RecordInvariant(
    "W3",
    "KIP-966; Kafka: ActivationRecordsGenerator.recordsForEmptyLog, "
    "KafkaConfigSchema.getStaticallyConfiguredMinInsyncReplicas",
    _minimum_bootstrapped,
    frozenset({schemas.CONFIG.api_key}),
)


def _described(record: MetadataRecord) -> str:
    name = f"a {METADATA_SCHEMAS[record.api_key].name}"
    is_config = record.api_key == schemas.CONFIG.api_key
    return f"{name} of {record.fields['name']}" if is_config else name


def _user_named(subject: Subject) -> str | None:
    """Return an objection to a user without a name, which only bootstrap records may have.

    `kafka-storage.sh format` checks no name. Bootstrap records stand in a transaction from metadata
    version 3.6-IV1 on, before that in the log's first batch.

    Kafka: ScramParser, ActivationRecordsGenerator.recordsForEmptyLog.
    """
    if subject.record.fields["name"] or is_bootstrap(subject.image):
        return None
    if subject.begins and (subject.image.metadata_version or 0) < _MV_3_6_IV1:
        return None
    return "the credential is of a user without a name"


USER_NAMED: Final = RecordInvariant(
    "W3",
    "Kafka: ScramControlManager.validateScramUsernameAndMechanism",
    _user_named,
    frozenset({schemas.USER_SCRAM_CREDENTIAL.api_key}),
)
