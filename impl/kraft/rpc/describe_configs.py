"""RPC 32: the configuration of resources, as it is in effect."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from kraft.errors import ErrorCode


class ConfigSource(enum.IntEnum):
    """Where a value comes from. Kafka: DescribeConfigsResponse.ConfigSource."""

    UNKNOWN = -1
    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class ValueType(enum.IntEnum):
    """What a value is. Kafka: DescribeConfigsResponse.ConfigType."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


@dataclass(frozen=True, slots=True)
class DescribeConfigsResource:
    """A resource, and the names that are of interest; None is all of them."""

    resource_type: int
    resource_name: str
    configuration_keys: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class DescribeConfigsRequest:
    """RPC 32. Kafka: DescribeConfigsRequest. KIP-133, KIP-226, KIP-569."""

    resources: tuple[DescribeConfigsResource, ...]
    include_synonyms: bool = False
    include_documentation: bool = False


@dataclass(frozen=True, slots=True)
class ConfigSynonym:
    """A name and value from which a configuration takes its own, the first one in effect."""

    name: str
    value: str | None
    source: int


@dataclass(frozen=True, slots=True)
class DescribedConfig:
    """One configuration; `value` is None if it is not set, or withheld as sensitive.

    Kafka: DescribeConfigsResponseData.DescribeConfigsResourceResult.
    """

    name: str
    value: str | None
    read_only: bool = False
    config_source: int = ConfigSource.UNKNOWN
    is_sensitive: bool = False
    synonyms: tuple[ConfigSynonym, ...] = ()
    config_type: int = ValueType.UNKNOWN
    documentation: str | None = None


@dataclass(frozen=True, slots=True)
class DescribeConfigsResult:
    """One resource and its configurations, or why they are not told."""

    resource_type: int
    resource_name: str
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    configs: tuple[DescribedConfig, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribeConfigsResponse:
    """RPC 32, the answer: one result for each resource. Kafka: DescribeConfigsResponse."""

    results: tuple[DescribeConfigsResult, ...]
