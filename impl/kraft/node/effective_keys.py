"""The keys of this node as they are in effect: its server.properties below what records set.

Kafka: DynamicBrokerConfig, KafkaConfig.extractLogConfigMap, GroupCoordinatorConfig.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.node.keys.node_key import NODE_KEYS, base_name, canonical, synonyms_of
from kraft.records.topics import BROKER_RESOURCE
from kraft.rpc.describe_configs import ConfigSource, ConfigSynonym, ValueType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kraft.ids import NodeId
    from kraft.image.metadata_image import MetadataImage

_MINUTE: Final = 60_000
_HOUR: Final = 60 * _MINUTE

TOPIC_SYNONYMS: Final[Mapping[str, str]] = {
    "cleanup.policy": "log.cleanup.policy",
    "compression.gzip.level": "compression.gzip.level",
    "compression.lz4.level": "compression.lz4.level",
    "compression.type": "compression.type",
    "compression.zstd.level": "compression.zstd.level",
    "delete.retention.ms": "log.cleaner.delete.retention.ms",
    "file.delete.delay.ms": "log.segment.delete.delay.ms",
    "flush.messages": "log.flush.interval.messages",
    "flush.ms": "log.flush.interval.ms",
    "index.interval.bytes": "log.index.interval.bytes",
    "local.retention.bytes": "log.local.retention.bytes",
    "local.retention.ms": "log.local.retention.ms",
    "max.compaction.lag.ms": "log.cleaner.max.compaction.lag.ms",
    "max.message.bytes": "message.max.bytes",
    "message.timestamp.after.max.ms": "log.message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms": "log.message.timestamp.before.max.ms",
    "message.timestamp.type": "log.message.timestamp.type",
    "min.cleanable.dirty.ratio": "log.cleaner.min.cleanable.ratio",
    "min.compaction.lag.ms": "log.cleaner.min.compaction.lag.ms",
    "min.insync.replicas": "min.insync.replicas",
    "preallocate": "log.preallocate",
    "retention.bytes": "log.retention.bytes",
    "retention.ms": "log.retention.ms",
    "segment.bytes": "log.segment.bytes",
    "segment.index.bytes": "log.index.size.max.bytes",
    "segment.jitter.ms": "log.roll.jitter.ms",
    "segment.ms": "log.roll.ms",
    "unclean.leader.election.enable": "unclean.leader.election.enable",
}
"""The key of a node that is the default of a topic's. Kafka: ServerTopicConfigSynonyms."""

_GROUP_SYNONYMS: Final[Mapping[str, str]] = {
    "consumer.heartbeat.interval.ms": "group.consumer.heartbeat.interval.ms",
    "consumer.session.timeout.ms": "group.consumer.session.timeout.ms",
    "share.heartbeat.interval.ms": "group.share.heartbeat.interval.ms",
    "share.record.lock.duration.ms": "group.share.record.lock.duration.ms",
    "share.session.timeout.ms": "group.share.session.timeout.ms",
}


class TopicDefault(NamedTuple):
    """What a node says of one key of topics: its value, as what it is described, what sets it."""

    value: str | None
    synonyms: tuple[ConfigSynonym, ...]
    source: ConfigSource


NO_DEFAULT: Final = TopicDefault(None, (), ConfigSource.DEFAULT)
"""What a node says of a key of topics that none of its own keys sets."""


