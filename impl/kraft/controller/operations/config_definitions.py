"""The configurations of topics, groups and client metrics: their types and valid values.

Brokers check their own settings, the controller does not: of those, it knows only which are lists.
Numbers are read as Java reads them, except that NaN is refused; Kafka accepts it as a ratio.

Kafka: LogConfig, GroupConfig, ClientMetricsConfigs, KafkaConfigSchema.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.controller.operations.errors import ControllerError
from kraft.errors import ErrorCode
from kraft.records.topics import BROKER_RESOURCE, TOPIC_RESOURCE

if TYPE_CHECKING:
    from collections.abc import Mapping

CLIENT_METRICS_RESOURCE: Final = 16
GROUP_RESOURCE: Final = 32
"""Resource types. Kafka: ConfigResource.Type."""

_INT_MAX: Final = 2**31 - 1
_LONG_MAX: Final = 2**63 - 1


class ConfigType(enum.Enum):
    """The type of a value. Kafka: ConfigDef.Type."""

    BOOLEAN = enum.auto()
    STRING = enum.auto()
    INT = enum.auto()
    LONG = enum.auto()
    DOUBLE = enum.auto()
    LIST = enum.auto()


@dataclass(frozen=True, slots=True)
class ConfigDefinition:
    """The valid values of one configuration: numbers within bounds, or some words.

    `besides` is one more valid number, outside the bounds. Each element of a list must match
    `pattern`, unless the list is `*` alone.

    Kafka: ConfigDef.ConfigKey.
    """

    type: ConfigType
    default: str = ""
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    besides: int | None = None
    pattern: str | None = None


_WHOLE: Final = re.compile(r"[+-]?0*\d{1,19}")
_DECIMAL: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[dDfF]?")
_THROTTLED: Final = r"([0-9]+:[0-9]+)?"
_CODECS: Final = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
_T: Final = ConfigType


def _number(
    kind: ConfigType, default: int, least: float | None = None, most: float | None = None,
    besides: int | None = None,
) -> ConfigDefinition:  # fmt: skip
    return ConfigDefinition(kind, str(default), least, most, besides=besides)


_BOOLEAN: Final = ConfigDefinition(_T.BOOLEAN, "false")
_REPLICAS: Final = ConfigDefinition(_T.LIST, pattern=_THROTTLED)

TOPIC_CONFIGS: Final[Mapping[str, ConfigDefinition]] = {
    "cleanup.policy": ConfigDefinition(_T.LIST, "delete", choices=("compact", "delete")),
    "compression.gzip.level": _number(_T.INT, -1, 1, 9, besides=-1),
    "compression.lz4.level": _number(_T.INT, 9, 1, 17),
    "compression.type": ConfigDefinition(_T.STRING, "producer", choices=_CODECS),
    "compression.zstd.level": _number(_T.INT, 3, -131072, 22),
    "delete.retention.ms": _number(_T.LONG, 86_400_000, 0),
    "file.delete.delay.ms": _number(_T.LONG, 60_000, 0),
    "flush.messages": _number(_T.LONG, _LONG_MAX, 1),
    "flush.ms": _number(_T.LONG, _LONG_MAX, 0),
    "follower.replication.throttled.replicas": _REPLICAS,
    "index.interval.bytes": _number(_T.INT, 4096, 0),
    "internal.segment.bytes": ConfigDefinition(_T.INT),
    "leader.replication.throttled.replicas": _REPLICAS,
    "local.retention.bytes": _number(_T.LONG, -2, -2),
    "local.retention.ms": _number(_T.LONG, -2, -2),
    "max.compaction.lag.ms": _number(_T.LONG, _LONG_MAX, 1),
    "max.message.bytes": _number(_T.INT, 1_048_588, 0),
    "message.timestamp.after.max.ms": _number(_T.LONG, 3_600_000, 0),
    "message.timestamp.before.max.ms": _number(_T.LONG, _LONG_MAX, 0),
    "message.timestamp.type": ConfigDefinition(
        _T.STRING, "CreateTime", choices=("CreateTime", "LogAppendTime")
    ),
    "min.cleanable.dirty.ratio": ConfigDefinition(_T.DOUBLE, "0.5", 0, 1),
    "min.compaction.lag.ms": _number(_T.LONG, 0, 0),
    "min.insync.replicas": _number(_T.INT, 1, 1),
    "preallocate": _BOOLEAN,
    "remote.log.copy.disable": _BOOLEAN,
    "remote.log.delete.on.disable": _BOOLEAN,
    "remote.storage.enable": _BOOLEAN,
    "retention.bytes": _number(_T.LONG, -1),
    "retention.ms": _number(_T.LONG, 604_800_000, -1),
    "segment.bytes": _number(_T.INT, 1_073_741_824, 1_048_576),
    "segment.index.bytes": _number(_T.INT, 10_485_760, 4),
    "segment.jitter.ms": _number(_T.LONG, 0, 0),
    "segment.ms": _number(_T.LONG, 604_800_000, 1),
    "unclean.leader.election.enable": _BOOLEAN,
}
"""The configurations of a topic, with the defaults of Kafka 4.1."""

GROUP_CONFIGS: Final[Mapping[str, ConfigDefinition]] = {
    "consumer.heartbeat.interval.ms": _number(_T.INT, 5000, 5000, 15_000),
    "consumer.session.timeout.ms": _number(_T.INT, 45_000, 45_000, 60_000),
    "share.auto.offset.reset": ConfigDefinition(_T.STRING, "latest"),
    "share.heartbeat.interval.ms": _number(_T.INT, 5000, 5000, 15_000),
    "share.isolation.level": ConfigDefinition(
        _T.STRING, "read_uncommitted", choices=("read_committed", "read_uncommitted")
    ),
    "share.record.lock.duration.ms": _number(_T.INT, 30_000, 15_000, 60_000),
    "share.session.timeout.ms": _number(_T.INT, 45_000, 45_000, 60_000),
    "streams.heartbeat.interval.ms": _number(_T.INT, 5000, 5000, 15_000),
    "streams.num.standby.replicas": _number(_T.INT, 0, 0, 2),
    "streams.session.timeout.ms": _number(_T.INT, 45_000, 45_000, 60_000),
}
"""The configurations of a group, within the default bounds of a broker."""

CLIENT_METRICS_CONFIGS: Final[Mapping[str, ConfigDefinition]] = {
    "interval.ms": _number(_T.INT, 300_000, 100, 3_600_000),
    "match": ConfigDefinition(_T.LIST),
    "metrics": ConfigDefinition(_T.LIST),
}
"""The configurations of a client metrics subscription. KIP-714."""

_BROKER_LISTS: Final[Mapping[str, str]] = {
    "controller.quorum.bootstrap.servers": "",
    "controller.quorum.voters": "",
    "group.consumer.assignors": "uniform,range",
    "group.coordinator.rebalance.protocols": "classic,consumer,streams",
    "group.share.assignors": "simple",
    "kafka.metrics.reporters": "",
    "log.cleanup.policy": "delete",
    "metric.reporters": "org.apache.kafka.common.metrics.JmxReporter",
    "process.roles": "",
    "sasl.enabled.mechanisms": "GSSAPI",
    "sasl.kerberos.principal.to.local.rules": "DEFAULT",
    "sasl.oauthbearer.expected.audience": "",
    "ssl.cipher.suites": "",
    "ssl.enabled.protocols": "TLSv1.2,TLSv1.3",
}


def default_of_list(resource_type: int, name: str) -> str | None:
    """Return the default of a list configuration; None if it cannot be appended to.

    Lists of groups and client metrics cannot be appended to.

    Kafka: KafkaConfigSchema.isSplittable, .getDefault.
    """
    if resource_type == BROKER_RESOURCE:
        return _BROKER_LISTS.get(name)
    if resource_type != TOPIC_RESOURCE or name not in TOPIC_CONFIGS:
        return None
    definition = TOPIC_CONFIGS[name]
    return definition.default if definition.type is ConfigType.LIST else None


def validate_values(definitions: Mapping[str, ConfigDefinition], values: Mapping[str, str]) -> None:
    """Check that each value is valid for its configuration.

    Raises ControllerError (INVALID_CONFIG) with the name of the first one that is not.
    Kafka: ConfigDef.parse.
    """
    for name in sorted(values):
        definition = definitions.get(name)
        if definition is None:
            raise ControllerError(ErrorCode.INVALID_CONFIG, f"unknown configuration {name}")
        fault = _fault(definition, values[name].strip())
        if fault is not None:
            reason = f"{values[name]!r} is not a value of {name}: {fault}"
            raise ControllerError(ErrorCode.INVALID_CONFIG, reason)


def _fault(definition: ConfigDefinition, text: str) -> str | None:
    """Return why a text is an invalid value of a configuration, or None."""
    match definition.type:
        case ConfigType.BOOLEAN:
            return None if text.lower() in {"true", "false"} else "it must be true or false"
        case ConfigType.STRING:
            return _choice_fault(definition, [text])
        case ConfigType.LIST:
            return _list_fault(definition, split_value(text))
        case ConfigType.DOUBLE:
            if not _DECIMAL.fullmatch(text):
                return "it must be a number"
            return _bounds_fault(definition, float(text.rstrip("dDfF")))
        case ConfigType.INT | ConfigType.LONG:
            most = _INT_MAX if definition.type is ConfigType.INT else _LONG_MAX
            if not _WHOLE.fullmatch(text) or not -most - 1 <= int(text) <= most:
                return f"it must be a whole number of {(most + 1).bit_length()} bits"
            return _bounds_fault(definition, int(text))


def split_value(text: str) -> list[str]:
    """Return the elements of a list value, without surrounding blanks."""
    return [one.strip() for one in text.split(",")] if text.strip() else []


def _choice_fault(definition: ConfigDefinition, given: list[str]) -> str | None:
    if not definition.choices or set(given) <= set(definition.choices):
        return None
    return f"it must be of {', '.join(definition.choices)}"


def _list_fault(definition: ConfigDefinition, given: list[str]) -> str | None:
    if definition.pattern is None or "".join(given) == "*":
        return _choice_fault(definition, given)
    if all(re.fullmatch(definition.pattern, one) for one in given):
        return None
    return "it must be partition:broker, or * alone"


def _bounds_fault(definition: ConfigDefinition, number: float) -> str | None:
    if number == definition.besides:
        return None
    if definition.least is not None and number < definition.least:
        return f"it must be at least {definition.least}"
    if definition.most is not None and number > definition.most:
        return f"it must be at most {definition.most}"
    return None
