"""The invariants of what Kafka writes in one way only, from the code that writes each record.

A log may hold such bytes and replay without a fault, but Kafka has not written them: header and
frames of a batch, values of fields, fields of a change that change nothing.

Kafka: BatchBuilder, and the manager that writes each record, named in `FIELDS`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.audit.broker_registrations import BLANKS, listeners_normalised
from krafla.audit.config_values import CONFIG_RULES
from krafla.audit.entities import BROKER_RESOURCE
from krafla.audit.invariants import RecordInvariant
from krafla.audit.invariants_migration import ENTITY_TYPES, FOLDERS
from krafla.audit.invariants_partitions import ChangeInvariant
from krafla.audit.invariants_topics import MV_4_1_IV0, RESERVED_IDS
from krafla.audit.redact import redacted
from krafla.audit.result import Invariant
from krafla.audit.transactions import BOOTSTRAP, FAILOVER, USER_NAMED, ZK_MIGRATION
from kraft.ids import uuid_bytes
from kraft.records import metadata_schemas as schemas
from kraft.records.compression import Compression
from kraft.records.limits import MAX_BATCH_BYTES
from kraft.records.primitives import Reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.audit.invariants import Subject
    from krafla.audit.invariants_partitions import Transition
    from kraft.records.batch import RecordBatch
    from kraft.records.record import ControlRecord, MetadataRecord
    from kraft.records.schema import Fields

_APPENDED: Final = "Kafka's controller writes the time of the append"
_CONTROL: Final = 0x20
_NO_PRODUCER: Final = (-1, -1, -1)
HEADER_WRITTEN: Final = Invariant(
    "W1",
    "KIP-595; Kafka: BatchBuilder.writeDefaultBatchHeader, BatchAccumulator.maybeAllocateBatch",
)
FRAMES_WRITTEN: Final = Invariant(
    "W2",
    "KIP-595; Kafka: BatchBuilder.writeRecord, MemoryRecords.createKraftControlRecordBuilder",
)


def header_objection(batch: RecordBatch) -> str | None:
    """Return what is wrong with the header of a batch."""
    header = batch.header
    if header.attributes & ~_CONTROL:
        return f"the batch has attributes {header.attributes:#x}"
    producer = header.producer_id, header.producer_epoch, header.base_sequence
    if producer != _NO_PRODUCER:
        return f"the batch names producer {producer[0]}, epoch {producer[1]}, from {producer[2]}"
    if batch.size > MAX_BATCH_BYTES:
        return f"the batch has {batch.size:,} bytes"
    if header.base_timestamp < 0:
        return f"the batch has timestamp {header.base_timestamp}; {_APPENDED}"
    if header.base_timestamp != header.max_timestamp:
        times = f"{header.base_timestamp} to {header.max_timestamp}"
        return f"the timestamps of the batch reach from {times}"
    return None


def frame_objection(batch: RecordBatch) -> tuple[MetadataRecord | ControlRecord, str] | None:
    """Return the first record with another frame than Kafka's, and what is wrong with it.

    Raises CorruptRecordError or a subclass.
    """
    records: list[MetadataRecord | ControlRecord]
    records = [*batch.metadata_records(), *batch.control_records()]
    for record in records:
        delta = record.timestamp - batch.base_timestamp
        if delta:
            return record, f"the record has timestamp delta {delta}"
        if batch.compression is Compression.NONE:
            reader = Reader(batch.raw, record.position - batch.position)
            reader.varint("the record's length")
            attributes = batch.raw[reader.position]
            if attributes:
                return record, f"the record has attributes {attributes:#x}"
    return None


class FieldRule(NamedTuple):
    """What Kafka writes into a field: `is_written` receives all fields, `source` writes them."""

    field: str
    is_written: Callable[[Fields], bool]
    source: str


_ACL: Final = "AclControlManager.validateNewAcl"
_CONFIG: Final = "ControllerConfigurationValidator.validate"
_ACL_ID: Final = "AclControlManager.newAclId"
_INCARNATION: Final = "BrokerLifecycleManager, ControllerServer: Uuid.randomUuid"
_QUOTA: Final = "ClientQuotaControlManager.alterClientQuotaEntity"
_QUOTA_KEY: Final = "ClientQuotaControlManager.configKeysForEntityType"
_QUOTA_VALUE: Final = "ClientQuotaControlManager.validateQuotaKeyValue"
_SCRAM: Final = "ScramControlManager.validateUpsertion"
_SCRAM_REMOVED: Final = "ScramControlManager.validateDeletion"
_SCRAM_KEYS: Final = "ScramControlManager.finishUpsertion"
_DELEGATION: Final = "DelegationTokenControlManager.createDelegationToken"
_LISTENER: Final = "ListenerInfo.fromBrokerRegistrationRequest"
_CONTROLLER_LISTENER: Final = "ListenerInfo.toControllerRegistrationRecord"
_PARTITION: Final = "ReplicationControlManager.createTopic"
_TAGGED: Final = "PartitionRegistration.toRecord"
_TRANSACTION: Final = "ActivationRecordsGenerator.recordsForEmptyLog"
_ACTIVATION: Final = "ActivationRecordsGenerator.generate"


def _names_differ(field: str) -> Callable[[Fields], bool]:
    return lambda fields: len({one["name"] for one in fields[field]}) == len(fields[field])


def _is_no_empty_tag(field: str) -> Callable[[Fields], bool]:
    """Return the rule that a partition has a tagged list only if that names something."""
    return lambda fields: fields.get(field) != ()


def _endpoints_known(fields: Fields) -> bool:
    return all(
        0 <= one["securityProtocol"] <= 3 and one["host"].strip(BLANKS)
        for one in fields["endPoints"]
    )


def _endpoints_reachable(fields: Fields) -> bool:
    """Return whether a controller has an endpoint, and each of them a port; B15 is of brokers."""
    return bool(fields["endPoints"]) and all(one["port"] for one in fields["endPoints"])


def _ranges_in_order(fields: Fields) -> bool:
    return all(
        one["minSupportedVersion"] <= one["maxSupportedVersion"] for one in fields["features"]
    )


def _is_random(field: str) -> Callable[[Fields], bool]:
    return lambda fields: uuid_bytes(fields[field]) not in RESERVED_IDS


def _entity_known(fields: Fields) -> bool:
    """Return whether a quota is of a user, a client, both, or an address; "" is no name of any.

    W3 has a rule of its own about the types that only a migration of Kafka 3.4 writes.
    """
    kinds = [one["entityType"] for one in fields["entity"]]
    if len(set(kinds)) != len(kinds) or any(one["entityName"] == "" for one in fields["entity"]):
        return False
    return bool(kinds) and any({*kinds} <= known for known in _ENTITIES)


def _quota_known(fields: Fields) -> bool:
    of_an_address = any(one["entityType"] in _ADDRESSES for one in fields["entity"])
    return fields["key"] in (_QUOTAS_OF_ADDRESSES if of_an_address else _QUOTAS)


def _quota_written(fields: Fields) -> bool:
    """Return whether some release writes a quota's value: Kafka takes NaN for any number.

    W3 has a rule of its own about quotas of 0 and below, which old releases write.
    """
    value = fields["value"]
    if fields["remove"]:
        return bool(value == 0.0)
    if math.isnan(value) or fields["key"] in _FRACTIONS:
        return True
    return bool(-1 < value <= 2**63 and abs(value - round(value)) < 1e-5)


def _cluster_named(fields: Fields) -> bool:
    return bool(fields["resourceType"] != _CLUSTER or fields["resourceName"] == "kafka-cluster")


def _renewed_by_users(fields: Fields) -> bool:
    return all(one.startswith("User:") for one in fields["renewers"])


def _is_principal(field: str) -> Callable[[Fields], bool]:
    return lambda fields: ":" in fields[field]


def _is_token_id(fields: Fields) -> bool:
    """Return whether a token's id is the text of a random id: 16 bytes in 22 letters."""
    try:
        return uuid_bytes(fields["tokenId"]) not in RESERVED_IDS
    except ValueError:
        return False


