"""Refusals that are true of one image, and not of another."""

from __future__ import annotations

import re
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
    answers,
    asked,
    process,
)

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.refusal_checks import check_refusals
from kraft.errors import ErrorCode
from kraft.ids import (
    NO_BROKER_EPOCH,
    BrokerEpoch,
    BrokerId,
    ControllerId,
    DirectoryId,
    IncarnationId,
    PartitionId,
)
from kraft.image.entries import ScramCredential
from kraft.image.metadata_image import MetadataImage
from kraft.records.topics import BROKER_RESOURCE, RECOVERED, RECOVERING, TOPIC_RESOURCE
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
    BrokerState,
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
from kraft.rpc.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from kraft.rpc.delegation_tokens import RenewDelegationTokenRequest, TokenExpiryResponse
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
SECOND = PartitionId(1)
STALE, UNSUPPORTED = Code.STALE_BROKER_EPOCH, Code.UNSUPPORTED_VERSION
NOTHING = MetadataImage()


def with_broker(
    broker_id: BrokerId, image: MetadataImage = WITH_TWO, **fields: Any
) -> MetadataImage:  # fmt: skip
    """Return an image with fields of a broker's registration changed."""
    registration = replace(image.brokers[broker_id], **fields)
    return replace(image, brokers=image.brokers.set(broker_id, registration))


def changed(image: MetadataImage = WITH_TWO, **fields: Any) -> MetadataImage:
    """Return an image with fields of its partition changed."""
    return replace(image, partitions=Map({KEY: replace(image.partitions[KEY], **fields)}))


def at_level(metadata_version: int) -> MetadataImage:
    return replace(WITH_TWO, features=Map({"metadata.version": metadata_version}))


LATER = with_broker(ONE, epoch=BrokerEpoch(9))
"""Broker 1 has registered again."""
MOVING = changed(removing_replicas=(TWO,))
RECOVERING_ALONE = changed(isr=(ONE,), leader_recovery_state=RECOVERING)
ADDING = changed(replicas=(TWO, ONE), isr=(ONE,), adding_replicas=(TWO,))
GROWN = replace(
    WITH_TWO, topics=Map({TOPIC: replace(WITH_TWO.topics[TOPIC], partition_ids=(FIRST, SECOND))})
)
"""The topic has two partitions."""
SILENT = with_broker(ONE, fenced=True, image=with_broker(TWO, fenced=True, image=LEADERLESS))
"""No broker is active, and nothing leads."""
EMPTY = replace(WITH_TWO, partitions=Map())
"""A topic without the partition."""
WITH_PASSWORD = MetadataImage(
    scram_credentials=Map({(1, "ann"): ScramCredential(b"salt", b"", b"", 4_096)})
)


def heartbeat() -> tuple[Any, Any]:
    request = BrokerHeartbeatRequest(ONE, EPOCH, 0, want_fence=False, want_shut_down=False)
    return request, BrokerHeartbeatResponse(STALE)


def isr(
    code: ErrorCode, *members: BrokerId, recovery: int = RECOVERED, named: BrokerEpoch = EPOCH
) -> tuple[Any, Any]:
    """Broker 1 requests an ISR under leader epoch 3 and partition epoch 0."""
    wanted = tuple(BrokerState(one, named) for one in members)
    data = AlterPartitionData(TOPIC, FIRST, 3, 0, wanted, recovery)
    request = AlterPartitionRequest(ONE, EPOCH, (data,))
    if code is STALE:
        return request, AlterPartitionResponse(code)
    return request, AlterPartitionResponse(Code.NONE, (AlteredPartition(TOPIC, FIRST, code),))


def place(code: ErrorCode, broker_id: Any = ONE) -> tuple[Any, Any]:
    where = ((DirectoryId("d"), TOPIC, FIRST),)
    request = AssignReplicasToDirsRequest(broker_id, EPOCH, where)
    if code in {STALE, UNSUPPORTED}:
        return request, AssignReplicasToDirsResponse(code)
    return request, AssignReplicasToDirsResponse(partitions=(code,))


