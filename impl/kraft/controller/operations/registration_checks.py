"""Reasons to refuse a registration besides its id: cluster, directories, listeners, features.

Kafka: ClusterControlManager.registerBroker, .processRegistrationFeature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.controller.operations.errors import ControllerError, ControllerFaultError
from kraft.controller.operations.leader_eligibility import metadata_version_of
from kraft.errors import ErrorCode
from kraft.ids import uuid_bytes
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.versions import IBP_3_7_IV2
from kraft.records.lease import Endpoint, FeatureRange

if TYPE_CHECKING:
    from kraft.controller.operations.defaults import Defaults
    from kraft.ids import BrokerId, DirectoryId
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc import BrokerRegistrationRequest
    from kraft.rpc.controller_registration import ControllerRegistrationRequest

KRAFT_VERSION: Final = "kraft.version"
"""The feature that Raft keeps, outside of the metadata."""

_RESERVED_IDS: Final = 100
_SECURITY_PROTOCOLS: Final = frozenset(range(4))
_LAST_PORT: Final = 2**16 - 1


def check_cluster(defaults: Defaults, request: BrokerRegistrationRequest) -> None:
    """Check that a broker belongs to the controller's cluster (KAFKA-13528).

    Raises ControllerError (INCONSISTENT_CLUSTER_ID).
    Kafka: ClusterControlManager.registerBroker.
    """
    if request.cluster_id != defaults.cluster_id:
        reason = f"the cluster is {defaults.cluster_id!r}, not {request.cluster_id!r}"
        raise ControllerError(ErrorCode.INCONSISTENT_CLUSTER_ID, reason)


def check_directories(image: MetadataImage, request: BrokerRegistrationRequest) -> None:
    """Check that a broker names its log directories, and no other broker's. KIP-858.

    Raises ControllerError: BROKER_ID_NOT_REGISTERED for a broker that still migrates from
    ZooKeeper, INVALID_REGISTRATION for its directories.
    Kafka: ClusterControlManager.registerBroker.
    """
    if request.is_migrating_zk_broker:
        reason = "a broker that migrates from ZooKeeper cannot register"
        raise ControllerError(ErrorCode.BROKER_ID_NOT_REGISTERED, reason)
    if metadata_version_of(image) < IBP_3_7_IV2:
        return
    directories = request.log_dirs
    if not directories:
        raise _invalid("no directories")
    if any(map(is_reserved, directories)):
        raise _invalid("a directory has a reserved id")
    if len(set(directories)) != len(directories):
        raise _invalid("a directory is named twice")
    owners = directory_owners(image)
    for directory in directories:
        owner = owners.get(directory, request.broker_id)
        if owner != request.broker_id:
            raise _invalid(f"directory {directory} is of broker {owner}")


def is_reserved(directory: DirectoryId) -> bool:
    """Return whether a directory id is reserved.

    Kafka: DirectoryId.reserved.
    """
    return int.from_bytes(uuid_bytes(directory), "big") < _RESERVED_IDS


def directory_owners(image: MetadataImage) -> dict[DirectoryId, BrokerId]:
    """Return the broker that owns each directory.

    Kafka: ClusterControlManager.directoryToBroker.
    """
    return {
        directory: broker_id
        for broker_id, registration in image.brokers.items()
        for directory in registration.directories
    }


def endpoints_of(
    request: BrokerRegistrationRequest | ControllerRegistrationRequest,
) -> tuple[Endpoint, ...]:
    """Return the endpoints of a node; of two listeners with one name, the last counts.

    Raises ControllerFaultError for an invalid listener, which Kafka's controller does not refuse.
    Kafka: ListenerInfo.fromBrokerRegistrationRequest, .toBrokerRegistrationRecord,
    .fromControllerRegistrationRequest, .toControllerRegistrationRecord.
    """
    for listener in request.listeners:
        if listener.security_protocol not in _SECURITY_PROTOCOLS:
            number = listener.security_protocol
            raise ControllerFaultError(f"unknown security protocol {number}")
    listeners = {listener.name: listener for listener in request.listeners}
    for listener in listeners.values():
        if not 0 < listener.port <= _LAST_PORT:
            raise ControllerFaultError(f"{listener.port} is not a port")
        if not listener.host.strip():
            raise ControllerFaultError(f"listener {listener.name!r} has no host")
    return tuple(
        Endpoint(one.name, one.host, one.port, one.security_protocol) for one in listeners.values()
    )


def features_of(
    image: MetadataImage, request: BrokerRegistrationRequest, kraft_version: int
) -> tuple[FeatureRange, ...]:
    """Return the features of a broker if it supports all finalized levels.

    A feature that it does not name counts as supported at level 0 only (KAFKA-17305).

    Raises ControllerError: UNSUPPORTED_VERSION for an unsupported level, INVALID_REGISTRATION if
    metadata.version is not named.
    Kafka: ClusterControlManager.processRegistrationFeature.
    """
    levels = {
        **image.features,
        METADATA_VERSION: metadata_version_of(image),
        KRAFT_VERSION: kraft_version,
    }
    ranges = tuple(FeatureRange(*one) for one in request.features)
    for supported in ranges:
        _check_feature(supported, levels.get(supported.name, 0))
    named = {supported.name for supported in ranges}
    if METADATA_VERSION not in named:
        raise _invalid(f"{METADATA_VERSION} is not named")
    for name in sorted(set(levels) - named):
        _check_feature(FeatureRange(name, 0, 0), levels[name])
    return ranges


def _check_feature(supported: FeatureRange, level: int) -> None:
    if not supported.minimum <= level <= supported.maximum:
        only = f"{supported.minimum} to {supported.maximum}"
        reason = f"{supported.name} is at level {level}, the broker supports {only}"
        raise ControllerError(ErrorCode.UNSUPPORTED_VERSION, reason)


def _invalid(reason: str) -> ControllerError:
    return ControllerError(ErrorCode.INVALID_REGISTRATION, reason)