def _is_key(field: str) -> Callable[[Fields], bool]:
    """Return the rule that a key has as many bytes as the hash of its mechanism."""
    return lambda fields: len(fields[field]) == _HASH_BYTES.get(fields["mechanism"])


def _names_resource(fields: Fields) -> bool:
    """Return whether a resource has a name; for nodes that may be none, and is a number."""
    name: str = fields["resourceName"]
    is_of_a_node = fields["resourceType"] == BROKER_RESOURCE
    return (not name or name.isdecimal()) if is_of_a_node else bool(name)


_ADDRESSES: Final = frozenset({"ip", "ips"})
_ENTITIES: Final = ({"user", "client-id"}, {"ip"}, FOLDERS - _ADDRESSES, FOLDERS & _ADDRESSES)
_FRACTIONS: Final = frozenset({"request_percentage", "controller_mutation_rate"})
_QUOTAS: Final = _FRACTIONS | {"producer_byte_rate", "consumer_byte_rate"}
_QUOTAS_OF_ADDRESSES: Final = frozenset({"connection_creation_rate"})
_ACL_RESOURCES: Final = range(2, 8)
"""From topics to users. Kafka: ResourceType."""
_ACL_OPERATIONS: Final = range(2, 16)
"""From all operations to the commit in two phases that Kafka 4.1 adds. Kafka: AclOperation."""
_HASH_BYTES: Final = {1: 32, 2: 64}
"""By mechanism, the bytes of SHA-256 and SHA-512. Kafka: ScramMechanism."""
_MAX_ITERATIONS: Final = 16384
"""Kafka: ScramControlManager.MAX_ITERATIONS."""
_CLUSTER: Final = 4
"""Kafka: ResourceType.CLUSTER."""
_CONFIGURABLE: Final = frozenset({BROKER_RESOURCE, *CONFIG_RULES})
"""Topics, nodes, client metrics and groups; levels of loggers are not in the log."""
_NODE_ID: Final = "KafkaConfig.validateValues"
_REGISTERED: Final = (
    FieldRule("incarnationId", _is_random("incarnationId"), _INCARNATION),
    FieldRule("endPoints", _names_differ("endPoints"), _LISTENER),
    FieldRule("endPoints", _endpoints_known, _LISTENER),
    FieldRule("endPoints", listeners_normalised, "ListenerName.normalised"),
    FieldRule("features", _names_differ("features"), "ClusterControlManager.registerBroker"),
    FieldRule("features", _ranges_in_order, "ClusterControlManager.registerBroker"),
)
FIELDS: Final[dict[int, tuple[FieldRule, ...]]] = {
    schemas.REGISTER_BROKER.api_key: (
        FieldRule("brokerId", lambda f: f["brokerId"] >= 0, _NODE_ID), *_REGISTERED,
    ),
    schemas.REGISTER_CONTROLLER.api_key: (
        FieldRule("controllerId", lambda f: f["controllerId"] >= 0, _NODE_ID), *_REGISTERED,
        FieldRule("endPoints", _endpoints_reachable, _CONTROLLER_LISTENER),
    ),
    schemas.PARTITION.api_key: (
        FieldRule("partitionId", lambda f: f["partitionId"] >= 0, _PARTITION),
        FieldRule("leader", lambda f: f["leader"] >= -1, _PARTITION),
        FieldRule("leaderRecoveryState", lambda f: f["leaderRecoveryState"] in (0, 1), _PARTITION),
        FieldRule("eligibleLeaderReplicas", _is_no_empty_tag("eligibleLeaderReplicas"), _TAGGED),
        FieldRule("lastKnownElr", _is_no_empty_tag("lastKnownElr"), _TAGGED),
    ),
    schemas.CONFIG.api_key: (
        FieldRule("resourceType", lambda f: f["resourceType"] in _CONFIGURABLE, _CONFIG),
        FieldRule("resourceName", _names_resource, _CONFIG),
        FieldRule("name", lambda f: bool(f["name"]), _CONFIG),
    ),
    schemas.CLIENT_QUOTA.api_key: (
        FieldRule("entity", _entity_known, _QUOTA),
        FieldRule("key", _quota_known, _QUOTA_KEY),
        FieldRule("value", _quota_written, _QUOTA_VALUE),
    ),
    schemas.ACCESS_CONTROL_ENTRY.api_key: (
        FieldRule("id", _is_random("id"), _ACL_ID),
        FieldRule("resourceType", lambda f: f["resourceType"] in _ACL_RESOURCES, _ACL),
        FieldRule("resourceName", lambda f: bool(f["resourceName"]), _ACL),
        FieldRule("resourceName", _cluster_named, "AclApis.handleCreateAcls"),
        FieldRule("patternType", lambda f: f["patternType"] in (3, 4), _ACL),
        FieldRule("operation", lambda f: f["operation"] in _ACL_OPERATIONS, _ACL),
        FieldRule("permissionType", lambda f: f["permissionType"] in (2, 3), _ACL),
    ),
    schemas.USER_SCRAM_CREDENTIAL.api_key: (
        FieldRule("mechanism", lambda f: f["mechanism"] in (1, 2), _SCRAM),
        FieldRule("iterations", lambda f: f["iterations"] >= 4096, _SCRAM),
        FieldRule("storedKey", _is_key("storedKey"), _SCRAM_KEYS),
        FieldRule("serverKey", _is_key("serverKey"), _SCRAM_KEYS),
    ),
    schemas.REMOVE_USER_SCRAM_CREDENTIAL.api_key: (
        FieldRule("name", lambda f: bool(f["name"]), _SCRAM_REMOVED),
        FieldRule("mechanism", lambda f: f["mechanism"] in (1, 2), _SCRAM_REMOVED),
    ),
    schemas.DELEGATION_TOKEN.api_key: (
        FieldRule("owner", _is_principal("owner"), _DELEGATION),
        FieldRule("requester", _is_principal("requester"), _DELEGATION),
        FieldRule("tokenId", _is_token_id, _DELEGATION),
        FieldRule("renewers", _renewed_by_users, _DELEGATION),
        FieldRule("expirationTimestamp", lambda f: f["expirationTimestamp"] <= f["maxTimestamp"],
                  _DELEGATION),
        FieldRule("issueTimestamp", lambda f: f["issueTimestamp"] <= f["maxTimestamp"],
                  _DELEGATION),
    ),
    schemas.BEGIN_TRANSACTION.api_key: (
        FieldRule("name", lambda f: f["name"] in (BOOTSTRAP, ZK_MIGRATION),
                  _TRANSACTION),
    ),
    schemas.ABORT_TRANSACTION.api_key: (
        FieldRule("reason", lambda f: f["reason"] == FAILOVER, _ACTIVATION),
    ),
}  # fmt: skip
"""By api key, the fields that Kafka writes in one way only, with what writes them."""


