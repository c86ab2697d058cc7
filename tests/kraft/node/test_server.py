"""A node on real files and sockets, asked as brokers and tools ask it."""

import asyncio
import gc

import pytest
from tests.kraft.node.client import Client, enveloped, request_frame
from tests.kraft.node.one_node import (
    BROKER,
    CLUSTER,
    DIRECTORY,
    broker,
    create_topic,
    port_of,
    properties,
    serving,
    topic,
    until_active,
)
from tests.kraft.node.test_channels import VOTE

from krafla.record.layout import free_ports
from kraft.errors import ErrorCode
from kraft.hosting.controller_host import ControllerHost
from kraft.ids import METADATA_TOPIC_ID, ZERO_UUID
from kraft.log.batches import LogBatch
from kraft.node.channels import Channels
from kraft.node.configuration import read_configuration
from kraft.node.server import Node
from kraft.raft.effects import Fatal
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.topics import CreateTopicsRequest
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.frames import framed
from kraft.wire.principals import ForwardedPrincipal
from kraft.wire.requests import read_response

FIRST_BOOT = 60_000_000_000


FETCHED = {
    "topicId": METADATA_TOPIC_ID,
    "partitions": ({"partition": 0, "currentLeaderEpoch": 0, "fetchOffset": 0},),
}
ANN = ForwardedPrincipal("User:ann")


def on_node(folder, use, **more):
    """Run a coroutine function with a node that is active, and a client of it."""

    async def main():
        async with serving(properties(folder, **more)) as (node, client):
            await until_active(client)
            return await use(node, client)

    return asyncio.run(main())


def test_a_broker_registers_and_topics_are_created_and_survive_the_next_start(tmp_path):
    async def first(_node, client):
        beat = await broker(client)
        codes = [await create_topic(client, "calm"), await create_topic(client, "calm")]
        return beat, codes

    async def second(node, client):
        return await create_topic(client, "calm"), node.process.state.role.epoch

    beat, codes = on_node(tmp_path, first)
    again, epoch = on_node(tmp_path, second)

    assert beat["errorCode"] == 0
    assert codes == [0, ErrorCode.TOPIC_ALREADY_EXISTS]
    assert again == ErrorCode.TOPIC_ALREADY_EXISTS
    assert epoch == 2


def test_a_node_says_what_it_serves(tmp_path):
    async def ask(node, client):
        software = {"clientSoftwareName": "test", "clientSoftwareVersion": "1"}
        while not node.host.state.stable_end > 1:
            await asyncio.sleep(0.01)
        return await client.call(18, 4, **software)

    said = on_node(tmp_path, ask)

    assert {one["apiKey"] for one in said["apiKeys"]} == set(CONTROLLER_APIS)
    assert {one["name"] for one in said["supportedFeatures"]} >= {
        "metadata.version",
        "kraft.version",
    }
    assert [one["name"] for one in said["finalizedFeatures"]] == ["metadata.version"]
    assert said["finalizedFeaturesEpoch"] >= 1


def test_quorum_and_cluster_are_described(tmp_path):
    async def ask(node, client):
        partition = {"topicName": "__cluster_metadata", "partitions": ({"partitionIndex": 0},)}
        quorum = await client.call(55, 2, topics=(partition,))
        cluster = await client.call(60, 2, endpointType=2)
        while not cluster["brokers"]:
            await asyncio.sleep(0.01)
            cluster = await client.call(60, 2, endpointType=2)
        return (
            quorum,
            cluster,
            await client.call(60, 2, endpointType=1),
            port_of(node.configuration),
        )

    quorum, cluster, brokers, port = on_node(tmp_path, ask)

    (described,) = quorum["topics"][0]["partitions"]
    assert (described["leaderId"], described["errorCode"]) == (1, 0)
    # At kraft.version 0 the quorum knows no directory of a voter.
    assert [one["replicaDirectoryId"] for one in described["currentVoters"]] == [ZERO_UUID]
    (node,) = quorum["nodes"]
    assert node["listeners"][0]["port"] == port
    assert cluster["clusterId"] == CLUSTER
    assert [(one["brokerId"], one["port"]) for one in cluster["brokers"]] == [(1, port)]
    assert brokers["errorCode"] == ErrorCode.MISMATCHED_ENDPOINT_TYPE


