"""RPC 32: the configuration of resources, as it is in effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kraft.errors import ErrorCode

UNKNOWN_SOURCE: Final = -1
"""Where a value comes from, if that is not said. Kafka: DescribeConfigsResponse.ConfigSource."""
UNKNOWN_TYPE: Final = 0
"""What a value is, if that is not said. Kafka: DescribeConfigsResponse.ConfigType."""


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
    config_source: int = UNKNOWN_SOURCE
    is_sensitive: bool = False
    synonyms: tuple[ConfigSynonym, ...] = ()
    config_type: int = UNKNOWN_TYPE
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
