"""Messages whose fields have other names than the attributes of their values, written out whole."""

from __future__ import annotations

import pytest
from tests.kraft.wire.drawn_fields import through_bytes

from kraft.errors import ErrorCode
from kraft.ids import uuid_text
from kraft.rpc.api_versions import FinalizedFeature, SupportedApi, SupportedApisResponse
from kraft.rpc.broker_registration import BrokerRegistrationRequest
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.delegation_tokens import DescribedDelegationToken, DescribeDelegationTokenResponse
from kraft.rpc.node_description import Listener, SupportedFeature
from kraft.rpc.topics import CreatableTopic, CreateTopicsRequest
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.message_maps import MESSAGE_MAPS

A, B = uuid_text(b"\x01" * 16), uuid_text(b"\x02" * 16)
LISTENER = {"name": "PLAINTEXT", "host": "host", "port": 9092, "securityProtocol": 1}
FEATURE = {"name": "f", "minSupportedVersion": 3, "maxSupportedVersion": 9}
LISTENERS = (Listener("PLAINTEXT", "host", 9092, 1),)
FEATURES = (SupportedFeature("f", 3, 9),)

REQUESTS = {
    "a broker registers": (
        62,
        BrokerRegistrationRequest(5, A, "cluster", LISTENERS, FEATURES, "rack", True, (B,), 77),
        {
            "brokerId": 5,
            "clusterId": "cluster",
            "incarnationId": A,
            "listeners": (LISTENER,),
            "features": (FEATURE,),
            "rack": "rack",
            "isMigratingZkBroker": True,
            "logDirs": (B,),
            "previousBrokerEpoch": 77,
        },
    ),
    "a controller registers": (
        70,
        ControllerRegistrationRequest(7, A, True, LISTENERS, FEATURES),
        {
            "controllerId": 7,
            "incarnationId": A,
            "zkMigrationReady": True,
            "listeners": (LISTENER,),
            "features": (FEATURE,),
        },
    ),
    "a topic is to be created": (
        19,
        CreateTopicsRequest(
            (CreatableTopic("t", -1, -1, ((0, (1, 2)), (1, (2, 3))), (("k", None),)),), True
        ),
        {
            "topics": (
                {
                    "name": "t",
                    "numPartitions": -1,
                    "replicationFactor": -1,
                    "assignments": (
                        {"partitionIndex": 0, "brokerIds": (1, 2)},
                        {"partitionIndex": 1, "brokerIds": (2, 3)},
                    ),
                    "configs": ({"name": "k", "value": None},),
                },
            ),
            "timeoutMs": 60_000,
            "validateOnly": True,
        },
    ),
}
TOKEN = DescribedDelegationToken("User:a", "User:b", 1, 2, 3, "id", b"\x04", ("User:c", "User:d"))
RESPONSES = {
    "what a node supports": (
        18,
        SupportedApisResponse(
            ErrorCode.NONE, (SupportedApi(1, 4, 18),), FEATURES, 55, (FinalizedFeature("f", 8, 7),)
        ),
        {
            "errorCode": 0,
            "apiKeys": ({"apiKey": 1, "minVersion": 4, "maxVersion": 18},),
            "throttleTimeMs": 0,
            "supportedFeatures": ({"name": "f", "minVersion": 3, "maxVersion": 9},),
            "finalizedFeaturesEpoch": 55,
            "finalizedFeatures": ({"name": "f", "maxVersionLevel": 8, "minVersionLevel": 7},),
            "zkMigrationReady": False,
        },
    ),
    "a token": (
        41,
        DescribeDelegationTokenResponse(ErrorCode.NONE, (TOKEN,)),
        {
            "errorCode": 0,
            "tokens": (
                {
                    "principalType": "User",
                    "principalName": "a",
                    "tokenRequesterPrincipalType": "User",
                    "tokenRequesterPrincipalName": "b",
                    "issueTimestamp": 1,
                    "expiryTimestamp": 2,
                    "maxTimestamp": 3,
                    "tokenId": "id",
                    "hmac": b"\x04",
                    "renewers": (
                        {"principalType": "User", "principalName": "c"},
                        {"principalType": "User", "principalName": "d"},
                    ),
                },
            ),
            "throttleTimeMs": 0,
        },
    ),
}


@pytest.mark.parametrize("what", REQUESTS)
def test_a_request_is_written_out(what):
    key, value, fields = REQUESTS[what]
    message = MESSAGE_MAPS[key]
    newest = message.versions[-1]
    assert message.request_fields(value, newest) == fields
    received = through_bytes(CONTROLLER_APIS[key].request, newest, fields)
    assert message.request_of(received, newest) == value


@pytest.mark.parametrize("what", RESPONSES)
def test_a_response_is_written_out(what):
    key, value, fields = RESPONSES[what]
    message = MESSAGE_MAPS[key]
    newest = message.versions[-1]
    assert message.response_fields(value, {}, newest) == fields
    received = through_bytes(CONTROLLER_APIS[key].response, newest, fields)
    assert message.response_of(received, newest) == value
