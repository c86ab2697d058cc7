"""Every message of a controller becomes a value and fields again, in each of its versions."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kraft.wire.drawn_fields import (
    AROUND,
    EXAMPLES,
    VERSION_IDS,
    VERSIONS,
    drawn_fields,
    through_bytes,
)

from kraft.controller.operation_table import OPERATIONS
from kraft.errors import ErrorCode
from kraft.rpc.access_control import DescribeAclsRequest
from kraft.rpc.api_versions import SupportedApisRequest
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest
from kraft.rpc.delegation_tokens import DescribeDelegationTokenRequest
from kraft.rpc.describe_cluster import DescribeClusterRequest
from kraft.rpc.describe_configs import DescribeConfigsRequest
from kraft.rpc.envelope import EnvelopeRequest
from kraft.rpc.raft_voters import ApiVersionsRequest
from kraft.rpc.requests import RaftRequest
from kraft.rpc.scram import DescribeUserScramCredentialsRequest
from kraft.rpc.topics import DeleteTopicsRequest
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.message_map import Malformed, Refusal
from kraft.wire.message_maps import MESSAGE_MAPS, SENT
from kraft.wire.value_maps import Struct

ALL_VERSIONS = pytest.mark.parametrize(("key", "version"), VERSIONS, ids=VERSION_IDS)
NEEDS_ITS_REQUEST = {17, 20, 36, 73}
"""APIs whose response follows from the request, or that have no value."""


def test_each_api_of_a_controller_has_a_map():
    assert list(MESSAGE_MAPS) == list(CONTROLLER_APIS)
    assert sum(len(one.versions) for one in MESSAGE_MAPS.values()) == len(VERSIONS) == 114


def test_what_a_controller_sends_is_what_it_serves():
    assert {one.api_key for one in SENT.values()} == {1, 18, 52, 53, 54, 59, 70, 82}
    assert all(MESSAGE_MAPS[one.api_key] is one for one in SENT.values())


def test_each_request_that_a_controller_handles_comes_over_the_wire():
    structs = (one.request for one in MESSAGE_MAPS.values())
    known = {one.of for one in structs if isinstance(one, Struct)}
    known |= {AssignReplicasToDirsRequest, DeleteTopicsRequest}
    handled = {*OPERATIONS.writes, *OPERATIONS.reads, *get_args(RaftRequest)}
    # What Raft asks with it goes out as a SupportedApisRequest.
    assert handled - known == {ApiVersionsRequest}
    assert known - handled == {
        DescribeAclsRequest,
        DescribeClusterRequest,
        DescribeConfigsRequest,
        DescribeDelegationTokenRequest,
        DescribeUserScramCredentialsRequest,
        EnvelopeRequest,
        SupportedApisRequest,
    }


@ALL_VERSIONS
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_any_request_becomes_a_value_or_a_response(key, version, data):
    api, message = CONTROLLER_APIS[key], MESSAGE_MAPS[key]
    fields = data.draw(drawn_fields(api.request, version))
    value = message.request_of(fields, version, AROUND)
    if isinstance(value, Malformed):
        assert key in {29, 30, 31}
    elif isinstance(value, Refusal):
        assert through_bytes(api.response, version, value.fields) == value.fields
    elif not (key == 20 and version < 6):
        sent = message.request_fields(value, version)
        received = through_bytes(api.request, version, sent)
        assert message.request_of(received, version, AROUND) == value


@ALL_VERSIONS
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_any_response_is_the_same_after_its_way(key, version, data):
    api, message = CONTROLLER_APIS[key], MESSAGE_MAPS[key]
    if key in NEEDS_ITS_REQUEST:
        return
    request = data.draw(drawn_fields(api.request, version))
    value = message.response_of(data.draw(drawn_fields(api.response, version)), version)
    fields = message.response_fields(value, request, version, AROUND)
    received = through_bytes(api.response, version, fields)
    if key == 18:
        assert received["errorCode"] == value.error_code
    elif key == 1 and version < 13:
        assert value.error_code is not ErrorCode.NONE
    elif key in {33, 44}:
        rest = received["responses"][len(received["responses"]) - len(value.responses) :]
        assert message.response_of({"responses": rest}, version) == value
    else:
        assert message.response_of(received, version) == value


TELLS = {19, 29, 30, 31, 33, 36, 37, 43, 44, 45, 46, 50, 51, 57, 60, 64}
"""APIs whose failures have a sentence of their own."""


@ALL_VERSIONS
@settings(max_examples=EXAMPLES)
@given(data=st.data(), error=st.sampled_from(ErrorCode), sentence=st.sampled_from(["", "no way"]))
def test_any_request_can_fail_as_a_whole(key, version, data, error, sentence):
    api, message = CONTROLLER_APIS[key], MESSAGE_MAPS[key]
    request = data.draw(drawn_fields(api.request, version))
    fields = message.failure_fields(error, sentence, request, version)
    assert through_bytes(api.response, version, fields) == fields
    tells = "no way" in str(fields)
    assert not tells or (key in TELLS and error is not ErrorCode.UNKNOWN_SERVER_ERROR)
    if key in {29, 36, 45, 46, 50, 57, 60, 64} and error is not ErrorCode.UNKNOWN_SERVER_ERROR:
        assert fields["errorMessage"] == (sentence or None)
