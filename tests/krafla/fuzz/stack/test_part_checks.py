"""Parts of requests that get no answer, or that write although they are refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from immutables import Map
from msgspec.structs import replace
from tests.krafla.fuzz.stack.test_stack_checks import (
    EPOCH,
    FIRST,
    LED_BY_TWO,
    ONE,
    TOPIC,
    TWO,
    answers,
    asked,
    process,
)

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.part_checks import check_parts
from kraft.errors import ErrorCode
from kraft.ids import DirectoryId, PartitionId, TopicId, Uuid
from kraft.image.entries import AccessControlEntry
from kraft.records.cluster import ClientQuotaRecord, QuotaEntity
from kraft.records.security import (
    AccessControlEntryRecord,
    RemoveAccessControlEntryRecord,
    RemoveUserScramCredentialRecord,
)
from kraft.records.topics import (
    TOPIC_RESOURCE,
    ConfigRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kraft.rpc.access_control import (
    AclBinding,
    AclCreationResult,
    AclFilter,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from kraft.rpc.alter_partition import (
    AlteredPartition,
    AlterPartitionData,
    AlterPartitionRequest,
    AlterPartitionResponse,
)
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest, AssignReplicasToDirsResponse
from kraft.rpc.client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    ClientQuotaAlteration,
    ClientQuotaResult,
)
from kraft.rpc.configurations import (
    AlterableConfig,
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

NONE, REFUSED = ErrorCode.NONE, ErrorCode.INVALID_REQUEST
SECOND, OTHER = PartitionId(1), TopicId("B" * 21 + "g")
ENTRY = (2, "t", 3, "User:ann", "*", 3, 3)
BINDING, PREFIXED = AclBinding(*ENTRY), AclBinding(2, "t", 4, "User:ann", "*", 3, 3)
IMAGE = replace(
    LED_BY_TWO,
    topics=LED_BY_TWO.topics.set(
        OTHER, replace(LED_BY_TWO.topics[TOPIC], name="u", topic_id=OTHER)
    ),
    topic_ids=LED_BY_TWO.topic_ids.set("u", OTHER),
    partitions=LED_BY_TWO.partitions.set((OTHER, FIRST), LED_BY_TWO.partitions[TOPIC, FIRST]),
    access_control_entries=Map({Uuid("e"): AccessControlEntry(*ENTRY)}),
)
"""Two topics, t and u, with one partition each, in which broker 2 leads instead of 1."""
RECORD = PartitionChangeRecord(FIRST, TOPIC, leader=ONE)
ANN = (("user", "ann"),)


def isrs(*codes: ErrorCode) -> tuple[Any, Any]:
    """Broker 2 asks for the ISRs of both topics."""
    keys = (TOPIC, FIRST), (OTHER, FIRST)
    asked = tuple(AlterPartitionData(*key, 3, 0, ()) for key in keys)
    told = (AlteredPartition(*key, code) for key, code in zip(keys, codes, strict=False))
    request = AlterPartitionRequest(TWO, EPOCH, asked)
    return request, AlterPartitionResponse(NONE, tuple(told))


def moves(*codes: ErrorCode) -> tuple[Any, Any]:
    asked = tuple(ReassignablePartition(name, FIRST, (TWO,)) for name in ("t", "u"))
    told = (
        ReassignedPartition(name, FIRST, code)
        for name, code in zip(("t", "u"), codes, strict=False)
    )
    request = AlterPartitionReassignmentsRequest(asked)
    return request, AlterPartitionReassignmentsResponse(tuple(told))


def elections(*codes: ErrorCode, all_: bool = False) -> tuple[Any, Any]:
    asked = None if all_ else (("t", FIRST), ("u", FIRST))
    told = (PartitionResult(name, FIRST, code) for name, code in zip("tu", codes, strict=False))
    return ElectLeadersRequest(PREFERRED_ELECTION, asked), ElectLeadersResponse(NONE, tuple(told))


def places(*codes: ErrorCode) -> tuple[Any, Any]:
    asked = ((DirectoryId("d"), TOPIC, FIRST), (DirectoryId("d"), OTHER, FIRST))
    request = AssignReplicasToDirsRequest(ONE, EPOCH, asked)
    return request, AssignReplicasToDirsResponse(partitions=codes)


def creations(*codes: ErrorCode) -> tuple[Any, Any]:
    told = tuple(CreatedTopic(name, code) for name, code in zip("vw", codes, strict=False))
    request = CreateTopicsRequest((CreatableTopic("v"), CreatableTopic("w")))
    return request, CreateTopicsResponse(told)


def additions(*codes: ErrorCode) -> tuple[Any, Any]:
    asked = tuple(CreatePartitionsTopic(name, 2) for name in "tu")
    told = (
        CreatePartitionsTopicResult(name, code) for name, code in zip("tu", codes, strict=False)
    )
    return CreatePartitionsRequest(asked), CreatePartitionsResponse(tuple(told))


def deletions(*codes: ErrorCode) -> tuple[Any, Any]:
    both = TOPIC, OTHER
    return DeleteTopicsRequest(both), DeleteTopicsResponse(tuple(zip(both, codes, strict=False)))


def entries(*codes: ErrorCode) -> tuple[Any, Any]:
    results = tuple(AclCreationResult(code) for code in codes)
    return CreateAclsRequest((BINDING, PREFIXED)), CreateAclsResponse(results)


def filters(*told: tuple[AclBinding, ...]) -> tuple[Any, Any]:
    results = tuple(DeleteAclsFilterResult(matching_acls=each) for each in told)
    return DeleteAclsRequest((AclFilter(), AclFilter())), DeleteAclsResponse(results)


def configs(*codes: ErrorCode) -> tuple[Any, Any]:
    both = tuple(
        AlterConfigsResource(TOPIC_RESOURCE, name, (AlterableConfig("a", "1"),)) for name in "tu"
    )
    return IncrementalAlterConfigsRequest(both), configured(*codes)


def replacements(*codes: ErrorCode) -> tuple[Any, Any]:
    both = tuple(ReplacedConfigs(TOPIC_RESOURCE, name, (("a", "1"),)) for name in "tu")
    return AlterConfigsRequest(both), configured(*codes)


def configured(*codes: ErrorCode) -> AlterConfigsResponse:
    return AlterConfigsResponse(
        tuple(
            AlterConfigsResourceResponse(TOPIC_RESOURCE, name, code)
            for name, code in zip("tu", codes, strict=False)
        )
    )


def quotas(*codes: ErrorCode) -> tuple[Any, Any]:
    both = (ANN, (("user", None),))
    told = (ClientQuotaResult(one, code, "why") for one, code in zip(both, codes, strict=False))
    request = AlterClientQuotasRequest(tuple(ClientQuotaAlteration(one, ()) for one in both))
    return request, AlterClientQuotasResponse(tuple(told))


def credentials(*codes: ErrorCode) -> tuple[Any, Any]:
    asked = tuple(ScramCredentialDeletion(name, 1) for name in ("ann", "bob", "ann"))
    told = (
        AlterUserScramCredentialsResult(name, code)
        for name, code in zip(("ann", "bob"), codes, strict=False)
    )
    request = AlterUserScramCredentialsRequest(asked)
    return request, AlterUserScramCredentialsResponse(tuple(told))


KINDS: dict[Any, Any] = {
    isrs: RECORD,
    moves: RECORD,
    elections: RECORD,
    places: RECORD,
    creations: ConfigRecord(TOPIC_RESOURCE, "v", "a", "1"),
    additions: PartitionRecord(SECOND, TOPIC, (ONE,), (ONE,), leader=ONE, leader_epoch=0,
                               partition_epoch=0),
    deletions: RemoveTopicRecord(TOPIC),
    entries: AccessControlEntryRecord(Uuid("f"), *ENTRY),
    configs: ConfigRecord(TOPIC_RESOURCE, "t", "a", "1"),
    replacements: ConfigRecord(TOPIC_RESOURCE, "t", "a", "1"),
    quotas: ClientQuotaRecord((QuotaEntity("user", "ann"),), "a", 1.0, remove=False),
    credentials: RemoveUserScramCredentialRecord("ann", 1),
}  # fmt: skip
"""Requests with two parts, each with a record of the first."""


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_part_that_is_refused_writes_nothing_though_another_is_granted(kind):
    record = KINDS[kind]
    granted = (TopicRecord("v", TopicId("v")),) if kind is creations else ()
    assert check_parts(IMAGE, *kind(NONE, REFUSED), (*granted, record)) is None
    other = (TopicRecord("w", TopicId("w")),) if kind is creations else ()
    with pytest.raises(Violated, match=r"RefusedWritesNothingProp: .* is not granted for"):
        check_parts(IMAGE, *kind(REFUSED, NONE), (*other, record))


@pytest.mark.parametrize("kind", [*KINDS, filters], ids=lambda kind: kind.__name__)
def test_each_part_of_a_request_is_answered(kind):
    told = ((), ()) if kind is filters else (REFUSED, REFUSED)
    assert check_parts(IMAGE, *kind(*told), ()) is None
    with pytest.raises(Violated, match=r"EveryRequestIsAnsweredProp: .* answer lacks parts \[.+\]"):
        check_parts(IMAGE, *kind(told[0]), ())


BEYOND: dict[Any, Any] = {entries: "answer 3", filters: 2, places: "answer 3"}
"""Requests whose answers name no parts, and the name of a third answer to two parts."""


@pytest.mark.parametrize("kind", BEYOND, ids=lambda kind: kind.__name__)
def test_an_answer_to_a_part_that_was_not_requested_is_found(kind):
    told = ((),) * 3 if kind is filters else (NONE,) * 3
    expected = f"the answer lacks parts [] and has parts [{BEYOND[kind]!r}] that were not requested"
    with pytest.raises(Violated, match=re.escape(expected)):
        check_parts(IMAGE, *kind(*told), ())


def test_a_part_that_does_not_exist_is_not_granted():
    unknown = replace(IMAGE, topic_ids=Map(), topics=Map(), partitions=Map())
    with pytest.raises(Violated, match="was elected; there is no such partition"):
        check_parts(unknown, *elections(NONE, REFUSED), ())


RATE = ("producer_byte_rate", 1.0)
TWICE = AlterClientQuotasRequest(
    (ClientQuotaAlteration(ANN, (RATE,)), ClientQuotaAlteration(ANN, (("a", 2.0),)))
)
REPORTED = AlterClientQuotasResponse((ClientQuotaResult(ANN, REFUSED, "whatever it says"),))


def test_of_an_entity_that_occurs_twice_the_first_changes_are_written():
    entity = (QuotaEntity("user", "ann"),)
    right = ClientQuotaRecord(entity, *RATE, remove=False)
    assert check_parts(IMAGE, TWICE, REPORTED, (right,)) is None
    # The first changes may be invalid, or change nothing.
    assert check_parts(IMAGE, TWICE, REPORTED, ()) is None
    present = replace(IMAGE, client_quotas=Map({ANN: Map(dict([RATE]))}))
    for image, *written in (
        (IMAGE, replace(right, value=999.0)),
        (IMAGE, replace(right, value=0.0, remove=True)),
        (IMAGE, replace(right, key="a", value=2.0)),
        (IMAGE, right, right),
        (IMAGE, right, replace(right, key="a", value=2.0)),
        (present, right),
    ):
        with pytest.raises(Violated, match=r"RefusedWritesNothingProp: .* twice, first with"):
            check_parts(image, TWICE, REPORTED, written)


def test_of_all_partitions_those_are_answered_that_need_an_election():
    assert check_parts(IMAGE, *elections(REFUSED, REFUSED, all_=True), ()) is None
    unclean = ElectLeadersRequest(UNCLEAN_ELECTION)
    assert check_parts(IMAGE, unclean, ElectLeadersResponse(), ()) is None
    with pytest.raises(Violated, match=re.escape("lacks parts [('u', 0)]")):
        check_parts(IMAGE, *elections(REFUSED, all_=True), ())


def test_a_former_leader_hears_an_error_though_its_change_is_written():
    elsewhere = PartitionChangeRecord(FIRST, TOPIC, replicas=(ONE,), leader=ONE)
    by_itself = PartitionChangeRecord(FIRST, TOPIC, isr=(TWO,))
    told = isrs(ErrorCode.NEW_LEADER_ELECTED, REFUSED)
    assert check_parts(IMAGE, *told, (elsewhere,)) is None
    for answer, record in ((told, by_itself), (isrs(REFUSED, REFUSED), elsewhere)):
        with pytest.raises(Violated, match="RefusedWritesNothingProp"):
            check_parts(IMAGE, *answer, (record,))


def test_deleted_entries_are_told():
    record = RemoveAccessControlEntryRecord(Uuid("e"))
    assert check_parts(IMAGE, *filters((), (BINDING,)), (record,)) is None
    for told in ((), (PREFIXED,)):
        with pytest.raises(Violated, match="is removed, and not told"):
            check_parts(IMAGE, *filters((), told), (record,))


def test_a_topic_is_written_if_and_only_if_it_is_granted():
    for told, written in (((NONE, REFUSED), "w"), ((REFUSED, REFUSED), "v"), ((NONE, NONE), "v")):
        records = tuple(TopicRecord(name, TopicId(name)) for name in written)
        with pytest.raises(Violated, match="are granted, yet"):
            check_parts(IMAGE, *creations(*told), records)


def test_an_answer_without_a_part_is_found_before_its_isr_is_compared():
    step = asked(IMAGE, *isrs(NONE))
    with pytest.raises(Violated, match="EveryRequestIsAnsweredProp"):
        answers(IMAGE).check(process(), step)
