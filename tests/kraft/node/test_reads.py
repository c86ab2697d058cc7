"""What a node answers by itself: configurations, access control, passwords, tokens."""

import asyncio
import logging

import pytest
from tests.kraft.node.client import Client, enveloped
from tests.kraft.node.one_node import (
    broker,
    create_topic,
    port_of,
    properties,
    serving,
    until_active,
)

from kraft.errors import ErrorCode
from kraft.rpc.access_control import ALLOW, ANY, LITERAL
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.message_maps import MESSAGE_MAPS
from kraft.wire.principals import ForwardedPrincipal
from kraft.wire.requests import read_response

TOPIC, BROKER_KIND = 2, 4
DESCRIBE_ACLS = 29
CONTROLLER_REGISTRATION = 70
LOGGER_KIND = 8
DYNAMIC_TOPIC, DYNAMIC_BROKER, DYNAMIC_DEFAULT_BROKER, STATIC_BROKER = 1, 2, 3, 4
DYNAMIC_BROKER_LOGGER = 6
CHANGE = ("name", "configOperation", "value")


def on_node(folder, use, **more):
    async def main():
        async with serving(properties(folder, **more)) as (_node, client):
            await until_active(client)
            return await use(client)

    return asyncio.run(main())


async def set_config(client, kind, name, key, value):
    change = {"name": key, "configOperation": 0, "value": value}
    resource = {"resourceType": kind, "resourceName": name, "configs": (change,)}
    said = await client.call(44, 1, resources=(resource,))
    assert said["responses"][0]["errorCode"] == 0


async def configs(client, kind, name, keys=None, **options):
    resource = {"resourceType": kind, "resourceName": name, "configurationKeys": keys}
    (said,) = (await client.call(32, 4, resources=(resource,), **options))["results"]
    return said["errorCode"], {one["name"]: one for one in said["configs"]}


def value_and_source(told):
    code, found = told
    return code, {name: (one["value"], one["configSource"]) for name, one in found.items()}


def test_configurations_are_told_with_their_sources(tmp_path):
    secret = "listener.name.controller.ssl.key.password"

    async def use(client):
        await broker(client)
        await create_topic(client, "calm")
        await set_config(client, TOPIC, "calm", "retention.ms", "5")
        await set_config(client, BROKER_KIND, "", "log.retention.ms", "7")
        await set_config(client, BROKER_KIND, "1", secret, "open sesame")
        keys = ("retention.ms", "segment.bytes")
        return [
            await configs(client, TOPIC, "calm", keys),
            await configs(client, TOPIC, "absent"),
            await configs(client, BROKER_KIND, ""),
            await configs(client, BROKER_KIND, "1", (secret, "log.retention.ms", "no.such.key")),
            await configs(client, BROKER_KIND, "7"),
        ]

    told = on_node(tmp_path, use, log_segment_bytes="99", no_such_key="open sesame")
    topic, absent, default, node, other = map(value_and_source, told)

    assert topic == (
        0, {"retention.ms": ("5", DYNAMIC_TOPIC), "segment.bytes": ("99", STATIC_BROKER)},
    )  # fmt: skip
    assert absent == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, {})
    # min.insync.replicas is there since the bootstrap if ELR is on.
    assert default[1]["log.retention.ms"] == ("7", DYNAMIC_DEFAULT_BROKER)
    assert node == (
        0,
        {
            secret: (None, DYNAMIC_BROKER),
            "log.retention.ms": ("7", DYNAMIC_DEFAULT_BROKER),
            "no.such.key": (None, STATIC_BROKER),
        },
    )
    assert other == (ErrorCode.INVALID_REQUEST, {})
    assert "open sesame" not in str(told)


def test_a_request_for_an_unknown_kind_of_resource_fails_as_a_whole(tmp_path):
    async def use(client):
        asked = tuple({"resourceType": kind, "resourceName": ""} for kind in (BROKER_KIND, 3))
        return (await client.call(32, 4, resources=asked))["results"]

    assert [one["errorCode"] for one in on_node(tmp_path, use)] == [ErrorCode.INVALID_REQUEST] * 2


LOGGER = "kraft.node.test_reads"


async def alter_loggers(client, name, *changes, **options):
    configs = tuple(dict(zip(CHANGE, one, strict=True)) for one in changes)
    resource = {"resourceType": LOGGER_KIND, "resourceName": name, "configs": configs}
    (said,) = (await client.call(44, 1, resources=(resource,), **options))["responses"]
    return said["errorCode"]


