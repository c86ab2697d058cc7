"""What a node logs of its own steps: in Kafka's words, where Kafka has them.

Kafka: QuorumState.transitionTo, QuorumController.handleLeaderChange, .claim, .renounce,
SnapshotGenerator, KRaftControlRecordStateMachine, PartitionRegistration.maybeLogPartitionChange.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from kraft.controller.effects import Append, CreateSnapshot, Failure, Reply
from kraft.controller.events import BatchesCommitted, LeaderChanged, Poll, SnapshotLoaded
from kraft.controller.state import NO_EPOCH, ControllerState, visible
from kraft.errors import ErrorCode, printable
from kraft.raft.roles import leader_of
from kraft.records.cluster import FeatureLevelRecord
from kraft.records.lease import (
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)
from kraft.records.topics import (
    NO_LEADER,
    RECOVERING,
    PartitionChangeRecord,
    RemoveTopicRecord,
    TopicRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kraft.ids import NodeId, TopicId
    from kraft.image.metadata_image import MetadataImage
    from kraft.log.image import LogImage
    from kraft.raft.controls import ControlHistory
    from kraft.raft.state import RaftState

_RAFT: Final = logging.getLogger("kraft.raft")
_CONTROLLER: Final = logging.getLogger("kraft.controller")
_FENCED: Final = 1
_MOST_ALIKE: Final = 10
"""Of more topics or partitions that change at once, only the number is logged."""


class NodeLog:
    """What a node logs of its own steps."""

    __slots__ = ("_node_id",)

    def __init__(self, node_id: int) -> None:
        self._node_id = node_id

    def replica_step(self, before: RaftState, after: RaftState) -> None:
        """Log a change of role or epoch, of the voters, and what has left the log."""
        old, new = before.role, after.role
        if type(old) is not type(new) or old.epoch != new.epoch:
            self._of_raft(
                "Completed transition to %s(epoch=%s, leaderId=%s) from %s(epoch=%s)",
                type(new).__name__,
                new.epoch,
                getattr(new, "leader_id", None),
                type(old).__name__,
                old.epoch,
            )
        if before.log is not after.log:
            self._log_cut(before.log, after.log, leader_of(new))
        if before.controls is not after.controls:
            self._controls(before.controls, after.controls)

    def _controls(self, before: ControlHistory, after: ControlHistory) -> None:
        if before.voter_sets != after.voter_sets:
            voters, offset = list(after.voters.node_ids), after.last_voters_offset
            self._of_raft("Latest set of voters is %s at offset %s", voters, offset)
        if before.version != after.version:
            self._of_raft("Latest kraft.version is %s", after.version)

    def _log_cut(self, before: LogImage, after: LogImage, leader_id: NodeId | None) -> None:
        start, end = after.start_offset, after.end_offset
        if start > before.end_offset:
            self._of_raft(
                "Fully truncated the log at (%s) after downloading snapshot %s from leader %s",
                after.end,
                after.latest_snapshot and after.latest_snapshot.snapshot_id,
                leader_id,
            )
        elif start > before.start_offset:
            self._of_raft("Incremented log start offset to %s due to snapshot generated", start)
        if end < before.end_offset:
            self._of_raft(
                "Truncated to offset %s from Fetch response from leader %s", end, leader_id
            )

    def controller_step(
        self,
        kind: str,
        before: Any,
        event: Any,
        after: Any,
        effects: tuple[Any, ...],
        message: Any,
    ) -> None:
        """Log leaderships, snapshots, features, and brokers and partitions that come and go."""
        if kind != "controller":
            return
        if isinstance(event, LeaderChanged):
            self._leader(before, event, after)
        elif isinstance(event, SnapshotLoaded):
            snapshot = f"{event.snapshot_id.end_offset}-{event.snapshot_id.epoch}"
            self._say("Loaded snapshot %s with %s records.", snapshot, len(event.records))
        elif isinstance(event, BatchesCommitted):
            records = [record for batch in event.batches for record in batch.records]
            for record in records:
                self._record(record)
            image = visible(before).image
            self._topics(image, records)
            self._lost_leaders(image, records)
        for effect in effects:
            if isinstance(effect, CreateSnapshot):
                self._snapshot(before, effect)
            elif isinstance(effect, Append) and isinstance(event, Poll):
                self._silent_brokers(effect)
        if before.claim_epoch != NO_EPOCH and after.claim_epoch == NO_EPOCH:
            fault = _fault_of(effects)
            if fault is not None:
                self._say("%s: event failed with %s.", type(message.payload).__name__, fault)
            self._say("Renouncing leadership and reverting to the last committed offset.")

    def _leader(
        self, before: ControllerState, event: LeaderChanged, after: ControllerState
    ) -> None:
        if after.claim_epoch != before.claim_epoch and after.claim_epoch != NO_EPOCH:
            self._say("Becoming the active controller at epoch %s.", event.epoch)
            return
        leader = "(none)" if event.leader_id is None else event.leader_id
        self._say("In the new epoch %s, the leader is %s.", event.epoch, leader)

    def _record(self, record: Any) -> None:
        if isinstance(record, RegisterBrokerRecord):
            self._say(
                "Replayed RegisterBrokerRecord for broker %s: RegisterBrokerRecord(brokerId=%s, "
                "brokerEpoch=%s, fenced=%s)",
                record.broker_id,
                record.broker_id,
                record.broker_epoch,
                str(record.fenced).lower(),
            )
        elif isinstance(record, BrokerRegistrationChangeRecord):
            self._say(
                "Replayed BrokerRegistrationChangeRecord modifying the registration for broker %s: "
                "BrokerRegistrationChangeRecord(brokerId=%s, brokerEpoch=%s, fenced=%s, "
                "inControlledShutdown=%s)",
                record.broker_id,
                record.broker_id,
                record.broker_epoch,
                record.fenced,
                record.in_controlled_shutdown,
            )
        elif isinstance(record, UnregisterBrokerRecord):
            self._say(
                "Replayed UnregisterBrokerRecord(brokerId=%s, brokerEpoch=%s)",
                record.broker_id,
                record.broker_epoch,
            )
        elif isinstance(record, FeatureLevelRecord):
            self._say(
                "Replayed a FeatureLevelRecord setting feature %s to %s",
                record.name,
                record.feature_level,
            )

    def _silent_brokers(self, append: Append) -> None:
        """Log the brokers that a due task of the active controller fences."""
        for record in append.records:
            if isinstance(record, BrokerRegistrationChangeRecord) and record.fenced == _FENCED:
                self._say(
                    "Fencing broker %s at epoch %s because its session has timed out.",
                    record.broker_id,
                    record.broker_epoch,
                )

    def _snapshot(self, before: ControllerState, effect: CreateSnapshot) -> None:
        configuration = before.configuration
        most = configuration.max_record_bytes_between_snapshots
        if before.bytes_since_snapshot >= most:
            reason = f"we have replayed at least {most} bytes"
        else:
            waited_ms = configuration.max_snapshot_interval_ms
            reason = f"we have waited at least {waited_ms} ms"
        snapshot = f"{effect.snapshot_id.end_offset}-{effect.snapshot_id.epoch}"
        self._say("Creating new KRaft snapshot file snapshot %s because %s.", snapshot, reason)

    def _topics(self, image: MetadataImage, records: Iterable[Any]) -> None:
        """Log the topics that were created and deleted."""
        self._each(
            "Replayed TopicRecord for %s",
            [
                f"topic {record.name} with topic ID {record.topic_id}"
                for record in records
                if isinstance(record, TopicRecord)
            ],
        )
        self._each(
            "Replayed RemoveTopicRecord for %s",
            [
                f"topic {_name(image, record.topic_id)} with ID {record.topic_id}"
                for record in records
                if isinstance(record, RemoveTopicRecord)
            ],
        )

    def _lost_leaders(self, image: MetadataImage, records: Iterable[Any]) -> None:
        """Log the partitions that went offline, and unclean elections."""
        changes = [record for record in records if isinstance(record, PartitionChangeRecord)]
        offline = [_change(image, one) for one in changes if one.leader == NO_LEADER]
        unclean = [
            _change(image, one) for one in changes if one.leader_recovery_state == RECOVERING
        ]
        self._each("partition change for %s", offline)
        self._each("UNCLEAN partition change for %s", unclean)

    def _each(self, words: str, things: Sequence[str]) -> None:
        for thing in things[:_MOST_ALIKE]:
            self._say(words, thing)
        if len(things) > _MOST_ALIKE:
            self._say(words, f"{len(things) - _MOST_ALIKE} more")

    def _of_raft(self, text: str, *values: object) -> None:
        _RAFT.info("[RaftManager id=%s] " + text, self._node_id, *values)

    def _say(self, text: str, *values: object) -> None:
        _CONTROLLER.info("[QuorumController id=%s] " + text, self._node_id, *values)


def _name(image: MetadataImage, topic_id: TopicId) -> str:
    """Return the name of a topic; one that came with the same batches has none yet."""
    topic = image.topics.get(topic_id)
    return "(new)" if topic is None else topic.name


def _change(image: MetadataImage, record: PartitionChangeRecord) -> str:
    """Return what a record changes of ISR and leader. Kafka: PartitionRegistration.diff."""
    before = image.partitions.get((record.topic_id, record.partition_id))
    old = ("?", "?") if before is None else (list(before.isr), before.leader)
    isr = old[0] if record.isr is None else list(record.isr)
    return (
        f"{_name(image, record.topic_id)}-{record.partition_id} with topic ID {record.topic_id}: "
        f"isr: {old[0]} -> {isr}, leader: {old[1]} -> {record.leader}"
    )


def _fault_of(effects: tuple[Any, ...]) -> str | None:
    """Return why an operation made its controller step back, in one line; None if none did.

    Kafka: QuorumController.handleEventException.
    """
    for effect in effects:
        if isinstance(effect, Reply) and isinstance(effect.response, Failure):
            failure = effect.response
            if failure.error_code is ErrorCode.UNKNOWN_SERVER_ERROR:
                return printable(failure.reason or "a fault")
    return None
