"""What a quorum controller wants done, in this order."""

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
    """Raft is to append one batch, if it leads in this epoch; else `AppendRefused` comes at once.

    After a refusal the effects that follow are not performed. `metadata_version` says in which
    version each record is written. Kafka: RaftClient.prepareAppend, schedulePreparedAppend.
    """

    epoch: int
    base_offset: Offset
    records: tuple[TypedRecord, ...]
    metadata_version: int


@dataclass(frozen=True, slots=True)
class Resign:
    """Raft is to lead no longer, if it leads in this epoch. Kafka: RaftClient.resign."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Failure:
    """What is answered in place of a response: an error for the whole request.

    Kafka: ApiException.
    """

    error_code: ErrorCode
    reason: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The request that came with this token is answered, with its response or with a Failure."""

    token: Hashable
    response: Any


@dataclass(frozen=True, slots=True)
class CreateSnapshot:
    """A snapshot of all before `snapshot_id.end_offset` is to be written.

    Kafka: RaftClient.createSnapshot.
    """

    snapshot_id: OffsetAndEpoch
    records: tuple[TypedRecord, ...]
    metadata_version: int


@dataclass(frozen=True, slots=True)
class Fatal:
    """The process must end; the state is as it was. Kafka: ProcessTerminatingFaultHandler."""

    reason: str


Effect = Append | Resign | Reply | CreateSnapshot | Fatal
