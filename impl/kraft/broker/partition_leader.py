"""The leader's view of a partition.

When a follower has caught up or fallen behind, the leader asks the controller for another ISR, one
request at a time. Until the answer it counts the members of both ISRs.

Kafka: Partition, AlterPartitionManager. KIP-497.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.rpc.alter_partition import AlterPartitionData, BrokerState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kraft.ids import BrokerEpoch, BrokerId, PartitionId, TopicId
    from kraft.image.entries import Partition
    from kraft.rpc.alter_partition import AlteredPartition


@dataclass(frozen=True, slots=True)
class PartitionLeader:
    """A leader's view of its partition.

    `pending` is the requested ISR while the answer is awaited, else ().

    Spec: Reassignment!View.
    Kafka: Partition.partitionState.
    """

    leader_epoch: int
    partition_epoch: int
    replicas: tuple[BrokerId, ...]
    isr: tuple[BrokerId, ...]
    pending: tuple[BrokerId, ...] = ()


def view_of(broker_id: BrokerId, partition: Partition | None) -> PartitionLeader | None:
    """Return the broker's view once it has replayed a partition; None if it does not lead it.

    Spec: Reassignment!ViewOf.
    """
    if partition is None or partition.leader != broker_id:
        return None
    return PartitionLeader(
        partition.leader_epoch, partition.partition_epoch, partition.replicas, partition.isr
    )


def is_news(broker_id: BrokerId, view: PartitionLeader | None, partition: Partition | None) -> bool:
    """Return whether the latest metadata changes the broker's view of its leadership.

    Spec: Reassignment!IsNews.
    """
    new = view_of(broker_id, partition)
    if new is None or view is None:
        return new is not view
    return (view.leader_epoch, view.partition_epoch) != (new.leader_epoch, new.partition_epoch)


def learn_partition(broker_id: BrokerId, partition: Partition | None) -> PartitionLeader | None:
    """Return the view after a replay; a pending request is void.

    Spec: Reassignment!LearnPartition.
    Kafka: ReplicaManager.applyDelta, Partition.makeLeader, Partition.makeFollower.
    """
    return view_of(broker_id, partition)


def may_ask_for(broker_id: BrokerId, view: PartitionLeader, isr: tuple[BrokerId, ...]) -> bool:
    """Return whether a leader may ask for an ISR with one member more, or with fewer members.

    It may not while a request is pending.

    Spec: Reassignment!MayAskFor.
    Kafka: Partition.maybeExpandIsr, Partition.maybeShrinkIsr.
    """
    wanted, now = set(isr), set(view.isr)
    if view.pending or broker_id not in wanted or not wanted <= set(view.replicas):
        return False
    return wanted < now or (wanted > now and len(wanted - now) == 1)


def send_alter_partition(
    topic_id: TopicId,
    partition_index: PartitionId,
    view: PartitionLeader,
    isr: tuple[BrokerId, ...],
    epochs: Mapping[BrokerId, BrokerEpoch],
) -> tuple[PartitionLeader, AlterPartitionData]:
    """Return the view that awaits an answer, and the request.

    The request also ends the leader's recovery. `epochs` are the members' broker epochs that the
    leader knows (KIP-903).

    Spec: Reassignment!SendAlterPartition.
    Kafka: Partition.submitAlterPartition, AlterPartitionManager.submit.
    """
    members = tuple(BrokerState(member, epochs[member]) for member in isr)
    asked = AlterPartitionData(
        topic_id, partition_index, view.leader_epoch, view.partition_epoch, members
    )
    return replace(view, pending=isr), asked


def is_awaited(view: PartitionLeader | None, asked: AlterPartitionData) -> bool:
    """Return whether a leader awaits the answer to this request.

    Spec: Reassignment!IsAwaited.
    """
    if view is None or not view.pending:
        return False
    return (view.leader_epoch, view.partition_epoch) == (asked.leader_epoch, asked.partition_epoch)


def on_alter_partition_response(
    view: PartitionLeader, error_code: ErrorCode, answer: AlteredPartition | None
) -> PartitionLeader:
    """Return the view after the awaited answer; `answer` is None if the whole request was refused.

    If granted, the ISR is that of the answer. INELIGIBLE_REPLICA leaves the ISR as it was. After
    any other refusal the request stays pending until the leader learns newer metadata.

    Spec: Reassignment!HandleAlterPartitionResponse.
    Kafka: Partition.handleAlterPartitionUpdate, Partition.handleAlterPartitionError.
    """
    if answer is None or error_code is not ErrorCode.NONE:
        return view
    if answer.error_code is ErrorCode.INELIGIBLE_REPLICA:
        return replace(view, pending=())
    if answer.error_code is not ErrorCode.NONE:
        return view
    return replace(view, isr=answer.isr, partition_epoch=answer.partition_epoch, pending=())
