"""The keys of a server.properties: which ones a controller here reads, and their valid values.

Kafka: KafkaConfig, KRaftConfigs, QuorumConfig, SocketServerConfigs, ServerLogConfigs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MOST_DIGITS: Final = 20
_INT_MAX: Final = 2**31 - 1
_LONG_MAX: Final = 2**63 - 1
DAY_MS: Final = 24 * 60 * 60 * 1000
MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Key:
    """One key: how its value is read, its default as written, and what it does here.

    `read` raises ValueError with what is wrong with a text. A `default` of None is no value.
    """

    name: str
    read: Callable[[str], Any]
    default: str | None
    use: str


def number(least: int, most: int) -> Callable[[str], int]:
    """Return the reader of a whole number within bounds. Kafka: ConfigDef.Range."""

    def read(text: str) -> int:
        digits = text.removeprefix("-")
        is_one = digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS
        if not is_one or not least <= int(text) <= most:
            raise ValueError(f"is not a number from {least} to {most}")
        return int(text)

    return read


def boolean(text: str) -> bool:
    """Return the truth value of a text. Kafka: ConfigDef.Type.BOOLEAN."""
    if text.lower() not in ("true", "false"):
        raise ValueError("is neither true nor false")
    return text.lower() == "true"


def words(text: str) -> tuple[str, ...]:
    """Return the elements of a list. Kafka: ConfigDef.Type.LIST."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


_COUNT: Final = number(1, _INT_MAX)
_PERIOD: Final = number(1, _LONG_MAX)
_ANY_PERIOD: Final = number(0, _LONG_MAX)
_SHORT: Final = number(0, _INT_MAX)

