"""Connections to other controllers: few attempts, and each request ends in some way."""

import asyncio
from collections import Counter

import pytest
from tests.kraft.node.virtual_time import run_virtually

from kraft.errors import ErrorCode
from kraft.ids import OffsetAndEpoch, ReplicaKey
from kraft.node.channels import ATTEMPTS_PER_SECOND, Attempts, Channels
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.endpoints import Endpoint
from kraft.rpc.fetch import FetchRequest
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest
from kraft.rpc.quorum_epoch import BeginQuorumEpochRequest, EndQuorumEpochRequest
from kraft.rpc.raft_voters import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    UpdateRaftVoterRequest,
)
from kraft.rpc.vote import VoteRequest, VoteResponse
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.frames import FrameBuffer
from kraft.wire.message_maps import SENT
from kraft.wire.requests import read_request, response_bytes

CLUSTER = "5L6g3nShT-eMCtK--X86sw"
VOTE = VoteRequest(CLUSTER, 2, None, 3, 1, None, 0, 0, False)
TIMEOUT = 2.0


ALL_VERSIONS = {
    key: (api.request.oldest, api.request.newest) for key, api in CONTROLLER_APIS.items()
}


def answer_versions(frame, transport, versions, error=0):
    header = read_request(frame).header
    assert header.api_key == 18
    rows = tuple(
        {"apiKey": key, "minVersion": oldest, "maxVersion": newest}
        for key, (oldest, newest) in versions.items()
    )
    fields = {"errorCode": error, "apiKeys": rows}
    version = 0 if error == ErrorCode.UNSUPPORTED_VERSION else header.api_version
    transport.write(response_bytes(CONTROLLER_APIS[18], version, header.correlation_id, fields))


class Peer(asyncio.Protocol):
    """Another controller: `answer` gets each request after the first, and the transport.

    The first one on a connection asks for the `versions`.
    """

    def __init__(self, answer, quorum, versions):
        self.answer = answer
        self.quorum = quorum
        self.versions = versions
        self.buffer = FrameBuffer()

    def connection_made(self, transport):
        self.transport = transport
        self.quorum.open.append(transport)
        self.quorum.seen["connections"] += 1

    def data_received(self, data):
        self.buffer.receive_data(data)
        for frame in self.buffer.frames():
            if self.versions is None:
                self.quorum.seen["requests"] += 1
                self.answer(frame, self.transport)
            else:
                answer_versions(frame, self.transport, self.versions)
                self.versions = None


class Quorum:
    """Channels to nodes that are down, and to node 2, which a test may start."""

    def __init__(self):
        self.delivered = []
        self.learned = {}
        self.seen = Counter()
        self.ports = {}
        self.channels = Channels(
            "raft-client-1",
            "CONTROLLER",
            TIMEOUT,
            self.find,
            self.deliver,
            self.learned.update,
            Attempts(),
        )

        self.open = []

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_error):
        self.channels.close()
        for one in self.open:
            one.close()
        await asyncio.sleep(0.01)

    def find(self, node):
        # Nothing listens on the first port, and a connection to it is refused at once.
        return Endpoint("CONTROLLER", "127.0.0.1", self.ports.get(node, 1))

    def deliver(self, node, correlation_id, response):
        self.delivered.append((node, correlation_id, response))

    async def start(self, node, answer, tls=None, versions=ALL_VERSIONS):
        def peer():
            return Peer(answer, self, versions)

        loop = asyncio.get_running_loop()
        server = await loop.create_server(peer, "127.0.0.1", 0, ssl=tls)
        self.open.append(server)
        self.ports[node] = server.sockets[0].getsockname()[1]

    async def until(self, count):
        async with asyncio.timeout(60):
            while len(self.delivered) < count:
                await asyncio.sleep(0.001)


def vote_fields(error=0, **more):
    partition = {"partitionIndex": 0, "errorCode": 0, "leaderId": 5, "leaderEpoch": 7}
    partition["voteGranted"] = True
    topics = ({"topicName": "__cluster_metadata", "partitions": (partition,)},)
    return {"errorCode": error, "topics": topics} | more


def answer_vote(frame, transport, **more):
    header = read_request(frame).header
    version, correlation_id = header.api_version, header.correlation_id
    fields = vote_fields(**more)
    transport.write(response_bytes(CONTROLLER_APIS[52], version, correlation_id, fields))


