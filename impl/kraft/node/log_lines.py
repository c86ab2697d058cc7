"""The log of a node for people: lines in Kafka's form and, where Kafka has them, in its words.

Kafka: QuorumState.transitionTo, QuorumController.handleLeaderChange, .claim, .renounce.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any, Final

from kraft.controller.events import BatchesCommitted, LeaderChanged, SnapshotLoaded
from kraft.controller.state import NO_EPOCH, ControllerState
from kraft.records.lease import BrokerRegistrationChangeRecord, RegisterBrokerRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraft.raft.state import RaftState

_FORM: Final = "[%(asctime)s] %(levelname)s %(message)s (%(name)s)"
_RAFT: Final = logging.getLogger("kraft.raft")
_CONTROLLER: Final = logging.getLogger("kraft.controller")
_ROOT: Final = logging.getLogger("kraft")


class _Line(logging.Formatter):
    """A line in the form of Kafka's log4j2.properties, which has WARN for WARNING."""

    def format(self, record: logging.LogRecord) -> str:
        if record.levelno == logging.WARNING:
            record.levelname = "WARN"
        return super().format(record)


def start_logging(warnings: Iterable[str] = ()) -> None:
    """Write the log to standard output, as Kafka's controllers do; warnings come first."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_Line(_FORM))
    _ROOT.addHandler(handler)
    _ROOT.setLevel(logging.INFO)
    _ROOT.propagate = False
    for warning in warnings:
        _ROOT.warning("%s", warning)


class NodeLog:
    """What a node logs of its own steps."""

    __slots__ = ("_node_id",)

    def __init__(self, node_id: int) -> None:
        self._node_id = node_id

    def replica_step(self, before: RaftState, after: RaftState) -> None:
        """Log a change of role or epoch."""
        old, new = before.role, after.role
        if type(old) is type(new) and old.epoch == new.epoch:
            return
        _RAFT.info(
            "[RaftManager id=%s] Completed transition to %s(epoch=%s, leaderId=%s) "
            "from %s(epoch=%s)",
            self._node_id,
            type(new).__name__,
            new.epoch,
            getattr(new, "leader_id", None),
            type(old).__name__,
            old.epoch,
        )

    def controller_step(
        self,
        kind: str,
        before: Any,
        event: Any,
        after: Any,
        effects: tuple[Any, ...],  # noqa: ARG002 - an observer gets all of a step
        message: Any,  # noqa: ARG002 - as above
    ) -> None:
        """Log a leadership, a snapshot that was loaded, and brokers that come and go."""
        if kind != "controller":
            return
        if isinstance(event, LeaderChanged):
            self._leader(before, event, after)
        elif isinstance(event, SnapshotLoaded):
            snapshot = f"{event.snapshot_id.end_offset}-{event.snapshot_id.epoch}"
            self._say("Loaded snapshot %s with %s records.", snapshot, len(event.records))
        elif isinstance(event, BatchesCommitted):
            for batch in event.batches:
                for record in batch.records:
                    self._record(record)
        if before.claim_epoch != NO_EPOCH and after.claim_epoch == NO_EPOCH:
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
                "Replayed BrokerRegistrationChangeRecord(brokerId=%s, brokerEpoch=%s, fenced=%s, "
                "inControlledShutdown=%s)",
                record.broker_id,
                record.broker_epoch,
                record.fenced,
                record.in_controlled_shutdown,
            )

    def _say(self, text: str, *values: object) -> None:
        _CONTROLLER.info("[QuorumController id=%s] " + text, self._node_id, *values)
