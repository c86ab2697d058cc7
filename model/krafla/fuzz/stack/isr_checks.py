"""Checks of requests for in-sync replicas, and of what is granted.

A leader names the members that it asks for by what it has heard of them. The controller grants an
ISR to the present leader only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.controller_effects import response_of
from kraft.errors import ErrorCode
from kraft.ids import NO_BROKER_EPOCH

if TYPE_CHECKING:
    from krafla.fuzz.stack.broker_checks import BrokerChecks
    from kraft.controller import events
    from kraft.ids import TopicId
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.alter_partition import AlterPartitionData, AlterPartitionRequest, BrokerState
    from kraft.sim.raft.steps import ListenerStep

__all__ = ["ISR_PROPERTIES", "IsrChecks"]

ISR_PROPERTIES: Final = (
    "AheadIsToldProp", "GrantedByNewestProp", "JoinsByOwnFetchProp", "NamesByOwnFetchProp",
)  # fmt: skip


class IsrChecks:
    """Compares the members of requested ISRs with the fetches that leaders have had."""

    def __init__(self, brokers: BrokerChecks) -> None:
        self._brokers = brokers

    def check(self, listener: ListenerStep, event: events.RequestReceived) -> None:
        """Check a request that a controller has received, and its answer. Raises Violated."""
        self._check_named(event.request)
        self._check_granted(listener, event)

    def _check_named(self, request: AlterPartitionRequest) -> None:
        """Check that a leader names others by broker epochs of their fetches, itself by its own.

        A process that registers again may repeat a request, and then names itself as before.
        Kafka's leader may also name a fetch of an earlier leader epoch: if it is elected again, it
        keeps what it knows of its followers (Replica.resetReplicaState). Ours forgets that.

        Kafka: Partition.addBrokerEpochToIsr. Source: KAFKA-15221.
        """
        for asked in request.partitions:
            at = request.broker_id, asked.topic_id, asked.partition_index, asked.leader_epoch
            for member in asked.new_isr_with_epochs:
                named = member.broker_id, member.broker_epoch
                if member.broker_id == request.broker_id:
                    both: set[tuple[int, int]] = {named, (at[0], request.broker_epoch)}
                    if len(both) > 1 and not self._brokers.are_of_one_process(both):
                        raise Violated(
                            "NamesByOwnFetchProp",
                            f"broker {at[0]} of broker epoch {request.broker_epoch} names itself "
                            f"by {member.broker_epoch}",
                        )
                    continue
                if member.broker_epoch == NO_BROKER_EPOCH:
                    continue
                if (*at, *named) not in self._brokers.fetched:
                    raise Violated(
                        "NamesByOwnFetchProp",
                        f"broker {at[0]} names broker {named[0]} by broker epoch {named[1]}, but "
                        f"has had no fetch of that epoch in leader epoch {at[3]}",
                    )

    def _check_granted(self, listener: ListenerStep, event: events.RequestReceived) -> None:
        """Check that an ISR is granted to the present leader, and every new member has fetched."""
        request: AlterPartitionRequest = event.request
        image = listener.before.written.image
        response = response_of(listener, event.token)
        if getattr(response, "error_code", None) is not ErrorCode.NONE:
            return
        for asked, one in zip(request.partitions, response.partitions, strict=True):
            if one.error_code is not ErrorCode.NONE:
                _check_ahead(image, asked, one.error_code)
                continue
            partition = image.partitions.get((asked.topic_id, asked.partition_index))
            if partition is None:
                raise Violated(
                    "GrantedByNewestProp",
                    f"an ISR is granted of partition {asked.partition_index} of topic id "
                    f"{asked.topic_id}, which does not exist",
                )
            by = request.broker_id, asked.leader_epoch, asked.partition_epoch
            now = partition.leader, partition.leader_epoch, partition.partition_epoch
            if by != now:
                raise Violated(
                    "GrantedByNewestProp",
                    f"an ISR is granted to (leader, leader epoch, partition epoch) {by}, "
                    f"which are {now}",
                )
            at = request.broker_id, asked.topic_id, asked.partition_index, asked.leader_epoch
            for member in asked.new_isr_with_epochs:
                if member.broker_id not in partition.isr:
                    self._check_joins(image, at, member)

    def _check_joins(
        self, image: MetadataImage, at: tuple[int, TopicId, int, int], member: BrokerState
    ) -> None:
        registration = image.brokers.get(member.broker_id)
        epoch = None if registration is None else registration.epoch
        if (*at, member.broker_id, epoch) not in self._brokers.fetched:
            raise Violated(
                "JoinsByOwnFetchProp",
                f"broker {member.broker_id} of epoch {epoch} joins an ISR of broker {at[0]}, from "
                f"which it has not fetched in leader epoch {at[3]}",
            )


def _check_ahead(image: MetadataImage, asked: AlterPartitionData, code: ErrorCode) -> None:
    """Check that a leader that is ahead of the controller, and no other, hears NOT_CONTROLLER.

    Source: KAFKA-14154.
    """
    partition = image.partitions.get((asked.topic_id, asked.partition_index))
    if partition is None:
        return
    told = asked.leader_epoch, asked.partition_epoch
    known = partition.leader_epoch, partition.partition_epoch
    ahead = told[0] > known[0] or told[1] > known[1]
    if ahead != (code is ErrorCode.NOT_CONTROLLER):
        raise Violated(
            "AheadIsToldProp",
            f"a leader in (leader epoch, partition epoch) {told}, where the controller has "
            f"{known}, is told {code.name}",
        )
