"""RPC 63: a registered broker reports its replayed offset and what it wants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from kraft.ids import BrokerEpoch, BrokerId, DirectoryId, Offset


@dataclass(frozen=True, slots=True)
class BrokerHeartbeatRequest:
    """RPC 63. `current_metadata_offset` is the last offset replayed, -1 before the first.

    The incarnation is not in it: the epoch names the process. `offline_log_dirs` are all
    directories that failed since it started; they play no part in the lease.

    Spec: BrokerLease!HeartbeatRequest.
    Kafka: BrokerHeartbeatRequest.
    """

    broker_id: BrokerId
    broker_epoch: BrokerEpoch
    current_metadata_offset: Offset
    want_fence: bool
    want_shut_down: bool
    offline_log_dirs: tuple[DirectoryId, ...] = ()


@dataclass(frozen=True, slots=True)
class BrokerHeartbeatResponse:
    """RPC 63, the answer: where the controller says the broker stands.

    Spec: BrokerLease!HeartbeatResponse.
    Kafka: BrokerHeartbeatResponse.
    """

    error_code: ErrorCode = ErrorCode.NONE
    is_caught_up: bool = False
    is_fenced: bool = True
    should_shut_down: bool = False
