"""The records of the broker lease protocol as values: registration, fencing, shutdown, no-op.

Each class has the fields of its record's newest version; `to_fields` and `from_fields` go to and
from what `kraft.records.value` encodes and decodes. `API_KEY` and `VERSION` say which record it is.

Kafka: ClusterControlManager.replay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from kraft.ids import BrokerEpoch, BrokerId, DirectoryId, IncarnationId
from kraft.records.metadata_schemas import (
    BROKER_REGISTRATION_CHANGE,
    FENCE_BROKER,
    NO_OP,
    REGISTER_BROKER,
    UNFENCE_BROKER,
    UNREGISTER_BROKER,
)

if TYPE_CHECKING:
    from kraft.records.schema import Fields

FENCE: Final = 1
UNFENCE: Final = -1
UNCHANGED: Final = 0
ENTER_CONTROLLED_SHUTDOWN: Final = 1


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A listener of a broker; `security_protocol` is Kafka's number, 0 for PLAINTEXT."""

    name: str
    host: str
    port: int
    security_protocol: int = 0


@dataclass(frozen=True, slots=True)
class FeatureRange:
    """The versions of a feature that a broker supports, both ends included."""

    name: str
    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True)
class RegisterBrokerRecord:
    """A broker registered; its epoch is the offset of this record."""

    API_KEY: ClassVar[int] = REGISTER_BROKER.api_key
    VERSION: ClassVar[int] = REGISTER_BROKER.newest

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

    def to_fields(self) -> Fields:
        """Return the record's fields under Kafka's names."""
        return {
            "brokerId": self.broker_id,
            "isMigratingZkBroker": self.is_migrating_zk_broker,
            "incarnationId": self.incarnation_id,
            "brokerEpoch": self.broker_epoch,
            "endPoints": tuple(
                {
                    "name": e.name,
                    "host": e.host,
                    "port": e.port,
                    "securityProtocol": e.security_protocol,
                }
                for e in self.endpoints
            ),
            "features": tuple(
                {
                    "name": f.name,
                    "minSupportedVersion": f.minimum,
                    "maxSupportedVersion": f.maximum,
                }
                for f in self.features
            ),
            "rack": self.rack,
            "fenced": self.fenced,
            "inControlledShutdown": self.in_controlled_shutdown,
            "logDirs": self.log_dirs,
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> RegisterBrokerRecord:
        """Return the record with these fields; what an older version lacks has its default."""
        return cls(
            BrokerId(fields["brokerId"]),
            IncarnationId(fields["incarnationId"]),
            BrokerEpoch(fields["brokerEpoch"]),
            tuple(
                Endpoint(e["name"], e["host"], e["port"], e["securityProtocol"])
                for e in fields["endPoints"]
            ),
            tuple(
                FeatureRange(f["name"], f["minSupportedVersion"], f["maxSupportedVersion"])
                for f in fields["features"]
            ),
            fields["rack"],
            fields["fenced"],
            fields.get("inControlledShutdown", False),
            fields.get("isMigratingZkBroker", False),
            tuple(DirectoryId(directory) for directory in fields.get("logDirs", ())),
        )


@dataclass(frozen=True, slots=True)
class UnregisterBrokerRecord:
    """A broker's registration was removed."""

    API_KEY: ClassVar[int] = UNREGISTER_BROKER.api_key
    VERSION: ClassVar[int] = UNREGISTER_BROKER.newest

    broker_id: BrokerId
    broker_epoch: BrokerEpoch

    def to_fields(self) -> Fields:
        """Return the record's fields under Kafka's names."""
        return {"brokerId": self.broker_id, "brokerEpoch": self.broker_epoch}

    @classmethod
    def from_fields(cls, fields: Fields) -> UnregisterBrokerRecord:
        """Return the record with these fields."""
        return cls(BrokerId(fields["brokerId"]), BrokerEpoch(fields["brokerEpoch"]))


@dataclass(frozen=True, slots=True)
class BrokerRegistrationChangeRecord:
    """A registered broker was fenced (`fenced` 1), unfenced (-1), or is shutting down (1).

    0 leaves that part of the registration as it is; empty `log_dirs` leave the directories.
    """

    API_KEY: ClassVar[int] = BROKER_REGISTRATION_CHANGE.api_key
    VERSION: ClassVar[int] = BROKER_REGISTRATION_CHANGE.newest

    broker_id: BrokerId
    broker_epoch: BrokerEpoch
    fenced: int = UNCHANGED
    in_controlled_shutdown: int = UNCHANGED
    log_dirs: tuple[DirectoryId, ...] = ()

    def to_fields(self) -> Fields:
        """Return the record's fields under Kafka's names."""
        return {
            "brokerId": self.broker_id,
            "brokerEpoch": self.broker_epoch,
            "fenced": self.fenced,
            "inControlledShutdown": self.in_controlled_shutdown,
            "logDirs": self.log_dirs,
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> BrokerRegistrationChangeRecord:
        """Return the record with these fields; what an older version lacks has its default."""
        return cls(
            BrokerId(fields["brokerId"]),
            BrokerEpoch(fields["brokerEpoch"]),
            fields["fenced"],
            fields.get("inControlledShutdown", UNCHANGED),
            tuple(DirectoryId(directory) for directory in fields.get("logDirs", ())),
        )


@dataclass(frozen=True, slots=True)
class FenceBrokerRecord:
    """A broker was fenced, as logged before metadata version 3.3."""

    API_KEY: ClassVar[int] = FENCE_BROKER.api_key
    VERSION: ClassVar[int] = FENCE_BROKER.newest

    broker_id: BrokerId
    broker_epoch: BrokerEpoch

    def to_fields(self) -> Fields:
        """Return the record's fields under Kafka's names."""
        return {"id": self.broker_id, "epoch": self.broker_epoch}

    @classmethod
    def from_fields(cls, fields: Fields) -> FenceBrokerRecord:
        """Return the record with these fields."""
        return cls(BrokerId(fields["id"]), BrokerEpoch(fields["epoch"]))


@dataclass(frozen=True, slots=True)
class UnfenceBrokerRecord:
    """A broker was unfenced, as logged before metadata version 3.3."""

    API_KEY: ClassVar[int] = UNFENCE_BROKER.api_key
    VERSION: ClassVar[int] = UNFENCE_BROKER.newest

    broker_id: BrokerId
    broker_epoch: BrokerEpoch

    def to_fields(self) -> Fields:
        """Return the record's fields under Kafka's names."""
        return {"id": self.broker_id, "epoch": self.broker_epoch}

    @classmethod
    def from_fields(cls, fields: Fields) -> UnfenceBrokerRecord:
        """Return the record with these fields."""
        return cls(BrokerId(fields["id"]), BrokerEpoch(fields["epoch"]))


@dataclass(frozen=True, slots=True)
class NoOpRecord:
    """Nothing happened; the active controller writes it to let time pass in the log."""

    API_KEY: ClassVar[int] = NO_OP.api_key
    VERSION: ClassVar[int] = NO_OP.newest

    def to_fields(self) -> Fields:
        """Return no fields."""
        return {}

    @classmethod
    def from_fields(cls, fields: Fields) -> NoOpRecord:  # noqa: ARG003 - like the others
        """Return the record."""
        return cls()


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
LEASE_API_KEYS: Final = frozenset(record.API_KEY for record in _CLASSES)


def lease_record(api_key: int, fields: Fields) -> LeaseRecord:
    """Return the lease record with this api key and these fields, of whatever version.

    Raises KeyError if it is not a record of the lease protocol.
    """
    return _BY_API_KEY[api_key].from_fields(fields)


_BY_API_KEY: Final = {record.API_KEY: record for record in _CLASSES}
