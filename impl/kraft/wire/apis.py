"""The APIs of a controller of Kafka 4.1: the schemas of their requests and responses by key.

Kafka: ApiMessageType, its members whose `listeners` have `controller`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.errors import UnsupportedVersionError
from kraft.wire.schemas import (
    access_control,
    cluster,
    configurations,
    credentials,
    elections,
    nodes,
    partitions,
    quorum,
    replication,
    topics,
)

if TYPE_CHECKING:
    from kraft.records.schema import Schema


class Api(NamedTuple):
    """One API: what is asked and what is answered, in the same versions.

    If it `is_forwardable`, a broker may send a client's request on in an envelope.
    Kafka: ApiKeys.forwardable.
    """

    request: Schema
    response: Schema
    is_forwardable: bool = False

    @property
    def key(self) -> int:
        """Return the number that names this API on the wire."""
        return self.request.api_key

    @property
    def name(self) -> str:
        """Return Kafka's name of this API, as `Fetch`."""
        return self.request.name.removesuffix("Request")


_APIS: Final = (
    Api(replication.FETCH_REQUEST, replication.FETCH_RESPONSE),
    Api(credentials.SASL_HANDSHAKE_REQUEST, credentials.SASL_HANDSHAKE_RESPONSE),
    Api(cluster.API_VERSIONS_REQUEST, cluster.API_VERSIONS_RESPONSE),
    Api(topics.CREATE_TOPICS_REQUEST, topics.CREATE_TOPICS_RESPONSE, is_forwardable=True),
    Api(topics.DELETE_TOPICS_REQUEST, topics.DELETE_TOPICS_RESPONSE, is_forwardable=True),
    Api(access_control.DESCRIBE_ACLS_REQUEST, access_control.DESCRIBE_ACLS_RESPONSE),
    Api(
        access_control.CREATE_ACLS_REQUEST, access_control.CREATE_ACLS_RESPONSE, is_forwardable=True
    ),
    Api(
        access_control.DELETE_ACLS_REQUEST, access_control.DELETE_ACLS_RESPONSE, is_forwardable=True
    ),
    Api(configurations.DESCRIBE_CONFIGS_REQUEST, configurations.DESCRIBE_CONFIGS_RESPONSE),
    Api(
        configurations.ALTER_CONFIGS_REQUEST,
        configurations.ALTER_CONFIGS_RESPONSE,
        is_forwardable=True,
    ),
    Api(credentials.SASL_AUTHENTICATE_REQUEST, credentials.SASL_AUTHENTICATE_RESPONSE),
    Api(topics.CREATE_PARTITIONS_REQUEST, topics.CREATE_PARTITIONS_RESPONSE, is_forwardable=True),
    Api(
        credentials.CREATE_DELEGATION_TOKEN_REQUEST,
        credentials.CREATE_DELEGATION_TOKEN_RESPONSE,
        is_forwardable=True,
    ),
    Api(
        credentials.RENEW_DELEGATION_TOKEN_REQUEST,
        credentials.RENEW_DELEGATION_TOKEN_RESPONSE,
        is_forwardable=True,
    ),
    Api(
        credentials.EXPIRE_DELEGATION_TOKEN_REQUEST,
        credentials.EXPIRE_DELEGATION_TOKEN_RESPONSE,
        is_forwardable=True,
    ),
    Api(
        credentials.DESCRIBE_DELEGATION_TOKEN_REQUEST,
        credentials.DESCRIBE_DELEGATION_TOKEN_RESPONSE,
    ),
    Api(partitions.ELECT_LEADERS_REQUEST, partitions.ELECT_LEADERS_RESPONSE, is_forwardable=True),
    Api(
        configurations.INCREMENTAL_ALTER_CONFIGS_REQUEST,
        configurations.INCREMENTAL_ALTER_CONFIGS_RESPONSE,
        is_forwardable=True,
    ),
    Api(
        partitions.ALTER_PARTITION_REASSIGNMENTS_REQUEST,
        partitions.ALTER_PARTITION_REASSIGNMENTS_RESPONSE,
        is_forwardable=True,
    ),
    Api(
        partitions.LIST_PARTITION_REASSIGNMENTS_REQUEST,
        partitions.LIST_PARTITION_REASSIGNMENTS_RESPONSE,
        is_forwardable=True,
    ),
    Api(
        configurations.ALTER_CLIENT_QUOTAS_REQUEST,
        configurations.ALTER_CLIENT_QUOTAS_RESPONSE,
        is_forwardable=True,
    ),
    Api(
        credentials.DESCRIBE_USER_SCRAM_CREDENTIALS_REQUEST,
        credentials.DESCRIBE_USER_SCRAM_CREDENTIALS_RESPONSE,
    ),
    Api(
        credentials.ALTER_USER_SCRAM_CREDENTIALS_REQUEST,
        credentials.ALTER_USER_SCRAM_CREDENTIALS_RESPONSE,
        is_forwardable=True,
    ),
    Api(elections.VOTE_REQUEST, elections.VOTE_RESPONSE),
    Api(elections.BEGIN_QUORUM_EPOCH_REQUEST, elections.BEGIN_QUORUM_EPOCH_RESPONSE),
    Api(elections.END_QUORUM_EPOCH_REQUEST, elections.END_QUORUM_EPOCH_RESPONSE),
    Api(quorum.DESCRIBE_QUORUM_REQUEST, quorum.DESCRIBE_QUORUM_RESPONSE, is_forwardable=True),
    Api(partitions.ALTER_PARTITION_REQUEST, partitions.ALTER_PARTITION_RESPONSE),
    Api(cluster.UPDATE_FEATURES_REQUEST, cluster.UPDATE_FEATURES_RESPONSE, is_forwardable=True),
    Api(cluster.ENVELOPE_REQUEST, cluster.ENVELOPE_RESPONSE),
    Api(replication.FETCH_SNAPSHOT_REQUEST, replication.FETCH_SNAPSHOT_RESPONSE),
    Api(cluster.DESCRIBE_CLUSTER_REQUEST, cluster.DESCRIBE_CLUSTER_RESPONSE),
    Api(nodes.BROKER_REGISTRATION_REQUEST, nodes.BROKER_REGISTRATION_RESPONSE),
    Api(nodes.BROKER_HEARTBEAT_REQUEST, nodes.BROKER_HEARTBEAT_RESPONSE),
    Api(nodes.UNREGISTER_BROKER_REQUEST, nodes.UNREGISTER_BROKER_RESPONSE, is_forwardable=True),
    Api(
        nodes.ALLOCATE_PRODUCER_IDS_REQUEST,
        nodes.ALLOCATE_PRODUCER_IDS_RESPONSE,
        is_forwardable=True,
    ),
    Api(nodes.CONTROLLER_REGISTRATION_REQUEST, nodes.CONTROLLER_REGISTRATION_RESPONSE),
    Api(nodes.ASSIGN_REPLICAS_TO_DIRS_REQUEST, nodes.ASSIGN_REPLICAS_TO_DIRS_RESPONSE),
    Api(quorum.ADD_RAFT_VOTER_REQUEST, quorum.ADD_RAFT_VOTER_RESPONSE, is_forwardable=True),
    Api(quorum.REMOVE_RAFT_VOTER_REQUEST, quorum.REMOVE_RAFT_VOTER_RESPONSE, is_forwardable=True),
    Api(quorum.UPDATE_RAFT_VOTER_REQUEST, quorum.UPDATE_RAFT_VOTER_RESPONSE),
)
CONTROLLER_APIS: Final[dict[int, Api]] = {api.key: api for api in _APIS}
"""The APIs that a controller serves, in the order of their keys. It sends no others."""


def api_of(key: int, version: int) -> Api:
    """Return the API that a request names.

    Raises UnsupportedVersionError if a controller does not serve this API, or not this version.
    Kafka: ApiVersionManager.isApiEnabled.
    """
    api = CONTROLLER_APIS.get(key)
    if api is None:
        raise UnsupportedVersionError(f"no API with key {key} is served", position=0)
    if not api.request.supports(version):
        served = f"versions {api.request.oldest} to {api.request.newest} are served"
        raise UnsupportedVersionError(f"{api.name} version {version}, {served}", position=2)
    return api
