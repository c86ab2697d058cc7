"""The text of the tree's leaves: values of an image as Kafka prints them.

Kafka: the `toString` of BrokerRegistration, ControllerRegistration, PartitionRegistration and
StandardAcl; ScramCredentialDataNode, DelegationTokenDataNode, ProvenanceNode.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from kraft.ids import uuid_bytes
from kraft.records.topics import RECOVERED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kraft.ids import DirectoryId
    from kraft.image.entries import (
        AccessControlEntry,
        BrokerRegistration,
        ControllerRegistration,
        DelegationToken,
        Partition,
        ScramCredential,
    )
    from kraft.records.lease import Endpoint, FeatureRange
    from kraft.tools.shell.image_loader import Provenance

_SECURITY_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_RESOURCES: Final = (
    "UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER",
)  # fmt: skip
_PATTERNS: Final = ("UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED")
_OPERATIONS: Final = (
    "UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE",
    "CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS",
    "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT",
)  # fmt: skip
_PERMISSIONS: Final = ("UNKNOWN", "ANY", "DENY", "ALLOW")
_NO_UPPER_LIMIT: Final = 2**15 - 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def broker_text(broker_id: int, broker: BrokerRegistration) -> str:
    """Return the text of a broker. Kafka: BrokerRegistration.toString."""
    return _object("BrokerRegistration", {
        "id": str(broker_id),
        "epoch": str(broker.epoch),
        "incarnationId": broker.incarnation_id,
        "listeners": _listeners(broker.endpoints),
        "supportedFeatures": _features(broker.features),
        "rack": "Optional.empty" if broker.rack is None else f"Optional[{broker.rack}]",
        "fenced": _truth(is_so=broker.fenced),
        "inControlledShutdown": _truth(is_so=broker.in_controlled_shutdown),
        "isMigratingZkBroker": _truth(is_so=broker.is_migrating_zk_broker),
        "directories": _list(_java_sorted(broker.directories)),
    })  # fmt: skip


def controller_text(controller_id: int, controller: ControllerRegistration) -> str:
    """Return the text of a controller. Kafka: ControllerRegistration.toString."""
    return _object("ControllerRegistration", {
        "id": str(controller_id),
        "incarnationId": controller.incarnation_id,
        "zkMigrationReady": _truth(is_so=controller.zk_migration_ready),
        "listeners": _listeners(controller.endpoints),
        "supportedFeatures": _features(controller.features),
    })  # fmt: skip


def partition_text(partition: Partition) -> str:
    """Return the text of a partition. Kafka: PartitionRegistration.toString."""
    is_recovered = partition.leader_recovery_state == RECOVERED
    return _object("PartitionRegistration", {
        "replicas": _list(partition.replicas),
        "directories": _list(partition.directories),
        "isr": _list(partition.isr),
        "removingReplicas": _list(partition.removing_replicas),
        "addingReplicas": _list(partition.adding_replicas),
        "elr": _list(partition.eligible_leader_replicas),
        "lastKnownElr": _list(partition.last_known_elr),
        "leader": str(partition.leader),
        "leaderRecoveryState": "RECOVERED" if is_recovered else "RECOVERING",
        "leaderEpoch": str(partition.leader_epoch),
        "partitionEpoch": str(partition.partition_epoch),
    })  # fmt: skip


def access_control_text(entry: AccessControlEntry) -> str:
    """Return the text of an access control entry. Kafka: StandardAcl.toString."""
    return _object("StandardAcl", {
        "resourceType": _named(_RESOURCES, entry.resource_type),
        "resourceName": entry.resource_name,
        "patternType": _named(_PATTERNS, entry.pattern_type),
        "principal": entry.principal,
        "host": entry.host,
        "operation": _named(_OPERATIONS, entry.operation),
        "permissionType": _named(_PERMISSIONS, entry.permission_type),
    })  # fmt: skip


def scram_text(credential: ScramCredential) -> str:
    """Return a credential, bytes in hexadecimal. Kafka: ScramCredentialDataNode.print."""
    return _object("ScramCredentialData", {
        "salt": credential.salt.hex(),
        "storedKey": credential.stored_key.hex(),
        "serverKey": credential.server_key.hex(),
        "iterations": str(credential.iterations),
    })  # fmt: skip


def token_text(token_id: str, token: DelegationToken) -> str:
    """Return a token, with the parentheses that Kafka gives it: more are opened than closed.

    Kafka: DelegationTokenDataNode.print.
    """
    return (
        f"DelegationTokenDatatokenId={token_id}(owner={token.owner}"
        f"(tokenRequester={token.requester}(renewers={' '.join(token.renewers)}"
        f", issueTimestamp={token.issue_timestamp}, maxTimestamp={token.max_timestamp})"
        f", expiryTimestamp={token.expiration_timestamp}"
    )


def provenance_text(provenance: Provenance) -> str:
    """Return where an image ends, the time in UTC. Kafka: ProvenanceNode.print."""
    try:
        at = _EPOCH + timedelta(milliseconds=provenance.time_ms)
    except OverflowError:
        time = f"{provenance.time_ms} ms"
    else:
        fraction = f".{at.microsecond:06}".rstrip("0").rstrip(".")
        time = f"{at:%Y-%m-%dT%H:%M:%S}{fraction}Z[UTC]"
    return f"offset {provenance.offset}, epoch {provenance.epoch}, time {time}"


def _object(name: str, fields: dict[str, str]) -> str:
    return f"{name}({', '.join(f'{field}={value}' for field, value in fields.items())})"


def _list(values: Iterable[object]) -> str:
    return f"[{', '.join(map(str, values))}]"


def _listeners(endpoints: Iterable[Endpoint]) -> str:
    return _list(
        f"Endpoint(listenerName='{one.name}', securityProtocol="
        f"{_named(_SECURITY_PROTOCOLS, one.security_protocol, str(one.security_protocol))},"
        f" host='{one.host}', port={one.port})"
        for one in endpoints
    )


def _features(features: Iterable[FeatureRange]) -> str:
    return f"{{{', '.join(f'{one.name}: {_range(one)}' for one in features)}}}"


def _range(feature: FeatureRange) -> str:
    if feature.minimum == feature.maximum:
        return str(feature.minimum)
    if feature.maximum == _NO_UPPER_LIMIT:
        return f"{feature.minimum}+"
    return f"{feature.minimum}-{feature.maximum}"


def _truth(*, is_so: bool) -> str:
    return "true" if is_so else "false"


def _named(names: Sequence[str], number: int, otherwise: str = "UNKNOWN") -> str:
    return names[number] if 0 <= number < len(names) else otherwise


def _java_sorted(directories: Sequence[DirectoryId]) -> list[DirectoryId]:
    """Return UUIDs as Java sorts them: by both halves, as numbers with a sign."""

    def halves(directory: DirectoryId) -> tuple[int, int]:
        raw = uuid_bytes(directory)
        return int.from_bytes(raw[:8], signed=True), int.from_bytes(raw[8:], signed=True)

    return sorted(directories, key=halves)
