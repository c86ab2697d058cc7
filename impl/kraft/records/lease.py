"""The records of the broker lease protocol as values: registration, fencing, shutdown, no-op.

`kraft.records.metadata_records` has those of the other protocols.

Kafka: ClusterControlManager.replay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from kraft.records.metadata_schemas import (
    BROKER_REGISTRATION_CHANGE,
    FENCE_BROKER,
    NO_OP,
    REGISTER_BROKER,
    UNFENCE_BROKER,
    UNREGISTER_BROKER,
)
from kraft.records.typed_record import Message, TypedRecord

if TYPE_CHECKING:
    from kraft.ids import BrokerEpoch, BrokerId, DirectoryId, IncarnationId
    from kraft.records.schema import Fields, Schema

FENCE: Final = 1
UNFENCE: Final = -1
UNCHANGED: Final = 0
ENTER_CONTROLLED_SHUTDOWN: Final = 1


class Endpoint(Message, frozen=True):
    """A listener of a node; `security_protocol` is Kafka's number, 0 for PLAINTEXT."""

    name: str
    host: str
    port: int
    security_protocol: int = 0


class FeatureRange(Message, frozen=True):
    """The versions of a feature that a node supports, both ends included."""

    NAMES: ClassVar[dict[str, str]] = {
        "minimum": "minSupportedVersion",
        "maximum": "maxSupportedVersion",
    }

    name: str
    minimum: int
    maximum: int


class RegisterBrokerRecord(TypedRecord, frozen=True):
    """A broker registered; its epoch is the offset of this record."""

    SCHEMA: ClassVar[Schema] = REGISTER_BROKER
    NAMES: ClassVar[dict[str, str]] = {"endpoints": "endPoints"}
    ELEMENTS: ClassVar[dict[str, type[Message]]] = {
        "endpoints": Endpoint,
        "features": FeatureRange,
    }

    broker_id: BrokerId
    incarnation_id: IncarnationId
    broker_epoch: BrokerEpoch
    endpoints: tuple[Endpoint, ...] = ()
    features: tuple[FeatureRange, ...] = ()
    rack: str | None = None
    fenced: bool = True
    in_controlled_shutdown: bool = False
    is_migrating_zk_broker: bool = False
    log_dirs: tuple[DirectoryId, ...] = ()


class UnregisterBrokerRecord(TypedRecord, frozen=True):
    """A broker's registration was removed."""

    SCHEMA: ClassVar[Schema] = UNREGISTER_BROKER

    broker_id: BrokerId
    broker_epoch: BrokerEpoch


class BrokerRegistrationChangeRecord(TypedRecord, frozen=True):
    """A registered broker was fenced (`fenced` 1), unfenced (-1), or is shutting down (1).

    0 leaves that part of the registration as it is; empty `log_dirs` leave the directories.
    """

    SCHEMA: ClassVar[Schema] = BROKER_REGISTRATION_CHANGE

    broker_id: BrokerId
    broker_epoch: BrokerEpoch
    fenced: int = UNCHANGED
    in_controlled_shutdown: int = UNCHANGED
    log_dirs: tuple[DirectoryId, ...] = ()


class FenceBrokerRecord(TypedRecord, frozen=True):
    """A broker was fenced, as logged before metadata version 3.3."""

    SCHEMA: ClassVar[Schema] = FENCE_BROKER
    NAMES: ClassVar[dict[str, str]] = {"broker_id": "id", "broker_epoch": "epoch"}

    broker_id: BrokerId
    broker_epoch: BrokerEpoch


class UnfenceBrokerRecord(TypedRecord, frozen=True):
    """A broker was unfenced, as logged before metadata version 3.3."""

    SCHEMA: ClassVar[Schema] = UNFENCE_BROKER
    NAMES: ClassVar[dict[str, str]] = {"broker_id": "id", "broker_epoch": "epoch"}

    broker_id: BrokerId
    broker_epoch: BrokerEpoch


class NoOpRecord(TypedRecord, frozen=True):
    """Nothing happened; the active controller writes it to let time pass in the log."""

    SCHEMA: ClassVar[Schema] = NO_OP


LeaseRecord = (
    RegisterBrokerRecord
    | UnregisterBrokerRecord
    | BrokerRegistrationChangeRecord
    | FenceBrokerRecord
    | UnfenceBrokerRecord
    | NoOpRecord
)

_CLASSES: Final = (
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    UnfenceBrokerRecord,
    NoOpRecord,
)


def lease_record(api_key: int, fields: Fields) -> LeaseRecord:
    """Return the lease record with this api key and these fields, of whatever version.

    Raises KeyError if it is not a record of the lease protocol.
    """
    return _BY_API_KEY[api_key].from_fields(fields)


_BY_API_KEY: Final = {record.SCHEMA.api_key: record for record in _CLASSES}
