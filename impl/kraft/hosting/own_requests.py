"""The requests of a process's own state machine, and how each becomes an event of Raft.

A prepared append is scheduled next, and a log is cleaned after a snapshot.

Kafka: RaftClient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.hosting.process import OwnRequest
from kraft.raft.configuration import MILLISECOND
from kraft.raft.events import (
    CleanRequested,
    PrepareAppend,
    ResignRequested,
    ScheduleAppend,
    ShutdownRequested,
    SnapshotCreated,
)

if TYPE_CHECKING:
    from kraft.hosting.process import HostedProcess
    from kraft.ids import OffsetAndEpoch


@dataclass(frozen=True, slots=True)
class Prepare(OwnRequest):
    """Prepare these values as one batch, if the replica leads in `epoch`.

    Kafka: RaftClient.prepareAppend.
    """

    epoch: int
    values: tuple[bytes, ...]

    def event(self, _process: HostedProcess, now: int, chance: int) -> PrepareAppend:
        """Return the event."""
        return PrepareAppend(now, chance, self.epoch, self.values)


@dataclass(frozen=True, slots=True)
class Schedule(OwnRequest):
    """Append what is prepared. Kafka: RaftClient.schedulePreparedAppend."""

    def event(self, _process: HostedProcess, now: int, chance: int) -> ScheduleAppend:
        """Return the event."""
        return ScheduleAppend(now, chance)


@dataclass(frozen=True, slots=True)
class Resign(OwnRequest):
    """Give up the leadership of `epoch`, or of the epoch by then. Kafka: RaftClient.resign."""

    epoch: int | None = None

    def event(self, process: HostedProcess, now: int, chance: int) -> ResignRequested:
        """Return the event."""
        epoch = process.state.role.epoch if self.epoch is None else self.epoch
        return ResignRequested(now, chance, epoch)


@dataclass(frozen=True, slots=True)
class TakeSnapshot(OwnRequest):
    """Write a snapshot with these values; the log is cleaned after what waits in the inbox.

    The snapshot tells the timestamp of the last record that it stands for: its age for retention.

    Kafka: RaftClient.createSnapshot, MetadataProvenance.lastContainedLogTimeMs.
    """

    snapshot_id: OffsetAndEpoch
    values: tuple[bytes, ...]

    def event(self, process: HostedProcess, now: int, chance: int) -> SnapshotCreated:
        """Return the event."""
        process.inbox.append(Clean())
        log, end = process.state.log, self.snapshot_id.end_offset
        last_timestamp = now // MILLISECOND
        # Otherwise the log has gone on meanwhile, and there will be no snapshot.
        if log.start_offset < end <= log.end_offset:
            last_timestamp = log.read(end - 1, 0)[0].max_timestamp
        return SnapshotCreated(now, chance, self.snapshot_id, self.values, last_timestamp)


@dataclass(frozen=True, slots=True)
class Clean(OwnRequest):
    """Remove what a snapshot covers from the log. Kafka: KafkaMetadataLog.maybeClean."""

    def event(self, _process: HostedProcess, now: int, chance: int) -> CleanRequested:
        """Return the event."""
        return CleanRequested(now, chance)


@dataclass(frozen=True, slots=True)
class Shutdown(OwnRequest):
    """End the process within `timeout` nanoseconds. Kafka: RaftClient.shutdown."""

    timeout: int

    def event(self, _process: HostedProcess, now: int, chance: int) -> ShutdownRequested:
        """Return the event."""
        return ShutdownRequested(now, chance, self.timeout)