class EffectiveKeys:
    """The keys of one node over one image.

    `written` is the server.properties; `own_defaults` are those of keys for which this
    implementation has another default than Kafka.
    """

    def __init__(
        self,
        image: MetadataImage,
        node_id: NodeId,
        written: Mapping[str, str],
        own_defaults: Mapping[str, str],
    ) -> None:
        static = dict(written)
        for one, other in (("node.id", "broker.id"), ("broker.id", "node.id")):
            if one in written:
                static.setdefault(other, written[one])
        self._own_defaults = own_defaults
        every = _applicable(image.configurations.get((BROKER_RESOURCE, ""), {}), of_one=False)
        own: Mapping[str, str] = image.configurations.get((BROKER_RESOURCE, str(node_id)), {})
        self._layers = (
            (ConfigSource.DYNAMIC_BROKER, _applicable(own, of_one=True)),
            (ConfigSource.DYNAMIC_DEFAULT_BROKER, every),
            (ConfigSource.STATIC_BROKER, static),
        )
        self.for_all_nodes: Mapping[str, str] = every
        self.set_keys = _overlaid(static, every, self._layers[0][1])

    def value(self, name: str) -> str | None:
        """Return the value of a key in effect, as Kafka writes it; None if it has none."""
        text = self.set_keys.get(name, self._default(name))
        if text is None:
            return None
        try:
            return canonical(type_of(name), text)
        except ValueError:
            # A key that concerns brokers is not read here, so a bad value of it is told as it is.
            return text

    def synonyms(self, name: str, *, secret: bool) -> tuple[ConfigSynonym, ...]:
        """Return where the value of a key comes from, the source that counts most first.

        Kafka: ConfigHelper.configSynonyms.
        """
        names = synonyms_of(name)
        found = [
            ConfigSynonym(one, None if secret else values[one], source)
            for source, values in self._layers
            for one in names
            if one in values
        ]
        found += [
            ConfigSynonym(one, None if secret else default, ConfigSource.DEFAULT)
            for one in names
            if (default := self._default(one)) is not None
        ]
        # Kafka shows a synonym only behind the key itself.
        while found and found[0].name != name:
            del found[0]
        return tuple(found)

    @cached_property
    def topic_defaults(self) -> Mapping[str, TopicDefault]:
        """What a topic has whose own configuration does not say, by the topic's key.

        Kafka: KafkaConfig.extractLogConfigMap, KafkaConfigSchema.resolveEffectiveTopicConfigs.
        """
        return {name: self._topic_default(key) for name, key in TOPIC_SYNONYMS.items()}

    def _topic_default(self, key: str) -> TopicDefault:
        names = synonyms_of(key)
        value = next((v for one in names if (v := self._in_ms(one)) is not None), None)
        if key == "log.retention.ms" and value is not None:
            value = str(max(int(value), -1))
        set_by = (source for source, values in self._layers if any(one in values for one in names))
        source = next(set_by, ConfigSource.DEFAULT)
        return TopicDefault(value, self.synonyms(key, secret=False), source)

    def group_default(self, name: str) -> str | None:
        """Return what a group has whose own configuration does not say; None if nothing does.

        Kafka: GroupCoordinatorConfig.extractGroupConfigMap.
        """
        key = _GROUP_SYNONYMS.get(name)
        return None if key is None else self.value(key)

    def _in_ms(self, name: str) -> str | None:
        value = self.value(name)
        if value is None:
            return None
        factor = _HOUR if name.endswith(".hours") else _MINUTE if name.endswith(".minutes") else 1
        return value if factor == 1 else str(int(value) * factor)

    def _default(self, name: str) -> str | None:
        if name in self._own_defaults:
            return self._own_defaults[name]
        key = NODE_KEYS.get(name)
        return None if key is None else key.default


def type_of(name: str) -> ValueType:
    """Return the type of a node's key; a listener's own has that of all listeners.

    Kafka: KafkaConfig.configType.
    """
    key = NODE_KEYS.get(name) or NODE_KEYS.get(synonyms_of(name)[-1])
    return ValueType.UNKNOWN if key is None else key.type


def _applicable(values: Mapping[str, str], *, of_one: bool) -> dict[str, str]:
    """Return those of the values in records that a node takes over.

    Kafka: DynamicBrokerConfig.fromPersistentProps.
    """
    return {name: value for name, value in values.items() if _applies(name, value, of_one=of_one)}


def _applies(name: str, value: str, *, of_one: bool) -> bool:
    base = base_name(name)
    key = NODE_KEYS.get(base)
    if key is None:
        return True
    if base == name and (not key.is_dynamic or key.mark == "s"):
        return False
    if not of_one and (key.mark in "ns" if base == name else not of_all_listeners(base)):
        return False
    try:
        canonical(key.type, value)
    except ValueError:
        return False
    return True


def of_all_listeners(name: str) -> bool:
    """Return whether records may set a listener's own key of this name for all nodes.

    Kafka: DynamicBrokerConfig.ClusterLevelListenerConfigs.
    """
    return name in ("max.connection.creation.rate", "max.connections", "num.network.threads")


def _overlaid(static: Mapping[str, str], *dynamic: Mapping[str, str]) -> dict[str, str]:
    """Return static values below dynamic ones, each of which hides all that sets the same.

    Kafka: DynamicBrokerConfig.overrideProps.
    """
    found = dict(static)
    for values in dynamic:
        for name, value in values.items():
            # A key of all listeners stays below the own key of one.
            for one in synonyms_of(name) if base_name(name) == name else (name,):
                found.pop(one, None)
            found[name] = value
    return found
