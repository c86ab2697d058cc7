"""The invariants of brokers and of partitions at the end of an operation, beside the specs.

A `RecordInvariant` checks one record and the image before it. A `PartitionInvariant` checks a
partition where an operation may end, at the end of a batch. `REPLICAS_REGISTERED` checks the
replicas that a record assigns. A check returns None, or a sentence that says what is wrong.

The ids are those of a list of invariants of Kafka's metadata: B for brokers, P for partitions, T
for topics, O for others. B2 to B7 are not here: UntimedLease.tla checks them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.audit.directories import directory_online, offline_leader
from krafla.audit.image import METADATA_VERSION, MV_4_0_IV0
from krafla.audit.result import Invariant
from kraft.ids import uuid_bytes
from kraft.records.lease import BrokerRegistrationChangeRecord, NoOpRecord, RegisterBrokerRecord
from kraft.records.metadata_schemas import FEATURE_LEVEL, PRODUCER_IDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.audit.broker_registrations import BrokerRegistration
    from krafla.audit.image import Image
    from krafla.audit.partition_state import PartitionState
    from kraft.records.lease import LeaseRecord
    from kraft.records.record import MetadataRecord

RESERVED_DIRECTORIES: Final = 100
"""Directory ids below this number have a meaning of their own. Kafka: DirectoryId.RESERVED."""
_WITH_DIRECTORIES: Final = 3
"""The version of a RegisterBrokerRecord from metadata version 3.7-IV2 on."""
MINIMUM_METADATA_VERSION: Final = 1
"""That of a log that names none. Kafka: QuorumController.CompleteActivationEvent."""


class Subject(NamedTuple):
    """The input of a record invariant: the image before the record, and the record.

    `begins` says that the log's first batch or transaction has not ended.
    """

    image: Image
    record: MetadataRecord
    lease: LeaseRecord | None
    begins: bool = False

    def registered(self) -> BrokerRegistration | None:
        """Return the registration, before a lease record, of the broker that the record names."""
        if self.lease is None or isinstance(self.lease, NoOpRecord):
            return None
        return self.image.registrations.get(self.lease.broker_id)


@dataclass(frozen=True, slots=True)
class RecordInvariant(Invariant):
    """An invariant of every record with one of these api keys."""

    objection: Callable[[Subject], str | None]
    api_keys: frozenset[int]


@dataclass(frozen=True, slots=True)
class PartitionInvariant(Invariant):
    """An invariant of each partition at the end of an operation.

    `objection` receives a partition, the active and the excused brokers, and the image.
    """

    objection: Callable[[PartitionState, frozenset[int], frozenset[int], Image], str | None]


def supports(name: str, level: int, ranges: tuple[tuple[str, int, int], ...]) -> bool:
    """Return whether a broker with these feature ranges supports a feature at a level.

    A broker that does not name a feature supports only level 0, which means that the feature is
    off; of metadata.version it supports the first level.

    Kafka: ClusterControlManager.processRegistrationFeature.
    """
    absent = MINIMUM_METADATA_VERSION if name == METADATA_VERSION else 0
    low, high = next(((low, high) for n, low, high in ranges if n == name), (absent, absent))
    return level == 0 or low <= level <= high


def _features_supported(subject: Subject) -> str | None:
    if isinstance(subject.lease, RegisterBrokerRecord):
        ranges = tuple((f.name, f.minimum, f.maximum) for f in subject.lease.features)
        finalized = {**subject.image.features, _KRAFT_VERSION: subject.image.kraft_version}
        for name, level in sorted(finalized.items()):
            if not supports(name, level, ranges):
                return f"broker {subject.lease.broker_id} does not support {name} at level {level}"
    elif subject.record.api_key == FEATURE_LEVEL.api_key:
        name, level = subject.record.fields["name"], subject.record.fields["featureLevel"]
        for broker, registered in sorted(subject.image.registrations.items()):
            if not supports(name, level, registered.features):
                return f"registered broker {broker} does not support {name} at level {level}"
    return None


def _supports_without(subject: Subject) -> str | None:
    """Return an objection to a broker that needs a feature that is not finalized.

    Raft has the level of kraft.version. From 4.0 on a registration is refused for this.
    """
    record, image = subject.lease, subject.image
    if not isinstance(record, RegisterBrokerRecord) or (image.metadata_version or 0) < MV_4_0_IV0:
        return None
    for one in record.features:
        is_known = one.name in image.features or one.name == _KRAFT_VERSION
        if not is_known and not one.minimum <= 0 <= one.maximum:
            return f"broker {record.broker_id} does not support {one.name} at level 0"
    return None


def _directories_owned(subject: Subject) -> str | None:
    record = subject.lease
    if not isinstance(record, RegisterBrokerRecord | BrokerRegistrationChangeRecord):
        return None
    directories = record.log_dirs
    if len(set(directories)) != len(directories):
        return f"broker {record.broker_id} names a directory id twice"
    for directory in sorted(directories):
        if int.from_bytes(uuid_bytes(directory), "big") < RESERVED_DIRECTORIES:
            return f"directory id {directory} of broker {record.broker_id} is reserved"
        for other, registered in sorted(subject.image.registrations.items()):
            if other != record.broker_id and directory in registered.directories:
                return (
                    f"directory {directory} of broker {record.broker_id} belongs to broker {other}"
                )
    return None


def _directories_named(subject: Subject) -> str | None:
    record = subject.lease
    if not isinstance(record, RegisterBrokerRecord) or subject.record.version < _WITH_DIRECTORIES:
        return None
    return None if record.log_dirs else f"broker {record.broker_id} registers without a directory"


def _directories_shrink(subject: Subject) -> str | None:
    record, before = subject.lease, subject.registered()
    if not isinstance(record, BrokerRegistrationChangeRecord) or before is None:
        return None
    added = sorted(set(record.log_dirs) - set(before.directories))
    if not added:
        return None
    return f"broker {record.broker_id} gains directory {added[0]} without a new registration"


def _endpoints_reachable(subject: Subject) -> str | None:
    record = subject.lease
    if not isinstance(record, RegisterBrokerRecord):
        return None
    if not record.endpoints:
        return f"broker {record.broker_id} has no endpoint"
    for endpoint in record.endpoints:
        if endpoint.port == 0:
            return f"endpoint {endpoint.name} of broker {record.broker_id} has port 0"
    return None


def _producer_ids_granted(subject: Subject) -> str | None:
    if subject.record.api_key != PRODUCER_IDS.api_key or subject.image.is_copying:
        return None
    fields = subject.record.fields
    broker, epoch = fields["brokerId"], fields["brokerEpoch"]
    before = subject.image.registrations.get(broker)
    if before is None:
        return f"producer ids go to broker {broker}, which is not registered"
    if epoch != before.epoch:
        return f"producer ids go to broker {broker} at epoch {epoch}, but it has {before.epoch}"
    return None


_REGISTER: Final = "KIP-631; Kafka: ClusterControlManager.registerBroker"
_REPLAY: Final = "Kafka: ClusterControlManager.replay"
ACTIVE: Final = "KIP-841; Kafka: PartitionChangeBuilder.electLeader"

_REGISTRATIONS: Final = frozenset(
    {RegisterBrokerRecord.SCHEMA.api_key, BrokerRegistrationChangeRecord.SCHEMA.api_key}
)

_KRAFT_VERSION: Final = "kraft.version"
SUPPORTS_WITHOUT: Final = RecordInvariant(
    "B8",
    "KIP-1022; Kafka: ClusterControlManager.processRegistrationFeature",
    _supports_without,
    frozenset({RegisterBrokerRecord.SCHEMA.api_key}),
)
"""A feature that a checkpoint does not have may have been finalized when the broker registered."""
DIRECTORIES_NAMED: Final = RecordInvariant(
    "B9",
    "KIP-858; Kafka: ClusterControlManager.registerBroker",
    _directories_named,
    frozenset({RegisterBrokerRecord.SCHEMA.api_key}),
)
"""A broker in a checkpoint may have registered before 3.7-IV2, without directories."""
BROKER_INVARIANTS: Final = (
    SUPPORTS_WITHOUT,
    DIRECTORIES_NAMED,
    RecordInvariant(
        "B8",
        "KIP-584; Kafka: ClusterControlManager.processRegistrationFeature",
        _features_supported,
        frozenset({RegisterBrokerRecord.SCHEMA.api_key, FEATURE_LEVEL.api_key}),
    ),
    RecordInvariant(
        "B9",
        "KIP-858; " + _REPLAY,
        _directories_owned,
        _REGISTRATIONS,
    ),
    RecordInvariant(
        "B10",
        "KIP-858; Kafka: ReplicationControlManager.handleDirectoriesOffline",
        _directories_shrink,
        frozenset({BrokerRegistrationChangeRecord.SCHEMA.api_key}),
    ),
    RecordInvariant(
        "B15",
        _REGISTER,
        _endpoints_reachable,
        frozenset({RegisterBrokerRecord.SCHEMA.api_key}),
    ),
    RecordInvariant(
        "O2",
        "Kafka: ProducerIdControlManager.generateNextProducerId",
        _producer_ids_granted,
        frozenset({PRODUCER_IDS.api_key}),
    ),
)


def _leader_is_active(
    state: PartitionState, active: frozenset[int], excused: frozenset[int], image: Image
) -> str | None:
    if state.leader < 0 or state.leader in active or state.leader in excused:
        return None
    return None if state in image.led_by_inactive else inactive_leader(state)


def _isr_is_active(
    state: PartitionState, active: frozenset[int], excused: frozenset[int], _: Image
) -> str | None:
    if len(state.isr) < 2:
        return None
    for broker in state.isr:
        if broker not in active and broker not in excused:
            return f"broker {broker} is in its ISR {list(state.isr)} and not active"
    return None


def _last_of_isr_leads_if_active(
    state: PartitionState, active: frozenset[int], excused: frozenset[int], image: Image
) -> str | None:
    if len(state.isr) != 1 or state.leader < 0:
        return None
    (broker,) = state.isr
    if broker in active or broker in excused or state in image.led_by_inactive:
        return None
    return f"broker {broker} is alone in its ISR and not active, yet {state.leader} leads"


def _leader_directory_online(
    state: PartitionState, active: frozenset[int], _: frozenset[int], image: Image
) -> str | None:
    if state.leader not in active or directory_online(state, state.leader, image.registrations):
        return None
    return None if state in image.astray else offline_leader(state)


def inactive_leader(state: PartitionState) -> str:
    """Return the sentence that a partition's leader is not active."""
    return f"its leader {state.leader} is not active"


