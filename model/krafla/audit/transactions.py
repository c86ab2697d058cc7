"""The transactions of a metadata log (KIP-868): what a controller writes in one.

Only two parts of a controller begin a transaction: the activation of one that finds no metadata
version, for its bootstrap records, and a migration from ZooKeeper, while it copies.

Kafka: ActivationRecordsGenerator.recordsForEmptyLog, QuorumController.MigrationRecordConsumer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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
        schemas.CONFIG, schemas.ZK_MIGRATION_STATE,
    )
}  # fmt: skip
"""Features, credentials, the minimum of all nodes, and whether the cluster migrates."""


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


def stranger_in_bootstrap(
    image: Image, batch: RecordBatch, counts: dict[tuple[int, int], int]
) -> tuple[MetadataRecord, str] | None:
    """Return the first record of a batch that a controller never writes among bootstrap records.

    `image` is that before the batch, `counts` has the batch's types and versions. While a migration
    copies, any record may stand in its transaction.
    """
    begins = (schemas.BEGIN_TRANSACTION.api_key, 0) in counts
    is_open, is_copying = image.before_transaction() is not None, image.is_copying
    if not is_open and not begins:
        return None
    for record in batch.metadata_records():
        key = record.api_key
        if key == schemas.ZK_MIGRATION_STATE.api_key:
            is_copying = record.fields["zkMigrationState"] == PRE_MIGRATION
        if is_open and not is_copying and key not in _BOOTSTRAP_RECORDS:
            return record, f"a {METADATA_SCHEMAS[key].name} stands among bootstrap records"
        is_open = key == schemas.BEGIN_TRANSACTION.api_key or (is_open and key not in _ENDS)
    return None