def election(code: ErrorCode, kind: int = PREFERRED_ELECTION) -> tuple[Any, Any]:
    told = (PartitionResult("t", FIRST, code),)
    return ElectLeadersRequest(kind, (("t", FIRST),)), ElectLeadersResponse(Code.NONE, told)


def move(
    code: ErrorCode, target: tuple[BrokerId, ...] | None = None, *, may_resize: bool = True
) -> tuple[Any, Any]:
    request = AlterPartitionReassignmentsRequest(
        (ReassignablePartition("t", FIRST, target),), may_resize
    )
    return request, AlterPartitionReassignmentsResponse((ReassignedPartition("t", FIRST, code),))


def configs(resource: int, name: str, code: ErrorCode, *, all_: bool = False) -> tuple[Any, Any]:
    response = AlterConfigsResponse((AlterConfigsResourceResponse(resource, name, code),))
    if all_:
        return AlterConfigsRequest((ReplacedConfigs(resource, name, ()),)), response
    return IncrementalAlterConfigsRequest((AlterConfigsResource(resource, name, ()),)), response


def creation() -> tuple[Any, Any]:
    told = (CreatedTopic("t", Code.TOPIC_ALREADY_EXISTS),)
    return CreateTopicsRequest((CreatableTopic("t"),)), CreateTopicsResponse(told)


def addition(code: ErrorCode, count: int = 2) -> tuple[Any, Any]:
    told = (CreatePartitionsTopicResult("t", code),)
    request = CreatePartitionsRequest((CreatePartitionsTopic("t", count),))
    return request, CreatePartitionsResponse(told)


def forgotten(code: ErrorCode) -> tuple[Any, Any]:
    told = (AlterUserScramCredentialsResult("ann", code),)
    request = AlterUserScramCredentialsRequest((ScramCredentialDeletion("ann", 1),))
    return request, AlterUserScramCredentialsResponse(told)


