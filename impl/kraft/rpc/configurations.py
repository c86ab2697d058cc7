"""RPCs 44 and 33: the configuration of topics, brokers, groups and client metrics changes."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from kraft.errors import ErrorCode

BROKER_LOGGER_RESOURCE: Final = 8
"""The type of the resource that is the loggers of a node. Kafka: ConfigResource.Type. KIP-412."""


class ConfigOperation(enum.IntEnum):
    """The change of one configuration of a resource. Kafka: AlterConfigOp.OpType."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class AlterableConfig:
    """One configuration and its change; APPEND and SUBTRACT are for lists, with `,` between."""

    name: str
    value: str | None = None
    config_operation: ConfigOperation = ConfigOperation.SET


@dataclass(frozen=True, slots=True)
class AlterConfigsResource:
    """A resource and its changes; an empty name stands for all brokers together."""

    resource_type: int
    resource_name: str
    configs: tuple[AlterableConfig, ...]


@dataclass(frozen=True, slots=True)
class IncrementalAlterConfigsRequest:
    """RPC 44. Kafka: IncrementalAlterConfigsRequest. KIP-339."""

    resources: tuple[AlterConfigsResource, ...]
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class ReplacedConfigs:
    """A resource and its complete new configuration: everything else that it has is deleted."""

    resource_type: int
    resource_name: str
    configs: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class AlterConfigsRequest:
    """RPC 33. Kafka: AlterConfigsRequest. KIP-133."""

    resources: tuple[ReplacedConfigs, ...]
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class AlterConfigsResourceResponse:
    """What became of one resource."""

    resource_type: int
    resource_name: str
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class AlterConfigsResponse:
    """RPCs 44 and 33, the answer. Kafka: IncrementalAlterConfigsResponse, AlterConfigsResponse."""

    responses: tuple[AlterConfigsResourceResponse, ...]
