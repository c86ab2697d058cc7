"""What the judges know of requests that ask for nothing."""

from __future__ import annotations

import pytest

from krafla.refinement.stack.empty_requests import asks_for_nothing, says_nothing
from kraft.controller.resignation import NOT_CONTROLLER
from kraft.errors import ErrorCode
from kraft.ids import BrokerEpoch, BrokerId, PartitionId, TopicId
from kraft.rpc.access_control import CreateAclsRequest
from kraft.rpc.alter_partition import AlterPartitionRequest, AlterPartitionResponse
from kraft.rpc.elect_leaders import ElectLeadersRequest
from kraft.rpc.scram import AlterUserScramCredentialsRequest, ScramCredentialDeletion
from kraft.rpc.topics import CreateTopicsRequest, DeleteTopicsRequest, DeleteTopicsResponse

DELETION = ScramCredentialDeletion("ann", 1)
TOPIC = TopicId("T" * 21 + "A")


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (AlterPartitionRequest(BrokerId(1), BrokerEpoch(1), ()), True),
        (CreateTopicsRequest((), validate_only=True), True),
        (DeleteTopicsRequest((TOPIC,)), False),
        (ElectLeadersRequest(0, ()), True),
        (ElectLeadersRequest(0, None), False),
        (ElectLeadersRequest(0, (("t", PartitionId(0)),)), False),
        (AlterUserScramCredentialsRequest(), True),
        (AlterUserScramCredentialsRequest((DELETION,)), False),
        (CreateAclsRequest(()), False),
    ],
)
def test_a_request_asks_for_nothing_if_all_lists_that_kafka_looks_at_are_empty(request_, expected):
    assert asks_for_nothing(request_) is expected


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (DeleteTopicsResponse(()), True),
        (AlterPartitionResponse(), True),
        (DeleteTopicsResponse(((TOPIC, ErrorCode.NONE),)), False),
        (AlterPartitionResponse(ErrorCode.STALE_BROKER_EPOCH), False),
        (NOT_CONTROLLER, False),
        (None, False),
    ],
)
def test_a_response_says_nothing_without_an_error_and_a_result(response, expected):
    assert says_nothing(response) is expected
