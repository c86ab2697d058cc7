"""RPCs 19, 20 and 37: topics begin, end, and get more partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.errors import ErrorCode
from kraft.ids import ZERO_UUID, TopicId

if TYPE_CHECKING:
    from kraft.ids import BrokerId, PartitionId

BY_DEFAULT: Final = -1
"""The number of partitions or replicas that the controller's configuration says, or the lists."""
_NO_TOPIC: Final = TopicId(ZERO_UUID)


@dataclass(frozen=True, slots=True)
class CreatableTopic:
    """A topic as it should be. With `assignments`, both numbers are BY_DEFAULT.

    `assignments` are partition indexes with their replicas, `configs` names with their values.
    """

    name: str
    num_partitions: int = BY_DEFAULT
    replication_factor: int = BY_DEFAULT
    assignments: tuple[tuple[PartitionId, tuple[BrokerId, ...]], ...] = ()
    configs: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class CreateTopicsRequest:
    """RPC 19. Kafka: CreateTopicsRequest. KIP-464."""

    topics: tuple[CreatableTopic, ...]
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class CreatedTopicConfig:
    """One configuration of a new topic, as it is in effect; `config_source` says why it is so.

    Kafka: CreateTopicsResponseData.CreatableTopicConfigs. KIP-525.
    """

    name: str
    value: str | None
    read_only: bool = False
    config_source: int = -1
    is_sensitive: bool = False


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """What became of one topic; the fields after `error_message` say nothing if it was refused.

    `topic_config_error_code` says why the last three are not told.
    """

    name: str
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    topic_id: TopicId = _NO_TOPIC
    num_partitions: int = BY_DEFAULT
    replication_factor: int = BY_DEFAULT
    configs: tuple[CreatedTopicConfig, ...] = ()
    topic_config_error_code: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True)
class CreateTopicsResponse:
    """RPC 19, the answer. Kafka: CreateTopicsResponse."""

    topics: tuple[CreatedTopic, ...]


@dataclass(frozen=True, slots=True)
class CreatePartitionsTopic:
    """A topic and how many partitions it should have; with `assignments`, those of the new ones."""

    name: str
    count: int
    assignments: tuple[tuple[BrokerId, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class CreatePartitionsRequest:
    """RPC 37. Kafka: CreatePartitionsRequest."""

    topics: tuple[CreatePartitionsTopic, ...]
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class CreatePartitionsTopicResult:
    """What became of one topic."""

    name: str
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class CreatePartitionsResponse:
    """RPC 37, the answer. Kafka: CreatePartitionsResponse."""

    results: tuple[CreatePartitionsTopicResult, ...]


@dataclass(frozen=True, slots=True)
class DeleteTopicsRequest:
    """RPC 20: topics end, by their ids. Kafka: DeleteTopicsRequest. KIP-516."""

    topic_ids: tuple[TopicId, ...]


@dataclass(frozen=True, slots=True)
class DeleteTopicsResponse:
    """RPC 20, the answer: what became of each topic. Kafka: DeleteTopicsResponse."""

    responses: tuple[tuple[TopicId, ErrorCode], ...]
