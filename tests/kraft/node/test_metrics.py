"""What a node shows of itself: each number is the one that Kafka's name promises."""

import asyncio
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kraft.node.one_node import (
    broker,
    create_topic,
    properties,
    serving,
    topic,
    until_active,
)
from tests.kraft.node.scraper import free_address, http, scraped
from tests.kraft.wire.drawn_fields import VERSION_IDS, VERSIONS, drawn_fields

from kraft.errors import ErrorCode
from kraft.image.entries import BrokerRegistration, Partition, Topic
from kraft.image.metadata_image import EMPTY_IMAGE, MetadataImage
from kraft.node.metrics import gauges, node_metrics, observations, request_metrics
from kraft.node.metrics.image_counts import ImageCounter, count_image
from kraft.node.metrics.metric import Kind, Metric
from kraft.node.metrics.observations import elections
from kraft.node.metrics.request_metrics import error_counts
from kraft.records.topics import NO_LEADER, RECOVERING, PartitionChangeRecord
from kraft.wire.apis import CONTROLLER_APIS

KAFKA = "kafka_controller_kafkacontroller_"
RAFT = "kafka_server_raft_metrics_"


ROOT = Path(__file__).parents[3]
ROW = re.compile(r"\| `(\w+)` \| `([\w-]+)`([^|]*) \| (\w+) \| (.+) \|")
PARTS = (gauges, observations, request_metrics, node_metrics)


def all_metrics():
    """Return every metric that a node has, by its name for Prometheus."""
    found = [gauge.metric for gauge in gauges.GAUGES]
    found += [one for part in PARTS for one in vars(part).values() if isinstance(one, Metric)]
    named = {one.prometheus_name: one for one in found}
    assert len(named) == len(found)
    return named


def on_measured_node(folder, use, **more):
    """Run a coroutine function with an active node, a client, and where the metrics are."""

    async def main():
        address = free_address()
        async with serving(properties(folder, **more), metrics=address) as (node, client):
            await until_active(client)
            return await use(node, client, address)

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("kind", "domain", "type_", "name", "expected"),
    [
        (Kind.GAUGE, "kafka.controller", "KafkaController", "ActiveControllerCount",
         "kafka_controller_kafkacontroller_activecontrollercount"),
        (Kind.GAUGE, "kafka.server", "raft-metrics", "poll-idle-ratio-avg",
         "kafka_server_raft_metrics_poll_idle_ratio_avg"),
        (Kind.COUNTER, "kafka.network", "RequestMetrics", "RequestsPerSec",
         "kafka_network_requestmetrics_requests_total"),
        (Kind.COUNTER, "kafka.server", "raft-metrics", "append-records-rate",
         "kafka_server_raft_metrics_append_records_total"),
        (Kind.COUNTER, "kafka.server", "raft-channel-metrics", "request-total",
         "kafka_server_raft_channel_metrics_request_total"),
        (Kind.HISTOGRAM, "kafka.server", "raft-metrics", "commit-latency-avg",
         "kafka_server_raft_metrics_commit_latency"),
    ],
)  # fmt: skip
def test_one_rule_makes_the_name_for_prometheus(kind, domain, type_, name, expected):
    assert Metric(kind, domain, type_, name, "").prometheus_name == expected


