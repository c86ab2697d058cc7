"""The configuration of a running controller, from its server.properties.

Kafka: KafkaConfig, QuorumConfig.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.errors import printable
from kraft.ids import NodeId
from kraft.node.configuration_keys import BROKER_KEYS, KEYS, SECRETS, unused_reason
from kraft.node.java_properties import Property, parse_properties, read_entries
from kraft.node.security import (
    PLAINTEXT,
    PROTOCOL_NUMBERS,
    SSL,
    TlsError,
    TlsSettings,
    server_context,
    tls_settings,
)
from kraft.raft.configuration import MILLISECOND, Timeouts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LOOPBACK: Final = "127.0.0.1"
_ALL_ADDRESSES: Final = ("0.0.0.0", "::")  # noqa: S104  # named to be found, not bound
_LISTENER: Final = re.compile(r"([A-Za-z0-9_]+)://\[?([^\]/]*?)\]?:(\d{1,5})")
_SERVER: Final = re.compile(r"\[?([^\]/@]+?)\]?:(\d{1,5})")
_VOTER: Final = re.compile(r"(\d{1,10})@\[?([^\]/@]+?)\]?:(\d{1,5})")
_PORT_MAX: Final = 65535
_OWN_TLS: Final = re.compile(r"listener\.name\.[a-z0-9_]+\.(ssl\..*)")
_TOLD_LENGTH: Final = 60
_SIMILAR: Final = 0.8
"""How alike two keys are of which one may be meant by the other."""


class ConfigurationError(Exception):
    """A configuration with which no controller starts: one sentence with file, line and key."""

    def __init__(self, sentence: str) -> None:
        super().__init__(printable(sentence))


class Address(NamedTuple):
    """Where a node listens."""

    host: str
    port: int


class ListenerAddress(NamedTuple):
    """A listener: its name, the address that it is bound to, and the one that it advertises.

    `tls` is None for PLAINTEXT.
    """

    name: str
    bound: Address
    advertised: Address
    tls: TlsSettings | None = None


@dataclass(frozen=True, slots=True)
class NodeConfiguration:
    """A controller: its identity, its quorum, its listeners, its directories.

    `voters` are the static ones. `values` has each key of `KEYS` with its value, read or default.
    `texts` are all keys as they were written. `warnings` are sentences about keys that change
    nothing.
    """

    node_id: NodeId
    voters: Mapping[NodeId, Address]
    bootstrap_servers: tuple[Address, ...]
    listeners: tuple[ListenerAddress, ...]
    metadata_directory: Path
    directories: tuple[Path, ...]
    values: Mapping[str, Any]
    texts: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def timeouts(self) -> Timeouts:
        """Return Raft's timeouts."""

        def of(name: str) -> int:
            value: int = self.values[f"controller.quorum.{name}.ms"]
            return value * MILLISECOND

        return Timeouts(
            election=of("election.timeout"),
            fetch=of("fetch.timeout"),
            election_backoff_maximum=of("election.backoff.max"),
            request=of("request.timeout"),
            retry_backoff=of("retry.backoff"),
            append_linger=of("append.linger"),
        )


def parse_address(text: str) -> Address | None:
    """Return the address in `host:port`; None if it is none."""
    match = _SERVER.fullmatch(text)
    if match is None or int(match[2]) > _PORT_MAX:
        return None
    return Address(match[1], int(match[2]))


def read_configuration(path: Path, overrides: Sequence[str] = ()) -> NodeConfiguration:
    """Return the configuration in a server.properties; `overrides` are `key=value` each.

    Raises ConfigurationError for a wrong or missing value, and as `read_entries`.
    Kafka: Kafka.getPropsFromArgs, KafkaConfig.fromProps.
    """
    source = _Source(path)
    for entry in read_entries(path):
        source.take(entry, f"{path}:{entry.line}")
    for text in overrides:
        if "=" not in text:
            raise ConfigurationError(f"--override {text}: not key=value")
        try:
            given = parse_properties(text)
        except ValueError as error:
            raise ConfigurationError(f"--override {text}: {error}") from None
        for key, value in given.items():
            source.take(Property(key, value, 0), "--override")
    return source.configuration()