def test_an_envelope_is_unwrapped_and_its_response_wrapped(tmp_path):
    async def ask(_node, client):
        await broker(client)
        fields = {"topics": (topic("calm"),), "timeoutMs": 9000}
        outer = await client.call(58, 0, **enveloped(19, 7, ANN, **fields))
        refused = await client.call(
            58, 0, **enveloped(62, 4, ANN, brokerId=BROKER, clusterId=CLUSTER)
        )
        broken = enveloped(19, 7, ANN, **fields)
        broken["requestData"] = broken["requestData"][:-3]
        return outer, refused, await client.call(58, 0, **broken)

    outer, refused, broken = on_node(tmp_path, ask)

    assert outer["errorCode"] == 0
    inner = read_response(CONTROLLER_APIS[19], 7, outer["responseData"])
    assert inner.header.correlation_id == 77
    assert inner.fields["topics"][0]["errorCode"] == 0
    assert refused["errorCode"] == ErrorCode.INVALID_REQUEST
    assert broken["errorCode"] == ErrorCode.UNSUPPORTED_VERSION


def test_a_node_that_is_not_active_says_so_inside_and_outside_of_envelopes(tmp_path):
    async def main():
        path = properties(
            tmp_path, controller_quorum_voters="1@127.0.0.1:1,2@127.0.0.1:2,3@127.0.0.1:3"
        )
        async with serving(path) as (_node, client):
            fields = {"topics": (topic("calm"),), "timeoutMs": 9000}
            plain = await client.call(19, 7, **fields)
            return plain, await client.call(58, 0, **enveloped(19, 7, ANN, **fields))

    plain, outer = asyncio.run(main())

    assert plain["topics"][0]["errorCode"] == ErrorCode.NOT_CONTROLLER
    assert outer["errorCode"] == ErrorCode.NOT_CONTROLLER
    assert outer["responseData"] is None


def test_each_listener_names_the_addresses_of_its_own(tmp_path):
    one, other = free_ports(2)
    more = {
        "listeners": f"CONTROLLER://127.0.0.1:{one},OTHER://127.0.0.1:{other}",
        "controller.listener.names": "CONTROLLER,OTHER",
        "controller.quorum.voters": f"1@127.0.0.1:{one}",
    }

    async def told(port):
        client = await Client.connect(port)
        while not (cluster := await client.call(60, 2, endpointType=2))["brokers"]:
            await asyncio.sleep(0.01)
        fetched = await client.call(1, 18, clusterId="another", topics=(FETCHED,))
        refused = await client.call(1, 18, topics=(FETCHED,))
        client.close()
        (node,) = cluster["brokers"]
        return node["port"], fetched["nodeEndpoints"], [e["port"] for e in refused["nodeEndpoints"]]

    async def ask(_node, _client):
        return [await told(one), await told(other)]

    assert on_node(tmp_path, ask, **more) == [(one, (), [one]), (other, (), [other])]


def test_a_request_that_waits_too_long_is_given_up(tmp_path, monkeypatch):
    async def ask(node, client):
        await broker(client)
        with monkeypatch.context() as busy:
            busy.setattr("kraft.node.loop.take_turn", lambda _process: None)
            before = set(node.outside._waiting)
            said = await client.call(19, 7, topics=(topic("calm"),), timeoutMs=50)
            waiting = [type(message.payload) for message in node.process.inbox]
            assert set(node.outside._waiting) <= before
        return said, waiting, await create_topic(client, "calm")

    said, waiting, again = on_node(tmp_path, ask)

    assert said["topics"][0]["errorCode"] == ErrorCode.REQUEST_TIMED_OUT
    assert CreateTopicsRequest not in waiting
    assert again == ErrorCode.NONE


def test_a_request_that_is_begun_has_no_deadline_any_more(tmp_path, monkeypatch):
    async def ask(_node, client):
        await broker(client)
        taken = []
        monkeypatch.setattr(ControllerHost, "receive", lambda _self, message: taken.append(message))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.5):
                await client.call(19, 7, topics=(topic("calm"),), timeoutMs=1000)
        return taken

    taken = on_node(tmp_path, ask)

    (asked,) = [one.payload for one in taken if isinstance(one.payload, CreateTopicsRequest)]
    assert asked.topics[0].name == "calm"


