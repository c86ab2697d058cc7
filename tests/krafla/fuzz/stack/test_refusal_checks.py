"""Refusals that are true of one image, and not of another."""

from __future__ import annotations

from typing import Any

import pytest
from immutables import Map
from msgspec.structs import replace
from tests.krafla.fuzz.stack.test_stack_checks import (
    EPOCH,
    FIRST,
    KEY,
    LEADERLESS,
    LED_BY_TWO,
    ONE,
    THREE,
    TOPIC,
    TWO,
    WITH_TWO,
)

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.refusal_checks import check_refusals
from kraft.errors import ErrorCode
from kraft.ids import BrokerEpoch, DirectoryId
from kraft.image.entries import ScramCredential
from kraft.image.metadata_image import MetadataImage
from kraft.records.topics import BROKER_RESOURCE, TOPIC_RESOURCE
from kraft.rpc import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)
from kraft.rpc.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from kraft.rpc.alter_partition import (
    AlteredPartition,
    AlterPartitionData,
    AlterPartitionRequest,
    AlterPartitionResponse,
)
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest, AssignReplicasToDirsResponse
from kraft.rpc.configurations import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
    IncrementalAlterConfigsRequest,
    ReplacedConfigs,
)
from kraft.rpc.elect_leaders import (
    PREFERRED_ELECTION,
    UNCLEAN_ELECTION,
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
)
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignedPartition,
)
from kraft.rpc.scram import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
)
from kraft.rpc.topics import (
    CreatableTopic,
    CreatedTopic,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)

Code = ErrorCode
STALE = Code.STALE_BROKER_EPOCH
NOTHING = MetadataImage()
LATER = replace(
    WITH_TWO,
    brokers=WITH_TWO.brokers.set(ONE, replace(WITH_TWO.brokers[ONE], epoch=BrokerEpoch(9))),
)
"""Broker 1 has registered again."""
MOVING = replace(
    WITH_TWO, partitions=Map({KEY: replace(WITH_TWO.partitions[KEY], removing_replicas=(TWO,))})
)
EMPTY = replace(WITH_TWO, partitions=Map())
"""A topic without the partition."""
WITH_PASSWORD = MetadataImage(
    scram_credentials=Map({(1, "ann"): ScramCredential(b"salt", b"", b"", 4_096)})
)


def heartbeat() -> tuple[Any, Any]:
    request = BrokerHeartbeatRequest(ONE, EPOCH, 0, want_fence=False, want_shut_down=False)
    return request, BrokerHeartbeatResponse(STALE)


def isr(code: ErrorCode) -> tuple[Any, Any]:
    request = AlterPartitionRequest(ONE, EPOCH, (AlterPartitionData(TOPIC, FIRST, 3, 0, ()),))
    if code is STALE:
        return request, AlterPartitionResponse(code)
    return request, AlterPartitionResponse(Code.NONE, (AlteredPartition(TOPIC, FIRST, code),))


def place(code: ErrorCode, broker_id: Any = ONE) -> tuple[Any, Any]:
    where = ((DirectoryId("d"), TOPIC, FIRST),)
    request = AssignReplicasToDirsRequest(broker_id, EPOCH, where)
    if code is STALE:
        return request, AssignReplicasToDirsResponse(code)
    return request, AssignReplicasToDirsResponse(partitions=(code,))


def election(code: ErrorCode, kind: int = PREFERRED_ELECTION) -> tuple[Any, Any]:
    told = (PartitionResult("t", FIRST, code),)
    return ElectLeadersRequest(kind, (("t", FIRST),)), ElectLeadersResponse(Code.NONE, told)


def move(code: ErrorCode) -> tuple[Any, Any]:
    request = AlterPartitionReassignmentsRequest((ReassignablePartition("t", FIRST, None),))
    return request, AlterPartitionReassignmentsResponse((ReassignedPartition("t", FIRST, code),))


def configs(resource: int, name: str, code: ErrorCode, *, all_: bool = False) -> tuple[Any, Any]:
    response = AlterConfigsResponse((AlterConfigsResourceResponse(resource, name, code),))
    if all_:
        return AlterConfigsRequest((ReplacedConfigs(resource, name, ()),)), response
    return IncrementalAlterConfigsRequest((AlterConfigsResource(resource, name, ()),)), response


def creation() -> tuple[Any, Any]:
    told = (CreatedTopic("t", Code.TOPIC_ALREADY_EXISTS),)
    return CreateTopicsRequest((CreatableTopic("t"),)), CreateTopicsResponse(told)


def addition() -> tuple[Any, Any]:
    told = (CreatePartitionsTopicResult("t", Code.UNKNOWN_TOPIC_OR_PARTITION),)
    request = CreatePartitionsRequest((CreatePartitionsTopic("t", 2),))
    return request, CreatePartitionsResponse(told)


