"""A client finds the node to ask, asks again where that helps, and ends in one sentence."""

from __future__ import annotations

import asyncio

import pytest
from tests.kraft.client.fake_node import ALL_VERSIONS, FakeNode, ask, cluster_of

from kraft.client.errors import ClientError, RefusedError, UnreachableError
from kraft.errors import ErrorCode

NOT_CONTROLLER = {"errorCode": 41, "errorMessage": None}
DONE = {"errorCode": 0, "errorMessage": None}


def unregister(client):
    return client.ask(64, {"brokerId": 7})


class Controllers:
    """Two controllers: each says which one is `active`, and answers by its script, in order."""

    def __init__(self, *scripts, versions=ALL_VERSIONS):
        self.active = 2
        self.scripts = [list(script) for script in scripts]
        self.nodes = [
            FakeNode(lambda key, _version, _fields, at=at: self._answer(at, key), versions)
            for at in range(2)
        ]

    def _answer(self, at, key):
        if key == 60:
            return cluster_of(self.active, {n + 1: one.port for n, one in enumerate(self.nodes)})
        return self.scripts[at].pop(0)

    async def ask(self, question=unregister, **fields):
        async with self.nodes[0], self.nodes[1]:
            return await ask([self.nodes[0].port], question, **fields)

    def asked(self):
        """Return which requests but DescribeCluster each of them got."""
        return [[key for key, _ in node.asked if key != 60] for node in self.nodes]


def test_the_active_controller_is_asked():
    controllers = Controllers([], [DONE])
    response = asyncio.run(controllers.ask())
    assert response["errorCode"] == 0
    assert controllers.asked() == [[], [64]]


def test_among_brokers_any_is_asked():
    async def main():
        async with FakeNode(lambda *_: DONE) as node:
            await ask([node.port], unregister, are_controllers=False)
            return node.asked

    ((key, fields),) = asyncio.run(main())
    assert (key, fields) == (64, {"brokerId": 7})


def test_a_controller_that_is_no_longer_active_sends_the_client_on():
    controllers = Controllers([DONE], [NOT_CONTROLLER])

    def answer(*_):
        controllers.active = 1
        return NOT_CONTROLLER

    controllers.nodes[1].answer = answer
    assert asyncio.run(controllers.ask())["errorCode"] == 0
    assert [key for key, _ in controllers.nodes[0].asked] == [60, 60, 64]


def test_a_leader_that_has_lost_its_partition_is_asked_again():
    partition = {"partitionIndex": 0, "errorCode": 6, "leaderId": -1, "leaderEpoch": 3}
    partition |= {"highWatermark": -1, "currentVoters": (), "observers": ()}
    topics = ({"topicName": "__cluster_metadata", "partitions": (partition,)},)
    found = {"topics": ({"topicName": "__cluster_metadata", "partitions": ()},)}
    controllers = Controllers([], [{"errorCode": 0, "topics": topics}, found])
    response = asyncio.run(controllers.ask(lambda client: client.ask(55, {})))
    assert response["topics"] == found["topics"]
    assert controllers.asked() == [[], [55, 55]]


def test_a_quorum_without_a_leader_is_waited_for():
    controllers = Controllers([DONE], [])
    controllers.active = -1
    elections = iter([-1, -1, 1])

    def answer(key, _version, _fields):
        if key == 60:
            controllers.active = next(elections, 1)
        return controllers._answer(0, key)

    controllers.nodes[0].answer = answer
    assert asyncio.run(controllers.ask())["errorCode"] == 0
    assert [key for key, _ in controllers.nodes[0].asked] == [60, 60, 60, 64]


def test_what_a_node_refuses_has_its_words_or_the_name_of_the_error():
    words = {"errorCode": 102, "errorMessage": "Broker ID 7 is not currently registered"}
    for told, said in (
        (words, words["errorMessage"]),
        ({**words, "errorMessage": None}, "refused with BROKER_ID_NOT_REGISTERED"),
        ({**words, "errorCode": 9999, "errorMessage": None}, "refused with UNKNOWN_SERVER_ERROR"),
    ):
        with pytest.raises(RefusedError, match=said):
            asyncio.run(Controllers([], [told]).ask())


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        ({18: (0, 4), 60: (0, 2)}, "The node does not support UnregisterBroker"),
        ({18: (0, 4), 60: (0, 0), 64: (0, 0)}, "endpointType"),
        ({18: (0, 4)}, "The node does not support DescribeCluster"),
        ({}, "The node does not support DescribeCluster"),
    ],
)
def test_a_node_that_is_too_old_is_not_asked_again(versions, said):
    controllers = Controllers([], [DONE], versions=versions)
    with pytest.raises(RefusedError, match=said) as refused:
        asyncio.run(controllers.ask())
    assert refused.value.code is ErrorCode.UNSUPPORTED_VERSION
    assert controllers.asked() == [[], []]