def _field_values(subject: Subject) -> str | None:
    fields = subject.record.fields
    for rule in FIELDS[subject.record.api_key]:
        if not rule.is_written(fields):
            told = redacted(subject.record.api_key, fields)[rule.field]
            return f"{rule.field} is {told!r}, as {rule.source} never writes it"
    return None


def _iterations_bounded(subject: Subject) -> str | None:
    """Return an objection to many iterations, which a migrated credential may have.

    Kafka's tool that wrote credentials to ZooKeeper asks only for enough of them.
    """
    iterations = subject.record.fields["iterations"]
    if subject.image.is_migrating or iterations <= _MAX_ITERATIONS:
        return None
    return f"the credential has {iterations} iterations"


def _principal_named(subject: Subject) -> str | None:
    """Return an objection to a principal without a type, which old releases take."""
    principal = subject.record.fields["principal"]
    if ":" in principal or (subject.image.metadata_version or 0) < MV_4_1_IV0:
        return None
    return f"the principal is {principal!r}, without a type"


def _token_stays(subject: Subject) -> str | None:
    """Return an objection to a token that changes in anything but the time when it expires.

    The sentence names no value: a token is a secret.
    """
    fields = subject.record.fields
    known = subject.image.entities.tokens.get(fields["tokenId"])
    if known is None or subject.image.is_copying:
        return None
    for name in ("owner", "requester", "issueTimestamp", "maxTimestamp"):
        if fields[name] != known[name]:
            return f"the {name} of a delegation token changes"
    if set(fields["renewers"]) != set(known["renewers"]):
        return "the renewers of a delegation token change"
    return None


