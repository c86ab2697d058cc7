"""What the fields of particular messages mean, written out by hand."""

from __future__ import annotations

import pytest
from tests.kraft.wire.drawn_fields import through_bytes

from kraft.errors import ErrorCode
from kraft.ids import ZERO_UUID, BrokerEpoch, uuid_text
from kraft.rpc.access_control import AclBinding, AclFilter, DescribeAclsResponse
from kraft.rpc.alter_partition import (
    AlteredPartition,
    AlterPartitionData,
    AlterPartitionResponse,
    BrokerState,
)
from kraft.rpc.api_versions import FinalizedFeature, SupportedApi, SupportedApisResponse
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest, AssignReplicasToDirsResponse
from kraft.rpc.client_quotas import ClientQuotaAlteration
from kraft.rpc.configurations import (
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
    ConfigOperation,
)
from kraft.rpc.delegation_tokens import CreateDelegationTokenResponse
from kraft.rpc.describe_quorum import DescribeQuorumResponse
from kraft.rpc.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, PartitionResult
from kraft.rpc.endpoints import Endpoint
from kraft.rpc.node_description import SupportedFeature
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsResponse,
    ReassignedPartition,
)
from kraft.rpc.topics import DeleteTopicsResponse
from kraft.rpc.update_features import UpdateFeaturesResponse, UpgradeType
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.cluster_messages import says_not_controller
from kraft.wire.message_map import Surroundings
from kraft.wire.message_maps import MESSAGE_MAPS

A, B, C = (uuid_text(bytes([one]) * 16) for one in (1, 2, 3))
NONE, INVALID = ErrorCode.NONE, ErrorCode.INVALID_REQUEST
LISTENERS = Endpoint("CONTROLLER", "one", 9093), Endpoint("OTHER", "two", 9094)


def answered(key, version, value, request, around=None):
    """Return the fields of a response after their way over the wire."""
    fields = MESSAGE_MAPS[key].response_fields(value, request, version, around or Surroundings())
    return through_bytes(CONTROLLER_APIS[key].response, version, fields)


def deletion(*topics):
    """Return a request to delete topics, each a name or an id or both."""
    return {"topics": tuple({"name": n, "topicId": i} for n, i in topics), "timeoutMs": 77}


AROUND = Surroundings(topic_ids={"a": A, "b": B, "c": C})


def deleted(request, version, **errors):
    """Return the ids that the controller gets, and the rows of the answer."""
    value = MESSAGE_MAPS[20].request_of(request, version, AROUND)
    codes = tuple((one, errors.get("code", NONE)) for one in dict.fromkeys(value.topic_ids))
    fields = answered(20, version, DeleteTopicsResponse(codes), request, AROUND)
    rows = [
        (one["name"], one.get("topicId"), ErrorCode(one["errorCode"]))
        for one in fields["responses"]
    ]
    return value.topic_ids, rows


def test_topics_are_deleted_by_name_and_by_id():
    request = deletion(("a", ZERO_UUID), (None, B))
    assert deleted(request, 6) == ((A, B), [("a", A, NONE), ("b", B, NONE)])
    assert MESSAGE_MAPS[20].timeout_ms(request) == 77


def test_topics_that_are_not_there_keep_what_they_were_called():
    unknown = uuid_text(b"\x09" * 16)
    no_topic = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    request = deletion(("d", ZERO_UUID), (None, unknown))
    assert deleted(request, 6, code=ErrorCode.UNKNOWN_TOPIC_ID) == (
        (unknown,),
        [("d", ZERO_UUID, no_topic), (None, unknown, ErrorCode.UNKNOWN_TOPIC_ID)],
    )


def test_improper_topics_never_reach_the_controller():
    request = deletion((None, ZERO_UUID), ("a", A), ("b", ZERO_UUID), ("b", ZERO_UUID))
    assert deleted(request, 6) == (
        (),
        [(None, ZERO_UUID, INVALID), ("a", A, INVALID), ("b", ZERO_UUID, INVALID)],
    )