def test_an_unknown_version_of_api_versions_is_answered_in_version_0(tmp_path):
    async def ask(_node, client):
        frame = bytearray(request_frame(18, 4, 5, {}))
        frame[6:8] = (99).to_bytes(2, "big")
        await client.send(bytes(frame))
        return read_response(CONTROLLER_APIS[18], 0, await client.frame())

    said = on_node(tmp_path, ask)

    assert said.header.correlation_id == 5
    assert said.fields["errorCode"] == ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.parametrize(
    "data",
    [
        framed((999).to_bytes(2, "big") + bytes(20)),
        framed((19).to_bytes(2, "big") + (99).to_bytes(2, "big") + bytes(20)),
        framed(request_frame(19, 7, 5, {"topics": (), "timeoutMs": 1})[4:-2]),
        framed(b""),
        (2**31 - 1).to_bytes(4, "big"),
    ],
)
def test_bad_bytes_end_their_connection_and_no_other(tmp_path, data, caplog):
    async def ask(node, client):
        other = await Client.connect(port_of(node.configuration))
        await other.send(data)
        ended = await other.is_ended()
        other.close()
        return ended, await client.call(60, 2, endpointType=2)

    ended, said = on_node(tmp_path, ask)

    assert ended
    assert said["errorCode"] == 0
    closings = [one for one in caplog.records if one.name == "kraft.node.inbound"]
    assert [one.exc_info for one in closings] == [None]


def test_the_first_snapshot_is_not_due_at_the_first_start(tmp_path):
    async def ask(node, _client):
        return node.host.state.snapshot_ms * 1_000_000 - node.outside.now()

    assert abs(on_node(tmp_path, ask)) < FIRST_BOOT
    assert not list((tmp_path / "data" / "__cluster_metadata-0").glob("*-*.checkpoint"))


class FullDisk:
    """A disk on which nothing can be written."""

    async def perform(self, _effects):
        raise OSError(28, "no space left on device")

    def close(self):
        pass


def test_a_log_that_a_snapshot_covers_leaves_the_memory(tmp_path):
    path = properties(tmp_path, metadata_log_max_record_bytes_between_snapshots="1000")
    others = {id(one) for one in batches_in_memory()}

    async def main():
        async with serving(path) as (node, client):
            await until_active(client)
            await broker(client)
            for number in range(20):
                await create_topic(client, f"topic-{number}")
            log = node.process.state.log
            old = [one for one in batches_in_memory() if id(one) not in others]
            assert log.start_offset > 0
            assert {one.base_offset for one in old} <= {one.base_offset for one in log.batches()}

    asyncio.run(main())


def batches_in_memory():
    """Return all batches that something still holds."""
    gc.collect()
    return [one for one in gc.get_objects() if type(one) is LogBatch]


def test_a_fault_of_the_disk_ends_the_node(tmp_path, caplog):
    async def main():
        node = Node(read_configuration(properties(tmp_path)))
        node.loop._disk = FullDisk()
        async with asyncio.timeout(20):
            return await node.run()

    assert asyncio.run(main()) is False
    assert "Fatal fault" in caplog.text


def test_a_fatal_effect_ends_the_node(tmp_path, caplog):
    async def main():
        node = Node(read_configuration(properties(tmp_path)))
        node.process.ended = Fatal("no way on")
        async with asyncio.timeout(20):
            return await node.run()

    assert asyncio.run(main()) is False
    assert "no way on" in caplog.text


def test_registrations_do_not_wait_on_raft_s_connection(tmp_path, monkeypatch):
    used = {}

    def note(self, _node, _correlation_id, request):
        used.setdefault(id(self), set()).add(type(request))

    monkeypatch.setattr(Channels, "send", note)
    voters = "1@127.0.0.1:1,2@127.0.0.1:2,3@127.0.0.1:3"

    async def main():
        async with serving(properties(tmp_path, controller_quorum_voters=voters)) as (
            node,
            _client,
        ):
            node.outside.send(2, 1, VOTE)
            node.outside.send(2, 2, ControllerRegistrationRequest(1, DIRECTORY))

    asyncio.run(main())

    assert {ControllerRegistrationRequest} in used.values()
    assert len(used) == 2