def test_a_node_shows_its_quorum_its_metadata_and_its_work(tmp_path):
    async def use(node, client, address):
        await broker(client)
        codes = [await create_topic(client, "calm"), await create_topic(client, "calm")]
        raft, controller = node.process.state, node.host.state
        said = await scraped(address)
        # Nothing was written in between.
        assert node.process.state.log.end_offset == raft.log.end_offset
        assert node.host.state.stable_end == controller.stable_end
        return raft, controller, codes, said

    raft, controller, codes, said = on_measured_node(
        tmp_path, use, metadata_max_idle_interval_ms="0"
    )

    end = raft.log.end_offset
    assert {name: said[KAFKA + name] for name in (
        "activecontrollercount", "activebrokercount", "fencedbrokercount", "globaltopiccount",
        "globalpartitioncount", "offlinepartitionscount", "lastappliedrecordoffset",
        "lastcommittedrecordoffset", "metadatalag", "metadatasnapshotoffsetlag",
        "newactivecontrollerscount", "brokerregistrationstate,broker=7",
    )} == {
        "activecontrollercount": 1, "activebrokercount": 1, "fencedbrokercount": 0,
        "globaltopiccount": 1, "globalpartitioncount": 2, "offlinepartitionscount": 0,
        "lastappliedrecordoffset": end - 1, "lastcommittedrecordoffset": end - 1,
        "metadatalag": 0, "metadatasnapshotoffsetlag": end, "newactivecontrollerscount": 1,
        "brokerregistrationstate,broker=7": 30,
    }  # fmt: skip
    assert {name: said[RAFT + name] for name in (
        "current_leader", "current_vote", "current_epoch", "high_watermark", "log_end_offset",
        "log_end_epoch", "number_of_voters", "number_of_observers", "append_records_total",
        "current_state,state=leader", "current_state,state=follower",
    )} == {
        "current_leader": 1, "current_vote": 1, "current_epoch": raft.role.epoch,
        "high_watermark": end, "log_end_offset": end, "log_end_epoch": raft.role.epoch,
        "number_of_voters": 1, "number_of_observers": 0, "append_records_total": end,
        "current_state,state=leader": 1, "current_state,state=follower": 0,
    }  # fmt: skip
    assert said[f"{KAFKA}metadatacommitrate_total"] == end
    assert said[f"{KAFKA}metadatacommitlatencyms_count"] > 0
    assert said[f"{KAFKA}lastappliedrecordtimestamp"] > controller.snapshot_ms
    assert said[f"{RAFT}commit_latency_count"] > 0
    assert said[f"{RAFT}commit_latency_sum"] > 0
    assert said["kafka_log_logflushstats_logflushrateandtimems_count"] > 0
    assert codes[0] == 0
    requests = "kafka_network_requestmetrics_"
    assert said[f"{requests}requests_total,request=CreateTopics,version=7"] == 2
    assert said[f"{requests}totaltimems_count,request=CreateTopics"] == 2
    assert said[f"{requests}errors_total,error=NONE,request=CreateTopics"] == 1
    assert said[f"{requests}errors_total,error=TOPIC_ALREADY_EXISTS,request=CreateTopics"] == 1
    handled = "kafka_controller_controllereventmanager_eventqueue"
    assert said[f"{handled}timems_count"] > 0
    assert said[f"{handled}processingtimems_count"] > said[f"{handled}timems_count"]
    assert said["kafka_server_socket_server_metrics_connection_count,listener=CONTROLLER"] == 1
    assert 0 < said[f"{RAFT}poll_idle_ratio_avg"] <= 1


