"""Topics are created, get more partitions, and are deleted.

Kafka: ReplicationControlManager.createTopics, .createPartitions, .deleteTopics.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain, product
from typing import TYPE_CHECKING, Final

from kraft.controller.operations.configurations import altered_configuration, clear_elr_records
from kraft.controller.operations.errors import ControllerError, validate_once
from kraft.controller.operations.leader_eligibility import (
    default_directory,
    is_active,
    metadata_version_of,
)
from kraft.controller.operations.placement import place
from kraft.controller.operations.reassignments import validate_assignment
from kraft.controller.operations.result import Result
from kraft.controller.operations.topic_names import validate_topic_name
from kraft.controller.operations.user_batch import UserBatch
from kraft.errors import ErrorCode
from kraft.ids import PartitionId
from kraft.image.versions import IBP_3_7_IV2
from kraft.records.topics import TOPIC_RESOURCE, PartitionRecord, RemoveTopicRecord, TopicRecord
from kraft.rpc.configurations import AlterableConfig, AlterConfigsResource
from kraft.rpc.topics import (
    BY_DEFAULT,
    CreatedTopic,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
    CreateTopicsResponse,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kraft.controller.operations.defaults import Defaults
    from kraft.ids import BrokerId, TopicId
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.typed_record import TypedRecord
    from kraft.rpc.topics import (
        CreatableTopic,
        CreatePartitionsRequest,
        CreatePartitionsTopic,
        CreateTopicsRequest,
    )


METADATA_TOPIC: Final = "__cluster_metadata"
"""The topic of the metadata log itself. Kafka: Topic.CLUSTER_METADATA_TOPIC_NAME."""
_SEPARATOR: Final = re.compile("[._]")
MAX_PARTITIONS_PER_BATCH: Final = 10_000
"""The most partitions that one request may ask for.

