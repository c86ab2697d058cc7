"""A requested change of a partition: its fields afterwards, and how to elect a leader.

`partition_change` makes the record of it.

Kafka: PartitionChangeBuilder's setters, PartitionReassignmentReplicas, PartitionReassignmentRevert.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from kraft.controller.operations.errors import ControllerError
from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Collection

    from kraft.ids import BrokerId, DirectoryId
    from kraft.image.entries import Partition


class Election(enum.Enum):
    """The kinds of election, with the names of the spec.

    ONLINE keeps the leader if it can stay, else it takes the first in-sync replica. PREFERRED takes
    the first replica if it is in sync. UNCLEAN may take a replica that is not in sync.

    Kafka: PartitionChangeBuilder.Election.
    """

    ONLINE = "ONLINE"
    PREFERRED = "PREFERRED"
    UNCLEAN = "UNCLEAN"


@dataclass(frozen=True, slots=True)
class PartitionAsk:
    """The fields that a partition should have after a change.

    `directory` is a replica and its new directory; other replicas stay where they are.
    `unclean_shutdown` has the replicas that may have lost data.

    Spec: PartitionChange!Unchanged.
    """

    replicas: tuple[BrokerId, ...]
    isr: tuple[BrokerId, ...]
    adding_replicas: tuple[BrokerId, ...]
    removing_replicas: tuple[BrokerId, ...]
    leader_recovery_state: int
    election: Election = Election.ONLINE
    directory: tuple[BrokerId, DirectoryId] | None = None
    unclean_shutdown: frozenset[BrokerId] = frozenset()


_NONE: Final[frozenset[BrokerId]] = frozenset()


def without(replicas: tuple[BrokerId, ...], gone: Collection[BrokerId]) -> tuple[BrokerId, ...]:
    """Return the remaining replicas, in their order.

    Spec: PartitionChange!Without.
    Kafka: Replicas.copyWithout.
    """
    return tuple([replica for replica in replicas if replica not in gone])


def in_progress(partition: Partition | PartitionAsk) -> bool:
    """Return whether a partition is being reassigned.

    Spec: PartitionChange!InProgress.
    Kafka: PartitionReassignmentReplicas.isReassignmentInProgress.
    """
    return bool(partition.adding_replicas or partition.removing_replicas)


def unchanged(partition: Partition) -> PartitionAsk:
    """Return the request that changes nothing.

    Spec: PartitionChange!Unchanged.
    """
    return PartitionAsk(
        partition.replicas,
        partition.isr,
        partition.adding_replicas,
        partition.removing_replicas,
        partition.leader_recovery_state,
    )


def election_of(*, unclean_enabled: bool) -> Election:
    """Return how the controller elects a leader by itself, by the topic's configuration.

    Spec: PartitionChange!ElectionOf.
    """
    return Election.UNCLEAN if unclean_enabled else Election.ONLINE


def without_broker(
    partition: Partition, broker_id: BrokerId, *, unclean_enabled: bool, unclean: bool = False
) -> PartitionAsk:
    """Return the request that a broker leave the ISR; `unclean` if it may have lost data.

    Spec: PartitionChange!WithoutBroker.
    Kafka: ReplicationControlManager.generateLeaderAndIsrUpdates.
    """
    # Made once, not replaced: a broker may be in very many partitions.
    return PartitionAsk(
        partition.replicas,
        without(partition.isr, (broker_id,)),
        partition.adding_replicas,
        partition.removing_replicas,
        partition.leader_recovery_state,
        election_of(unclean_enabled=unclean_enabled),
        unclean_shutdown=frozenset((broker_id,)) if unclean else _NONE,
    )


def new_isr(
    partition: Partition, isr: tuple[BrokerId, ...], recovery_state: int, *, unclean_enabled: bool
) -> PartitionAsk:
    """Return a leader's request: another ISR, and the end of its recovery.

    Spec: PartitionChange!NewIsr.
    Kafka: ReplicationControlManager.alterPartition.
    """
    return replace(
        unchanged(partition),
        isr=isr,
        leader_recovery_state=recovery_state,
        election=election_of(unclean_enabled=unclean_enabled),
    )


def new_leader(partition: Partition, election: Election) -> PartitionAsk:
    """Return the request for an election.

    Spec: PartitionChange!NewLeader.
    Kafka: ReplicationControlManager.electLeader.
    """
    return replace(unchanged(partition), election=election)


def new_assignment(partition: Partition, target: tuple[BrokerId, ...]) -> PartitionAsk:
    """Return the request for a target assignment.

    Removed replicas stay at the end until it completes.

    Replicas that an unfinished reassignment added count as current. An empty list of added or
    removed replicas does not replace the previous one, so a replica may be both added and removed,
    as in Kafka.

    Spec: PartitionChange!NewAssignment.
    Kafka: ReplicationControlManager.changePartitionReassignment, PartitionReassignmentReplicas.
    """
    removing = tuple(sorted(set(partition.replicas) - set(target)))
    adding = tuple(sorted(set(target) - set(partition.replicas)))
    return replace(
        unchanged(partition),
        replicas=target + removing,
        removing_replicas=removing or partition.removing_replicas,
        adding_replicas=adding or partition.adding_replicas,
    )


def revert_needs_force(partition: Partition) -> bool:
    """Return whether no replica from before the reassignment is in sync.

    Spec: PartitionChange!RevertNeedsForce.
    Kafka: PartitionReassignmentRevert.unclean.
    """
    return not without(partition.isr, partition.adding_replicas)


def reverted(partition: Partition, *, unclean_enabled: bool) -> PartitionAsk:
    """Return the request to cancel a reassignment: added replicas go, the others keep their order.

    Raises ControllerError (INVALID_REPLICA_ASSIGNMENT) if no replica from before it remains.
    Spec: PartitionChange!Reverted.
    Kafka: ReplicationControlManager.cancelPartitionReassignment, PartitionReassignmentRevert.
    """
    replicas = without(partition.replicas, partition.adding_replicas)
    if not replicas:
        reason = "reassignments that were changed midway added every replica of the partition"
        raise ControllerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)
    isr = without(partition.isr, partition.adding_replicas)
    return replace(
        unchanged(partition),
        replicas=replicas,
        isr=isr or replicas[:1],
        adding_replicas=(),
        removing_replicas=(),
        election=election_of(unclean_enabled=unclean_enabled),
    )
