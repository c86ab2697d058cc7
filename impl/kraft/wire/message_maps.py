"""The maps of all messages of a controller: those that it serves, and those that it sends.

Kafka: ApiKeys, ControllerApis.handle, NetworkChannel.buildRequest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.rpc.api_versions import SupportedApisRequest
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.fetch import FetchRequest
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest
from kraft.rpc.quorum_epoch import BeginQuorumEpochRequest, EndQuorumEpochRequest
from kraft.rpc.raft_voters import UpdateRaftVoterRequest
from kraft.rpc.vote import VoteRequest
from kraft.wire import (
    broker_messages,
    cluster_messages,
    configuration_messages,
    election_messages,
    fetch_messages,
    partition_messages,
    security_messages,
    token_messages,
    topic_messages,
    voter_messages,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kraft.wire.message_map import MessageMap

MESSAGE_MAPS: Final[Mapping[int, MessageMap]] = {
    message.api_key: message
    for message in (
        fetch_messages.FETCH,
        cluster_messages.SASL_HANDSHAKE,
        cluster_messages.API_VERSIONS,
        topic_messages.CREATE_TOPICS,
        topic_messages.DELETE_TOPICS,
        security_messages.DESCRIBE_ACLS,
        security_messages.CREATE_ACLS,
        security_messages.DELETE_ACLS,
        configuration_messages.DESCRIBE_CONFIGS,
        configuration_messages.ALTER_CONFIGS,
        cluster_messages.SASL_AUTHENTICATE,
        topic_messages.CREATE_PARTITIONS,
        token_messages.CREATE_DELEGATION_TOKEN,
        token_messages.RENEW_DELEGATION_TOKEN,
        token_messages.EXPIRE_DELEGATION_TOKEN,
        token_messages.DESCRIBE_DELEGATION_TOKEN,
        partition_messages.ELECT_LEADERS,
        configuration_messages.INCREMENTAL_ALTER_CONFIGS,
        partition_messages.ALTER_PARTITION_REASSIGNMENTS,
        partition_messages.LIST_PARTITION_REASSIGNMENTS,
        configuration_messages.ALTER_CLIENT_QUOTAS,
        security_messages.DESCRIBE_USER_SCRAM_CREDENTIALS,
        security_messages.ALTER_USER_SCRAM_CREDENTIALS,
        election_messages.VOTE,
        election_messages.BEGIN_QUORUM_EPOCH,
        election_messages.END_QUORUM_EPOCH,
        voter_messages.DESCRIBE_QUORUM,
        broker_messages.ALTER_PARTITION,
        configuration_messages.UPDATE_FEATURES,
        cluster_messages.ENVELOPE,
        fetch_messages.FETCH_SNAPSHOT,
        cluster_messages.DESCRIBE_CLUSTER,
        broker_messages.BROKER_REGISTRATION,
        broker_messages.BROKER_HEARTBEAT,
        broker_messages.UNREGISTER_BROKER,
        broker_messages.ALLOCATE_PRODUCER_IDS,
        broker_messages.CONTROLLER_REGISTRATION,
        broker_messages.ASSIGN_REPLICAS_TO_DIRS,
        voter_messages.ADD_RAFT_VOTER,
        voter_messages.REMOVE_RAFT_VOTER,
        voter_messages.UPDATE_RAFT_VOTER,
    )
}
"""The APIs of a 4.1 controller, in the order of their keys."""

SENT: Final[Mapping[type[Any], MessageMap]] = {
    FetchRequest: fetch_messages.FETCH,
    VoteRequest: election_messages.VOTE,
    BeginQuorumEpochRequest: election_messages.BEGIN_QUORUM_EPOCH,
    EndQuorumEpochRequest: election_messages.END_QUORUM_EPOCH,
    FetchSnapshotRequest: fetch_messages.FETCH_SNAPSHOT,
    UpdateRaftVoterRequest: voter_messages.UPDATE_RAFT_VOTER,
    SupportedApisRequest: cluster_messages.API_VERSIONS,
    ControllerRegistrationRequest: broker_messages.CONTROLLER_REGISTRATION,
}
"""The messages that a controller sends to others, by the type of the request.

What Raft sends as `kraft.rpc.raft_voters.ApiVersionsRequest` goes out as a SupportedApisRequest
with the node's software, and `kraft_versions` gives Raft its answer.
"""
