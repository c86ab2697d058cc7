"""Answers that are not true by the committed image, and the true ones beside them."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from immutables import Map
from msgspec.structs import replace
from tests.krafla.fuzz.stack.test_stack_checks import (
    EPOCH,
    FIRST,
    KEY,
    ONE,
    THREE,
    TOKEN,
    TOPIC,
    TWO,
    WITH_TWO,
    process,
)

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.answer_checks import CHECKS
from krafla.fuzz.stack.token_checks import TokenChecks
from kraft.controller import effects as does
from kraft.controller import events
from kraft.controller.configuration import Configuration
from kraft.controller.memory import Memory
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.written import Written
from kraft.ids import DirectoryId, NodeId, Offset
from kraft.image.entries import DelegationToken
from kraft.image.metadata_image import MetadataImage
from kraft.records.security import DelegationTokenRecord, RemoveDelegationTokenRecord
from kraft.records.topics import BROKER_RESOURCE
from kraft.rpc.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from kraft.rpc.configurations import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
)
from kraft.rpc.delegation_tokens import (
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
    TokenExpiryResponse,
)
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignedPartition,
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
)
from kraft.sim.raft.steps import ListenerStep

if TYPE_CHECKING:
    from kraft.ids import BrokerId

Answer = tuple[MetadataImage, Any, Any]
"""The image at its record, a request, and the answer to it."""
REPORTERS = "metric.reporters"


def changed(operation: ConfigOperation, given: str, value: str | None) -> Answer:
    """A list of all brokers was changed, and has a value now."""
    settings = {} if value is None else {REPORTERS: value}
    image = MetadataImage(configurations=Map({(BROKER_RESOURCE, ""): Map(settings)}))
    change = AlterableConfig(REPORTERS, given, operation)
    request = IncrementalAlterConfigsRequest(
        (AlterConfigsResource(BROKER_RESOURCE, "", (change,)),)
    )
    return (
        image,
        request,
        AlterConfigsResponse((AlterConfigsResourceResponse(BROKER_RESOURCE, ""),)),
    )


def allocated(length: int) -> Answer:
    """The producer ids up to 5,000 were given out."""
    answer = AllocateProducerIdsResponse(producer_id_start=5_000 - length, producer_id_len=length)
    image = MetadataImage(next_producer_id=5_000)
    return image, AllocateProducerIdsRequest(ONE, EPOCH), answer


def created(topic: CreatableTopic, partitions: int = 1, replicas: int = 2) -> Answer:
    """A topic was created with one partition, on the brokers 1 and 2."""
    answer = CreatedTopic(
        "t", topic_id=TOPIC, num_partitions=partitions, replication_factor=replicas
    )
    return WITH_TWO, CreateTopicsRequest((topic,)), CreateTopicsResponse((answer,))


def grown(*replicas: BrokerId) -> Answer:
    """A topic has got the one partition that it has, which was to be on some brokers."""
    request = CreatePartitionsRequest((CreatePartitionsTopic("t", 1, (replicas,)),))
    return WITH_TWO, request, CreatePartitionsResponse((CreatePartitionsTopicResult("t"),))


def moved(
    target: tuple[BrokerId, ...],
    *replicas: BrokerId,
    adding: tuple[BrokerId, ...] = (),
    removing: tuple[BrokerId, ...] = (),
) -> Answer:
    """A partition moves to a target, and has these replicas now."""
    partition = replace(
        WITH_TWO.partitions[KEY],
        replicas=replicas,
        directories=(DirectoryId("d"),) * len(replicas),
        adding_replicas=adding,
        removing_replicas=removing,
    )
    image = replace(WITH_TWO, partitions=Map({KEY: partition}))
    request = AlterPartitionReassignmentsRequest((ReassignablePartition("t", FIRST, target),))
    answer = AlterPartitionReassignmentsResponse((ReassignedPartition("t", FIRST),))
    return image, request, answer


APPEND, SUBTRACT = ConfigOperation.APPEND, ConfigOperation.SUBTRACT
TRUE: dict[str, Answer] = {
    "something is appended": changed(APPEND, "b", "a,b"),
    "nothing is appended": changed(APPEND, "", "a"),
    "the last one is subtracted": changed(SUBTRACT, "a", ""),
    "nothing is subtracted": changed(SUBTRACT, "", ""),
    "a block of producer ids": allocated(1_000),
    "a topic of the default size": created(CreatableTopic("t")),
    "a topic of a size": created(CreatableTopic("t", 1, 2)),
    "a topic on given brokers": created(CreatableTopic("t", assignments=((FIRST, (ONE, TWO)),))),
    "a partition on given brokers": grown(ONE, TWO),
    "a partition goes to two brokers": moved(
        (TWO, THREE), TWO, THREE, ONE, adding=(THREE,), removing=(ONE,)
    ),
    "a partition has moved": moved((TWO, THREE), TWO, THREE),
    # An earlier move removed it.
    "a target has gone with the move": moved((TWO, THREE), TWO),
}
UNTRUE: dict[str, tuple[Answer, str]] = {
    "an appended list is not stored": (changed(APPEND, "a", None), "APPEND of metric.reporters"),
    "a reduced list is not stored": (changed(SUBTRACT, "a", None), "SUBTRACT of metric.reporters"),
    "what is subtracted stays": (changed(SUBTRACT, "a", "a,b"), "it is a,b"),
    "a short block of producer ids": (allocated(999), "999 producer ids are given out, not 1000"),
    "a topic has too few partitions": (created(CreatableTopic("t", 2, 2)), "asked for are 2 of 2"),
    "a topic has too few replicas": (created(CreatableTopic("t", 1, 3)), "asked for are 1 of 3"),
    "a topic is told more replicas": (
        created(CreatableTopic("t"), replicas=3), "3 replicas of each partition",
    ),
    "a topic is on other brokers": (
        created(CreatableTopic("t", assignments=((FIRST, (TWO, ONE)),))), "it has {0: (1, 2)}",
    ),
    "a partition is on other brokers": (grown(TWO, ONE), "has the replicas [2, 1]"),
    "another replica stays": (
        moved((TWO, THREE), TWO, THREE, ONE, adding=(THREE,)), "moves to [2, 3]",
    ),
    "another replica stays for good": (moved((TWO,), TWO, ONE), "moves to [2]"),
    "a target is missing in a move": (
        moved((TWO, THREE), TWO, ONE, removing=(ONE,)), "moves to [2, 3]",
    ),
    "no target is there": (moved((THREE,), ONE, TWO, removing=(ONE, TWO)), "moves to [3]"),
    "a target is not preferred": (moved((TWO, ONE), ONE, TWO), "moves to [2, 1]"),
}  # fmt: skip


def judge(answer: Answer) -> None:
    image, request, response = answer
    CHECKS[type(request)](image, request, response)


@pytest.mark.parametrize("answer", TRUE.values(), ids=list(TRUE))
def test_an_answer_that_is_true_passes(answer):
    assert judge(answer) is None


@pytest.mark.parametrize(("answer", "text"), UNTRUE.values(), ids=list(UNTRUE))
def test_an_answer_that_is_not_true_is_found(answer, text):
    with pytest.raises(Violated, match=f"AnsweredIsCommittedInv: .*{re.escape(text)}"):
        judge(answer)


NOW_MS = 1_000
UNTIL_MS = 1_500
EVERLASTING = DelegationToken("User:ANONYMOUS", "User:ANONYMOUS", (), 0, 9_000, 2_000)
"""A token of the requester that is good for long."""


def expiring(request: Any, told_ms: int) -> None:
    """Check that a request for the expiry of a token, which it gets, is answered with a time."""
    record: Any = RemoveDelegationTokenRecord("id")
    if getattr(request, "expiry_time_period_ms", 0) >= 0:
        record = DelegationTokenRecord(
            EVERLASTING.owner, EVERLASTING.requester, (), 0, EVERLASTING.max_timestamp, UNTIL_MS,
            "id",
        )  # fmt: skip
    state = SimpleNamespace(
        written=Memory(Written(MetadataImage(delegation_tokens=Map({"id": EVERLASTING})))),
        configuration=Configuration(Defaults(NodeId(1))),
        claim_epoch=1,
        deferred=(),
    )
    effects = (
        does.Append(1, Offset(0), (record,), 27),
        does.Reply(TOKEN, TokenExpiryResponse(expiry_timestamp_ms=told_ms)),
    )
    event = events.RequestReceived(NOW_MS, TOKEN, request, kraft_version=1)
    checks = TokenChecks()
    checks.token_ids[request.hmac] = "id"
    checks.check(process(), ListenerStep("controller", state, event, state, effects))


@pytest.mark.parametrize(
    ("request_", "until_ms"),
    [
        (RenewDelegationTokenRequest(b"secret", UNTIL_MS - NOW_MS), UNTIL_MS),
        (ExpireDelegationTokenRequest(b"secret", UNTIL_MS - NOW_MS), UNTIL_MS),
        (ExpireDelegationTokenRequest(b"secret", -1), NOW_MS),
    ],
    ids=["renewed", "shortened", "ended at once"],
)
def test_the_answer_tells_until_when_a_token_is_good(request_, until_ms):
    expiring(request_, until_ms)
    for told_ms in (-1, until_ms + 1):
        with pytest.raises(Violated, match=f"TokenLivesItsTimeProp: .* {told_ms}, not {until_ms}"):
            expiring(request_, told_ms)