def test_a_topic_that_is_named_twice_reaches_the_controller_twice():
    ids, rows = deleted(
        deletion((None, A), ("a", ZERO_UUID), (None, B), (None, B)), 6, code=INVALID
    )
    assert ids == (A, A, B, B)
    assert rows == [("a", A, INVALID), ("b", B, INVALID)]


@pytest.mark.parametrize("version", range(1, 6))
def test_old_versions_delete_by_name(version):
    request = {"topicNames": ("b", "d", "a"), "timeoutMs": 1}
    no_topic = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert deleted(request, version) == (
        (B, A),
        [("b", None, NONE), ("d", None, no_topic), ("a", None, NONE)],
    )
    with pytest.raises(ValueError, match="cannot name a topic by its id"):
        MESSAGE_MAPS[20].request_fields(MESSAGE_MAPS[20].request_of(request, version), version)


def assignments(*rows):
    """Return a request with these directories, topics and partitions, one after the other."""
    directories = tuple(
        {"id": d, "topics": ({"topicId": t, "partitions": ({"partitionIndex": p},)},)}
        for d, t, p in rows
    )
    return {"brokerId": 5, "brokerEpoch": 6, "directories": directories}


def test_errors_of_assignments_stand_where_the_request_has_the_partitions():
    request = assignments((A, B, 0), (C, B, 1))
    request["directories"][1]["topics"][0]["partitions"] += ({"partitionIndex": 2},)
    value = MESSAGE_MAPS[73].request_of(request, 0)
    assert value == AssignReplicasToDirsRequest(
        5, BrokerEpoch(6), ((A, B, 0), (C, B, 1), (C, B, 2))
    )
    unknown = ErrorCode.UNKNOWN_TOPIC_ID
    response = AssignReplicasToDirsResponse(NONE, (NONE, unknown, INVALID))
    told = [
        (d["id"], t["topicId"], p["partitionIndex"], p["errorCode"])
        for d in answered(73, 0, response, request)["directories"]
        for t in d["topics"]
        for p in t["partitions"]
    ]
    assert told == [(A, B, 0, 0), (C, B, 1, unknown), (C, B, 2, INVALID)]
    assert MESSAGE_MAPS[73].response_of(answered(73, 0, response, request), 0) == response
    failed = AssignReplicasToDirsResponse(ErrorCode.STALE_BROKER_EPOCH)
    assert answered(73, 0, failed, request)["directories"] == ()
    assert MESSAGE_MAPS[73].request_fields(value, 0) == request


def test_partitions_are_grouped_by_topic_in_their_order():
    rows = ((B, 1), (B, 0), (A, 2), (B, 3))
    value = AlterPartitionResponse(
        NONE, tuple(AlteredPartition(topic, index, INVALID) for topic, index in rows)
    )
    groups = [
        (one["topicId"], [p["partitionIndex"] for p in one["partitions"]])
        for one in answered(56, 3, value, {})["topics"]
    ]
    assert groups == [(B, [1, 0]), (A, [2]), (B, [3])]
    elected = ElectLeadersResponse(NONE, (PartitionResult("a", 1), PartitionResult("a", 0)))
    (group,) = answered(43, 2, elected, {})["replicaElectionResults"]
    assert [one["partitionId"] for one in group["partitionResult"]] == [1, 0]


def test_an_isr_of_version_2_has_no_broker_epochs():
    partition = {
        "partitionIndex": 1,
        "leaderEpoch": 2,
        "newIsr": (7, 8),
        "leaderRecoveryState": 1,
        "partitionEpoch": 3,
    }
    request = {
        "brokerId": 5,
        "brokerEpoch": 6,
        "topics": ({"topicId": A, "partitions": (partition,)},),
    }
    (asked,) = MESSAGE_MAPS[56].request_of(request, 2).partitions
    assert asked == AlterPartitionData(A, 1, 2, 3, (BrokerState(7), BrokerState(8)), 1)