def forgotten() -> tuple[Any, Any]:
    told = (AlterUserScramCredentialsResult("ann", Code.RESOURCE_NOT_FOUND),)
    request = AlterUserScramCredentialsRequest((ScramCredentialDeletion("ann", 1),))
    return request, AlterUserScramCredentialsResponse(told)


NEEDLESS, UNKNOWN = Code.ELECTION_NOT_NEEDED, Code.UNKNOWN_TOPIC_OR_PARTITION
UNKNOWN_ID, NO_NODE = Code.UNKNOWN_TOPIC_ID, Code.BROKER_ID_NOT_REGISTERED
REFUSALS: dict[str, tuple[tuple[Any, Any], MetadataImage, MetadataImage]] = {
    "a heartbeat of an older epoch": (heartbeat(), LATER, WITH_TWO),
    "a heartbeat of no broker": (heartbeat(), NOTHING, WITH_TWO),
    "producer ids for an older epoch": (
        (AllocateProducerIdsRequest(ONE, EPOCH), AllocateProducerIdsResponse(STALE)),
        LATER, WITH_TWO,
    ),
    "an ISR of an older epoch": (isr(STALE), LATER, WITH_TWO),
    "an ISR of no topic": (isr(UNKNOWN_ID), NOTHING, WITH_TWO),
    "an ISR of no partition": (isr(UNKNOWN), EMPTY, WITH_TWO),
    "directories of an older epoch": (place(STALE), LATER, WITH_TWO),
    "directories of no topic": (place(UNKNOWN_ID), NOTHING, WITH_TWO),
    "directories of no partition": (place(UNKNOWN), EMPTY, WITH_TWO),
    "directories of no replica": (
        place(Code.NOT_LEADER_OR_FOLLOWER, TWO),
        replace(
            WITH_TWO,
            partitions=Map({KEY: replace(WITH_TWO.partitions[KEY], replicas=(ONE, THREE))}),
        ),
        WITH_TWO,
    ),
    "an unregistered broker": (
        (UnregisterBrokerRequest(ONE), UnregisterBrokerResponse(NO_NODE)), NOTHING, WITH_TWO,
    ),
    "a preferred leader that leads": (election(NEEDLESS), WITH_TWO, LED_BY_TWO),
    "an unclean election beside a leader": (
        election(NEEDLESS, UNCLEAN_ELECTION), LED_BY_TWO, LEADERLESS,
    ),
    "an election of no topic": (election(UNKNOWN), NOTHING, LED_BY_TWO),
    "an election of no partition": (election(UNKNOWN), EMPTY, LED_BY_TWO),
    "a move that does not exist": (move(Code.NO_REASSIGNMENT_IN_PROGRESS), WITH_TWO, MOVING),
    "a move of no partition": (move(UNKNOWN), EMPTY, WITH_TWO),
    "a name that is taken": (creation(), WITH_TWO, NOTHING),
    "more partitions of no topic": (addition(), NOTHING, WITH_TWO),
    "a topic id that is unknown": (
        (DeleteTopicsRequest((TOPIC,)), DeleteTopicsResponse(((TOPIC, UNKNOWN_ID),))),
        NOTHING, WITH_TWO,
    ),
    "settings of no topic": (configs(TOPIC_RESOURCE, "t", UNKNOWN), NOTHING, WITH_TWO),
    "all settings of no topic": (
        configs(TOPIC_RESOURCE, "t", UNKNOWN, all_=True), NOTHING, WITH_TWO,
    ),
    "settings of no broker": (configs(BROKER_RESOURCE, "1", NO_NODE), NOTHING, WITH_TWO),
    "a credential that does not exist": (forgotten(), NOTHING, WITH_PASSWORD),
}  # fmt: skip
"""An answer with a refusal, an image of which it is true, and one of which it is not."""


@pytest.mark.parametrize(("answer", "true", "untrue"), REFUSALS.values(), ids=list(REFUSALS))
def test_a_refusal_is_true_of_the_image_that_the_request_was_judged_by(answer, true, untrue):
    assert check_refusals(true, *answer) is None
    code = r"is refused with [A-Z_]+( for .*)?, which is not true"
    with pytest.raises(Violated, match=f"RefusalIsTrueProp: .* {code}"):
        check_refusals(untrue, *answer)


def test_a_reason_that_the_metadata_alone_do_not_decide_is_not_judged():
    answers = (
        isr(Code.INELIGIBLE_REPLICA),
        election(Code.PREFERRED_LEADER_NOT_AVAILABLE),
        move(Code.INVALID_REPLICA_ASSIGNMENT),
    )
    assert [check_refusals(WITH_TWO, *one) for one in answers] == [None, None, None]
