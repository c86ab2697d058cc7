"""RPC 67: a broker asks for a block of producer ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from kraft.ids import BrokerEpoch, BrokerId


@dataclass(frozen=True, slots=True)
class AllocateProducerIdsRequest:
    """RPC 67. Kafka: AllocateProducerIdsRequest. KIP-730."""

    broker_id: BrokerId
    broker_epoch: BrokerEpoch


@dataclass(frozen=True, slots=True)
class AllocateProducerIdsResponse:
    """RPC 67, the answer: the first id and how many follow. Kafka: AllocateProducerIdsResponse."""

    error_code: ErrorCode = ErrorCode.NONE
    producer_id_start: int = 0
    producer_id_len: int = 0
