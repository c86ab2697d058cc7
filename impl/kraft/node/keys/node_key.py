"""One key of a Kafka node, and the table of all of them.

Kafka: ConfigDef.ConfigKey, KafkaConfig.configType, DynamicBrokerConfig.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.node.keys import other_numbers, whole_numbers, words
from kraft.rpc.describe_configs import ValueType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[dDfF]?")
_BITS: Final = {ValueType.SHORT: 16, ValueType.INT: 32, ValueType.LONG: 64}
_LISTENER: Final = re.compile(r"listener\.name\.[^.]*\.(.*)")
_MECHANISM: Final = (
    "connections.max.reauth.ms",
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
)
"""What a listener has for each mechanism. Kafka: DynamicBrokerConfig.ListenerMechanismConfigs."""


class NodeKey(NamedTuple):
    """A key: its name, the type of its value, its default, and what sets it besides a file."""

    name: str
    type: ValueType
    default: str | None
    mark: str

    @property
    def is_internal(self) -> bool:
        """Whether it is told only where it is set. Kafka: ConfigDef.ConfigKey.internalConfig."""
        return self.mark == "i"

    @property
    def is_dynamic(self) -> bool:
        """Whether records can set it. Kafka: DynamicBrokerConfig.AllDynamicConfigs."""
        return self.mark in "cns"


def _rows() -> Iterator[NodeKey]:
    tables = (
        (ValueType.INT, whole_numbers.INTEGERS),
        (ValueType.SHORT, other_numbers.SHORTS),
        (ValueType.LONG, other_numbers.LONGS),
        (ValueType.DOUBLE, other_numbers.DOUBLES),
        (ValueType.BOOLEAN, other_numbers.BOOLEANS),
        (ValueType.STRING, words.STRINGS),
        (ValueType.LIST, words.LISTS),
        (ValueType.CLASS, words.CLASSES),
        (ValueType.PASSWORD, words.PASSWORDS),
    )
    for kind, text in tables:
        for row in text.strip().splitlines():
            name, separator, default = row[2:].partition("=")
            yield NodeKey(name, kind, default if separator else None, row[0])


NODE_KEYS: Final[Mapping[str, NodeKey]] = {key.name: key for key in _rows()}
"""Every key of a Kafka 4.1 node by its name."""

_FAMILIES: Final = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
_FLUSH: Final = ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")


def synonyms_of(name: str) -> tuple[str, ...]:
    """Return the keys that set the same as a key, the one that counts most first.

    A listener's own key has the key of all listeners behind it.

    Kafka: DynamicBrokerConfig.brokerConfigSynonyms.
    """
    for family in _FAMILIES:
        if name in family:
            return family
    if name == _FLUSH[0]:
        return _FLUSH
    own = _LISTENER.fullmatch(name)
    if own is None:
        return (name,)
    base = next((one for one in _MECHANISM if own[1].endswith(one)), own[1])
    return name, base


def base_name(name: str) -> str:
    """Return the key of all listeners for a listener's own key; any other key is its own."""
    own = _LISTENER.fullmatch(name)
    return name if own is None else own[1]


def is_sensitive(kind: ValueType) -> bool:
    """Return whether values of a type are withheld. Kafka: KafkaConfig.maybeSensitive."""
    return kind in (ValueType.PASSWORD, ValueType.UNKNOWN)


def canonical(kind: ValueType, text: str) -> str:
    """Return a value as Kafka writes it. Raises ValueError for a text that is none of its type.

    Kafka: ConfigDef.parseType, .convertToString.
    """
    text = text.strip()
    if kind in _BITS:
        most = 1 << (_BITS[kind] - 1)
        if not _WHOLE.fullmatch(text) or not -most <= int(text) < most:
            raise ValueError("it is no whole number of its width")
        return str(int(text))
    match kind:
        case ValueType.BOOLEAN:
            if text.lower() not in ("true", "false"):
                raise ValueError("it is neither true nor false")
            return text.lower()
        case ValueType.DOUBLE:
            if not _DECIMAL.fullmatch(text):
                raise ValueError("it is no number")
            return _java_double(float(text.rstrip("dDfF")))
        case ValueType.LIST:
            return ",".join(one.strip() for one in text.split(",")) if text else ""
    return text


_LEAST_PLAIN: Final = 1e-3
_LEAST_SCIENTIFIC: Final = 1e7


def _java_double(number: float) -> str:
    """Return a number as Java's Double.toString writes it."""
    if number == 0 or _LEAST_PLAIN <= abs(number) < _LEAST_SCIENTIFIC:
        return repr(number)
    sign, digits, _ = Decimal(repr(number)).normalize().as_tuple()
    exponent = Decimal(repr(number)).adjusted()
    fraction = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{fraction}E{exponent}"