def resources(*rows, operation=0):
    """Return a request that alters resources."""
    configs = ({"name": "k", "configOperation": operation, "value": "v"},)
    return {
        "resources": tuple(
            {"resourceType": t, "resourceName": n, "configs": configs} for t, n in rows
        ),
        "validateOnly": True,
    }


@pytest.mark.parametrize(("key", "version"), [(33, 2), (44, 1)])
def test_resources_of_unknown_types_are_refused_before_the_others(key, version):
    request = resources((2, "t"), (0, "x"), (16, "m"), (3, "y"))
    value = MESSAGE_MAPS[key].request_of(request, version)
    assert [(r.resource_type, r.resource_name) for r in value.resources] == [(2, "t"), (16, "m")]
    assert value.validate_only
    rows = tuple(
        AlterConfigsResourceResponse(r.resource_type, r.resource_name) for r in value.resources
    )
    told = [
        (one["resourceType"], one["resourceName"], one["errorCode"])
        for one in answered(key, version, AlterConfigsResponse(rows), request)["responses"]
    ]
    unsupported = ErrorCode.UNSUPPORTED_VERSION
    assert told == [(0, "x", unsupported), (3, "y", unsupported), (2, "t", 0), (16, "m", 0)]


@pytest.mark.parametrize("operation", [-1, 4, 127])
def test_an_unknown_operation_is_refused(operation):
    request = resources((2, "t"), operation=operation)
    assert MESSAGE_MAPS[44].request_of(request, 1).resources == ()
    (row,) = answered(44, 1, AlterConfigsResponse(()), request)["responses"]
    assert (row["resourceName"], row["errorCode"]) == ("t", INVALID)
    assert str(operation) in row["errorMessage"]
    for known in ConfigOperation:
        (one,) = MESSAGE_MAPS[44].request_of(resources((2, "t"), operation=known), 1).resources
        assert one.configs[0].config_operation is known


def test_a_removed_quota_has_no_value():
    ops = ({"key": "x", "value": 5.0, "remove": False}, {"key": "y", "value": 0.0, "remove": True})
    entity = ({"entityType": "user", "entityName": None},)
    request = {"entries": ({"entity": entity, "ops": ops},), "validateOnly": False}
    (entry,) = MESSAGE_MAPS[49].request_of(request, 1).entries
    assert entry == ClientQuotaAlteration((("user", None),), (("x", 5.0), ("y", None)))
    assert MESSAGE_MAPS[49].request_fields(MESSAGE_MAPS[49].request_of(request, 1), 1) == request


def test_levels_may_fall_as_each_version_says_it():
    def update(**how):
        feature = {"feature": "f", "maxVersionLevel": 2, **how}
        return {"timeoutMs": 1, "featureUpdates": (feature,), "validateOnly": False}

    def kind(version, **how):
        return MESSAGE_MAPS[57].request_of(update(**how), version).feature_updates[0].upgrade_type

    assert kind(0, allowDowngrade=False) is UpgradeType.UPGRADE
    assert kind(0, allowDowngrade=True) is UpgradeType.SAFE_DOWNGRADE
    assert kind(1, upgradeType=3) is UpgradeType.UNSAFE_DOWNGRADE
    assert kind(2, upgradeType=9) is UpgradeType.UNKNOWN
    assert MESSAGE_MAPS[57].timeout_ms(update(upgradeType=1)) is None


def test_features_have_results_of_their_own_until_version_1():
    request = {"featureUpdates": ({"feature": "f"}, {"feature": "g"})}
    for version in (0, 1):
        results = answered(57, version, UpdateFeaturesResponse(), request)["results"]
        assert [(one["feature"], one["errorCode"]) for one in results] == [("f", 0), ("g", 0)]
        failed = answered(57, version, UpdateFeaturesResponse(INVALID, "no"), request)
        assert (failed["errorCode"], failed["errorMessage"], failed["results"]) == (
            INVALID,
            "no",
            (),
        )
    assert "results" not in answered(57, 2, UpdateFeaturesResponse(), request)


