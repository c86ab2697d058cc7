"""A server.properties: what is read, and the one sentence about what is wrong."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kraft.errors import CorruptRecordError
from kraft.node.configuration import Address, ConfigurationError, _Source, read_configuration
from kraft.node.configuration_keys import KEYS
from kraft.node.java_properties import Property
from kraft.raft.configuration import MILLISECOND

STATIC = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.quorum.voters": "1@one:9093,2@[::1]:9094",
    "listeners": "CONTROLLER://:9093",
    "controller.listener.names": "CONTROLLER",
    "log.dirs": "/a,/b",
}


def read(tmp_path, *overrides, without=(), **entries):
    values = {**STATIC, **{key.replace("_", "."): value for key, value in entries.items()}}
    path = tmp_path / "server.properties"
    text = "".join(f"{k}={v}\n" for k, v in values.items() if k not in without)
    path.write_text("# a comment\n" + text)
    return read_configuration(path, overrides)


def refusal(tmp_path, *overrides, **given):
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, *overrides, **given)
    return str(caught.value)


def test_a_static_quorum_is_read(tmp_path):
    found = read(tmp_path)

    assert found.node_id == 1
    assert found.voters == {1: Address("one", 9093), 2: Address("::1", 9094)}
    assert [str(one) for one in found.directories] == ["/a", "/b"]
    assert str(found.metadata_directory) == "/a"
    assert found.warnings == ()


def test_a_listener_without_a_host_is_bound_to_the_loopback_alone(tmp_path):
    (listener,) = read(tmp_path).listeners

    assert listener.bound == listener.advertised == Address("127.0.0.1", 9093)


def test_others_are_told_the_advertised_address(tmp_path):
    bound = "CONTROLLER://0.0.0.0:9093"
    told = "controller://example:19093"
    (listener,) = read(tmp_path, listeners=bound, advertised_listeners=told).listeners

    assert listener.bound == Address("0.0.0.0", 9093)
    assert listener.advertised == Address("example", 19093)


def test_a_dynamic_quorum_has_servers_and_no_voters(tmp_path):
    given = {"controller_quorum_bootstrap_servers": "one:9093, two:9094"}
    found = read(tmp_path, without=("controller.quorum.voters",), **given)

    assert not found.voters
    assert found.bootstrap_servers == (Address("one", 9093), Address("two", 9094))


def test_timeouts_are_in_nanoseconds_and_have_kafka_s_defaults(tmp_path):
    timeouts = read(tmp_path, controller_quorum_fetch_timeout_ms="3000").timeouts

    assert timeouts.fetch == 3000 * MILLISECOND
    assert timeouts.election == 1000 * MILLISECOND


def test_an_override_counts_more_than_the_file(tmp_path):
    assert read(tmp_path, "node.id=2").node_id == 2
    assert refusal(tmp_path, "node.id=x").startswith("--override: node.id is not a number")
    assert refusal(tmp_path, "node.id").endswith("not key=value")


def test_the_last_of_a_repeated_key_counts_and_is_the_place(tmp_path):
    path = tmp_path / "server.properties"
    lines = [f"{key}={value}" for key, value in STATIC.items()]
    path.write_text("\n".join([*lines, "node.id=\\", "  -1"]))

    with pytest.raises(ConfigurationError, match=r"server\.properties:7: node\.id is not"):
        read_configuration(path)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"process_roles": "broker"}, "process.roles"),
        ({"process_roles": "broker,controller"}, "process.roles"),
        ({"node_id": "-1"}, "node.id"),
        ({"node_id": "2147483648"}, "node.id"),
        ({"node_id": "٣"}, "node.id"),
        ({"node_id": "3"}, "controller.quorum.voters"),
        ({"controller_quorum_voters": "1@one"}, "controller.quorum.voters"),
        ({"controller_quorum_voters": "1@one:9093,1@two:9093"}, "controller.quorum.voters"),
        ({"controller_quorum_voters": "1@one:65536"}, "controller.quorum.voters"),
        (
            {"controller_quorum_bootstrap_servers": "1@one:1"},
            "controller.quorum.bootstrap.servers",
        ),
        ({"controller_quorum_auto_join_enable": "maybe"}, "controller.quorum.auto.join.enable"),
        ({"controller_quorum_auto_join_enable": "true"}, "controller.quorum.auto.join.enable"),
        ({"listeners": "CONTROLLER:9093"}, "listeners"),
        ({"listeners": "OTHER://:9093"}, "listeners"),
        ({"listeners": "CONTROLLER://0.0.0.0:9093"}, "advertised.listeners"),
        ({"controller_listener_names": ""}, "controller.listener.names"),
        ({"listener_security_protocol_map": "CONTROLLER"}, "listener.security.protocol.map"),
        ({"listener_security_protocol_map": "A:PLAINTEXT"}, "listener.security.protocol.map"),
        (
            {"listener_security_protocol_map": "CONTROLLER:SASL_SSL"},
            "listener.security.protocol.map",
        ),
        ({"listener_security_protocol_map": "CONTROLLER:SSL"}, "ssl.keystore.location"),
        ({"log_dirs": " , "}, "log.dirs"),
        ({"unclean_leader_election_enable": "yes"}, "unclean.leader.election.enable"),
        ({"broker_session_timeout_ms": "0"}, "broker.session.timeout.ms"),
        ({"queued_max_request_bytes": "2097151"}, "queued.max.request.bytes"),
    ],
)
def test_a_wrong_value_is_one_sentence_with_line_and_key(tmp_path, given, key):
    said = refusal(tmp_path, **given)

    assert "\n" not in said
    place, name, _ = said.removeprefix(str(tmp_path / "server.properties")).split(" ", 2)
    assert name == key
    lines = (tmp_path / "server.properties").read_text().splitlines()
    number = place.strip(":")
    # A key that is absent has no line.
    assert lines[int(number) - 1].startswith(key) if number else f"{key}=" not in "".join(lines)


@pytest.mark.parametrize("key", ["process.roles", "node.id", "controller.listener.names"])
def test_what_a_controller_needs_is_named(tmp_path, key):
    assert f": {key} is not" in refusal(tmp_path, without=(key,))


def test_neither_voters_nor_servers_is_refused(tmp_path):
    said = refusal(tmp_path, without=("controller.quorum.voters",))

    assert said.endswith(
        "controller.quorum.voters and controller.quorum.bootstrap.servers are both not set"
    )


def test_a_secret_is_not_repeated(tmp_path):
    key = KEYS["delegation.token.secret.key"]

    assert read(tmp_path, delegation_token_secret_key="open sesame").values[key.name]
    source = _Source(tmp_path)
    for name, value in ((key.name, "open sesame"), ("node.id", "one")):
        source.take(Property(name, value, 7), "here")
    assert str(source._wrong(key.name, "is bad")) == f"here: {key.name} is bad"
    assert str(source._wrong("node.id", "is bad")) == "here: node.id is bad: 'one'"


@pytest.mark.parametrize(
    ("key", "typo"),
    [
        ("process.roles", "process.role"),
        ("node.id", "nodeid"),
        ("listeners", "listener"),
        ("controller.listener.names", "controller.listener.name"),
        ("controller.quorum.voters", "controller.quorum.voter"),
    ],
)
def test_a_key_that_is_needed_and_misspelt_is_named(tmp_path, key, typo):
    read(tmp_path)
    path = tmp_path / "server.properties"
    lines = path.read_text().splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if line.startswith(f"{key}=")]
    path.write_text("\n".join(line.replace(f"{key}=", f"{typo}=") for line in lines))
    with pytest.raises(ConfigurationError) as refused:
        read_configuration(path)
    said = str(refused.value)
    assert said.startswith(f"{path}: {key} ")
    assert said.endswith(f"not set; {path}:{number} has {typo}, which is no key")


def test_unknown_and_unused_keys_are_warned_of_and_those_of_brokers_are_not(tmp_path):
    given = {"foo_bar": "1", "super_users": "User:x", "num_io_threads": "2"}
    given["listener_name_controller_ssl_keystore_locaton"] = "x"
    unknown, unused, misspelt = read(tmp_path, **given).warnings

    assert unknown.endswith(":8: foo.bar is not a key that is known here")
    assert ":9: super.users changes nothing: " in unused
    assert "keystore.locaton is not a key that is known here" in misspelt


def test_a_broken_escape_is_refused_with_its_line(tmp_path):
    with pytest.raises(CorruptRecordError, match=r"malformed .* on line 8"):
        read(tmp_path, foo_bar="\\u12")


@pytest.mark.parametrize("key", [key for key in KEYS.values() if key.default is not None])
def test_each_default_is_a_valid_value(key):
    assert key.read(key.default) is not None


def test_the_documented_keys_are_those_that_are_read():
    page = Path(__file__).parents[3] / "docs" / "nodes.md"
    text = page.read_text()

    for key in KEYS.values():
        default = f"`{key.default}`" if key.default else ""
        assert f"| `{key.name}` | {default} | {key.use} |\n" in text


KEY_NAMES = st.one_of(
    st.sampled_from([*KEYS, "listener.name.controller.ssl.keystore.location", "foo.bar"]),
    st.text(max_size=8),
)
VALUES = st.one_of(
    st.sampled_from(
        [
            "", "0", "-1", "1", "2147483648", "9" * 5000, "1e3", "٣", "true", "SSL", "PEM", ",",
            "1@:1", "1@a:99999", "A://:0", "A://[::1]:9", "://", "CONTROLLER:SSL", "/dev/null",
            "\\u12", "\\", "\x00", "http://a", "controller,broker", "PLAINTEXT:PLAINTEXT",
        ]
    ),
    st.text(max_size=12),
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(KEY_NAMES, VALUES), max_size=4), st.lists(st.text(max_size=12)))
def test_any_configuration_is_read_or_refused_in_one_line(tmp_path, entries, overrides):
    path = tmp_path / "server.properties"
    lines = [f"{key}={value}" for key, value in STATIC.items()]
    lines += [f"{key}={value}" for key, value in entries]
    path.write_text("\n".join(lines), encoding="utf-8")
    try:
        read_configuration(path, overrides)
    except (ConfigurationError, CorruptRecordError) as error:
        said = str(error)
        assert said.isprintable(), said
        assert said.startswith((str(path), "--override")), said
        assert len(said) < 1000
