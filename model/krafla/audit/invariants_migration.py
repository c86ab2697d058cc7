"""The invariants of a migration from ZooKeeper (KIP-866): its states, and what only it writes.

Kafka: ZkMigrationState, ZkMigrationClient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.image import (
    METADATA_VERSION,
    MIGRATION,
    MV_3_4_IV0,
    MV_4_0_IV0,
    NO_MIGRATION,
    POST_MIGRATION,
    PRE_MIGRATION,
)
from krafla.audit.invariants import RecordInvariant
from kraft.records.metadata_schemas import (
    CLIENT_QUOTA,
    FEATURE_LEVEL,
    REGISTER_BROKER,
    REGISTER_CONTROLLER,
    ZK_MIGRATION_STATE,
)

if TYPE_CHECKING:
    from krafla.audit.image import Image
    from krafla.audit.invariants import Subject

MV_3_5_IV0, _MV_4_0_IV2 = 9, 24
"""Metadata versions: the first that needs Kafka 3.5, which keeps the version in a migration; the
first that needs Kafka 4.0, without migrations, and has no name in an earlier release."""
FOLDERS: Final = frozenset({"users", "clients", "ips"})
"""Folders of configurations in ZooKeeper. Kafka 3.4 copies quotas with these as types."""
_NEXT: Final[dict[int | None, tuple[int, ...]]] = {
    None: (NO_MIGRATION, PRE_MIGRATION),
    NO_MIGRATION: (NO_MIGRATION,),
    PRE_MIGRATION: (PRE_MIGRATION, MIGRATION),
    MIGRATION: (MIGRATION, POST_MIGRATION),
    POST_MIGRATION: (POST_MIGRATION,),
}
"""What may follow each state of a migration; None is a log that has named none."""


def _migration_flags(subject: Subject) -> str | None:
    fields, image = subject.record.fields, subject.image
    if subject.record.api_key == ZK_MIGRATION_STATE.api_key:
        return _next_state(fields["zkMigrationState"], image)
    if (
        fields.get("name") == METADATA_VERSION
        and image.is_migrating
        and not _is_before_first(image)
    ):
        level, known = fields["featureLevel"], image.metadata_version
        if level == known and level < MV_3_5_IV0:
            return None
        return f"metadata.version is set to {level} while a migration is in progress"
    if fields.get("isMigratingZkBroker") and not _may_register(image):
        return f"broker {fields['brokerId']} is migrating, but there is {_state_name(image)}"
    if fields.get("zkMigrationReady") and (image.metadata_version or 0) >= MV_4_0_IV0:
        return (
            f"controller {fields['controllerId']} is ready to migrate, which Kafka ended with 4.0"
        )
    return None


def _next_state(state: int, image: Image) -> str | None:
    if state != NO_MIGRATION and (image.metadata_version or 0) >= _MV_4_0_IV2:
        return f"the migration goes to state {state}, which Kafka ended with 4.0"
    if state in _NEXT.get(image.zk_migration, ()):
        return None
    if state == MIGRATION and _is_before_first(image):
        return None  # 3.4 calls it PRE_MIGRATION (KAFKA-14805)
    return f"the migration goes to state {state}, but was in {_state_name(image)}"


def _may_register(image: Image) -> bool:
    """Return whether a broker on ZooKeeper may register: 3.4 takes it before the first state."""
    return image.may_migrate or _is_before_first(image)


def _is_before_first(image: Image) -> bool:
    """Return whether no migration has begun yet in a log that Kafka 3.4 may write."""
    return image.zk_migration is None and image.metadata_version == MV_3_4_IV0


def _state_name(image: Image) -> str:
    return "no migration" if image.zk_migration is None else f"state {image.zk_migration}"


def _entity_types(subject: Subject) -> str | None:
    """Return an objection to a quota of ZooKeeper's types, unless Kafka 3.4 copies it."""
    image = subject.image
    if image.is_copying and (image.metadata_version or 0) < MV_3_5_IV0:
        return None
    found = sorted(FOLDERS & {one["entityType"] for one in subject.record.fields["entity"]})
    return f"the quota is of {found[0]}, as only a migration of Kafka 3.4 writes" if found else None


MIGRATION_FLAGS: Final = RecordInvariant(
    "W5",
    "KIP-866; Kafka: ActivationRecordsGenerator, ClusterControlManager.registerBroker, "
    "FeatureControlManager.updateMetadataVersion",
    _migration_flags,
    frozenset(
        schema.api_key
        for schema in (ZK_MIGRATION_STATE, REGISTER_BROKER, REGISTER_CONTROLLER, FEATURE_LEVEL)
    ),
)
ENTITY_TYPES: Final = RecordInvariant(
    "W3",
    "KIP-866; Kafka: ZkMigrationClient.migrateClientQuotas",
    _entity_types,
    frozenset({CLIENT_QUOTA.api_key}),
)
