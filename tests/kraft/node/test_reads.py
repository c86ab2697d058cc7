"""What a node answers by itself: configurations, access control, passwords, tokens."""

import asyncio

import pytest
from tests.kraft.node.client import Client
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
from kraft.wire.message_maps import MESSAGE_MAPS

TOPIC, BROKER_KIND = 2, 4
DESCRIBE_ACLS = 29
DYNAMIC_TOPIC, DYNAMIC_BROKER, DYNAMIC_DEFAULT_BROKER = 1, 2, 3


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


async def configs(client, kind, name, keys=None):
    resource = {"resourceType": kind, "resourceName": name, "configurationKeys": keys}
    (said,) = (await client.call(32, 4, resources=(resource,)))["results"]
    found = [(one["name"], one["value"], one["configSource"]) for one in said["configs"]]
    return said["errorCode"], found


def test_configurations_are_told_with_their_sources(tmp_path):
    async def use(client):
        await broker(client)
        await create_topic(client, "calm")
        for key, value in (("retention.ms", "5"), ("min.insync.replicas", "1")):
            await set_config(client, TOPIC, "calm", key, value)
        await set_config(client, BROKER_KIND, "", "log.retention.ms", "7")
        await set_config(client, BROKER_KIND, "7", "ssl.key.password", "open sesame")
        return [
            await configs(client, TOPIC, "calm", ("retention.ms",)),
            await configs(client, TOPIC, "absent"),
            await configs(client, BROKER_KIND, ""),
            await configs(client, BROKER_KIND, "7"),
        ]

    topic, absent, default, secret = on_node(tmp_path, use)

    assert topic == (0, [("retention.ms", "5", DYNAMIC_TOPIC)])
    assert absent == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, [])
    assert default == (0, [("log.retention.ms", "7", DYNAMIC_DEFAULT_BROKER)])
    assert secret == (0, [("ssl.key.password", None, DYNAMIC_BROKER)])


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


@pytest.mark.parametrize("key", ["", "a key"])
def test_tokens_are_told_with_the_secret_that_was_given_out(tmp_path, key):
    async def use(client):
        created = await client.call(
            38, 3, ownerPrincipalType=None, ownerPrincipalName=None, maxLifetimeMs=-1
        )
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
    assert unknown == set()
    assert [one.message for one in caplog.records if one.exc_info] == []
