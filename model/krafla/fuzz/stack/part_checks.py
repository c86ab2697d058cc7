"""Checks of the parts of a request: each is answered, and one that is refused writes nothing.

Topics, partitions, resources, entities, users and filters are parts. Some of a request are granted
while others are refused. What is granted is checked once it is committed (`operation_checks`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.operation_checks import entry_of, quota_key
from krafla.fuzz.stack.permissions import may_lead
from kraft.errors import ErrorCode
from kraft.records.cluster import ClientQuotaRecord
from kraft.records.security import (
    AccessControlEntryRecord,
    RemoveAccessControlEntryRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from kraft.records.topics import (
    NO_LEADER_CHANGE,
    ConfigRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kraft.rpc.access_control import CreateAclsRequest, DeleteAclsRequest
from kraft.rpc.alter_partition import AlterPartitionRequest
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest
from kraft.rpc.client_quotas import AlterClientQuotasRequest
from kraft.rpc.configurations import AlterConfigsRequest, IncrementalAlterConfigsRequest
from kraft.rpc.elect_leaders import PREFERRED_ELECTION, ElectLeadersRequest
from kraft.rpc.partition_reassignments import AlterPartitionReassignmentsRequest
from kraft.rpc.scram import AlterUserScramCredentialsRequest
from kraft.rpc.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage

__all__ = ["check_parts", "is_election_needed", "told_parts"]

_NONE: Final = ErrorCode.NONE


def check_parts(image: MetadataImage, request: Any, response: Any, records: Sequence[Any]) -> None:
    """Check that each part of a request is answered, and that only granted parts write.

    `image` is the one before the records. Raises Violated.
    """
    parts = _PARTS.get(type(request))
    if parts is None or getattr(response, "error_code", _NONE) is not _NONE:
        return
    told = list(parts.told(request, response))
    _check_told(request, Counter(parts.asked(image, request)), told)
    _check_written(parts, image, request, told, records)
    if isinstance(request, ElectLeadersRequest):
        _check_elections(image, request, response, records)
    elif isinstance(request, DeleteAclsRequest):
        _check_removed(image, response, records)
    elif isinstance(request, CreateTopicsRequest):
        _check_created(request, told, records)
    elif isinstance(request, AlterClientQuotasRequest):
        _check_quotas(image, request, records)


def told_parts(request: Any, response: Any) -> Iterable[tuple[Any, ErrorCode]]:
    """Return the names of the parts of a request that an answer has, with the code of each."""
    parts = _PARTS.get(type(request))
    return () if parts is None else parts.told(request, response)


def _check_told(request: Any, asked: Counter[Any], told: Iterable[tuple[Any, ErrorCode]]) -> None:
    answered = Counter(name for name, _ in told)
    if answered != asked:
        left_out, others = list(asked - answered), list(answered - asked)
        raise Violated(
            "EveryRequestIsAnsweredProp",
            f"{type(request).__name__}: the answer lacks parts {left_out} and has parts {others} "
            "that were not requested",
        )


def _check_written(
    parts: _Parts,
    image: MetadataImage,
    request: Any,
    told: Sequence[tuple[Any, ErrorCode]],
    records: Iterable[Any],
) -> None:
    topics = {one.topic_id: one.name for one in records if isinstance(one, TopicRecord)}
    topics |= {topic_id: topic.name for topic_id, topic in image.topics.items()}
    for record in records:
        name_of = parts.records.get(type(record))
        if name_of is None:
            continue
        part = name_of(record, topics)
        if not any(name == part and _may_write(request, code, record) for name, code in told):
            raise Violated(
                "RefusedWritesNothingProp",
                f"{type(request).__name__} is not granted for {part}, yet it writes {record}",
            )


def _may_write(request: Any, code: ErrorCode, record: Any) -> bool:
    """Return whether a part that is answered with a code may write a record.

    A change of an ISR may complete a reassignment that removes the leader from the replicas. It is
    written, and another leads. The former leader hears an error.

    Kafka: ReplicationControlManager.alterPartition.
    """
    if code in _LEFT_OUT and isinstance(request, AlterPartitionRequest):
        return record.leader not in {NO_LEADER_CHANGE, request.broker_id}
    return code is _NONE


_LEFT_OUT: Final = {ErrorCode.NEW_LEADER_ELECTED, ErrorCode.FENCED_LEADER_EPOCH}
"""What the former leader hears, by its profile."""


# Rules of single operations


def is_election_needed(partition: Partition, election_type: int) -> bool:
    """Return whether a partition lacks the leader that an election is to give it.

    Kafka: ReplicationControlManager.electLeader.
    """
    if election_type == PREFERRED_ELECTION:
        return partition.leader != partition.replicas[0]
    return partition.leader < 0


def _is_granted_by(
    record: Any, before: Partition, election_type: int, image: MetadataImage
) -> bool:
    """Return whether Kafka grants an election by this record, even if that elects no leader.

    It may end a reassignment, or clear what is left of a time with eligible leader replicas. A
    leader that may not stay gives way to any replica, or to none.
    """
    if not is_election_needed(before, election_type):
        return False
    if record.replicas is not None:
        return True
    if record.leader == NO_LEADER_CHANGE:
        return record.eligible_leader_replicas is not None or record.last_known_elr is not None
    if before.leader < 0:
        return bool(record.leader >= 0)
    # A leader that may stay gives way to the preferred replica only.
    return bool(record.leader == before.replicas[0]) or not may_lead(image, before, before.leader)


def _check_elections(
    image: MetadataImage, request: ElectLeadersRequest, response: Any, records: Iterable[Any]
) -> None:
    """Check that each granted election has a record that Kafka grants it by.

    Kafka: ReplicationControlManager.electLeader.
    """
    changes = {(one.topic_id, one.partition_id): one for one in records}
    for one in response.replica_election_results:
        if one.error_code is not _NONE:
            continue
        topic_id = image.topic_ids.get(one.topic)
        before = topic_id and image.partitions.get((topic_id, one.partition_id))
        if not topic_id or not before:
            raise Violated(
                "AnsweredIsCommittedInv",
                f"the answer says that a leader of {one.topic}-{one.partition_id} was elected; "
                "there is no such partition",
            )
        record = changes.get((topic_id, one.partition_id))
        if record is None or not _is_granted_by(record, before, request.election_type, image):
            raise Violated(
                "AnsweredIsCommittedInv",
                f"the answer says that a leader of {one.topic}-{one.partition_id} of "
                f"{list(before.replicas)} was elected; its record is {record}",
            )


def _check_removed(image: MetadataImage, response: Any, records: Iterable[Any]) -> None:
    """Check that DeleteAcls tells each entry that it removes."""
    told = {entry_of(each) for one in response.filter_results for each in one.matching_acls}
    for record in records:
        if isinstance(record, RemoveAccessControlEntryRecord):
            entry = image.access_control_entries.get(record.entry_id)
            if entry is None or entry_of(entry) not in told:
                raise Violated(
                    "RefusedWritesNothingProp", f"the entry {entry} is removed, and not told"
                )


def _check_created(
    request: CreateTopicsRequest, told: Iterable[tuple[Any, ErrorCode]], records: Iterable[Any]
) -> None:
    granted = {name for name, code in told if code is _NONE}
    written = {one.name for one in records if isinstance(one, TopicRecord)}
    if written != (set() if request.validate_only else granted):
        raise Violated(
            "RefusedWritesNothingProp",
            f"topics {sorted(granted)} are granted, yet {sorted(written)} are written",
        )


def _check_quotas(
    image: MetadataImage, request: AlterClientQuotasRequest, records: Iterable[Any]
) -> None:
    """Check that of an entity that occurs twice only the first changes are written, all or none.

    The answer does not tell whether the first ones were valid.

    Kafka: ClientQuotaControlManager.alterClientQuotas.
    """
    first = {quota_key(one.entity): one.ops for one in reversed(request.entries)}
    for key in _asked_often(request):
        there: Mapping[str, float] = image.client_quotas.get(key, {})
        wanted = [
            (name, value or 0.0, value is None)
            for name, value in first[key]
            if there.get(name) != value
        ]
        written = [(one.key, one.value, one.remove) for one in records if _entity_of(one) == key]
        if written and Counter(written) != Counter(wanted):
            raise Violated(
                "RefusedWritesNothingProp",
                f"AlterClientQuotasRequest has {key} twice, first with {first[key]}, yet it writes "
                f"{written}",
            )


def _entity_of(record: Any) -> Any:
    return quota_key((one.entity_type, one.entity_name) for one in record.entity)


# What the parts of each request are


class _Parts(NamedTuple):
    """The names of the parts of a request, as often as each is to be answered.

    ``told`` are the names and codes in an answer, ``records`` the names of parts by what they
    write. The names of topics are given for that.
    """

    asked: Callable[[MetadataImage, Any], Iterable[Any]]
    told: Callable[[Any, Any], Iterable[tuple[Any, ErrorCode]]]
    records: Mapping[type[Any], Callable[[Any, Mapping[Any, str]], Any]]


def _elections(image: MetadataImage, request: ElectLeadersRequest) -> Iterable[Any]:
    """Return the partitions asked for. Of all partitions, only those count that need an election.

    Kafka: ReplicationControlManager.electLeaders.
    """
    if request.topic_partitions is not None:
        return request.topic_partitions
    return [
        (image.topics[topic_id].name, index)
        for (topic_id, index), one in image.partitions.items()
        if is_election_needed(one, request.election_type)
    ]


def _quotas(request: Any, response: Any) -> Iterable[tuple[Any, ErrorCode]]:
    often = _asked_often(request)
    for one in response.entries:
        key = quota_key(one.entity)
        # Of an entity that occurs twice, the first changes are written: the answer is an error.
        yield key, _NONE if key in often else one.error_code


def _asked_often(request: Any) -> set[Any]:
    """Return the entities that a request for quotas has more than once."""
    times = Counter(quota_key(one.entity) for one in request.entries)
    return {key for key, number in times.items() if number > 1}


def _in_order(parts: Sequence[Any], codes: Iterable[ErrorCode]) -> Iterable[tuple[Any, ErrorCode]]:
    """Return the codes with the parts at the same places; an answer beyond has a name of its own.

    Only its place says what such an answer is about.
    """
    for place, code in enumerate(codes):
        yield parts[place] if place < len(parts) else f"answer {place + 1}", code


def _numbered(results: Iterable[Any]) -> Iterable[tuple[Any, ErrorCode]]:
    return enumerate(one.error_code for one in results)


def _resource(one: Any) -> tuple[int, str]:
    return one.resource_type, one.resource_name


_CONFIGS: Final = _Parts(
    lambda _, request: {_resource(one) for one in request.resources},
    lambda _, response: [(_resource(one), one.error_code) for one in response.responses],
    {ConfigRecord: lambda record, _: _resource(record)},
)
_PARTS: Final[dict[type[Any], _Parts]] = {
    AlterClientQuotasRequest: _Parts(
        lambda _, request: {quota_key(one.entity) for one in request.entries},
        _quotas,
        {ClientQuotaRecord: lambda record, _: _entity_of(record)},
    ),
    AlterConfigsRequest: _CONFIGS,
    AlterPartitionReassignmentsRequest: _Parts(
        lambda _, request: [(one.name, one.partition_index) for one in request.partitions],
        lambda _, response: [
            ((one.name, one.partition_index), one.error_code) for one in response.responses
        ],
        {
            PartitionChangeRecord: lambda record, topics: (
                topics.get(record.topic_id), record.partition_id,
            )
        },
    ),
    AlterPartitionRequest: _Parts(
        lambda _, request: [(one.topic_id, one.partition_index) for one in request.partitions],
        lambda _, response: [
            ((one.topic_id, one.partition_index), one.error_code) for one in response.partitions
        ],
        {PartitionChangeRecord: lambda record, _: (record.topic_id, record.partition_id)},
    ),
    AlterUserScramCredentialsRequest: _Parts(
        lambda _, request: {one.name for one in (*request.deletions, *request.upsertions)},
        lambda _, response: [(one.user, one.error_code) for one in response.results],
        {
            UserScramCredentialRecord: lambda record, _: record.name,
            RemoveUserScramCredentialRecord: lambda record, _: record.name,
        },
    ),
    AssignReplicasToDirsRequest: _Parts(
        lambda _, request: [(topic_id, index) for _, topic_id, index in request.assignments],
        lambda request, response: _in_order(
            [(topic_id, index) for _, topic_id, index in request.assignments], response.partitions
        ),
        {PartitionChangeRecord: lambda record, _: (record.topic_id, record.partition_id)},
    ),
    CreateAclsRequest: _Parts(
        lambda _, request: [entry_of(one) for one in request.creations],
        lambda request, response: _in_order(
            [entry_of(one) for one in request.creations],
            [one.error_code for one in response.results],
        ),
        {AccessControlEntryRecord: lambda record, _: entry_of(record)},
    ),
    CreatePartitionsRequest: _Parts(
        lambda _, request: {one.name for one in request.topics},
        lambda _, response: [(one.name, one.error_code) for one in response.results],
        {PartitionRecord: lambda record, topics: topics.get(record.topic_id)},
    ),
    CreateTopicsRequest: _Parts(
        lambda _, request: {one.name for one in request.topics},
        lambda _, response: [(one.name, one.error_code) for one in response.topics],
        {
            ConfigRecord: lambda record, _: record.resource_name,
            PartitionRecord: lambda record, topics: topics.get(record.topic_id),
        },
    ),
    DeleteAclsRequest: _Parts(
        lambda _, request: range(len(request.filters)),
        lambda _, response: _numbered(response.filter_results),
        {},
    ),
    DeleteTopicsRequest: _Parts(
        lambda _, request: set(request.topic_ids),
        lambda _, response: response.responses,
        {RemoveTopicRecord: lambda record, _: record.topic_id},
    ),
    ElectLeadersRequest: _Parts(
        _elections,
        lambda _, response: [
            ((one.topic, one.partition_id), one.error_code)
            for one in response.replica_election_results
        ],
        {
            PartitionChangeRecord: lambda record, topics: (
                topics.get(record.topic_id), record.partition_id,
            )
        },
    ),
    IncrementalAlterConfigsRequest: _CONFIGS,
}  # fmt: skip