LEADER_ACTIVE: Final = PartitionInvariant("P11", ACTIVE, _leader_is_active)
LEADER_ONLINE: Final = PartitionInvariant(
    "P14",
    "KIP-858; Kafka: PartitionChangeBuilder.electLeader",
    _leader_directory_online,
)

PARTITION_INVARIANTS: Final = (
    PartitionInvariant(
        "P13",
        ACTIVE,
        _last_of_isr_leads_if_active,
    ),
    LEADER_ACTIVE,
    PartitionInvariant(
        "P12",
        ACTIVE,
        _isr_is_active,
    ),
    LEADER_ONLINE,
)

REPLICAS_REGISTERED: Final = Invariant(
    "T8",
    "KIP-455; Kafka: ReplicationControlManager.validateManualPartitionAssignment",
)
PARTITION_EXISTS: Final = Invariant(
    "T5",
    "Kafka: ReplicationControlManager.replay",
)
CHECKPOINT_REPLAYED: Final = Invariant(
    "L4",
    "KIP-630; Kafka: MetadataImage",
)
CHECKPOINT_ALIGNED: Final = Invariant("L5", "KIP-630; Kafka: SnapshotGenerator")
LOGS_MATCH: Final = Invariant(
    "LogMatching",
    "Raft, Log Matching and Leader Completeness; KIP-595",
)
LEADER_OF_EPOCH: Final = Invariant(
    "LeaderOfEpoch",
    "Raft, Election Safety; KIP-595",
)
CHECKPOINT_CONTINUED: Final = Invariant(
    "L7",
    "KIP-630; Kafka: MetadataDelta.apply",
)
CHECKPOINTS_EQUAL: Final = Invariant(
    "L6",
    "KIP-630; Kafka: MetadataImage",
)
REGISTERED_ONCE: Final = Invariant("B1", "Kafka: ClusterImage.write")
PARTITION_EPOCH: Final = Invariant("E1", "Kafka: PartitionRegistration.merge")
LEADER_EPOCH: Final = Invariant(
    "E2",
    "Kafka: PartitionRegistration.merge",
)
ONE_LEADER_AN_EPOCH: Final = Invariant("E8", "Kafka: PartitionRegistration.merge")
PARTITIONS_STAY: Final = Invariant("T4", "Kafka: ReplicationControlManager.createPartitions")


def replicas_objection(image: Image, before: tuple[int, ...], after: tuple[int, ...]) -> str | None:
    """Return what is wrong with the replicas `after` of a partition that had `before`."""
    if not after:
        return "the partition has no replicas"
    if len(set(after)) != len(after):
        return f"replicas {list(after)} name a broker twice"
    for broker in after:
        if broker not in before and broker not in image.registrations:
            return f"replica {broker} is assigned, but is not a registered broker"
    return None


def partition_objections(
    image: Image,
    state: PartitionState,
    active: frozenset[int],
    excused: frozenset[int] | None = None,
) -> list[tuple[PartitionInvariant, str]]:
    """Return the invariants that a partition breaks at the end of an operation, with sentences.

    `active` are the brokers that may lead, `excused` those that may although they are inactive,
    those of the image unless others are given.
    """
    excused = image.excused() if excused is None else excused
    found = []
    for invariant in PARTITION_INVARIANTS:
        objection = invariant.objection(state, active, excused, image)
        if objection is not None:
            found.append((invariant, objection))
    return found
