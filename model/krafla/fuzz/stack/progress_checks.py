"""Checks that controllers do their work: claim, step back, write snapshots, keep an index.

What must happen soon is counted in steps of the process, so that no machine's clock matters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.controller_effects import appended_by
from kraft.controller import effects as does
from kraft.controller import events
from kraft.controller.memory import in_transaction, visible_of
from kraft.controller.state import is_active, visible
from kraft.image.brokers_to_partitions import brokers_to_partitions
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.raft.roles import Leader
from kraft.records.cluster import AbortTransactionRecord

if TYPE_CHECKING:
    from kraft.controller.configuration import Configuration
    from kraft.controller.memory import Memory
    from kraft.controller.state import ControllerState
    from kraft.sim.raft.steps import ListenerStep, SimStep

__all__ = ["PROGRESS_PROPERTIES", "ProgressChecks"]

PROGRESS_PROPERTIES: Final = (
    "ClaimWritesWhatIsMissingProp", "IndexIsRecomputedInv", "LeaderClaimsProp",
    "LeaderHasControllerProp", "SnapshotsAreMadeProp",
    "SnapshotsAreSpacedProp",
)  # fmt: skip

_EVERY: Final = 50
_PATIENCE: Final = 30
"""The most steps that a process may take until something that is due is done."""


class ProgressChecks:
    """What processes owe: to stop leading, by epoch; a snapshot, by bytes and time."""

    def __init__(self) -> None:
        self._stepped_back: dict[int, list[int]] = {}
        self._bytes: dict[int, int] = {}
        self._since_ms: dict[int, int] = {}
        self._late: dict[int, int] = {}
        self._seen = 0

    def raft(self, step: SimStep) -> None:
        """Check that Raft stops leading soon after its controller has stepped back."""
        owed = self._stepped_back.get(step.incarnation)
        if owed is None or step.kind != "event" or step.after is None:
            return
        role = step.after.role
        if not isinstance(role, Leader) or role.epoch != owed[0]:
            del self._stepped_back[step.incarnation]
            return
        owed[1] += 1
        if owed[1] > _PATIENCE:
            raise Violated(
                "LeaderHasControllerProp",
                f"the controller has stepped back in epoch {owed[0]}, but Raft still leads",
            )

    def check(self, step: SimStep, listener: ListenerStep) -> None:
        """Check a step of a controller. Raises Violated."""
        before, after, event = listener.before, listener.after, listener.event
        if isinstance(event, events.LeaderChanged):
            self._check_claim(event, after)
            _check_first_records(listener)
        steps_back = is_active(before) and not is_active(after)
        if steps_back:
            self._stepped_back[step.incarnation] = [before.claim_epoch, 0]
        self._check_snapshots(step, listener)
        self._seen += 1
        if steps_back or self._seen % _EVERY == 0:
            _check_index(after)

    def _check_claim(self, event: events.LeaderChanged, after: ControllerState) -> None:
        leads = event.leader_id == after.configuration.defaults.node_id
        if leads != is_active(after):
            raise Violated(
                "LeaderClaimsProp",
                f"node {event.leader_id} leads in epoch {event.epoch}, and the controller of node "
                f"{after.configuration.defaults.node_id} is {'' if is_active(after) else 'not '}"
                "active",
            )

    def _check_snapshots(self, step: SimStep, listener: ListenerStep) -> None:
        at, event, after = step.incarnation, listener.event, listener.after
        self._since_ms.setdefault(at, event.now_ms)
        if isinstance(event, events.BatchesCommitted):
            self._bytes[at] = self._bytes.get(at, 0) + sum(b.size_bytes for b in event.batches)
        makes = any(isinstance(effect, does.CreateSnapshot) for effect in listener.effects)
        if makes:
            self._check_spaced(at, event.now_ms, after.configuration)
        if makes or isinstance(event, events.SnapshotLoaded):
            self._bytes[at], self._late[at] = 0, 0
            self._since_ms[at] = event.now_ms
            return
        most = after.configuration.max_record_bytes_between_snapshots
        due = self._bytes.get(at, 0) >= most and event.now_ms >= self._since_ms[at]
        if not due or after.snapshot_end >= after.stable_end or not _has_content(visible(after)):
            self._late[at] = 0
            return
        self._late[at] = self._late.get(at, 0) + 1
        if self._late[at] > _PATIENCE:
            raise Violated(
                "SnapshotsAreMadeProp",
                f"{self._bytes[at]} bytes are committed since the last snapshot at "
                f"{after.snapshot_end}, one is due after {most}, and none is made",
            )

    def _check_spaced(self, at: int, now_ms: int, configuration: Configuration) -> None:
        """Check that enough was committed, or enough time has passed, for another snapshot.

        The time begins with the first step of a process, which is after its start. That does not
        matter as long as a run is shorter than the interval, which is an hour.

        Kafka: SnapshotGenerator.publishLogDelta, SnapshotGenerator.resetSnapshotCounters.
        """
        size, since_ms = self._bytes.get(at, 0), self._since_ms[at]
        most, interval_ms = (
            configuration.max_record_bytes_between_snapshots,
            configuration.max_snapshot_interval_ms,
        )
        if size < most and not 0 < interval_ms <= now_ms - since_ms:
            raise Violated(
                "SnapshotsAreSpacedProp",
                f"a snapshot is made after {size} bytes and {now_ms - since_ms} ms; one is due "
                f"after {most} bytes or {interval_ms} ms",
            )

    def forget(self, incarnation: int) -> None:
        """Forget what a process owed when it ended."""
        for owed in (self._bytes, self._since_ms, self._late):
            owed.pop(incarnation, None)
        self._stepped_back.pop(incarnation, None)


def _has_content(memory: Memory) -> bool:
    """Return whether a snapshot may be made of a state: some are not, and none is of nothing."""
    return memory.is_aligned and memory.image != EMPTY_IMAGE


def _check_first_records(listener: ListenerStep) -> None:
    """Check that a new active controller bootstraps an empty log and aborts an open transaction.

    If neither is needed, it writes nothing of the kind.

    Spec: MetadataLog!ClaimWithOpenTransaction.
    """
    memory, records = listener.before.written, appended_by(listener)
    claims = is_active(listener.after) and not is_active(listener.before)
    if claims and not records:
        missing = visible_of(memory).image.metadata_version is None
        if missing or in_transaction(memory):
            raise Violated(
                "ClaimWritesWhatIsMissingProp",
                "a new controller writes nothing, and "
                + ("the log has not begun" if missing else "a transaction is open"),
            )
    if not records or visible_of(memory).image.metadata_version is None:
        return
    aborts = len(records) == 1 and isinstance(records[0], AbortTransactionRecord)
    if not aborts or not in_transaction(memory):
        names = ", ".join(type(record).__name__ for record in records)
        raise Violated(
            "ClaimWritesWhatIsMissingProp",
            f"a new controller writes {names} into a log that has begun",
        )


def _check_index(state: ControllerState) -> None:
    """Check that the index kept beside the image agrees with the image."""
    written = state.written.written
    image = written.image
    if written.index != brokers_to_partitions(image):
        raise Violated(
            "IndexIsRecomputedInv",
            f"at offset {written.end} the index of brokers and partitions differs from the image",
        )
    if {topic.name: topic_id for topic_id, topic in image.topics.items()} != dict(image.topic_ids):
        raise Violated("IndexIsRecomputedInv", f"at offset {written.end} topics and names differ")
