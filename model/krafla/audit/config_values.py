"""The configurations that a controller checks before it writes them, and their valid values.

Those of topics, groups and client metrics: a controller leaves the settings of nodes to the nodes.
A table holds the names of all releases from 3.3 to 4.1, and the widest bounds among them, because a
log does not show which release wrote a record. Bounds that a static configuration moves (those of
groups) are left out, and so are rules about two configurations at once.

Kafka: LogConfig, GroupConfig, ClientMetricsConfigs; ConfigDef.parseType, ConfigDef.Range.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.audit.entities import CLIENT_METRICS_RESOURCE, GROUP_RESOURCE, TOPIC_RESOURCE

if TYPE_CHECKING:
    from collections.abc import Mapping


class ConfigRule(NamedTuple):
    """The valid values of a configuration: numbers within bounds, words, or what a pattern matches.

    `bits` is the size of a whole number. An element of a list, of which there may be none, is one
    of the words, or matches. A ratio is from 0 to 1.
    """

    bits: int | None = None
    least: int | None = None
    most: int | None = None
    words: tuple[str, ...] | None = None
    pattern: str | None = None
    is_list: bool = False
    is_ratio: bool = False

    def admits(self, value: str) -> bool:
        """Return whether a value, which Kafka reads without surrounding blanks, is valid."""
        text = value.strip()
        if self.bits is not None:
            return self._is_number(text)
        if self.is_ratio:
            return _is_ratio(text)
        if self.is_list:
            return all(map(self._is_word, (one.strip() for one in text.split(",")) if text else ()))
        return self._is_word(text)

    def _is_number(self, text: str) -> bool:
        assert self.bits is not None, "the rule is about numbers"
        if not _WHOLE.fullmatch(text):
            return False
        limit = 2 ** (self.bits - 1)
        least = -limit if self.least is None else self.least
        most = limit - 1 if self.most is None else self.most
        return least <= int(text) <= most

    def _is_word(self, text: str) -> bool:
        if self.pattern is not None:
            return re.fullmatch(self.pattern, text) is not None
        return self.words is None or text in self.words


def _is_ratio(text: str) -> bool:
    """Return whether a text is a ratio to Java, which reads NaN and hexadecimal as well."""
    if _DECIMAL.fullmatch(text):
        return 0 <= float(text.rstrip("dDfF")) <= 1
    return _OTHER_DOUBLE.fullmatch(text) is not None


_WHOLE: Final = re.compile(r"[+-]?\d{1,40}")
_DECIMAL: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[dDfF]?")
_OTHER_DOUBLE: Final = re.compile(r"[+-]?(NaN|0[xX].+)")
_TEXT: Final = ConfigRule()
_LIST: Final = ConfigRule(is_list=True)
_BOOLEAN: Final = ConfigRule(pattern=r"(?i:true|false)")
_THROTTLED: Final = ConfigRule(pattern=r"\s*(\d+:\d+\s*)?(,\s*(\d+:\d+\s*)?)*|[\s,]*\*[\s,]*")
_RATIO: Final = ConfigRule(is_ratio=True)


def _int(least: int | None = None, most: int | None = None) -> ConfigRule:
    return ConfigRule(32, least, most)


def _long(least: int | None = None) -> ConfigRule:
    return ConfigRule(64, least)


_TOPIC: Final[Mapping[str, ConfigRule]] = {
    "cleanup.policy": ConfigRule(words=("compact", "delete"), is_list=True),
    "compression.gzip.level": ConfigRule(pattern=r"-0*1|\+?0*[1-9]"),
    "compression.lz4.level": _int(1, 17),
    "compression.type": ConfigRule(
        words=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
    ),
    "compression.zstd.level": _int(-131_072, 22),
    "delete.retention.ms": _long(0),
    "file.delete.delay.ms": _long(0),
    "flush.messages": _long(1),
    "flush.ms": _long(0),
    "follower.replication.throttled.replicas": _THROTTLED,
    "index.interval.bytes": _int(0),
    "internal.segment.bytes": _int(),
    "leader.replication.throttled.replicas": _THROTTLED,
    "local.retention.bytes": _long(-2),
    "local.retention.ms": _long(-2),
    "max.compaction.lag.ms": _long(1),
    "max.message.bytes": _int(0),
    "message.downconversion.enable": _BOOLEAN,
    "message.format.version": _TEXT,
    "message.timestamp.after.max.ms": _long(0),
    "message.timestamp.before.max.ms": _long(0),
    "message.timestamp.difference.max.ms": _long(0),
    "message.timestamp.type": ConfigRule(words=("CreateTime", "LogAppendTime")),
    "min.cleanable.dirty.ratio": _RATIO,
    "min.compaction.lag.ms": _long(0),
    "min.insync.replicas": _int(1),
    "preallocate": _BOOLEAN,
    "remote.log.copy.disable": _BOOLEAN,
    "remote.log.delete.on.disable": _BOOLEAN,
    "remote.storage.enable": _BOOLEAN,
    "retention.bytes": _long(),
    "retention.ms": _long(-1),
    "segment.bytes": _int(14),
    "segment.index.bytes": _int(4),
    "segment.jitter.ms": _long(0),
    "segment.ms": _long(1),
    "unclean.leader.election.enable": _BOOLEAN,
}
_GROUP: Final[Mapping[str, ConfigRule]] = {
    "consumer.heartbeat.interval.ms": _int(1),
    "consumer.session.timeout.ms": _int(1),
    "share.auto.offset.reset": _TEXT,
    "share.heartbeat.interval.ms": _int(1),
    "share.isolation.level": ConfigRule(words=("read_committed", "read_uncommitted")),
    "share.record.lock.duration.ms": _int(1_000),
    "share.session.timeout.ms": _int(1),
    "streams.heartbeat.interval.ms": _int(1),
    "streams.num.standby.replicas": _int(0),
    "streams.session.timeout.ms": _int(1),
}
_CLIENT_METRICS: Final[Mapping[str, ConfigRule]] = {
    "interval.ms": _int(100, 3_600_000),
    "match": ConfigRule(
        pattern=r"client_(instance_id|id|software_(name|version)|source_(address|port))"
        r"\s*=[^=]+=*",
        is_list=True,
    ),
    "metrics": _LIST,
}
CONFIG_RULES: Final[Mapping[int, Mapping[str, ConfigRule]]] = {
    TOPIC_RESOURCE: _TOPIC,
    CLIENT_METRICS_RESOURCE: _CLIENT_METRICS,
    GROUP_RESOURCE: _GROUP,
}
"""By type of resource, the configurations that a controller checks."""


def config_fault(resource_type: int, name: str, value: str) -> str | None:
    """Return why no controller writes this value of a configuration, None if one may."""
    rules = CONFIG_RULES.get(resource_type)
    if rules is None:
        return None
    if name not in rules:
        return f"resources of type {resource_type} have no configuration {name!r}"
    return None if rules[name].admits(value) else f"{name} is {value!r}, which Kafka refuses"