Kafka: ReplicationControlManager.MAX_PARTITIONS_PER_BATCH.
"""


def create_topics(
    image: MetadataImage,
    defaults: Defaults,
    request: CreateTopicsRequest,
    topic_ids: tuple[TopicId, ...],
    chance: int = 0,
) -> Result[CreateTopicsResponse]:
    """Return the topics of a request, one answer per name.

    A refused topic does not affect the others. One that is named twice is refused.

    `topic_ids` are new ids, one per topic. All that Kafka draws follows from `chance`, which is any
    number.

    Raises ControllerError (POLICY_VIOLATION) if the request asks for too many partitions or needs
    too many records.
    Kafka: ControllerApis.createTopics, ReplicationControlManager.createTopics.
    """
    times = Counter(one.name for one in request.topics)
    known = [one for one in request.topics if times[one.name] == 1 and one.name != METADATA_TOPIC]
    _validate_total(defaults, known)
    batch = UserBatch()
    answers = []
    asked = zip(request.topics, topic_ids, strict=True)
    for topic, topic_id in {one.name: (one, its_id) for one, its_id in asked}.values():
        try:
            validate_once(times[topic.name], f"topic {topic.name}")
            _validate_name(image, topic.name)
            created = _create_topic(image, defaults, topic, topic_id, chance)
        except ControllerError as error:
            answers.append(CreatedTopic(topic.name, error.code, error.reason))
            continue
        partitions = [one for one in created if isinstance(one, PartitionRecord)]
        chance += len(partitions)
        batch.add(created)
        answers.append(
            CreatedTopic(
                topic.name,
                topic_id=topic_id,
                num_partitions=len(partitions),
                replication_factor=len(partitions[0].replicas),
            )
        )
    written = () if request.validate_only else batch.records
    return Result(written, CreateTopicsResponse(tuple(answers)))


def _validate_total(defaults: Defaults, topics: Sequence[CreatableTopic]) -> None:
    """Check how many partitions topics need, also those that will be refused.

    Kafka: ReplicationControlManager.validateTotalNumberOfPartitions.
    """
    total = 0
    for topic in topics:
        count = topic.num_partitions
        placed = defaults.num_partitions if count == BY_DEFAULT else max(count, 0)
        total += len(topic.assignments) or placed
    if total > MAX_PARTITIONS_PER_BATCH:
        reason = f"{total} partitions, more than {MAX_PARTITIONS_PER_BATCH} in one request"
        raise ControllerError(ErrorCode.POLICY_VIOLATION, reason)


def _validate_name(image: MetadataImage, name: str) -> None:
    """Check that a new topic may have a name; raise ControllerError otherwise.

    Metrics show `.` as `_`, so a name must differ from every existing one by more than that. Kafka
    does not compare the names within one request.

    Kafka: ControllerApis.createTopics, ReplicationControlManager.validateNewTopicNames,
    Topic.validate.
    """
    if name == METADATA_TOPIC:
        raise ControllerError(ErrorCode.INVALID_REQUEST, f"{name} is the topic of the metadata log")
    if name in image.topic_ids:
        raise ControllerError(ErrorCode.TOPIC_ALREADY_EXISTS, f"topic {name} exists")
    validate_topic_name(name)
    other = next((one for one in _shown_alike(image, name) if one in image.topic_ids), None)
    if other is not None:
        reason = f"{name} collides with {other}: metrics would not tell them apart"
        raise ControllerError(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)


def _shown_alike(image: MetadataImage, name: str) -> Iterable[str]:
    """Return all names that metrics show as they show this one, or those that exist, sorted.

    A request may name many topics, and very many may exist: whichever is less is looked at.
    """
    parts = _SEPARATOR.split(name)
    separators = len(parts) - 1
    if 2**separators > len(image.topic_ids):
        shown = name.replace(".", "_")
        return sorted(one for one in image.topic_ids if one.replace(".", "_") == shown)
    return (
        "".join(chain.from_iterable(zip(parts, (*between, ""), strict=True)))
        for between in product("._", repeat=separators)
    )


def _create_topic(
    image: MetadataImage, defaults: Defaults, topic: CreatableTopic, topic_id: TopicId, chance: int
) -> list[TypedRecord]:
    """Return the records of one topic: itself, its configuration, its partitions.

    Kafka: ReplicationControlManager.createTopic, ReplicationControlManager.computeConfigChanges.
    """
    for name, value in topic.configs:
        if value is None:
            raise ControllerError(ErrorCode.INVALID_CONFIG, f"no value for {name}")
    # If a configuration occurs twice, the last counts: Kafka puts them into a map.
    configs = tuple(AlterableConfig(name, value) for name, value in dict(topic.configs).items())
    resource = AlterConfigsResource(TOPIC_RESOURCE, topic.name, configs)
    settings = altered_configuration(image, defaults, resource, is_new=True) if configs else []
    if topic.assignments:
        replicas = _manual_replicas(image, topic)
        code = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    else:
        factor = _number(topic.replication_factor, defaults.default_replication_factor,
                         "replicas", ErrorCode.INVALID_REPLICATION_FACTOR)  # fmt: skip
        count = _number(topic.num_partitions, defaults.num_partitions, "partitions",
                        ErrorCode.INVALID_PARTITIONS)  # fmt: skip
        replicas = place(image, count, factor, chance)
        code = ErrorCode.INVALID_REPLICATION_FACTOR
    return [
        TopicRecord(topic.name, topic_id),
        *settings,
        *clear_elr_records(image, settings),
        *(
            _new_partition(image, topic_id, PartitionId(index), members, code)
            for index, members in enumerate(replicas)
        ),
    ]


def _number(given: int, default: int, what: str, code: ErrorCode) -> int:
    if given == BY_DEFAULT:
        return default
    if given < 1:
        raise ControllerError(code, f"the number of {what} is at least 1, or -1 for the default")
    return given


def _manual_replicas(
    image: MetadataImage, topic: CreatableTopic
) -> tuple[tuple[BrokerId, ...], ...]:
    if topic.replication_factor != BY_DEFAULT or topic.num_partitions != BY_DEFAULT:
        reason = "with an assignment, the numbers of partitions and of replicas must be -1"
        raise ControllerError(ErrorCode.INVALID_REQUEST, reason)
    indexes = [index for index, _ in topic.assignments]
    if sorted(indexes) != list(range(len(indexes))):
        reason = f"partitions must be 0 to {len(indexes) - 1}, each once, not {sorted(indexes)}"
        raise ControllerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)
    assigned = tuple(replicas for _, replicas in sorted(topic.assignments))
    _validate_assignments(image, assigned, len(assigned[0]))
    return assigned


def _validate_assignments(
    image: MetadataImage, assigned: tuple[tuple[BrokerId, ...], ...], replication_factor: int
) -> None:
    for replicas in assigned:
        validate_assignment(image, replicas)
        if len(replicas) != replication_factor:
            reason = f"a partition with {len(replicas)} replicas, others with {replication_factor}"
            raise ControllerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)


def _new_partition(
    image: MetadataImage,
    topic_id: TopicId,
    partition_id: PartitionId,
    replicas: tuple[BrokerId, ...],
    code: ErrorCode,
) -> PartitionRecord:
    """Return a new partition: its active replicas are the ISR, and the first of them leads.

    Spec: PartitionChange!NewPartition.
    Kafka: ReplicationControlManager.buildPartitionRegistration.
    """
    isr = tuple(replica for replica in replicas if is_active(image, replica))
    if not isr:
        reason = f"all replicas of partition {partition_id} are fenced or shutting down"
        raise ControllerError(code, reason)
    has_directories = metadata_version_of(image) >= IBP_3_7_IV2
    return PartitionRecord(
        partition_id,
        topic_id,
        replicas,
        isr,
        leader=isr[0],
        leader_epoch=0,
        partition_epoch=0,
        directories=tuple(default_directory(image, replica) for replica in replicas)
        if has_directories
        else (),
    )


def create_partitions(
    image: MetadataImage, request: CreatePartitionsRequest, chance: int = 0
) -> Result[CreatePartitionsResponse]:
    """Return more partitions for topics, one answer per name; `chance` as in `create_topics`.

    A topic that does not fit into the batch is refused and writes nothing; Kafka writes its first
    partitions. One that is named twice is refused.

    Kafka: ControllerApis.createPartitions, ReplicationControlManager.createPartitions.
    """
    times = Counter(one.name for one in request.topics)
    batch = UserBatch()
    results = []
    for topic in {one.name: one for one in request.topics}.values():
        try:
            validate_once(times[topic.name], f"topic {topic.name}")
            created = _create_partitions(image, topic, chance, batch)
            batch.add_part(created)
        except ControllerError as error:
            results.append(
                CreatePartitionsTopicResult(topic.name, error.code, error.reason or None)
            )
            continue
        chance += len(created)
        results.append(CreatePartitionsTopicResult(topic.name))
    written = () if request.validate_only else batch.records
    return Result(written, CreatePartitionsResponse(tuple(results)))


def _create_partitions(
    image: MetadataImage, asked: CreatePartitionsTopic, chance: int, batch: UserBatch
) -> list[PartitionRecord]:
    topic_id = image.topic_ids.get(asked.name)
    if topic_id is None:
        raise ControllerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "")
    present = image.topics[topic_id].partition_ids
    added = asked.count - len(present)
    if added <= 0:
        reason = f"the topic has {len(present)} partitions, so the new count must be higher"
        raise ControllerError(ErrorCode.INVALID_PARTITIONS, reason)
    # Kafka places them first: a count of 2^31-1 takes all its memory.
    batch.check_part(added)
    replication_factor = len(image.partitions[topic_id, present[0]].replicas)
    if asked.assignments is None:
        assigned = place(image, added, replication_factor, chance)
        code = ErrorCode.INVALID_REPLICATION_FACTOR
    elif len(asked.assignments) != added:
        reason = f"{len(asked.assignments)} assignments for {added} new partitions"
        raise ControllerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)
    else:
        assigned, code = asked.assignments, ErrorCode.INVALID_REPLICA_ASSIGNMENT
        _validate_assignments(image, assigned, replication_factor)
    return [
        _new_partition(image, topic_id, PartitionId(index), replicas, code)
        for index, replicas in enumerate(assigned, start=len(present))
    ]


def delete_topics(
    image: MetadataImage, topic_ids: tuple[TopicId, ...]
) -> Result[dict[TopicId, ErrorCode]]:
    """Return the removal of topics and their partitions, with an answer per topic id.

    A topic id that is named twice is refused.

    Spec: Reassignment!DeleteTopic.
    Kafka: ControllerApis.deleteTopics, ReplicationControlManager.deleteTopics.
    """
    batch = UserBatch()
    answers = {}
    for topic_id, times in Counter(topic_ids).items():
        answers[topic_id] = ErrorCode.NONE
        try:
            validate_once(times, f"topic id {topic_id}")
            batch.add_part([_removal(image, topic_id)])
        except ControllerError as error:
            answers[topic_id] = error.code
    return Result(batch.records, answers)


def _removal(image: MetadataImage, topic_id: TopicId) -> RemoveTopicRecord:
    if topic_id not in image.topics:
        raise ControllerError(ErrorCode.UNKNOWN_TOPIC_ID, "unknown topic id")
    return RemoveTopicRecord(topic_id)