def test_levels_of_loggers_are_told_and_changed_all_or_none(tmp_path):
    logging.getLogger(LOGGER).setLevel(logging.NOTSET)
    set_, delete, append = 0, 1, 2

    async def use(client):
        levels, codes = [], []

        async def tell():
            told = await configs(client, LOGGER_KIND, "1", (LOGGER,))
            levels.append(value_and_source(told)[1][LOGGER])

        wrong = (
            ("1", (LOGGER, set_, "ERROR"), ("no.such.logger", set_, "INFO")),
            ("1", (LOGGER, set_, "LOUD")),
            ("1", (LOGGER, append, "INFO")),
            ("1", ("root", delete, None)),
            ("2", (LOGGER, set_, "ERROR")),
        )
        codes += [await alter_loggers(client, *change) for change in wrong]
        codes.append(await alter_loggers(client, "1", (LOGGER, set_, "FATAL"), validateOnly=True))
        await tell()
        codes.append(await alter_loggers(client, "1", (LOGGER, set_, "FATAL")))
        await tell()
        codes.append(await alter_loggers(client, "1", (LOGGER, delete, None)))
        return levels, codes

    levels, codes = on_node(tmp_path, use)

    assert [source for _, source in levels] == [DYNAMIC_BROKER_LOGGER] * 2
    assert levels[0][0] != "FATAL"
    assert levels[1][0] == "FATAL"
    assert logging.getLogger(LOGGER).level == logging.NOTSET
    config, request = ErrorCode.INVALID_CONFIG, ErrorCode.INVALID_REQUEST
    assert codes == [config, config, request, request, request, 0, 0, 0]


def test_loggers_and_configurations_are_changed_by_one_request(tmp_path):
    logging.getLogger(LOGGER).setLevel(logging.NOTSET)

    async def use(client):
        await broker(client)
        change = {"name": LOGGER, "configOperation": 0, "value": "WARN"}
        loggers = {"resourceType": LOGGER_KIND, "resourceName": "1", "configs": (change,)}
        change = {"name": "num.io.threads", "configOperation": 0, "value": "9"}
        node = {"resourceType": BROKER_KIND, "resourceName": "1", "configs": (change,)}
        said = await client.call(44, 1, resources=(loggers, node))
        return said["responses"], await configs(client, BROKER_KIND, "1", ("num.io.threads",))

    said, told = on_node(tmp_path, use)

    kinds = sorted((one["resourceType"], one["errorCode"]) for one in said)
    assert kinds == [(BROKER_KIND, 0), (LOGGER_KIND, 0)]
    assert told[1]["num.io.threads"]["value"] == "9"
    assert logging.getLogger(LOGGER).level == logging.WARNING


def entry(name):
    about = {"resourceType": TOPIC, "resourceName": name, "resourcePatternType": LITERAL}
    who = {"principal": "User:a", "host": "*", "operation": 3, "permissionType": ALLOW}
    return {**about, **who}


def test_access_control_is_told_as_far_as_a_filter_matches(tmp_path):
    async def use(client):
        await client.call(30, 3, creations=(entry("calm"), entry("wild")))
        return await client.call(
            29, 3, resourceTypeFilter=TOPIC, resourceNameFilter="wild", patternTypeFilter=ANY,
            principalFilter=None, hostFilter=None, operation=ANY, permissionType=ANY,
        )  # fmt: skip

    said = on_node(tmp_path, use)

    assert [one["resourceName"] for one in said["resources"]] == ["wild"]
    assert [one["principal"] for one in said["resources"][0]["acls"]] == ["User:a"]


def test_users_are_told_without_their_secrets(tmp_path):
    async def use(client):
        new = {"name": "ann", "mechanism": 1, "iterations": 4096}
        new |= {"salt": b"s" * 8, "saltedPassword": b"p" * 32}
        await client.call(51, 0, deletions=(), upsertions=(new,))
        users = ({"name": "ann"}, {"name": "bob"}, {"name": "cid"}, {"name": "cid"})
        return await client.call(50, 0, users=None), await client.call(50, 0, users=users)

    every, asked = on_node(tmp_path, use)

    (ann,) = every["results"]
    assert (ann["user"], ann["credentialInfos"][0]["iterations"]) == ("ann", 4096)
    codes = {one["user"]: one["errorCode"] for one in asked["results"]}
    not_there, twice = ErrorCode.RESOURCE_NOT_FOUND, ErrorCode.DUPLICATE_RESOURCE
    assert codes == {"ann": 0, "bob": not_there, "cid": twice}


ANN, BY_TOKEN = ForwardedPrincipal("User:ann"), ForwardedPrincipal("User:ann", True)
NEW_TOKEN = {"ownerPrincipalType": None, "ownerPrincipalName": None, "maxLifetimeMs": -1}


async def forwarded(client, principal, key, version, **fields):
    """Return the response to a request that a broker sends on for a client."""
    outer = await client.call(58, 0, **enveloped(key, version, principal, **fields))
    assert outer["errorCode"] == 0
    return read_response(CONTROLLER_APIS[key], version, outer["responseData"]).fields


@pytest.mark.parametrize("key", ["", "a key"])
def test_tokens_are_told_with_the_secret_that_was_given_out(tmp_path, key):
    async def use(client):
        created = await forwarded(client, ANN, 38, 3, **NEW_TOKEN)
        owner = {"principalType": "User", "principalName": "nobody"}
        return (
            created,
            await client.call(41, 3, owners=None),
            await client.call(41, 3, owners=(owner,)),
        )

    created, every, other = on_node(tmp_path, use, delegation_token_secret_key=key)

    if not key:
        assert every["errorCode"] == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
        return
    assert [(one["tokenId"], one["hmac"]) for one in every["tokens"]] == [
        (created["tokenId"], created["hmac"])
    ]
    assert other["tokens"] == ()


