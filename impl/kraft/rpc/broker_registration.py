"""RPC 62: a broker process asks for the registration of its id, and for an epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.ids import NO_BROKER_EPOCH

if TYPE_CHECKING:
    from kraft.ids import BrokerEpoch, BrokerId, IncarnationId


@dataclass(frozen=True, slots=True)
class BrokerRegistrationRequest:
    """RPC 62. Who asks; listeners, features, rack and directories play no part in the lease.

    Spec: BrokerLease!RegistrationRequest.
    Kafka: BrokerRegistrationRequest.
    """

    broker_id: BrokerId
    incarnation_id: IncarnationId


@dataclass(frozen=True, slots=True)
class BrokerRegistrationResponse:
    """RPC 62, the answer: the epoch of the registration, or why there is none.

    Spec: BrokerLease!RegistrationResponse.
    Kafka: BrokerRegistrationResponse.
    """

    error_code: ErrorCode = ErrorCode.NONE
    broker_epoch: BrokerEpoch = NO_BROKER_EPOCH