@pytest.mark.parametrize("peers", [2, 40])
def test_peers_that_are_down_cost_few_connection_attempts(peers):
    async def main():
        seconds = 60
        async with Quorum() as quorum:
            for turn in range(seconds * 50):
                # Raft's back-off is 20 ms, and a node has one request of it under way.
                for node in range(peers):
                    answered = sum(1 for at, _, _ in quorum.delivered if at == node)
                    if turn == 0 or answered:
                        quorum.channels.send(node, turn, VOTE)
                quorum.delivered.clear()
                await asyncio.sleep(0.02)
            return quorum.channels.attempts.count / seconds

    attempts = run_virtually(main())

    assert attempts <= ATTEMPTS_PER_SECOND + 1
    assert attempts <= peers * 1.3
    assert attempts >= min(peers, ATTEMPTS_PER_SECOND) * 0.8


@pytest.mark.parametrize(
    ("request_", "kind"),
    [(VOTE, VoteResponse), (ApiVersionsRequest(), ApiVersionsResponse)],
)
def test_a_request_to_a_node_that_is_down_fails(request_, kind):
    async def main():
        async with Quorum() as quorum:
            quorum.channels.send(7, 33, request_)
            assert quorum.delivered == []
            await quorum.until(1)
            return quorum.delivered

    ((node, correlation_id, response),) = run_virtually(main())

    assert (node, correlation_id) == (7, 33)
    assert type(response) is kind
    assert response.error_code is ErrorCode.BROKER_NOT_AVAILABLE


@pytest.mark.parametrize(("host", "port"), [("a..b", 9093), ("127.0.0.1", 99_999)])
def test_an_address_that_cannot_be_fails_each_request_until_it_is_mended(host, port):
    async def main():
        async with Quorum() as quorum:
            await quorum.start(2, answer_vote)
            quorum.channels.find = lambda _: Endpoint("CONTROLLER", host, port)
            for correlation_id in (33, 34):
                quorum.channels.send(2, correlation_id, VOTE)
                await quorum.until(correlation_id - 32)
            quorum.channels.find = quorum.find
            quorum.channels.send(2, 35, VOTE)
            await quorum.until(3)
            return [(one, response.error_code) for _, one, response in quorum.delivered]

    failed = ErrorCode.BROKER_NOT_AVAILABLE
    assert run_virtually(main()) == [(33, failed), (34, failed), (35, ErrorCode.NONE)]


def test_all_channels_of_a_node_together_begin_few_connections():
    async def main():
        async with Quorum() as quorum:
            named = ("raft-client-1", "CONTROLLER", TIMEOUT, quorum.find, quorum.deliver)
            other = Channels(*named, quorum.learned.update, quorum.channels.attempts)
            loop = asyncio.get_running_loop()
            for channels in (quorum.channels, other):
                for node in range(2, 2 + ATTEMPTS_PER_SECOND):
                    channels.send(node, node, VOTE)
            await quorum.until(2 * ATTEMPTS_PER_SECOND)
            other.close()
            return loop.time()

    assert run_virtually(main()) >= (2 * ATTEMPTS_PER_SECOND - 1) / ATTEMPTS_PER_SECOND


def test_a_response_comes_with_the_id_that_its_request_had():
    async def main():
        async with Quorum() as quorum:
            endpoints = ({"nodeId": 5, "host": "five", "port": 9095},)
            await quorum.start(2, lambda f, t: answer_vote(f, t, nodeEndpoints=endpoints))
            for correlation_id in (900, 17):
                quorum.channels.send(2, correlation_id, VOTE)
            await quorum.until(2)
            return quorum

    quorum = run_virtually(main())

    response = VoteResponse(ErrorCode.NONE, 7, 5, True)
    assert quorum.delivered == [(2, 900, response), (2, 17, response)]
    assert quorum.learned == {5: (Endpoint("CONTROLLER", "five", 9095),)}
    assert quorum.seen == {"connections": 1, "requests": 2}


def test_a_node_that_comes_back_is_reached_again():
    async def main():
        async with Quorum() as quorum:
            for attempt in range(3):
                quorum.channels.send(2, attempt, VOTE)
                await quorum.until(attempt + 1)
            await quorum.start(2, answer_vote)
            quorum.channels.send(2, 3, VOTE)
            await quorum.until(4)
            return [response.error_code for _, _, response in quorum.delivered]

    down = ErrorCode.BROKER_NOT_AVAILABLE
    assert run_virtually(main()) == [down, down, down, ErrorCode.NONE]