_READ: Final = (
    Key("process.roles", words, "", "only controller: a broker does not run here"),
    Key("node.id", number(0, _INT_MAX), None, "the id of this node"),
    Key(
        "controller.quorum.voters",
        words,
        "",
        "id@host:port of each voter of a static quorum; none if the log names the voters",
    ),
    Key(
        "controller.quorum.bootstrap.servers",
        words,
        "",
        "host:port of controllers to ask for the leader",
    ),
    Key(
        "controller.quorum.auto.join.enable",
        boolean,
        "false",
        "only false: voters are added by add-controller",
    ),
    Key("controller.quorum.election.timeout.ms", _SHORT, "1000", "Raft's election timeout"),
    Key("controller.quorum.fetch.timeout.ms", _SHORT, "2000", "Raft's fetch timeout"),
    Key("controller.quorum.election.backoff.max.ms", _SHORT, "1000", "Raft's election back-off"),
    Key("controller.quorum.append.linger.ms", _SHORT, "25", "how long Raft gathers records"),
    Key("controller.quorum.request.timeout.ms", _SHORT, "2000", "Raft's request timeout"),
    Key("controller.quorum.retry.backoff.ms", _SHORT, "20", "Raft's back-off after a failure"),
    Key("controller.listener.names", words, "", "the controller listeners; the first is Raft's"),
    Key(
        "listeners",
        words,
        "",
        "name://host:port of each listener; an absent host is 127.0.0.1, in Kafka all addresses",
    ),
    Key("advertised.listeners", words, "", "what others are told, where it is not as bound"),
    Key(
        "listener.security.protocol.map",
        words,
        "",
        "name:protocol of each listener: PLAINTEXT or SSL",
    ),
    Key("metadata.log.dir", str, None, "the directory of the log; the first of log.dirs if absent"),
    Key("log.dirs", words, None, "the directories; each is locked"),
    Key("log.dir", words, "/tmp/kafka-logs", "the directory, if log.dirs is absent"),  # noqa: S108  # Kafka's default
    Key("metadata.log.segment.bytes", number(12, _INT_MAX), str(1024 * MIB), "a segment's size"),
    Key(
        "metadata.log.max.record.bytes.between.snapshots",
        _PERIOD,
        str(20 * MIB),
        "a snapshot is due after this many bytes",
    ),
    Key(
        "metadata.log.max.snapshot.interval.ms",
        _ANY_PERIOD,
        "3600000",
        "a snapshot is due after this time; 0 is never",
    ),
    Key(
        "metadata.max.idle.interval.ms",
        _SHORT,
        "500",
        "an idle leader writes a NoOpRecord after this time; 0 is never",
    ),
    Key(
        "broker.session.timeout.ms",
        number(1, _INT_MAX),
        "9000",
        "a broker is fenced after so long without a heartbeat",
    ),
    Key("num.partitions", _COUNT, "1", "the partitions of a topic that says none"),
    Key("default.replication.factor", _COUNT, "1", "the replicas of a topic that says none"),
    Key("min.insync.replicas", _COUNT, "1", "that of topics that say none"),
    Key("unclean.leader.election.enable", boolean, "false", "that of topics that say none"),
    Key(
        "leader.imbalance.check.interval.seconds",
        _PERIOD,
        "300",
        "the period of preferred elections",
    ),
    Key("auto.leader.rebalance.enable", boolean, "true", "whether there are preferred elections"),
    Key("delegation.token.secret.key", str, None, "without it there are no delegation tokens"),
    Key("delegation.token.max.lifetime.ms", _PERIOD, str(7 * DAY_MS), "the life of a token"),
    Key(
        "delegation.token.expiry.time.ms",
        _PERIOD,
        str(DAY_MS),
        "how long a token is valid before it must be renewed",
    ),
    Key(
        "delegation.token.expiry.check.interval.ms",
        _PERIOD,
        "3600000",
        "the period of the removal of tokens",
    ),
    Key("ssl.keystore.type", str, None, "only PEM"),
    Key("ssl.keystore.location", str, None, "a file with the private key and its certificates"),
    Key("ssl.key.password", str, None, "the password of that key, if it has one"),
    Key("ssl.truststore.type", str, None, "only PEM"),
    Key(
        "ssl.truststore.location",
        str,
        None,
        "the certificates that are trusted; the system's if absent",
    ),
    Key(
        "ssl.client.auth",
        str,
        "none",
        "whether others must show a certificate: none, requested, required",
    ),
    Key(
        "ssl.endpoint.identification.algorithm",
        str,
        "https",
        "https: controllers check each other's names; empty: not",
    ),
    Key(
        "socket.request.max.bytes",
        _COUNT,
        str(2 * MIB),
        "a larger request ends its connection; Kafka's default is 104857600",
    ),
    Key(
        "queued.max.request.bytes",
        number(-1, _LONG_MAX),
        str(32 * MIB),
        "connections that together hold more of unfinished requests and unread answers end, the "
        "oldest first; -1, Kafka's default, is no limit",
    ),
    Key(
        "connections.max.idle.ms",
        _PERIOD,
        "600000",
        "a connection ends that neither asks nor is answered for so long",
    ),
    Key(
        "max.connections",
        _COUNT,
        str(_INT_MAX),
        "one more ends the connection that was used least recently; at most as many as there are "
        "file descriptors less 64",
    ),
    Key(
        "max.connections.per.ip",
        _SHORT,
        str(_INT_MAX),
        "one more from an address is closed at once",
    ),
)
_UNUSED: Final[Mapping[str, str]] = {
    "max.connection.creation.rate": "connections are counted, and not how fast they come",
    "max.connections.per.ip.overrides": "max.connections.per.ip is the same for all addresses",
    "queued.max.requests": "requests wait by the memory that they take, not by their number",
    "authorizer.class.name": "there is no authorizer here yet",
    "broker.heartbeat.interval.ms": "a heartbeat is taken, however long it has waited",
    "metadata.log.segment.ms": "segments end by size alone",
    "metadata.log.segment.min.bytes": "metadata.log.segment.bytes has no other lower bound",
    "metadata.max.retention.bytes": "a snapshot removes all of the log that it covers",
    "metadata.max.retention.ms": "a snapshot removes all of the log that it covers",
    "super.users": "there is no authorizer here yet",
}
"""Keys of a controller that are accepted, and why they change nothing."""

BROKER_KEYS: Final = frozenset(
    {
        "auto.create.topics.enable", "background.threads", "group.initial.rebalance.delay.ms",
        "inter.broker.listener.name", "log.cleaner.dedupe.buffer.size",
        "log.cleaner.io.buffer.size", "log.index.size.max.bytes", "log.retention.bytes",
        "log.retention.check.interval.ms", "log.retention.hours", "log.segment.bytes",
        "num.io.threads", "num.network.threads", "num.recovery.threads.per.data.dir",
        "offsets.topic.num.partitions", "offsets.topic.replication.factor",
        "share.coordinator.state.topic.min.isr",
        "share.coordinator.state.topic.replication.factor", "socket.receive.buffer.bytes",
        "socket.send.buffer.bytes", "transaction.state.log.min.isr",
        "transaction.state.log.num.partitions", "transaction.state.log.replication.factor",
    }
)  # fmt: skip

SECRETS: Final = ("delegation.token.secret.key", "ssl.key.password")
"""Keys whose values are never repeated."""

KEYS: Final[Mapping[str, Key]] = {key.name: key for key in _READ}
"""The keys that are read, by name."""


def unused_reason(name: str) -> str | None:
    """Return why a key of Kafka's changes nothing here; None for a key that Kafka has not."""
    if name in BROKER_KEYS:
        return "it concerns brokers and threads"
    return _UNUSED.get(name)