def test_a_token_belongs_to_the_principal_that_a_broker_vouches_for(tmp_path):
    async def use(client):
        created = await forwarded(client, ANN, 38, 3, **NEW_TOKEN)
        renewed = [
            await forwarded(client, who, 39, 2, hmac=created["hmac"], renewPeriodMs=-1)
            for who in (ForwardedPrincipal("User:bob"), BY_TOKEN, ANN)
        ]
        plain = await client.call(38, 3, **NEW_TOKEN)
        by_token = await forwarded(client, BY_TOKEN, 38, 3, **NEW_TOKEN)
        return created, [one["errorCode"] for one in renewed], plain, by_token

    created, renewed, plain, by_token = on_node(tmp_path, use, delegation_token_secret_key="a key")

    owner = "principalName", "tokenRequesterPrincipalName", "errorCode"
    refused = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert [created[one] for one in owner] == ["ann", "ann", 0]
    assert renewed == [ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH, refused, 0]
    assert [plain[one] for one in owner] == ["ANONYMOUS", "ANONYMOUS", refused]
    assert [by_token[one] for one in owner] == ["ann", "ann", refused]


def test_the_features_epoch_is_the_offset_at_which_they_last_changed(tmp_path):
    about = {"clientSoftwareName": "test", "clientSoftwareVersion": "1"}
    metadata = {"topicName": "__cluster_metadata", "partitions": ({},)}

    async def use(client):
        async def epoch():
            return (await client.call(18, 4, **about))["finalizedFeaturesEpoch"]

        async def changed(level):
            """Set a level; return the offset of its record, and the epoch after another record."""
            change = {"feature": "transaction.version", "maxVersionLevel": level, "upgradeType": 1}
            assert (await client.call(57, 2, featureUpdates=(change,)))["errorCode"] == 0
            (told,) = (await client.call(55, 2, topics=(metadata,)))["topics"]
            await set_config(client, BROKER_KIND, "", "log.retention.ms", str(level))
            return told["partitions"][0]["highWatermark"] - 1, await epoch()

        first = await epoch()
        await set_config(client, BROKER_KIND, "", "log.retention.ms", "7")
        # The first change adds a level, the second one changes it.
        return first, await epoch(), await changed(1), await changed(2)

    first, same, *changes = on_node(tmp_path, use, metadata_max_idle_interval_ms="0")

    assert first == same < changes[0][0] < changes[1][0]
    assert all(offset == epoch for offset, epoch in changes)


def test_a_leader_that_is_not_registered_is_not_named_as_the_active_controller(tmp_path):
    async def main():
        async with serving(properties(tmp_path)) as (node, client):
            await until_active(client)
            told = []
            for leader in (1, 2):
                node.host.knows_leader = leader
                told.append(await client.call(60, 2, endpointType=2))
            node.host.knows_leader = 1
            return [([e["brokerId"] for e in one["brokers"]], one["controllerId"]) for one in told]

    assert asyncio.run(main()) == [([1], 1), ([1], -1)]


def test_everybody_may_do_everything_to_a_cluster(tmp_path):
    async def use(client):
        about = {"endpointType": 2, "includeClusterAuthorizedOperations": True}
        return await client.call(60, 2, **about), await client.call(60, 2, endpointType=2)

    asked, not_asked = on_node(tmp_path, use)

    operations = 5, 7, 8, 9, 10, 11, 12  # Kafka: AclOperation.
    assert asked["clusterAuthorizedOperations"] == sum(1 << one for one in operations)
    assert not_asked["clusterAuthorizedOperations"] == -(2**31)


def says(response, error):
    """Return whether an error code is anywhere in a response."""
    if isinstance(response, dict):
        return response.get("errorCode") == error or says(tuple(response.values()), error)
    return isinstance(response, tuple) and any(says(one, error) for one in response)


def test_every_api_and_version_is_answered(tmp_path, caplog):
    async def main():
        ended, unknown = set(), set()
        async with serving(properties(tmp_path)) as (node, client):
            await until_active(client)
            for key, message in MESSAGE_MAPS.items():
                for version in message.versions:
                    other = await Client.connect(port_of(node.configuration))
                    try:
                        said = await other.call(key, version)
                    except asyncio.IncompleteReadError:
                        ended.add(key)
                    else:
                        if says(said, ErrorCode.UNSUPPORTED_VERSION):
                            unknown.add(key)
                    other.close()
        return ended, unknown

    ended, unknown = asyncio.run(main())

    # A filter of access control with nothing in it is malformed, for Kafka as well.
    assert ended == {DESCRIBE_ACLS}
    # A controller without features could not read the log.
    assert unknown == {CONTROLLER_REGISTRATION}
    assert [one.message for one in caplog.records if one.exc_info] == []
