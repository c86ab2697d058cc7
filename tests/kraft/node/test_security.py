"""TLS: who reaches a listener, whom a controller trusts, and what cannot be set up."""

import asyncio
import ssl

import pytest
from tests.kraft.node.certificates import Authority
from tests.kraft.node.client import Client
from tests.kraft.node.one_node import port_of, properties, serving, until_active
from tests.kraft.node.test_channels import VOTE, Quorum, answer_vote

from kraft.errors import ErrorCode
from kraft.node.configuration import ConfigurationError, read_configuration
from kraft.node.security import client_context, server_context, tls_settings


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


def tls_of(authority, keystore, **more):
    """Return the settings of a listener."""
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(keystore),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.truststore),
        **{key.replace("_", "."): value for key, value in more.items()},
    }


def listening(folder, settings):
    given = {"listener.security.protocol.map": "CONTROLLER:SSL", **settings}
    return properties(folder, **given)


async def ask_anew(port, tls):
    client = await Client.connect(port, tls)
    try:
        return await client.call(60, 2, endpointType=2)
    finally:
        client.close()


def test_a_listener_of_ssl_asks_for_certificates(tmp_path, authority):
    settings = tls_of(authority, authority.keystore("node"), ssl_client_auth="required")
    path = listening(tmp_path, settings)
    known = client_context(tls_settings(settings.get))
    stranger = ssl.create_default_context(cafile=str(authority.truststore))

    async def main():
        async with serving(path, known) as (node, client):
            await until_active(client)
            cluster = await client.call(60, 2, endpointType=2)
            for tls in (stranger, None):
                with pytest.raises((OSError, asyncio.IncompleteReadError)):
                    await ask_anew(port_of(node.configuration), tls)
            return cluster

    assert asyncio.run(main())["errorCode"] == 0


def test_a_client_that_never_agrees_on_tls_makes_room_for_the_next_one(
    tmp_path, authority, monkeypatch
):
    monkeypatch.setattr("kraft.node.acceptor.HANDSHAKE_SECONDS", 3600.0)
    settings = tls_of(authority, authority.keystore("node"), max_connections="1")
    path = listening(tmp_path, settings)
    tls = client_context(tls_settings(settings.get))

    async def main():
        async with serving(path, tls) as (node, client):
            await until_active(client)
            port = port_of(node.configuration)
            silent = Client(*await asyncio.open_connection("127.0.0.1", port))
            try:
                assert await client.is_ended()
                said = await ask_anew(port, tls)
                return said, await silent.is_ended()
            finally:
                silent.close()

    said, is_ended = asyncio.run(main())

    assert said["errorCode"] == 0
    assert is_ended


@pytest.mark.parametrize(
    ("address", "is_trusted", "algorithm", "is_reached"),
    [
        ("127.0.0.1", True, "https", True),
        ("127.0.0.2", True, "https", False),
        ("127.0.0.2", True, "", True),
        ("127.0.0.1", False, "", False),
    ],
)
def test_a_controller_looks_at_the_certificate_of_another_one(
    tmp_path, authority, address, is_trusted, algorithm, is_reached
):
    theirs = authority if is_trusted else Authority(tmp_path, "other")
    server = server_context(tls_settings(tls_of(theirs, theirs.keystore("two", address)).get))
    own = tls_of(authority, authority.keystore("one"))
    own["ssl.endpoint.identification.algorithm"] = algorithm

    async def main():
        async with Quorum() as quorum:
            quorum.channels.tls = client_context(tls_settings(own.get))
            await quorum.start(2, answer_vote, tls=server)
            quorum.channels.send(2, 1, VOTE)
            await quorum.until(1)
            return quorum.delivered

    ((_, _, response),) = asyncio.run(main())

    assert (response.error_code is ErrorCode.NONE) == is_reached


def test_the_settings_of_a_listener_count_more_than_those_of_all(tmp_path, authority):
    settings = tls_of(authority, tmp_path / "absent")
    own = "listener.name.controller.ssl.keystore.location"
    path = listening(tmp_path, {**settings, own: str(authority.keystore("node"))})

    configuration = read_configuration(path)

    assert configuration.listeners[0].tls.keystore.endswith("node.pem")
    assert configuration.warnings == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ssl.keystore.location": "absent"}, "ssl.keystore.location cannot be used: no such file"),
        ({"ssl.keystore.location": ""}, "ssl.keystore.location is not set"),
        ({"ssl.keystore.type": "JKS"}, "ssl.keystore.type is not PEM"),
        ({"ssl.truststore.type": "JKS"}, "ssl.truststore.type is not PEM"),
        ({"ssl.truststore.location": "absent"}, "ssl.truststore.location cannot be used: no such"),
        ({"ssl.client.auth": "maybe"}, "ssl.client.auth is not none, requested or required"),
        ({"ssl.endpoint.identification.algorithm": "x"}, "algorithm is neither https nor empty"),
    ],
)
def test_what_cannot_be_set_up_is_one_sentence(tmp_path, authority, change, said):
    settings = tls_of(authority, authority.keystore("node")) | change

    with pytest.raises(ConfigurationError) as caught:
        read_configuration(listening(tmp_path, settings))

    assert said in str(caught.value)


@pytest.mark.parametrize("password", ["swordfish", ""])
def test_a_wrong_password_is_refused_and_not_repeated(tmp_path, authority, password):
    keystore = authority.keystore("node", password="open sesame")
    right = tls_of(authority, keystore, ssl_key_password="open sesame")
    path = listening(tmp_path, {**right, "ssl.key.password": password})

    with pytest.raises(ConfigurationError) as caught:
        read_configuration(path)

    assert server_context(tls_settings(right.get))
    assert "ssl.keystore.location cannot be used" in str(caught.value)
    assert "swordfish" not in str(caught.value)