def test_the_documents_have_each_metric_and_no_other():
    told, place = {}, ""
    for line in (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            place = line.removeprefix("## ")
        elif row := ROW.fullmatch(line):
            name, kafka, labels, kind, meaning = row.groups()
            told[name] = (f"{place},name={kafka}", re.findall(r"`(\w+)`", labels), kind, meaning)

    assert told == {
        name: (
            f"{one.domain}:type={one.type},name={one.name}",
            list(one.labels),
            one.kind.value,
            one.meaning,
        )
        for name, one in all_metrics().items()
    }


def test_what_a_node_shows_are_all_metrics_and_those_of_its_process(tmp_path):
    async def use(_node, _client, address):
        _, body = await http(address, b"GET /metrics HTTP/1.1\r\n\r\n")
        return body

    body = on_measured_node(tmp_path, use)

    shown = {}
    for line in body.splitlines():
        if line.startswith("# HELP "):
            name, _, told = line.removeprefix("# HELP ").partition(" ")
            shown[name] = told
    known = all_metrics()
    assert {name for name in shown if not name.startswith("process_")} == set(known)
    assert {name: shown[name] for name in known} == {
        name: f"{one.meaning} {one.mbean}" for name, one in known.items()
    }
    assert "_created" not in body


def test_a_request_that_takes_too_long_is_counted(tmp_path, monkeypatch):
    async def use(_node, client, address):
        with monkeypatch.context() as busy:
            busy.setattr("kraft.node.loop.take_turn", lambda _process: None)
            said = await client.call(19, 7, topics=(topic("late"),), timeoutMs=5)
        return said["topics"][0]["errorCode"], await scraped(address)

    code, said = on_measured_node(tmp_path, use)

    assert code == ErrorCode.REQUEST_TIMED_OUT
    assert said[f"{KAFKA}eventqueueoperationstimedoutcount"] == 1


def test_two_nodes_in_a_process_count_apart(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()

    async def main():
        first, second = free_address(), free_address()
        async with (
            serving(properties(tmp_path / "one"), metrics=first) as (_, client),
            serving(properties(tmp_path / "two"), metrics=second) as (_, other),
        ):
            await until_active(client)
            await until_active(other)
            await broker(client)
            assert await create_topic(client, "calm") == 0
            return await scraped(first), await scraped(second)

    one, two = asyncio.run(main())

    assert one[f"{KAFKA}globaltopiccount"] == 1
    assert two[f"{KAFKA}globaltopiccount"] == 0
    created = "kafka_network_requestmetrics_requests_total,request=CreateTopics,version=7"
    assert one[created] == 1
    assert created not in two


LEADERS = st.sampled_from([NO_LEADER, 1, 2])
REPLICAS = st.sampled_from([(1, 2), (2, 1), (2,), ()])
PARTITIONS = st.tuples(REPLICAS, LEADERS).map(
    lambda drawn: Partition(drawn[0], (), (1,), leader=drawn[1])
)
BROKERS = st.tuples(st.booleans(), st.booleans()).map(
    lambda drawn: BrokerRegistration(5, "x", fenced=drawn[0], in_controlled_shutdown=drawn[1])
)
IMAGES = st.builds(
    lambda brokers, partitions: MetadataImage(
        brokers=EMPTY_IMAGE.brokers.update(dict(enumerate(brokers))),
        topics=EMPTY_IMAGE.topics.update({"t": Topic("name", "t")}),
        partitions=EMPTY_IMAGE.partitions.update(
            {("t", number): one for number, one in enumerate(partitions)}
        ),
    ),
    st.lists(BROKERS, max_size=4),
    st.lists(PARTITIONS, max_size=6),
)


@given(st.lists(IMAGES, min_size=1, max_size=3))
@settings(max_examples=50, deadline=None)
def test_an_image_is_counted_as_kafka_counts_it(images):
    counter = ImageCounter()
    for image in [image for image in images for _ in range(2)]:
        counts = counter.counts(image)
        partitions, brokers = image.partitions.values(), image.brokers.values()
        without = [one for one in partitions if one.leader == NO_LEADER]
        elsewhere = [one for one in partitions if (one.leader,) != (one.replicas[:1] or (-1,))]
        assert counts == count_image(image)
        assert counts.topics == 1
        assert counts.partitions == len(partitions)
        assert counts.offline_partitions == len(without)
        assert counts.imbalanced_partitions == len(elsewhere)
        assert counts.fenced_brokers == sum(one.fenced for one in brokers)
        assert counts.active_brokers == sum(not one.fenced for one in brokers)
        assert counts.brokers_in_controlled_shutdown == sum(
            one.in_controlled_shutdown for one in brokers
        )


def test_an_image_that_differs_in_one_map_is_counted_anew():
    counter, image = ImageCounter(), EMPTY_IMAGE
    for change in (
        {"brokers": EMPTY_IMAGE.brokers.set(1, BrokerRegistration(5, "x"))},
        {"topics": EMPTY_IMAGE.topics.set("t", Topic("name", "t"))},
        {"partitions": EMPTY_IMAGE.partitions.set(("t", 0), Partition((1,), (), (1,)))},
    ):
        image = msgspec.structs.replace(image, **change)
        assert counter.counts(image) == count_image(image)
    assert counter.counts(image) == (1, 1, 1, 1, 1, 0, 0)


def test_unclean_elections_and_those_of_eligible_replicas_are_counted():
    image = MetadataImage(
        partitions=EMPTY_IMAGE.partitions.set(
            ("t", 0), Partition((1, 2), (), (), leader=NO_LEADER, eligible_leader_replicas=(2,))
        )
    )

    def change(partition=0, **fields):
        return PartitionChangeRecord(partition, "t", **fields)

    unclean = change(isr=(1,), leader=1, leader_recovery_state=RECOVERING)
    eligible = change(isr=(2,), leader=2, eligible_leader_replicas=())
    assert elections(image, [unclean]) == (1, 0)
    assert elections(image, [eligible]) == (0, 1)
    assert elections(image, [eligible, eligible]) == (0, 1)
    assert elections(image, [change(eligible_leader_replicas=(1,)), change(leader=1)]) == (0, 1)
    assert elections(image, [change(), change(1, leader=2), change(leader=1)]) == (0, 0)


def codes_in(value):
    """Return all error codes anywhere in fields."""
    if isinstance(value, dict):
        own = [code for name, code in value.items() if name == "errorCode"]
        return own + [code for one in value.values() for code in codes_in(one)]
    return [code for one in value for code in codes_in(one)] if isinstance(value, tuple) else []


@pytest.mark.parametrize(("key", "version"), VERSIONS, ids=VERSION_IDS)
@pytest.mark.by_day(40, "VERSION")
def test_every_error_code_of_an_answer_is_counted(key, version):
    response = CONTROLLER_APIS[key].response

    @given(drawn_fields(response, version))
    @settings(max_examples=5, deadline=None)
    def counted(fields):
        expected = codes_in(fields)
        found = error_counts(response, version, fields)
        assert sorted(found.elements()) == sorted(expected)

    counted()
