"""The effects that a quorum controller asks for, to be performed in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable

    from kraft.errors import ErrorCode
    from kraft.ids import Offset, OffsetAndEpoch
    from kraft.records.typed_record import TypedRecord


@dataclass(frozen=True, slots=True)
class Append:
    """Append one batch to Raft's log if Raft leads in `epoch`; otherwise report `AppendRefused`.

    The report comes at once, and the effects after a refused append are not performed.
    `metadata_version` determines the version in which each record is written. Kafka:
    RaftClient.prepareAppend, schedulePreparedAppend.
    """

    epoch: int
    base_offset: Offset
    records: tuple[TypedRecord, ...]
    metadata_version: int


@dataclass(frozen=True, slots=True)
class Resign:
    """Make Raft resign its leadership if it leads in `epoch`. Kafka: RaftClient.resign."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Failure:
    """An error for the whole request, sent instead of a response.

    Kafka: ApiException.
    """

    error_code: ErrorCode
    reason: str


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer the request that came with `token`, with its response or a Failure."""

    token: Hashable
    response: Any


@dataclass(frozen=True, slots=True)
class CreateSnapshot:
    """Write a snapshot of the log before `snapshot_id.end_offset`.

    Kafka: RaftClient.createSnapshot.
    """

    snapshot_id: OffsetAndEpoch
    records: tuple[TypedRecord, ...]
    metadata_version: int


@dataclass(frozen=True, slots=True)
class Fatal:
    """End the process; the state is unchanged. Kafka: ProcessTerminatingFaultHandler."""

    reason: str


Effect = Append | Resign | Reply | CreateSnapshot | Fatal
