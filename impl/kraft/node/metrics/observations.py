"""What a node counts and times as it goes: at its edges, never in the handlers.

Kafka: KafkaRaftMetrics, QuorumControllerMetrics, ControllerMetricsChanges, LogFlushStats.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.controller.effects import Append
from kraft.controller.events import BatchesCommitted, LeaderChanged, SnapshotLoaded
from kraft.controller.state import is_active, visible
from kraft.node.metrics.instruments import Count, Times
from kraft.node.metrics.metric import Kind, Metric
from kraft.raft.configuration import MILLISECOND
from kraft.raft.effects import FlushLog
from kraft.raft.roles import Candidate, Follower, Leader, Prospective
from kraft.records.topics import RECOVERING, PartitionChangeRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kraft.controller.state import ControllerState
    from kraft.image.metadata_image import MetadataImage
    from kraft.log.batches import LogBatch
    from kraft.node.metrics.instruments import Instrument
    from kraft.raft.roles import Role
    from kraft.raft.state import RaftState

COMMIT_LATENCY: Final = Metric(
    Kind.HISTOGRAM,
    "kafka.server",
    "raft-metrics",
    "commit-latency-avg",
    "The milliseconds from the append of a batch until it is committed, divided by the number of "
    "its records; on a leader.",
)
ELECTION_LATENCY: Final = Metric(
    Kind.HISTOGRAM,
    "kafka.server",
    "raft-metrics",
    "election-latency-avg",
    "The milliseconds from the last candidacy of this replica until it knows the leader.",
)
APPENDED: Final = Metric(
    Kind.COUNTER,
    "kafka.server",
    "raft-metrics",
    "append-records-rate",
    "The records that this replica appended as the leader.",
)
FETCHED: Final = Metric(
    Kind.COUNTER,
    "kafka.server",
    "raft-metrics",
    "fetch-records-rate",
    "The records that this replica fetched from a leader.",
)
METADATA_COMMIT_LATENCY: Final = Metric(
    Kind.HISTOGRAM,
    "kafka.controller",
    "KafkaController",
    "MetadataCommitLatencyMs",
    "The milliseconds from an operation of the active controller until its records are committed "
    "(KIP-631).",
)
METADATA_COMMITTED: Final = Metric(
    Kind.COUNTER,
    "kafka.controller",
    "KafkaController",
    "MetadataCommitRatePerSec",
    "The records that this controller saw committed (KIP-631).",
)
UNCLEAN_ELECTIONS: Final = Metric(
    Kind.COUNTER,
    "kafka.controller",
    "ControllerStats",
    "UncleanLeaderElectionsPerSec",
    "The unclean elections of partition leaders among the committed records.",
)
ELR_ELECTIONS: Final = Metric(
    Kind.COUNTER,
    "kafka.controller",
    "ControllerStats",
    "ElectionFromEligibleLeaderReplicasPerSec",
    "The elections of a leader out of the eligible leader replicas (KIP-966).",
)
QUEUE_TIME: Final = Metric(
    Kind.HISTOGRAM,
    "kafka.controller",
    "ControllerEventManager",
    "EventQueueTimeMs",
    "The milliseconds that a request to the controller waited for its turn.",
)
PROCESSING_TIME: Final = Metric(
    Kind.HISTOGRAM,
    "kafka.controller",
    "ControllerEventManager",
    "EventQueueProcessingTimeMs",
    "The milliseconds that the controller was busy with an event; the wait for a commit is not "
    "in them.",
)
FLUSH_TIME: Final = Metric(
    Kind.HISTOGRAM,
    "kafka.log",
    "LogFlushStats",
    "LogFlushRateAndTimeMs",
    "The milliseconds that a flush of the log took.",
)


class _Pending(NamedTuple):
    """Records that wait until all before `end` is committed."""

    end: int
    records: int
    since: int


class Observations:
    """What a node has counted since it started. Times are nanoseconds of its clock."""

    def __init__(self) -> None:
        self._appended = Count(APPENDED)
        self._fetched = Count(FETCHED)
        self._commit_latency = Times(COMMIT_LATENCY)
        self._election_latency = Times(ELECTION_LATENCY)
        self._metadata_commit_latency = Times(METADATA_COMMIT_LATENCY)
        self._metadata_committed = Count(METADATA_COMMITTED)
        self._unclean = Count(UNCLEAN_ELECTIONS)
        self._elr = Count(ELR_ELECTIONS)
        self._queue_time = Times(QUEUE_TIME)
        self._processing_time = Times(PROCESSING_TIME)
        self._flush_time = Times(FLUSH_TIME)
        self.instruments: tuple[Instrument, ...] = (
            self._appended,
            self._fetched,
            self._commit_latency,
            self._election_latency,
            self._metadata_commit_latency,
            self._metadata_committed,
            self._unclean,
            self._elr,
            self._queue_time,
            self._processing_time,
            self._flush_time,
        )
        self.leaders = self.events_started = self.snapshots_loaded = 0
        self.last_applied_ms = -1
        self._is_active = False
        self._election_start: int | None = None
        self._uncommitted: deque[_Pending] = deque()
        self._written: deque[_Pending] = deque()

    # Raft

    def replica_step(self, before: RaftState, after: RaftState, now: Callable[[], int]) -> None:
        """Take a step of the replica: records appended or fetched, elections."""
        old, new = before.role, after.role
        if type(old) is not type(new) or old.epoch != new.epoch:
            self._elected(new, now())
        elif before.log is after.log:
            return
        grown = after.log.end_offset - before.log.end_offset
        if grown > 0 and isinstance(new, Follower):
            self._fetched.add(grown)
        if not isinstance(new, Leader):
            self._uncommitted.clear()
            return
        if grown > 0:
            self._appended.add(grown)
            self._uncommitted.append(_Pending(after.log.end_offset, grown, now()))

    def _elected(self, new: Role, now: int) -> None:
        if isinstance(new, Prospective | Candidate):
            self._election_start = now
        elif isinstance(new, Leader | Follower) and self._election_start is not None:
            self._election_latency.add((now - self._election_start) / MILLISECOND)
            self._election_start = None

    def committed(self, batches: Sequence[LogBatch], now: int) -> None:
        """Take batches that are committed, on the disk, and about to be handled."""
        newest = batches[-1]
        for each in _taken(self._uncommitted, newest.end_offset):
            self._commit_latency.add((now - each.since) / MILLISECOND / each.records)
        if not self._is_active:
            # A standby replays them now.
            self.last_applied_ms = newest.max_timestamp

    # The controller

    def controller_step(
        self,
        kind: str,
        before: Any,
        event: Any,
        after: Any,
        effects: tuple[Any, ...],
        message: Any,  # noqa: ARG002 - an observer gets all of a step
    ) -> None:
        """Take a step of the controller: a `kraft.hosting.controller_host.Observer`."""
        if kind != "controller":
            return
        self.events_started += 1
        if isinstance(event, LeaderChanged):
            self.leaders += event.leader_id is not None
        elif isinstance(event, SnapshotLoaded):
            self.snapshots_loaded += 1
        elif isinstance(event, BatchesCommitted):
            self._committed(before, event, after)
        self._wrote(after, effects, event.now_ms)

    def _committed(
        self, before: ControllerState, event: BatchesCommitted, after: ControllerState
    ) -> None:
        self._metadata_committed.add(sum(batch.count for batch in event.batches))
        for each in _taken(self._written, after.committed_end):
            self._metadata_commit_latency.add(event.now_ms - each.since)
        image = visible(before).image
        for batch in event.batches:
            unclean, eligible = elections(image, batch.records)
            self._unclean.add(unclean)
            self._elr.add(eligible)

    def _wrote(self, after: ControllerState, effects: Iterable[Any], now_ms: int) -> None:
        self._is_active = is_active(after)
        if not self._is_active:
            self._written.clear()
            return
        for effect in effects:
            if isinstance(effect, Append):
                count = len(effect.records)
                self._written.append(_Pending(effect.base_offset + count, count, now_ms))
                self.last_applied_ms = now_ms

    def handled(self, waited: int | None, took: int) -> None:
        """Take an event's times: in the inbox, if it came from there, and in the handler."""
        if waited is not None:
            self._queue_time.add(waited / MILLISECOND)
        self._processing_time.add(took / MILLISECOND)

    # The disk

    def performed(self, effect: object, took: int) -> None:
        """Take a durable effect and how long it took; called by the disk's thread."""
        if isinstance(effect, FlushLog):
            self._flush_time.add(took / MILLISECOND)


def _taken(pending: deque[_Pending], committed_end: int) -> Iterable[_Pending]:
    """Take out and yield what is committed."""
    while pending and pending[0].end <= committed_end:
        yield pending.popleft()


def elections(image: MetadataImage, records: Iterable[Any]) -> tuple[int, int]:
    """Return how many records elect a leader uncleanly, and how many an eligible one.

    `image` is the one before the records. Kafka: TopicDelta.updateElectionStats.
    """
    unclean = eligible = 0
    known = image.partitions
    latest: dict[Any, tuple[Any, ...]] = {}
    for record in records:
        if not isinstance(record, PartitionChangeRecord):
            continue
        if record.leader_recovery_state == RECOVERING:
            unclean += 1
        key = (record.topic_id, record.partition_id)
        replicas = latest.get(key)
        if replicas is None:
            partition = known.get(key)
            replicas = () if partition is None else partition.eligible_leader_replicas
        if record.leader in replicas:
            eligible += 1
        if record.eligible_leader_replicas is not None:
            latest[key] = record.eligible_leader_replicas
    return unclean, eligible
