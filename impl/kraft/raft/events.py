"""The events of a replica. Each brings the replica's own clock and one random number.

`now` is in nanoseconds of the replica's clock. `chance` is a number from 0 to 2**64 - 1, which a
handler splits if it needs several. So a handler needs neither clock nor dice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kraft.ids import NodeId, OffsetAndEpoch
    from kraft.rpc.requests import RaftRequest, RaftResponse


class Source(NamedTuple):
    """Where a request came from, to send the answer there; node id -1 is a client without one."""

    node_id: NodeId
    correlation_id: int


@dataclass(frozen=True, slots=True)
class RequestReceived:
    """A request has arrived."""

    now: int
    chance: int
    source: Source
    request: RaftRequest


@dataclass(frozen=True, slots=True)
class ResponseReceived:
    """An answer has arrived from node `sender` for the request with this correlation id."""

    now: int
    chance: int
    sender: NodeId
    correlation_id: int
    response: RaftResponse


@dataclass(frozen=True, slots=True)
class Poll:
    """Something may be due: the first thing that is gets done, and only that.

    Kafka: KafkaRaftClient.poll.
    """

    now: int
    chance: int


@dataclass(frozen=True, slots=True)
class PrepareAppend:
    """The state machine has values to append in `epoch`, as one atomic batch.

    They are buffered; `ScheduleAppend` lets them go. Kafka: RaftClient.prepareAppend.
    """

    now: int
    chance: int
    epoch: int
    values: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ScheduleAppend:
    """Release every prepared batch into the log. Kafka: RaftClient.schedulePreparedAppend."""

    now: int
    chance: int


@dataclass(frozen=True, slots=True)
class ResignRequested:
    """The state machine wants this leader to step down. Kafka: RaftClient.resign."""

    now: int
    chance: int
    epoch: int


@dataclass(frozen=True, slots=True)
class ShutdownRequested:
    """The process is asked to end within `timeout` ns. Kafka: KafkaRaftClient.shutdown."""

    now: int
    chance: int
    timeout: int


@dataclass(frozen=True, slots=True)
class SnapshotCreated:
    """The state machine has the content of a snapshot of all before `snapshot_id.end_offset`.

    `values` are the records of its image, `last_timestamp` that of the last record before its end,
    in milliseconds. Kafka: RaftClient.createSnapshot.
    """

    now: int
    chance: int
    snapshot_id: OffsetAndEpoch
    values: tuple[bytes, ...]
    last_timestamp: int


@dataclass(frozen=True, slots=True)
class CleanRequested:
    """The log may be cleaned up to its next snapshot. Kafka: KafkaMetadataLog.maybeClean."""

    now: int
    chance: int


Event = (
    RequestReceived
    | ResponseReceived
    | Poll
    | PrepareAppend
    | ScheduleAppend
    | ResignRequested
    | ShutdownRequested
    | SnapshotCreated
    | CleanRequested
)
