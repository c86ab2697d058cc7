"""Requests that a node refuses unseen, because its controller would fail by them."""

import asyncio

from tests.kraft.node.one_node import (
    BROKER,
    CLUSTER,
    DIRECTORY,
    INCARNATION,
    properties,
    serving,
    until_active,
)

from kraft.errors import ErrorCode
from kraft.node.local_reads import FEATURES

LISTENER = {"name": "A", "host": "a", "port": 1, "securityProtocol": 0}
LEVELS = tuple(
    {"name": one.name, "minSupportedVersion": one.minimum, "maxSupportedVersion": one.maximum}
    for one in FEATURES
)
BROKER_FIELDS = {
    "brokerId": BROKER, "clusterId": CLUSTER, "incarnationId": INCARNATION,
    "listeners": (LISTENER,), "features": LEVELS, "logDirs": (DIRECTORY,),
}  # fmt: skip
CONTROLLER_FIELDS = {
    "controllerId": 9, "incarnationId": INCARNATION, "listeners": (LISTENER,), "features": LEVELS,
}  # fmt: skip
NODES = [
    {},
    {"listeners": ({**LISTENER, "securityProtocol": 9},)},
    {"listeners": ({**LISTENER, "port": 0},)},
    {"listeners": ({**LISTENER, "host": " "},)},
    {"listeners": ({**LISTENER, "name": "a"},)},
    {"features": (*LEVELS, LEVELS[0])},
    {"features": (*LEVELS, {"name": "a", "minSupportedVersion": 2, "maxSupportedVersion": 1})},
    {"incarnationId": "AAAAAAAAAAAAAAAAAAAAAA"},
]
CHANGE = {"resourceType": 4, "resourceName": "", "configs": ()}


def answers(folder, *requests):
    """Return the fields of the answers to requests: of an API, a version, and fields."""

    async def main():
        async with serving(properties(folder)) as (node, client):
            await until_active(client)
            told = [await client.call(key, version, **fields) for key, version, fields in requests]
            return told, node.process.state.role.epoch

    told, epoch = asyncio.run(main())
    assert epoch == 1, "the controller stepped back"
    return told


def test_nodes_that_cannot_be_are_not_registered(tmp_path):
    brokers = [(62, 4, BROKER_FIELDS | change) for change in (*NODES, {"brokerId": -1})]
    controllers = [
        (70, 0, CONTROLLER_FIELDS | change)
        for change in (*NODES, {"controllerId": -1}, {"listeners": ()}, {"features": ()})
    ]
    told = answers(tmp_path, *brokers, *controllers)

    codes = [one["errorCode"] for one in told]
    assert codes[: len(brokers)] == [0, *[ErrorCode.INVALID_REQUEST] * (len(brokers) - 1)]
    assert codes[len(brokers) :] == [
        0, *[ErrorCode.INVALID_REQUEST] * (len(controllers) - 2), ErrorCode.UNSUPPORTED_VERSION,
    ]  # fmt: skip


def test_changes_that_a_controller_fails_by_are_refused(tmp_path):
    append = {"name": "a", "configOperation": 2, "value": None}
    nameless = {"name": "", "configOperation": 0, "value": "b"}
    named = {"name": "a", "value": "b"}
    partition = {
        "partitionIndex": 0, "leaderEpoch": 0, "newIsrWithEpochs": (), "leaderRecoveryState": 2,
        "partitionEpoch": 0,
    }  # fmt: skip
    topic = {"topicId": DIRECTORY, "partitions": (partition,)}
    told = answers(
        tmp_path,
        (44, 1, {"resources": ({**CHANGE, "configs": (append,)},)}),
        (44, 1, {"resources": ({**CHANGE, "configs": (nameless,)},)}),
        (33, 2, {"resources": ({**CHANGE, "configs": (named, {**named, "name": ""})},)}),
        (56, 3, {"brokerId": BROKER, "brokerEpoch": 1, "topics": (topic,)}),
    )

    codes = [one["responses"][0]["errorCode"] for one in told[:3]] + [told[3]["errorCode"]]
    assert codes == [ErrorCode.INVALID_REQUEST] * 4


def test_a_partition_is_changed_once_a_request(tmp_path):
    change = {
        "partitionIndex": 0, "leaderEpoch": 0, "newIsrWithEpochs": (), "leaderRecoveryState": 0,
        "partitionEpoch": 0,
    }  # fmt: skip
    told = answers(
        tmp_path,
        *(
            request
            for partitions in ((0, 1), (0, 0))
            for request in (
                (56, 3, {"topics": ({"topicId": DIRECTORY, "partitions": tuple(
                    {**change, "partitionIndex": one} for one in partitions)},)}),
                (73, 0, {"directories": ({"id": DIRECTORY, "topics": ({"topicId": DIRECTORY,
                    "partitions": tuple({"partitionIndex": one} for one in partitions)},)},)}),
                (43, 2, {"topicPartitions": ({"topic": "a", "partitions": partitions},)}),
                (45, 1, {"topics": ({"name": "a", "partitions": tuple(
                    {"partitionIndex": one} for one in partitions)},)}),
            )
        ),
    )  # fmt: skip

    codes = [one["errorCode"] for one in told]
    assert ErrorCode.INVALID_REQUEST not in codes[:4]
    assert codes[4:] == [ErrorCode.INVALID_REQUEST] * 4


def test_a_resource_is_described_once_a_request(tmp_path):
    asked = {"resourceType": 32, "resourceName": "team", "configurationKeys": ()}
    many = tuple({**asked, "resourceName": str(number)} for number in range(10_001))
    told = answers(
        tmp_path,
        *((32, 4, {"resources": one}) for one in ((asked,), many[1:], (asked, asked), many)),
    )

    codes = [{one["errorCode"] for one in each["results"]} for each in told]
    assert codes[0] == {0}
    assert ErrorCode.INVALID_REQUEST not in codes[1]
    assert codes[2:] == [{ErrorCode.INVALID_REQUEST}] * 2
