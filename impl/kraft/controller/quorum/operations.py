"""Which request is which operation, and what an active controller does by itself.

Another request is another line of WRITES or READS, another periodic task another line of TASKS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kraft.chance import derive
from kraft.controller.alter_partition import alter_partition
from kraft.controller.directories import assign_replicas_to_dirs
from kraft.controller.elections import (
    balance_partition_leaders,
    elect_leaders,
    elect_unclean_leaders,
)
from kraft.controller.reassignments import (
    alter_partition_reassignments,
    list_partition_reassignments,
)
from kraft.controller.result import Generated, Result
from kraft.controller.topics import create_partitions, create_topics, delete_topics
from kraft.ids import UUID_BYTES, TopicId, uuid_text
from kraft.records.lease import NoOpRecord
from kraft.rpc.alter_partition import AlterPartitionRequest
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest
from kraft.rpc.elect_leaders import ElectLeadersRequest
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
)
from kraft.rpc.topics import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)

if TYPE_CHECKING:
    from kraft.controller.defaults import Defaults
    from kraft.controller.heartbeats import Heartbeats
    from kraft.controller.quorum.configuration import Configuration
    from kraft.controller.written import Written
    from kraft.image.metadata_image import MetadataImage

IBP_3_3_IV1: Final = 5
"""The first metadata version with a NoOpRecord. Kafka: MetadataVersion.isNoOpRecordSupported."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an operation may look at: the newest state, committed or not, and the request."""

    written: Written
    heartbeats: Heartbeats
    defaults: Defaults
    request: Any
    now_ms: int
    chance: int

    @property
    def image(self) -> MetadataImage:
        """The newest image."""
        return self.written.image


Operation = Callable[[Asked], Result[Any] | Generated[Any]]
Read = Callable[["MetadataImage", Any], Any]


@dataclass(frozen=True, slots=True)
class Task:
    """What an active controller does by itself; its response says whether to come again soon.

    Kafka: PeriodicTask.
    """

    name: str
    operation: Operation
    period_ms: Callable[[Configuration], int]


@dataclass(frozen=True, slots=True)
class Operations:
    """What a controller can be asked to write, and to read, by the type of the request."""

    writes: Mapping[type[Any], Operation]
    reads: Mapping[type[Any], Read]
    tasks: tuple[Task, ...] = ()


def of_image(operation: Callable[..., Result[Any]]) -> Operation:
    """Return the operation of a function that takes image, defaults and request."""
    return lambda asked: operation(asked.image, asked.defaults, asked.request)


def of_brokers(operation: Callable[..., Generated[Any]]) -> Operation:
    """Return the operation of one that takes written, heartbeats, defaults and request."""
    return lambda asked: operation(asked.written, asked.heartbeats, asked.defaults, asked.request)


def of_brokers_in_time(operation: Callable[..., Generated[Any]]) -> Operation:
    """Return the operation of one that takes the time in milliseconds besides."""
    return lambda asked: operation(
        asked.written, asked.heartbeats, asked.defaults, asked.request, asked.now_ms
    )


def new_uuids(chance: int, count: int) -> tuple[TopicId, ...]:
    """Return ids that nobody has yet, as long as no chance comes twice. Kafka: Uuid.randomUuid."""
    halves = [(derive(chance, "high", i), derive(chance, "low", i)) for i in range(count)]
    half = UUID_BYTES // 2
    return tuple(
        TopicId(uuid_text(high.to_bytes(half, "big") + low.to_bytes(half, "big")))
        for high, low in halves
    )


def _create_topics(asked: Asked) -> Result[Any]:
    request: CreateTopicsRequest = asked.request
    ids = new_uuids(asked.chance, len(request.topics))
    return create_topics(asked.image, asked.defaults, request, ids, asked.chance)


def _create_partitions(asked: Asked) -> Result[Any]:
    return create_partitions(asked.image, asked.request, asked.chance)


def _delete_topics(asked: Asked) -> Result[DeleteTopicsResponse]:
    request: DeleteTopicsRequest = asked.request
    result = delete_topics(asked.image, request.topic_ids)
    response = DeleteTopicsResponse(tuple(result.response.items()))
    return Result(result.records, response, result.is_atomic)


def _no_op(asked: Asked) -> Result[bool]:
    """Write a record that says nothing, so that offsets move. Kafka: NoOpRecord. KIP-835."""
    version = asked.image.metadata_version
    records = (NoOpRecord(),) if version is not None and version >= IBP_3_3_IV1 else ()
    return Result(records, response=False)


WRITES: Final[Mapping[type[Any], Operation]] = {
    AlterPartitionRequest: of_image(alter_partition),
    AlterPartitionReassignmentsRequest: of_image(alter_partition_reassignments),
    AssignReplicasToDirsRequest: of_image(assign_replicas_to_dirs),
    CreatePartitionsRequest: _create_partitions,
    CreateTopicsRequest: _create_topics,
    DeleteTopicsRequest: _delete_topics,
    ElectLeadersRequest: of_image(elect_leaders),
}

READS: Final[Mapping[type[Any], Read]] = {
    ListPartitionReassignmentsRequest: list_partition_reassignments,
}

TASKS: Final = (
    Task(
        "electPreferred",
        lambda asked: balance_partition_leaders(asked.image, asked.defaults),
        lambda configuration: configuration.leader_imbalance_check_interval_ms,
    ),
    Task(
        "electUnclean",
        lambda asked: elect_unclean_leaders(asked.image, asked.defaults),
        lambda configuration: configuration.unclean_leader_election_check_interval_ms,
    ),
    Task(
        "writeNoOpRecord", _no_op, lambda configuration: configuration.metadata_max_idle_interval_ms
    ),
)

OPERATIONS: Final = Operations(WRITES, READS, TASKS)
"""All that Kafka's clients may ask of a controller here."""