FENCED, NO_ISR, VERSION = (
    Code.FENCED_LEADER_EPOCH,
    Code.INVALID_REQUEST,
    Code.INVALID_UPDATE_VERSION,
)
INELIGIBLE, ELECTED = Code.INELIGIBLE_REPLICA, Code.NEW_LEADER_ELECTED
NO_PREFERRED = Code.PREFERRED_LEADER_NOT_AVAILABLE
NO_LEADERS = Code.ELIGIBLE_LEADERS_NOT_AVAILABLE
NO_ASSIGNMENT, NO_SIZE = Code.INVALID_REPLICA_ASSIGNMENT, Code.INVALID_REPLICATION_FACTOR
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
    "an ISR of an earlier leader": (isr(FENCED), changed(leader_epoch=4), WITH_TWO),
    "an ISR that completes a move, in older versions": (isr(FENCED, ONE, TWO), MOVING, WITH_TWO),
    "an ISR that completes a move": (isr(ELECTED, ONE, TWO), MOVING, WITH_TWO),
    "an ISR whose leader lost its directory": (
        isr(ELECTED, ONE, TWO), with_broker(ONE, directories=(DirectoryId("other"),)), WITH_TWO,
    ),
    "an ISR that completes the move of another leader": (
        isr(ELECTED, ONE, TWO), MOVING, changed(MOVING, leader=TWO),
    ),
    "an ISR of an earlier partition epoch": (
        isr(VERSION, ONE), changed(partition_epoch=1), WITH_TWO,
    ),
    "an ISR that another leader gives": (isr(NO_ISR, ONE, TWO), LED_BY_TWO, WITH_TWO),
    "an ISR of no replica": (
        isr(NO_ISR, ONE, THREE), WITH_TWO, changed(replicas=(ONE, THREE)),
    ),
    "an ISR without its leader": (isr(NO_ISR, TWO), WITH_TWO, EMPTY),
    "an ISR that recovers again": (
        isr(NO_ISR, ONE, recovery=RECOVERING), WITH_TWO, RECOVERING_ALONE,
    ),
    "an ISR with a fenced member": (
        isr(INELIGIBLE, ONE, TWO), with_broker(TWO, fenced=True), WITH_TWO,
    ),
    "an ISR with a member that shuts down": (
        isr(INELIGIBLE, ONE, TWO), with_broker(TWO, in_controlled_shutdown=True), WITH_TWO,
    ),
    "an ISR with a member of another epoch": (
        isr(INELIGIBLE, ONE, TWO), with_broker(TWO, epoch=BrokerEpoch(9)), WITH_TWO,
    ),
    "an ISR with a member of any epoch": (
        isr(INELIGIBLE, ONE, TWO, named=NO_BROKER_EPOCH), with_broker(TWO, fenced=True), LATER,
    ),
    "an ISR with a member that is gone": (
        isr(INELIGIBLE, ONE, TWO), replace(WITH_TWO, brokers=WITH_TWO.brokers.delete(TWO)),
        WITH_TWO,
    ),
    "directories of an older epoch": (place(STALE), LATER, WITH_TWO),
    "directories of no topic": (place(UNKNOWN_ID), NOTHING, WITH_TWO),
    "directories of no partition": (place(UNKNOWN), EMPTY, WITH_TWO),
    "directories of no replica": (
        place(Code.NOT_LEADER_OR_FOLLOWER, TWO),
        changed(replicas=(ONE, THREE)),
        WITH_TWO,
    ),
    "an unregistered broker": (
        (UnregisterBrokerRequest(ONE), UnregisterBrokerResponse(NO_NODE)), NOTHING, WITH_TWO,
    ),
    "a preferred leader that leads": (election(NEEDLESS), WITH_TWO, LED_BY_TWO),
    "an unclean election beside a leader": (
        election(NEEDLESS, UNCLEAN_ELECTION), LED_BY_TWO, LEADERLESS,
    ),
    "a preferred leader that is fenced": (
        election(NO_PREFERRED), with_broker(ONE, fenced=True, image=LED_BY_TWO), LED_BY_TWO,
    ),
    "a preferred leader that is not in sync": (
        election(NO_PREFERRED), changed(LED_BY_TWO, isr=(TWO,)), LED_BY_TWO,
    ),
    "a preferred election where nothing leads": (
        election(NO_PREFERRED), LEADERLESS, changed(LEADERLESS, isr=(TWO,)),
    ),
    "an unclean election without an active replica": (
        election(NO_LEADERS, UNCLEAN_ELECTION), SILENT, LEADERLESS,
    ),
    "an election of no topic": (election(UNKNOWN), NOTHING, LED_BY_TWO),
    "an election of no partition": (election(UNKNOWN), EMPTY, LED_BY_TWO),
    "a move that does not exist": (move(Code.NO_REASSIGNMENT_IN_PROGRESS), WITH_TWO, MOVING),
    "a move of no partition": (move(UNKNOWN), EMPTY, WITH_TWO),
    "a target with a broker twice": (move(NO_ASSIGNMENT, (ONE, ONE)), WITH_TWO, EMPTY),
    "a target with an unknown broker": (
        move(NO_ASSIGNMENT, (ONE, TWO)),
        replace(WITH_TWO, brokers=WITH_TWO.brokers.delete(TWO)), WITH_TWO,
    ),
    "a cancelled move that leaves no replica in sync": (
        move(NO_ASSIGNMENT), changed(ADDING, isr=(TWO,)), ADDING,
    ),
    "a target of another size": (
        move(NO_SIZE, (ONE, TWO), may_resize=False), changed(replicas=(ONE,)), WITH_TWO,
    ),
    "a target of another size than that of the move before": (
        move(NO_SIZE, (ONE, TWO), may_resize=False), MOVING, changed(adding_replicas=(TWO,)),
    ),
    "as many partitions as there are": (addition(Code.INVALID_PARTITIONS), GROWN, WITH_TWO),
    "a name that is taken": (creation(), WITH_TWO, NOTHING),
    "more partitions of no topic": (addition(UNKNOWN), NOTHING, WITH_TWO),
    "a topic id that is unknown": (
        (DeleteTopicsRequest((TOPIC,)), DeleteTopicsResponse(((TOPIC, UNKNOWN_ID),))),
        NOTHING, WITH_TWO,
    ),
    "directories before version 3.7-IV2": (place(UNSUPPORTED), at_level(16), at_level(17)),
    "a controller's registration before version 3.7-IV0": (
        (
            ControllerRegistrationRequest(ControllerId(3_000), IncarnationId("i")),
            ControllerRegistrationResponse(UNSUPPORTED),
        ),
        at_level(14), at_level(15),
    ),
    "a credential before version 3.5-IV2": (forgotten(UNSUPPORTED), at_level(10), at_level(11)),
    "a token before version 3.6-IV2": (
        (RenewDelegationTokenRequest(b""), TokenExpiryResponse(UNSUPPORTED)),
        at_level(13), at_level(14),
    ),
    "settings of no topic": (configs(TOPIC_RESOURCE, "t", UNKNOWN), NOTHING, WITH_TWO),
    "all settings of no topic": (
        configs(TOPIC_RESOURCE, "t", UNKNOWN, all_=True), NOTHING, WITH_TWO,
    ),
    "settings of no broker": (configs(BROKER_RESOURCE, "1", NO_NODE), NOTHING, WITH_TWO),
    "a credential that does not exist": (
        forgotten(Code.RESOURCE_NOT_FOUND), NOTHING, WITH_PASSWORD,
    ),
}  # fmt: skip
"""An answer with a refusal, an image of which it is true, and one of which it is not."""


