"""The records of the cluster as a whole: features, quotas, producer ids, controllers, transactions.

Kafka: FeatureControlManager.replay, ClientQuotaControlManager.replay,
ProducerIdControlManager.replay, ClusterControlManager.replay, OffsetControlManager.replay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kraft.records.lease import Endpoint, FeatureRange
from kraft.records.metadata_schemas import (
    ABORT_TRANSACTION,
    BEGIN_TRANSACTION,
    CLIENT_QUOTA,
    END_TRANSACTION,
    FEATURE_LEVEL,
    PRODUCER_IDS,
    REGISTER_CONTROLLER,
    ZK_MIGRATION_STATE,
)
from kraft.records.typed_record import Message, TypedRecord

if TYPE_CHECKING:
    from kraft.ids import BrokerEpoch, ControllerId, IncarnationId
    from kraft.records.schema import Schema


class FeatureLevelRecord(TypedRecord, frozen=True):
    """The finalized level of a feature was set; 0 removes the feature."""

    SCHEMA: ClassVar[Schema] = FEATURE_LEVEL

    name: str
    feature_level: int


class QuotaEntity(Message, frozen=True):
    """A part of the entity that a quota is for; the name None is the default of its type."""

    entity_type: str
    entity_name: str | None


class ClientQuotaRecord(TypedRecord, frozen=True):
    """A quota was set, or removed."""

    SCHEMA: ClassVar[Schema] = CLIENT_QUOTA
    ELEMENTS: ClassVar[dict[str, type[Message]]] = {"entity": QuotaEntity}

    entity: tuple[QuotaEntity, ...]
    key: str
    value: float
    remove: bool


class ProducerIdsRecord(TypedRecord, frozen=True):
    """A broker was given a block of producer ids; `next_producer_id` is the first after it."""

    SCHEMA: ClassVar[Schema] = PRODUCER_IDS

    broker_id: int
    broker_epoch: BrokerEpoch | int
    next_producer_id: int


class RegisterControllerRecord(TypedRecord, frozen=True):
    """A controller registered.

    Spec: ControllerRegistration!RegisterController. KIP-919.
    """

    SCHEMA: ClassVar[Schema] = REGISTER_CONTROLLER
    NAMES: ClassVar[dict[str, str]] = {"endpoints": "endPoints"}
    ELEMENTS: ClassVar[dict[str, type[Message]]] = {
        "endpoints": Endpoint,
        "features": FeatureRange,
    }

    controller_id: ControllerId
    incarnation_id: IncarnationId
    zk_migration_ready: bool
    endpoints: tuple[Endpoint, ...]
    features: tuple[FeatureRange, ...]


class ZkMigrationStateRecord(TypedRecord, frozen=True):
    """How far a migration from ZooKeeper is; it means nothing any more."""

    SCHEMA: ClassVar[Schema] = ZK_MIGRATION_STATE

    zk_migration_state: int


class BeginTransactionRecord(TypedRecord, frozen=True):
    """What follows counts only if the transaction ends.

    Spec: MetadataLog!BeginTransactionRecord.
    """

    SCHEMA: ClassVar[Schema] = BEGIN_TRANSACTION

    name: str | None = None


class EndTransactionRecord(TypedRecord, frozen=True):
    """The transaction counts."""

    SCHEMA: ClassVar[Schema] = END_TRANSACTION


class AbortTransactionRecord(TypedRecord, frozen=True):
    """The transaction never was."""

    SCHEMA: ClassVar[Schema] = ABORT_TRANSACTION

    reason: str | None = None