def _only_what_changes(t: Transition) -> str | None:
    for name in ("isr", "replicas", "adding", "removing", "directories", "elr", "last_known_elr"):
        named = getattr(t.change, name)
        if name == "elr" and t.before in t.image.emptied:
            continue  # the record is made from the state before, which had an ELR
        if named is not None and named == getattr(t.before, name):
            return f"the record names {name} {list(named)}, as it was before"
    if t.change.recovery == t.before.recovery:
        return f"the record names the recovery state {t.before.recovery}, as it was before"
    return None


CHANGED_FIELDS: Final = (
    RecordInvariant(
        "W3",
        "Kafka: ScramControlManager.validateUpsertion",
        _iterations_bounded,
        frozenset({schemas.USER_SCRAM_CREDENTIAL.api_key}),
    ),
    USER_NAMED,
    RecordInvariant(
        "W3",
        "Kafka: AclControlManager.validateNewAcl",
        _principal_named,
        frozenset({schemas.ACCESS_CONTROL_ENTRY.api_key}),
    ),
    RecordInvariant(
        "W3",
        "KIP-48; Kafka: DelegationTokenControlManager.renewDelegationToken, .expireDelegationToken",
        _token_stays,
        frozenset({schemas.DELEGATION_TOKEN.api_key}),
    ),
    ENTITY_TYPES,
)
"""The invariants of a field that a controller writes. A checkpoint may have it from ZooKeeper or an
older release, and those of 4.x do not say whether the cluster was migrated."""
_ONE_WAY: Final = "Kafka: the manager that writes the record, which `FIELDS` names"
WRITTEN_INVARIANTS: Final = (
    RecordInvariant("W3", _ONE_WAY, _field_values, frozenset(FIELDS)),
    *CHANGED_FIELDS,
)
CHANGE_NAMES_CHANGES: Final = ChangeInvariant(
    "W4",
    "Kafka: PartitionChangeBuilder.setAssignmentChanges, .maybeUpdateRecordElr",
    _only_what_changes,
)
