"""Configurations in effect: what counts more, what is not taken over, what is never told."""

import pytest
from immutables import Map
from msgspec.structs import replace
from tests.kraft.controller.partitions import image_of

from kraft.controller.operations.config_definitions import CLIENT_METRICS_RESOURCE, GROUP_RESOURCE
from kraft.errors import ErrorCode
from kraft.node.described_configs import NodeSettings, describe_configs, with_effective_configs
from kraft.node.keys.node_key import NODE_KEYS
from kraft.records.topics import BROKER_RESOURCE, TOPIC_RESOURCE
from kraft.rpc.describe_configs import (
    ConfigSource,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    ValueType,
)
from kraft.rpc.topics import (
    CreatableTopic,
    CreatedTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

NODE = 7
ALL_NODES, ITSELF = (BROKER_RESOURCE, ""), (BROKER_RESOURCE, str(NODE))
S = ConfigSource


def image(configurations):
    """Return an image with the topic `t` and configurations of resources."""
    whole = {resource: Map(values) for resource, values in configurations.items()}
    bare = image_of((0,), brokers=(0,))
    (topic_id,) = bare.topics
    return replace(bare, configurations=Map(whole), topic_ids=Map({"t": topic_id}))


def told(resource, configurations=None, written=None, own_defaults=None, keys=None, synonyms=True):
    """Return what is told of one resource: its error, and its configurations by name."""
    settings = NodeSettings(NODE, written or {}, own_defaults or {})
    request = DescribeConfigsRequest((DescribeConfigsResource(*resource, keys),), synonyms)
    (result,) = describe_configs(image(configurations or {}), settings, request)
    return result.error_code, {one.name: one for one in result.configs}


def sources(config):
    return config.value, [(one.name, one.value, one.source) for one in config.synonyms]


def test_what_counts_more_hides_all_that_sets_the_same():
    _, found = told(ITSELF, {ALL_NODES: {"log.retention.ms": "5"}}, {"log.retention.hours": "100"})

    assert sources(found["log.retention.ms"]) == (
        "5",
        [
            ("log.retention.ms", "5", S.DYNAMIC_DEFAULT_BROKER),
            ("log.retention.hours", "100", S.STATIC_BROKER),
            ("log.retention.hours", "168", S.DEFAULT),
        ],
    )
    # As in Kafka, the hours in the file are told as a synonym, and count no more.
    assert sources(found["log.retention.hours"]) == (
        "168",
        [
            ("log.retention.hours", "100", S.STATIC_BROKER),
            ("log.retention.hours", "168", S.DEFAULT),
        ],
    )
    assert found["log.retention.hours"].config_source == S.STATIC_BROKER


def test_one_nodes_value_counts_more_than_that_of_all_nodes():
    values = {ALL_NODES: {"num.io.threads": "3"}, ITSELF: {"num.io.threads": "4"}}
    _, found = told(ITSELF, values, {"num.io.threads": "2"})

    layers = S.DYNAMIC_BROKER, S.DYNAMIC_DEFAULT_BROKER, S.STATIC_BROKER, S.DEFAULT
    expected = [("num.io.threads", str(n), s) for n, s in zip((4, 3, 2, 8), layers, strict=True)]
    assert sources(found["num.io.threads"]) == ("4", expected)
    assert not found["num.io.threads"].read_only
    assert found["node.id"].read_only


@pytest.mark.parametrize(
    ("written", "value", "created_by"),
    [
        ({}, "604800000", S.DEFAULT),
        ({"log.retention.hours": "100"}, "360000000", S.STATIC_BROKER),
        ({"log.retention.minutes": "2", "log.retention.hours": "1"}, "120000", S.STATIC_BROKER),
        ({"log.retention.ms": "-7"}, "-1", S.STATIC_BROKER),
    ],
)
def test_a_topic_has_what_its_node_says_in_any_unit(written, value, created_by):
    _, found = told((TOPIC_RESOURCE, "t"), written=written)
    answers = CreatedTopic("u"), CreatedTopic("v", ErrorCode.POLICY_VIOLATION)
    request = CreateTopicsRequest((CreatableTopic("u", configs=(("flush.ms", "9"),)),))
    created, refused = with_effective_configs(
        image({}), NodeSettings(NODE, written), request, CreateTopicsResponse(answers)
    ).topics

    assert found["retention.ms"].value == value
    by_name = {one.name: (one.value, one.config_source) for one in created.configs}
    assert by_name["retention.ms"] == (value, created_by)
    assert by_name["flush.ms"] == ("9", S.DYNAMIC_TOPIC)
    assert "internal.segment.bytes" not in by_name
    assert refused.configs == ()


def test_each_topic_of_a_request_is_told_its_own_configuration():
    asked = {"a": (), "b": (("flush.ms", "9"),), "c": (("flush.ms", "8"),), "d": ()}
    topics = tuple(CreatableTopic(name, configs=own) for name, own in asked.items())
    request = CreateTopicsRequest(topics)
    response = CreateTopicsResponse(tuple(map(CreatedTopic, asked)))
    created = with_effective_configs(image({}), NodeSettings(NODE, {}), request, response).topics

    told_ms = [{one.name: one.value for one in topic.configs}["flush.ms"] for topic in created]
    assert told_ms == [told_ms[3], "9", "8", told_ms[0]]
    assert told_ms[0] not in {"8", "9"}


@pytest.mark.parametrize(
    ("resource", "name", "value", "is_taken"),
    [
        (ALL_NODES, "num.io.threads", "5", True),
        (ALL_NODES, "num.io.threads", "many", False),
        (ALL_NODES, "no.such.key", "5", True),
        (ALL_NODES, "node.id", "5", False),
        (ITSELF, "ssl.keystore.type", "PEM", False),
        (ITSELF, "listener.name.x.ssl.keystore.type", "PEM", True),
        (ALL_NODES, "listener.name.x.ssl.keystore.type", "PEM", False),
        (ALL_NODES, "listener.name.x.max.connections", "5", True),
        (ITSELF, "ssl.provider", "p", True),
        (ALL_NODES, "ssl.provider", "p", False),
    ],
)
def test_a_node_takes_over_what_records_may_set(resource, name, value, is_taken):
    _, found = told(ITSELF, {resource: {name: value}}, {"node.id": str(NODE)})

    is_there = name in found and found[name].config_source in (
        S.DYNAMIC_BROKER, S.DYNAMIC_DEFAULT_BROKER,
    )  # fmt: skip
    assert is_there == is_taken


def test_a_group_has_what_its_node_says():
    written = {"group.share.session.timeout.ms": "50000"}
    group = (GROUP_RESOURCE, "g")
    _, found = told(group, {group: {"share.heartbeat.interval.ms": "6000"}}, written)

    assert sources(found["share.session.timeout.ms"]) == (
        "50000", [("share.session.timeout.ms", "50000", S.DEFAULT)],
    )  # fmt: skip
    assert sources(found["share.heartbeat.interval.ms"]) == (
        "6000", [("share.heartbeat.interval.ms", "6000", S.GROUP)],
    )  # fmt: skip


def test_client_metrics_show_no_source_of_a_default():
    metrics = (CLIENT_METRICS_RESOURCE, "m")
    _, found = told(metrics, {metrics: {"interval.ms": "100"}})

    assert sources(found["interval.ms"])[1] == [("interval.ms", "100", S.CLIENT_METRICS)]
    assert sources(found["match"]) == ("", [])


def test_internal_keys_are_told_where_they_are_set():
    unset = "log.initial.task.delay.ms"
    _, found = told(ITSELF, written={"unstable.api.versions.enable": "true"})

    assert found["unstable.api.versions.enable"].value == "true"
    assert unset in NODE_KEYS
    assert unset not in found


def test_some_keys_are_told_and_synonyms_only_if_asked_for():
    _, found = told(ITSELF, keys=("num.io.threads", "no.such.key"), synonyms=False)

    assert list(found) == ["num.io.threads"]
    assert found["num.io.threads"].synonyms == ()
    assert len(told(ITSELF, keys=())[1]) > 300


def test_a_default_of_this_program_is_told_instead_of_kafkas():
    _, found = told(ITSELF, own_defaults={"socket.request.max.bytes": "5"})

    assert sources(found["socket.request.max.bytes"]) == (
        "5", [("socket.request.max.bytes", "5", S.DEFAULT)],
    )  # fmt: skip


SECRETS = sorted(name for name, key in NODE_KEYS.items() if key.type is ValueType.PASSWORD)


@pytest.mark.parametrize("name", [*SECRETS, "no.such.key", "listener.name.x.ssl.key.password"])
@pytest.mark.parametrize("resource", [None, ALL_NODES, ITSELF])
def test_a_secret_is_never_told(name, resource):
    secret = "open sesame"
    configurations = {} if resource is None else {resource: {name: secret}}
    written = {name: secret} if resource is None else {}

    for asked in (ITSELF, ALL_NODES, (TOPIC_RESOURCE, "t")):
        assert secret not in str(told(asked, configurations, written))