class _Source:
    """The entries of a configuration and their places, while it is read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._texts: dict[str, str] = {}
        self._places: dict[str, str] = {}

    def take(self, entry: Property, place: str) -> None:
        self._texts[entry.key] = entry.value.strip()
        self._places[entry.key] = place

    def configuration(self) -> NodeConfiguration:
        values = {name: self._value(name) for name in KEYS}
        self._check_kind(values)
        self._check_sizes(values)
        voters = self._voters(values["controller.quorum.voters"])
        servers = tuple(
            self._server(text) for text in values["controller.quorum.bootstrap.servers"]
        )
        node_id = NodeId(values["node.id"])
        listeners = self._listeners(values)
        if not voters and not servers:
            raise self._wrong(
                "controller.quorum.voters",
                "and controller.quorum.bootstrap.servers are both not set",
            )
        if voters and node_id not in voters:
            raise self._wrong("controller.quorum.voters", f"does not have node {node_id}")
        directories = values["log.dirs"] if values["log.dirs"] is not None else values["log.dir"]
        if not directories:
            raise self._wrong("log.dirs", "names no directory")
        metadata = Path(values["metadata.log.dir"] or directories[0])
        every = tuple(sorted({metadata, *map(Path, directories)}))
        warnings = self._warnings()
        return NodeConfiguration(
            node_id, voters, servers, listeners, metadata, every, values, self._texts, warnings
        )

    def _value(self, name: str) -> Any:
        key = KEYS[name]
        text = self._texts.get(name, key.default)
        if text is None:
            return None
        try:
            return key.read(text)
        except ValueError as error:
            raise self._wrong(name, str(error)) from None

    def _check_kind(self, values: Mapping[str, Any]) -> None:
        for name in ("process.roles", "listeners"):
            if not values[name]:
                raise self._wrong(name, "is not set")
        if values["process.roles"] != ("controller",):
            raise self._wrong("process.roles", "is not controller, and nothing else runs here")
        if values["node.id"] is None:
            raise self._wrong("node.id", "is not set")
        if values["controller.quorum.auto.join.enable"]:
            raise self._wrong(
                "controller.quorum.auto.join.enable", "is true, which is not served yet"
            )
        if not values["controller.listener.names"]:
            raise self._wrong("controller.listener.names", "is not set")

    def _check_sizes(self, values: Mapping[str, Any]) -> None:
        """Check that the largest request may be held. Kafka: KafkaConfig.validateValues."""
        if 0 < values["queued.max.request.bytes"] < values["socket.request.max.bytes"]:
            raise self._wrong("queued.max.request.bytes", "is less than socket.request.max.bytes")

    def _voters(self, texts: tuple[str, ...]) -> dict[NodeId, Address]:
        voters: dict[NodeId, Address] = {}
        for text in texts:
            match = _VOTER.fullmatch(text)
            if match is None or int(match[3]) > _PORT_MAX:
                raise self._wrong("controller.quorum.voters", f"has {text!r}, not id@host:port")
            node = NodeId(int(match[1]))
            if node in voters:
                raise self._wrong("controller.quorum.voters", f"has node {node} twice")
            voters[node] = Address(match[2], int(match[3]))
        return voters

    def _server(self, text: str) -> Address:
        address = parse_address(text)
        if address is None:
            raise self._wrong("controller.quorum.bootstrap.servers", f"has {text!r}, not host:port")
        return address

    def _listeners(self, values: Mapping[str, Any]) -> tuple[ListenerAddress, ...]:
        bound = self._addresses("listeners", values["listeners"])
        advertised = self._addresses("advertised.listeners", values["advertised.listeners"])
        found = []
        for name in (one.upper() for one in values["controller.listener.names"]):
            if name not in bound:
                raise self._wrong("listeners", f"has no listener {name}")
            address = bound[name] if name not in advertised else advertised[name]
            if address.host in _ALL_ADDRESSES:
                reason = f"does not say where others find {name}, which is bound to all addresses"
                raise self._wrong("advertised.listeners", reason)
            tls = self._tls(name) if self._protocol(name, values) == SSL else None
            found.append(ListenerAddress(name, bound[name], address, tls))
        return tuple(found)

    def _protocol(self, name: str, values: Mapping[str, Any]) -> str:
        """Return the protocol of a listener. Kafka: AbstractKafkaConfig, KIP-103."""
        key = "listener.security.protocol.map"
        protocols: dict[str, str] = {}
        for word in values[key]:
            listener, separator, protocol = word.upper().partition(":")
            if not separator:
                raise self._wrong(key, f"has {word!r}, not name:protocol")
            protocols[listener] = protocol
        if not protocols:
            return SSL if name == SSL else PLAINTEXT
        if name not in protocols:
            raise self._wrong(key, f"has no entry for {name}")
        if protocols[name] not in PROTOCOL_NUMBERS:
            reason = f"has {name}:{protocols[name]}, and PLAINTEXT and SSL alone are served"
            raise self._wrong(key, reason)
        return protocols[name]

    def _tls(self, name: str) -> TlsSettings:
        """Return the TLS of a listener, whose own settings count more than those of all."""
        prefix = f"listener.name.{name.lower()}."

        def own(key: str) -> str:
            return prefix + key if prefix + key in self._texts else key

        def text_of(key: str) -> str | None:
            return self._texts.get(own(key), KEYS[key].default)

        try:
            settings = tls_settings(text_of)
            server_context(settings)
        except TlsError as error:
            raise self._wrong(own(error.key), error.reason) from None
        return settings

    def _addresses(self, key: str, texts: tuple[str, ...]) -> dict[str, Address]:
        addresses = {}
        for text in texts:
            match = _LISTENER.fullmatch(text)
            if match is None or int(match[3]) > _PORT_MAX:
                raise self._wrong(key, f"has {text!r}, not name://host:port")
            addresses[match[1].upper()] = Address(match[2] or LOOPBACK, int(match[3]))
        return addresses

    def _warnings(self) -> tuple[str, ...]:
        found = []
        for name in self._unread():
            place, reason = self._places[name], unused_reason(name)
            if reason is None:
                found.append(f"{place}: {printable(name)} is not a key that is known here")
            elif name not in BROKER_KEYS:
                found.append(f"{place}: {name} changes nothing: {reason}")
        return tuple(found)

    def _unread(self) -> list[str]:
        """Return the keys that are in the file and not read, in its order."""
        found = []
        for name in self._places:
            own = _OWN_TLS.fullmatch(name)
            if name not in KEYS and (own is None or own[1] not in KEYS):
                found.append(name)
        return found

    def _meant(self, name: str) -> str:
        """Return where a key that is not set may stand under another name; nothing if nowhere."""
        unknown = [other for other in self._unread() if unused_reason(other) is None]
        similar = get_close_matches(name, unknown, 1, _SIMILAR)
        return f"; {self._places[similar[0]]} has {similar[0]}, which is no key" if similar else ""

    def _wrong(self, name: str, reason: str) -> ConfigurationError:
        place = self._places.get(name, str(self._path))
        text = self._texts.get(name)
        if text is None:
            return ConfigurationError(f"{place}: {name} {reason}{self._meant(name)}")
        if text in reason or name.endswith(SECRETS):
            return ConfigurationError(f"{place}: {name} {reason}")
        return ConfigurationError(f"{place}: {name} {reason}: {text[:_TOLD_LENGTH]!r}")