def test_the_next_server_is_taken_if_the_first_cannot_be_reached():
    async def main():
        async with FakeNode(lambda *_: DONE) as node:
            return await ask([1, node.port], unregister, are_controllers=False)

    assert asyncio.run(main())["errorCode"] == 0


def test_servers_that_cannot_be_reached_are_named():
    with pytest.raises(UnreachableError) as refused:
        asyncio.run(ask([1, 2], unregister))
    assert str(refused.value) == (
        "127.0.0.1:1 cannot be reached: connection refused;"
        " 127.0.0.1:2 cannot be reached: connection refused"
    )


PATIENCE = {"request_timeout": 0.5, "api_timeout": 0.5}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "the connection to 127.0.0.1:{port} was lost: it did not answer in time"),
        (NOT_CONTROLLER, "no node takes the request: NOT_CONTROLLER"),
        (b"\xff\xff\xff\xff", "the connection to 127.0.0.1:{port} was lost: a frame of -1 bytes"),
        (b"\x00\x00\x00\x04\x00\x00\x00\x63", "the connection to 127.0.0.1:{port} was lost: "),
    ],
)
def test_what_never_succeeds_is_given_up(answer, said):
    async def main():
        async with FakeNode(lambda *_: answer) as node:
            with pytest.raises(UnreachableError) as refused:
                await ask([node.port], unregister, are_controllers=False, **PATIENCE)
            return str(refused.value), said.format(port=node.port)

    told, expected = asyncio.run(main())
    assert told.startswith(expected)
    assert told.endswith("; given up after 0.5 seconds")


def test_a_long_wait_is_explained_once(monkeypatch):
    monkeypatch.setattr("kraft.client.admin._LONG", 0.2)
    told = []

    async def main():
        async with FakeNode(lambda *_: cluster_of(-1, {})) as node:
            with pytest.raises(UnreachableError) as refused:
                await ask([node.port], unregister, told.append, **PATIENCE)
            return str(refused.value), f"127.0.0.1:{node.port} knows no active controller"

    said, reason = asyncio.run(main())
    assert told == [f"{reason}; asking again for 0.5 seconds"]
    assert said == f"{reason}; given up after 0.5 seconds"


def test_an_active_controller_that_is_gone_is_named():
    controllers = Controllers([], [])
    controllers._answer = lambda _at, _key: cluster_of(2, {2: 1})
    with pytest.raises(UnreachableError, match=r"active controller at 127\.0\.0\.1:1 cannot be"):
        asyncio.run(controllers.ask(**PATIENCE))


def test_servers_that_were_reached_before_are_tried_until_the_end():
    async def main():
        async with FakeNode(lambda *_: None) as node:

            def answer(*_):
                node._server.close()
                return NOT_CONTROLLER

            node.answer = answer
            await ask([node.port], unregister, are_controllers=False, **PATIENCE)

    with pytest.raises(UnreachableError, match="NOT_CONTROLLER; given up after"):
        asyncio.run(main())


def test_a_value_that_no_version_can_say_is_not_sent():
    async def main():
        async with FakeNode(lambda *_: DONE) as node:
            with pytest.raises(ClientError, match="brokerId"):
                await ask(
                    [node.port],
                    lambda client: client.ask(64, {"brokerId": 2**31}),
                    are_controllers=False,
                )
            return node.asked

    assert asyncio.run(main()) == []


def test_a_node_that_refuses_to_tell_its_versions_cannot_be_reached():
    async def main():
        async with FakeNode(lambda *_: DONE) as node:
            node._versions_told = lambda: {"errorCode": 42}
            await ask([node.port], unregister)

    with pytest.raises(UnreachableError, match="reached: ApiVersions is refused with INVALID_REQ"):
        asyncio.run(main())


def test_a_node_that_says_nothing_at_all_cannot_be_reached():
    async def main():
        async with FakeNode(lambda *_: DONE) as node:
            node._versions_told = lambda: None
            await ask([node.port], unregister, **PATIENCE)

    with pytest.raises(ClientError, match="cannot be reached: it did not answer in time"):
        asyncio.run(main())
