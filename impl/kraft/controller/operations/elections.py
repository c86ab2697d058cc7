"""Elections that an operator requests, and those that the controller holds periodically.

Kafka: ReplicationControlManager.electLeaders, .maybeBalancePartitionLeaders,
.maybeElectUncleanLeaders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.controller.operations.defaults import is_unclean_election_enabled
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.leader_eligibility import change_of
from kraft.controller.operations.partition_ask import Election, new_leader
from kraft.controller.operations.result import Result
from kraft.controller.operations.user_batch import UserBatch
from kraft.errors import ErrorCode
from kraft.records.topics import NO_LEADER
from kraft.rpc.elect_leaders import (
    PREFERRED_ELECTION,
    UNCLEAN_ELECTION,
    ElectLeadersResponse,
    PartitionResult,
)

if TYPE_CHECKING:
    from kraft.controller.operations.defaults import Defaults
    from kraft.ids import PartitionId
    from kraft.image.entries import Topic
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.topics import PartitionChangeRecord
    from kraft.rpc.elect_leaders import ElectLeadersRequest

MAX_ELECTIONS: Final = 1000
"""The most partitions that one periodic pass changes."""

_ELECTIONS: Final = {
    PREFERRED_ELECTION: (Election.PREFERRED, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
    UNCLEAN_ELECTION: (Election.UNCLEAN, ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE),
}


def elect_leaders(
    image: MetadataImage, defaults: Defaults, request: ElectLeadersRequest
) -> Result[ElectLeadersResponse]:
    """Return the elections that an operator requests, one answer per partition.

    The topic's unclean.leader.election.enable does not matter here.

    Raises ControllerError (POLICY_VIOLATION) if the request needs too many records.
    Spec: Reassignment!ElectPreferredLeader, Reassignment!ElectUncleanLeader.
    Kafka: ReplicationControlManager.electLeaders.
    """
    if request.election_type not in _ELECTIONS:
        return Result((), ElectLeadersResponse(ErrorCode.INVALID_REQUEST), is_atomic=False)
    asked = request.topic_partitions
    everything = asked is None
    if asked is None:
        names = sorted(image.topic_ids.items())
        asked = tuple(
            (name, index)
            for name, topic_id in names
            for index in image.topics[topic_id].partition_ids
        )
    batch, results = UserBatch(), []
    for name, index in asked:
        try:
            record = _elect_leader(image, defaults, name, index, request.election_type)
        except ControllerError as error:
            if not (everything and error.code is ErrorCode.ELECTION_NOT_NEEDED):
                results.append(PartitionResult(name, index, error.code, error.reason or None))
            continue
        batch.add([record])
        results.append(PartitionResult(name, index))
    return Result(batch.records, ElectLeadersResponse(ErrorCode.NONE, tuple(results)), False)


def _elect_leader(
    image: MetadataImage, defaults: Defaults, name: str, index: PartitionId, election_type: int
) -> PartitionChangeRecord:
    """Return the record of an election; raise ControllerError if none is needed or possible."""
    topic_id = image.topic_ids.get(name)
    if topic_id is None:
        raise ControllerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"no such topic as {name}")
    partition = image.partitions.get((topic_id, index))
    if partition is None:
        reason = f"no such partition as {name}-{index}"
        raise ControllerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
    election, not_available = _ELECTIONS[election_type]
    if election is Election.PREFERRED:
        needed = partition.leader != partition.replicas[0]
    else:
        needed = partition.leader == NO_LEADER
    if not needed:
        raise ControllerError(ErrorCode.ELECTION_NOT_NEEDED, "")
    record = _election_of(image, defaults, image.topics[topic_id], index, election)
    if record is None:
        raise ControllerError(not_available, "no replica is available that may lead")
    return record


def balance_partition_leaders(
    image: MetadataImage, defaults: Defaults, most: int = MAX_ELECTIONS
) -> Result[bool]:
    """Return elections of preferred leaders, and whether to run again soon.

    It stops after `most` elections.

    Spec: Reassignment!ElectPreferredLeader.
    Kafka: ReplicationControlManager.maybeBalancePartitionLeaders.
    """
    records: list[PartitionChangeRecord] = []
    for key in sorted(image.partitions):
        partition = image.partitions[key]
        if partition.leader == partition.replicas[0]:
            continue
        if len(records) >= most:
            break
        topic_id, index = key
        topic = image.topics[topic_id]
        record = _election_of(image, defaults, topic, index, Election.PREFERRED)
        records += [] if record is None else [record]
    return Result(tuple(records), response=len(records) >= most, is_atomic=False)


def elect_unclean_leaders(
    image: MetadataImage, defaults: Defaults, most: int = MAX_ELECTIONS
) -> Result[bool]:
    """Return unclean elections of partitions without a leader, and whether to run again soon.

    Only topics that allow unclean elections take part. It stops after `most` elections.

    Spec: Reassignment!ElectUncleanLeader.
    Kafka: ReplicationControlManager.maybeElectUncleanLeaders.
    """
    records: list[PartitionChangeRecord] = []
    for key in sorted(image.partitions):
        topic_id, index = key
        topic = image.topics[topic_id]
        if image.partitions[key].leader != NO_LEADER:
            continue
        if not is_unclean_election_enabled(image, defaults, topic.name):
            continue
        if len(records) >= most:
            break
        record = _election_of(image, defaults, topic, index, Election.UNCLEAN)
        records += [] if record is None else [record]
    return Result(tuple(records), response=len(records) >= most, is_atomic=False)


def _election_of(
    image: MetadataImage, defaults: Defaults, topic: Topic, index: PartitionId, election: Election
) -> PartitionChangeRecord | None:
    key = topic.topic_id, index
    return change_of(image, defaults, key, new_leader(image.partitions[key], election))