def test_a_reassignment_repeats_whether_it_may_resize():
    value = AlterPartitionReassignmentsResponse((ReassignedPartition("t", 1),))
    for allowed in (True, False):
        request = {"allowReplicationFactorChange": allowed}
        assert answered(45, 1, value, request)["allowReplicationFactorChange"] is allowed
    assert "allowReplicationFactorChange" not in answered(45, 0, value, {})


def test_all_partitions_are_null():
    request = {"electionType": 1, "topicPartitions": None, "timeoutMs": 9}
    assert MESSAGE_MAPS[43].request_of(request, 2) == ElectLeadersRequest(1, None)
    failed = MESSAGE_MAPS[43].failure_fields(ErrorCode.NOT_CONTROLLER, "no", request, 2)
    assert (failed["errorCode"], failed["replicaElectionResults"]) == (41, ())
    assert MESSAGE_MAPS[43].timeout_ms(request) == 9


def test_clients_hear_of_the_features_that_they_can_know():
    value = SupportedApisResponse(
        api_keys=(SupportedApi(1, 4, 18),),
        supported_features=(SupportedFeature("f", 0, 1), SupportedFeature("g", 1, 2)),
        finalized_features_epoch=55,
        finalized_features=(FinalizedFeature("f", 0, 0), FinalizedFeature("g", 2, 2)),
    )
    for version, names in ((3, ["g"]), (4, ["f", "g"])):
        fields = answered(18, version, value, {})
        assert [one["name"] for one in fields["supportedFeatures"]] == names
        assert [one["name"] for one in fields["finalizedFeatures"]] == ["g"]
        assert fields["finalizedFeaturesEpoch"] == 55
    assert set(answered(18, 0, value, {})) == {"errorCode", "apiKeys"}


def test_an_unknown_version_of_api_versions_is_told_the_known_ones():
    fields = MESSAGE_MAPS[18].failure_fields(ErrorCode.UNSUPPORTED_VERSION, None, {}, 0)
    assert fields["apiKeys"] == ({"apiKey": 18, "minVersion": 0, "maxVersion": 4},)


def test_an_envelope_says_that_there_is_another_controller():
    request = {"topics": ({"name": "a"},), "timeoutMs": 1}
    failed = MESSAGE_MAPS[19].failure_fields(ErrorCode.NOT_CONTROLLER, "no", request, 7)
    assert says_not_controller(19, failed)
    assert not says_not_controller(19, MESSAGE_MAPS[19].failure_fields(INVALID, "no", request, 7))
    elsewhere = DescribeQuorumResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert says_not_controller(55, answered(55, 2, elsewhere, {}))
    assert not says_not_controller(56, {"errorCode": ErrorCode.NOT_LEADER_OR_FOLLOWER})


def test_principals_are_one_text():
    value = CreateDelegationTokenResponse(NONE, "User:a:b", "Group:c", 1, 2, 3, "id", b"\x01")
    fields = answered(38, 3, value, {})
    assert (fields["principalType"], fields["principalName"]) == ("User", "a:b")
    requester = fields["tokenRequesterPrincipalType"], fields["tokenRequesterPrincipalName"]
    assert requester == ("Group", "c")
    assert (fields["issueTimestampMs"], fields["expiryTimestampMs"]) == (1, 2)


def test_access_control_is_told_by_resource():
    acls = tuple(AclBinding(2, name, 3, who, "*", 4, 3) for name, who in ("ax", "ay", "bx"))
    groups = answered(29, 3, DescribeAclsResponse(acls=acls), {})["resources"]
    told = [(one["resourceName"], [acl["principal"] for acl in one["acls"]]) for one in groups]
    assert told == [("a", ["x", "y"]), ("b", ["x"])]
    request = {
        "resourceTypeFilter": 2,
        "resourceNameFilter": None,
        "patternTypeFilter": 1,
        "principalFilter": "User:a",
        "hostFilter": "h",
        "operation": 5,
        "permissionType": 3,
    }
    asked = MESSAGE_MAPS[29].request_of(request, 3).filter
    assert asked == AclFilter(2, None, 1, "User:a", "h", 5, 3)
