"""Requests of any client, as fields: what AdminClient refuses to send, and what no client should.

The topic `calm` and broker 0 are there, and nothing is waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tests.kraft.node.client import enveloped

from kraft.wire.principals import ForwardedPrincipal

if TYPE_CHECKING:
    from collections.abc import Mapping

ANN: Final = ForwardedPrincipal("User:ann")
SUPER: Final = ForwardedPrincipal("User:ANONYMOUS")
NOBODY: Final = ForwardedPrincipal("User:nobody")
BY_TOKEN: Final = ForwardedPrincipal("User:ann", True)
NO_TOPIC: Final = "AAAAAAAAAAAAAAAAAAAAAg"

Call = tuple[int, int, "Mapping[str, Any]"]


def _topic(name: str, **more: Any) -> dict[str, Any]:
    whole = {"numPartitions": 1, "replicationFactor": 1, "assignments": (), "configs": ()}
    return {"name": name, **whole, **more}


def _created(*topics: Mapping[str, Any], validate_only: bool = True) -> Call:
    return 19, 7, {"topics": topics, "timeoutMs": 9000, "validateOnly": validate_only}


def _deleted(*topics: Mapping[str, Any]) -> Call:
    return 20, 6, {"topics": topics, "timeoutMs": 9000}


def _described(kind: int, name: str, keys: tuple[str, ...] | None = None, version: int = 4) -> Call:
    resource = {"resourceType": kind, "resourceName": name, "configurationKeys": keys}
    return 32, version, {"resources": (resource,), "includeSynonyms": True}


def _altered(kind: int, name: str, *changes: tuple[str, int, str | None]) -> dict[str, Any]:
    names = "name", "configOperation", "value"
    configs = tuple(dict(zip(names, one, strict=True)) for one in changes)
    return {"resourceType": kind, "resourceName": name, "configs": configs}


def _enveloped(key: int, version: int, principal: ForwardedPrincipal, **fields: Any) -> Call:
    return 58, 0, enveloped(key, version, principal, **fields)


def _quota(entity: tuple[str, str | None], key: str, value: float) -> dict[str, Any]:
    kind, name = entity
    change = {"key": key, "value": value, "remove": False}
    return {"entity": ({"entityType": kind, "entityName": name},), "ops": (change,)}


_UNCHANGED: Final = _altered(2, "calm", ("retention.ms", 0, "100000"))
_TOKEN: Final = {"ownerPrincipalType": None, "ownerPrincipalName": None, "maxLifetimeMs": -1}
_SALTED: Final = {"salt": b"s" * 8, "saltedPassword": b"p" * 32}
_MOVE: Final = {"partitionIndex": 0, "replicas": (0,)}

WIRE_CALLS: Final[Mapping[str, Call]] = {
    "ApiVersions of a client without a name": (
        18, 4, {"clientSoftwareName": "", "clientSoftwareVersion": "1"}),
    "DescribeCluster of brokers": (60, 2, {"endpointType": 1}),
    "DescribeCluster of an unknown kind": (60, 2, {"endpointType": 3}),
    "DescribeCluster of version 0": (60, 0, {}),
    "DescribeCluster of version 1": (60, 1, {"endpointType": 2}),
    "DescribeCluster with fenced brokers": (
        60, 2, {"endpointType": 2, "includeFencedBrokers": True}),
    "DescribeConfigs of an unknown kind": _described(3, "calm"),
    "DescribeConfigs of some keys": _described(2, "calm", ("retention.ms", "no.such.key")),
    "DescribeConfigs of no keys": _described(16, "watch", ()),
    "DescribeConfigs of version 1": _described(2, "calm", ("retention.ms",), 1),
    "DescribeConfigs of nothing": (32, 4, {"resources": ()}),
    "DescribeConfigs of a bad topic": _described(2, ".."),
    "IncrementalAlterConfigs twice of one": (44, 1, {"resources": (_UNCHANGED, _UNCHANGED)}),
    "IncrementalAlterConfigs of an unknown kind": (44, 1, {"resources": (_altered(3, "calm"),)}),
    "IncrementalAlterConfigs without a value": (
        44, 1, {"resources": (_altered(2, "calm", ("retention.ms", 0, None)),)}),
    "IncrementalAlterConfigs of another node's loggers": (
        44, 1, {"resources": (_altered(8, "9", ("root", 0, "INFO")),)}),
    "IncrementalAlterConfigs to an unknown level": (
        44, 1, {"resources": (_altered(8, "3000", ("root", 0, "LOUD")),)}),
    "IncrementalAlterConfigs deletes the root's level": (
        44, 1, {"resources": (_altered(8, "3000", ("root", 1, None)),)}),
    "IncrementalAlterConfigs appends to a level": (
        44, 1, {"resources": (_altered(8, "3000", ("root", 2, "INFO")),)}),
    "IncrementalAlterConfigs sets the root's level": (
        44, 1, {"resources": (_altered(8, "3000", ("root", 0, "INFO")),)}),
    "AlterConfigs": (33, 2, {"resources": (
        {"resourceType": 2, "resourceName": "calm",
         "configs": ({"name": "retention.ms", "value": "x"},)},)}),
    "AlterConfigs of an unknown topic": (33, 2, {"resources": (
        {"resourceType": 2, "resourceName": "absent", "configs": ()},)}),
    "CreateTopics to validate": _created(_topic("new")),
    "CreateTopics that is there": _created(_topic("calm")),
    "CreateTopics twice": _created(_topic("new"), _topic("new")),
    "CreateTopics of a bad name": _created(_topic("a b")),
    "CreateTopics without partitions": _created(_topic("new", numPartitions=0)),
    "CreateTopics with too many replicas": _created(_topic("new", replicationFactor=2)),
    "CreateTopics with a bad configuration": _created(
        _topic("new", configs=({"name": "retention.ms", "value": "x"},))),
    "DeleteTopics of an unknown name": _deleted({"name": "absent"}),
    "DeleteTopics of an unknown id": _deleted({"name": None, "topicId": NO_TOPIC}),
    "DeleteTopics of neither": _deleted({"name": None}),
    "DeleteTopics twice": _deleted({"name": "absent"}, {"name": "absent"}),
    "CreatePartitions of an unknown topic": (37, 3, {"topics": (
        {"name": "absent", "count": 3, "assignments": None},), "timeoutMs": 9000}),
    "CreatePartitions of fewer": (37, 3, {"topics": (
        {"name": "calm", "count": 1, "assignments": None},), "timeoutMs": 9000}),
    "CreateAcls of a wrong cluster among others": (30, 3, {"creations": tuple(
        {"resourceType": kind, "resourceName": name, "resourcePatternType": 3,
         "principal": principal, "host": "*", "operation": 3, "permissionType": 3}
        for kind, name, principal in (
            (4, "c", "User:a"), (2, "", "User:a"), (2, "calm", "a"), (4, "d", "User:a")))}),
    "DescribeAcls of an unknown type": (29, 3, {
        "resourceTypeFilter": 99, "resourceNameFilter": None, "patternTypeFilter": 1,
        "principalFilter": None, "hostFilter": None, "operation": 1, "permissionType": 1}),
    "DescribeAcls of type 0": (29, 3, {
        "resourceTypeFilter": 0, "resourceNameFilter": None, "patternTypeFilter": 1,
        "principalFilter": None, "hostFilter": None, "operation": 1, "permissionType": 1}),
    "AlterClientQuotas": (49, 1, {"validateOnly": True, "entries": (
        _quota(("user", "bob"), "producer_byte_rate", 1.0),)}),
    "AlterClientQuotas of an unknown key": (49, 1, {"validateOnly": True, "entries": (
        _quota(("user", "bob"), "speed", 1.0),)}),
    "AlterClientQuotas of an unknown entity": (49, 1, {"validateOnly": True, "entries": (
        _quota(("team", "bob"), "producer_byte_rate", 1.0),)}),
    "AlterUserScramCredentials with few iterations": (51, 0, {"deletions": (), "upsertions": (
        {"name": "bob", "mechanism": 1, "iterations": 1, **_SALTED},)}),
    "AlterUserScramCredentials of an unknown user": (51, 0, {"deletions": (
        {"name": "bob", "mechanism": 1},), "upsertions": ()}),
    "DescribeUserScramCredentials": (50, 0, {"users": None}),
    "CreateDelegationToken": (38, 3, _TOKEN),
    "RenewDelegationToken": (39, 2, {"hmac": b"no", "renewPeriodMs": -1}),
    "ExpireDelegationToken": (40, 2, {"hmac": b"no", "expiryTimePeriodMs": -1}),
    "DescribeDelegationToken": (41, 3, {"owners": None}),
    "ElectLeaders, preferred": (43, 2, {"electionType": 0, "timeoutMs": 9000, "topicPartitions": (
        {"topic": "calm", "partitions": (0, 9)}, {"topic": "absent", "partitions": (0,)})}),
    "ElectLeaders, unclean": (43, 2, {"electionType": 1, "timeoutMs": 9000, "topicPartitions": (
        {"topic": "calm", "partitions": (0,)},)}),
    "AlterPartitionReassignments": (45, 1, {"timeoutMs": 9000, "topics": (
        {"name": "absent", "partitions": (_MOVE,)},
        {"name": "calm", "partitions": (
            {"partitionIndex": 0, "replicas": None}, {"partitionIndex": 9, "replicas": (0,)})})}),
    "ListPartitionReassignments": (46, 0, {"timeoutMs": 9000, "topics": (
        {"name": "absent", "partitionIndexes": (0,)},)}),
    "UpdateFeatures of version 1": (57, 1, {"validateOnly": True, "featureUpdates": (
        {"feature": "group.version", "maxVersionLevel": 1, "upgradeType": 1},)}),
    "UpdateFeatures of an unknown kind": (57, 2, {"validateOnly": True, "featureUpdates": (
        {"feature": "group.version", "maxVersionLevel": 1, "upgradeType": 9},)}),
    "UnregisterBroker": (64, 0, {"brokerId": 9}),
    "AllocateProducerIds of an unknown broker": (67, 0, {"brokerId": 9, "brokerEpoch": 1}),
    "BrokerHeartbeat of an unknown broker": (63, 1, {"brokerId": 9, "brokerEpoch": 1}),
    "BrokerHeartbeat of an old epoch": (63, 1, {"brokerId": 0, "brokerEpoch": 1}),
    "BrokerRegistration of another cluster": (62, 4, {
        "brokerId": 9, "clusterId": "other", "incarnationId": NO_TOPIC, "listeners": (),
        "features": (), "logDirs": (NO_TOPIC,)}),
    "AlterPartition of an old epoch": (56, 3, {"brokerId": 0, "brokerEpoch": 1, "topics": ()}),
    "AssignReplicasToDirs of an old epoch": (
        73, 0, {"brokerId": 0, "brokerEpoch": 1, "directories": ()}),
    "SaslHandshake": (17, 1, {"mechanism": "PLAIN"}),
    "SaslAuthenticate": (36, 2, {"authBytes": b""}),
    "DescribeQuorum of another partition": (55, 2, {"topics": (
        {"topicName": "calm", "partitions": ({"partitionIndex": 0},)},)}),
    "Vote of another cluster": (52, 2, {"clusterId": "other", "topics": ()}),
    "Fetch of another cluster": (1, 17, {"clusterId": "other", "topics": ()}),
    "AddRaftVoter of another cluster": (80, 0, {
        "clusterId": "other", "voterId": 9, "voterDirectoryId": NO_TOPIC, "listeners": ()}),
    "Envelope of a client that may do nothing": _enveloped(
        43, 2, NOBODY, electionType=0, timeoutMs=9000, topicPartitions=()),
    "Envelope of a client that may do all": _enveloped(
        43, 2, SUPER, electionType=0, timeoutMs=9000, topicPartitions=()),
    "Envelope of a registration": _enveloped(
        70, 0, ANN, controllerId=9, incarnationId=NO_TOPIC),
    "Envelope of a read": _enveloped(60, 2, ANN, endpointType=2),
    "Envelope of a token's own client": _enveloped(38, 3, BY_TOKEN, **_TOKEN),
    "Envelope of an unknown token": _enveloped(39, 2, ANN, hmac=b"no", renewPeriodMs=-1),
    "Envelope of a wrong renewer": _enveloped(
        38, 3, ANN, **{**_TOKEN, "renewers": ({"principalType": "Group", "principalName": "a"},)}),
    "Envelope with no principal": (
        58, 0, {**enveloped(43, 2, ANN, topicPartitions=()), "requestPrincipal": None}),
    "Envelope with a broken principal": (
        58, 0, {**enveloped(43, 2, ANN, topicPartitions=()), "requestPrincipal": b"\0\0\5"}),
    "Envelope with a broken address": (
        58, 0, {**enveloped(43, 2, ANN, topicPartitions=()), "clientHostAddress": b"\1"}),
    "Envelope with half a request": (58, 0, {
        **enveloped(43, 2, ANN, topicPartitions=()),
        "requestData": enveloped(43, 2, ANN, topicPartitions=())["requestData"][:-3]}),
    "Envelope with nothing": (58, 0, {**enveloped(43, 2, ANN), "requestData": b""}),
    "Envelope of an unknown version": (58, 0, {
        **enveloped(43, 2, ANN), "requestData": b"\0\x2b\0\x63\0\0\0\1\xff\xff\0"}),
}  # fmt: skip
"""What is asked of the active controller."""

OF_A_STANDBY: Final = ", of a standby"
"""What the name of a question ends in that is asked of a controller that is not active."""
STANDBY_CALLS: Final = (
    "AlterConfigs", "AlterClientQuotas", "AlterPartitionReassignments", "CreateTopics to validate",
    "AlterUserScramCredentials with few iterations", "BrokerHeartbeat of an old epoch",
    "CreateAcls of a wrong cluster among others", "CreatePartitions of fewer",
    "DeleteTopics of an unknown name", "DescribeCluster of version 1", "ElectLeaders, preferred",
    "DescribeConfigs of some keys", "Envelope of a client that may do all",
    "IncrementalAlterConfigs sets the root's level", "IncrementalAlterConfigs without a value",
    "ListPartitionReassignments", "UnregisterBroker", "UpdateFeatures of version 1",
    "AllocateProducerIds of an unknown broker", "AlterPartition of an old epoch",
)  # fmt: skip
"""What is asked of a controller that is not active."""