@pytest.mark.parametrize(("answer", "true", "untrue"), REFUSALS.values(), ids=list(REFUSALS))
def test_a_refusal_is_true_of_the_image_that_the_request_was_judged_by(answer, true, untrue):
    assert check_refusals(true, *answer) is None
    with pytest.raises(Violated, match=r"RefusalIsTrueProp: [A-Za-z]+ is refused with [A-Z_]+"):
        check_refusals(untrue, *answer)


def test_a_refusal_names_the_request_and_its_part():
    text = (
        "AlterPartitionReassignmentsRequest is refused with NO_REASSIGNMENT_IN_PROGRESS for "
        "('t', 0), though the metadata does not give that reason"
    )
    with pytest.raises(Violated, match=re.escape(f"RefusalIsTrueProp: {text}")):
        check_refusals(MOVING, *move(Code.NO_REASSIGNMENT_IN_PROGRESS))


@pytest.mark.parametrize("name", ["1", "01", "3000", "x", ""])
def test_nodes_are_brokers_and_the_quorum_by_their_numbers(name):
    with pytest.raises(Violated, match="is refused with BROKER_ID_NOT_REGISTERED"):
        check_refusals(WITH_TWO, *configs(BROKER_RESOURCE, name, NO_NODE), [3_000])
    assert check_refusals(NOTHING, *configs(BROKER_RESOURCE, "03001", NO_NODE), [3_000]) is None


def test_a_target_may_have_another_size_if_the_request_allows_it():
    with pytest.raises(Violated, match="is refused with INVALID_REPLICATION_FACTOR"):
        check_refusals(changed(replicas=(ONE,)), *move(NO_SIZE, (ONE, TWO)))


def test_the_quorum_is_that_of_the_configuration():
    step = asked(WITH_TWO, *configs(BROKER_RESOURCE, "3000", NO_NODE))
    assert answers(WITH_TWO).check(process(), step) is None
    step.before.configuration.defaults.quorum_node_ids = (3_000,)
    with pytest.raises(Violated, match="is refused with BROKER_ID_NOT_REGISTERED"):
        answers(WITH_TWO).check(process(), step)


def test_a_reason_that_the_metadata_alone_do_not_decide_is_not_judged():
    refusals = (
        configs(TOPIC_RESOURCE, "t", Code.INVALID_CONFIG),
        addition(Code.POLICY_VIOLATION),
        move(Code.POLICY_VIOLATION),
    )
    assert [check_refusals(WITH_TWO, *one) for one in refusals] == [None, None, None]