def test_a_node_that_was_reached_is_soon_tried_again():
    async def main():
        async with Quorum() as quorum:
            loop = asyncio.get_running_loop()
            for attempt in range(8):
                quorum.channels.send(2, attempt, VOTE)
                await quorum.until(attempt + 1)
            await quorum.start(2, answer_vote)
            quorum.channels.send(2, 8, VOTE)
            await quorum.until(9)
            for one in quorum.open:
                one.close()
            await asyncio.sleep(0.01)
            begin = loop.time()
            quorum.channels.send(2, 9, VOTE)
            await quorum.until(10)
            return loop.time() - begin

    assert run_virtually(main()) < 0.2


@pytest.mark.parametrize("silence", [0.0, 2.0])
def test_the_back_off_begins_with_a_failure_not_with_the_next_request(silence):
    async def main():
        async with Quorum() as quorum:
            loop = asyncio.get_running_loop()
            for attempt in range(8):
                quorum.channels.send(2, attempt, VOTE)
                await quorum.until(attempt + 1)
            await quorum.start(2, answer_vote)
            await asyncio.sleep(silence)
            begin = loop.time()
            quorum.channels.send(2, 8, VOTE)
            await quorum.until(9)
            return loop.time() - begin

    waited = run_virtually(main())
    assert waited < 0.2 if silence else waited > 0.5


def test_a_request_that_is_not_answered_fails_after_the_timeout():
    async def main():
        async with Quorum() as quorum:
            await quorum.start(2, lambda _frame, _transport: None)
            quorum.channels.send(2, 4, VOTE)
            loop = asyncio.get_running_loop()
            begin = loop.time()
            await quorum.until(1)
            took = loop.time() - begin
            quorum.channels.send(2, 5, VOTE)
            await quorum.until(2)
            return took, quorum

    took, quorum = run_virtually(main())

    assert TIMEOUT <= took < TIMEOUT + 0.5
    assert [one for _, one, _ in quorum.delivered] == [4, 5]
    assert quorum.seen["connections"] == 2


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x04\x00\x00\x00\x63",
        b"\x00\x00\x00\x05\x00\x00\x00\x00\x07",
    ],
)
def test_bytes_that_are_no_response_end_the_connection_and_its_requests(data):
    async def main():
        async with Quorum() as quorum:
            await quorum.start(2, lambda _frame, transport: transport.write(data))
            quorum.channels.send(2, 4, VOTE)
            await quorum.until(1)
            return quorum.delivered

    ((_, correlation_id, response),) = run_virtually(main())

    assert correlation_id == 4
    assert response.error_code is ErrorCode.BROKER_NOT_AVAILABLE


def test_a_node_that_refuses_controllers_is_named_once(caplog):
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED

    async def main():
        async with Quorum() as quorum:
            await quorum.start(2, lambda f, t: answer_vote(f, t, error=code, topics=()))
            for attempt in range(3):
                quorum.channels.send(2, attempt, VOTE)
                await quorum.until(attempt + 1)
            return [response.error_code for _, _, response in quorum.delivered]

    assert run_virtually(main()) == [code] * 3
    (line,) = [one.message for one in caplog.records if "act as" in one.message]
    assert line == "Node 2 does not allow this one to act as a controller"


DIRECTORY = "AAAAAAAAAAAAAAAAAAAAAQ"
ENDPOINTS = (Endpoint("CONTROLLER", "127.0.0.1", 9093),)
EVERY_REQUEST = (
    FetchRequest(CLUSTER, 1, None, 0, 0, 0, 500, 1000, 0),
    VOTE,
    BeginQuorumEpochRequest(CLUSTER, 2, None, 3, 1, ENDPOINTS),
    EndQuorumEpochRequest(CLUSTER, 3, 1, (ReplicaKey(2, DIRECTORY),), ENDPOINTS),
    FetchSnapshotRequest(CLUSTER, 1, None, 3, OffsetAndEpoch(9, 2), 0),
    UpdateRaftVoterRequest(CLUSTER, 3, 1, DIRECTORY, ENDPOINTS, 0, 1),
    ApiVersionsRequest(),
    ControllerRegistrationRequest(1, DIRECTORY),
)


def test_every_request_that_a_node_sends_can_be_sent():

    async def main():
        async with Quorum() as quorum:
            seen = []

            def note(frame, transport):
                seen.append(read_request(frame).api.name)
                transport.close()

            await quorum.start(2, note)
            for number, request in enumerate(EVERY_REQUEST):
                quorum.channels.send(2, number, request)
                await quorum.until(number + 1)
            return seen, quorum.delivered

    seen, delivered = run_virtually(main())

    assert seen == [CONTROLLER_APIS[message.api_key].name for message in SENT.values()]
    assert all(r.error_code is ErrorCode.BROKER_NOT_AVAILABLE for _, _, r in delivered)
