"""RPC 62: a broker process asks for the registration of its id, and for an epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.ids import NO_BROKER_EPOCH

if TYPE_CHECKING:
    from kraft.ids import BrokerEpoch, BrokerId, DirectoryId, IncarnationId
    from kraft.rpc.node_description import Listener, SupportedFeature


@dataclass(frozen=True, slots=True)
class BrokerRegistrationRequest:
    """RPC 62: the broker, and the content of its registration; the lease uses the first two fields.

    `previous_broker_epoch` is the epoch under which the broker last stopped cleanly, read from its
    disk; NO_BROKER_EPOCH if the disk has none.

    Spec: BrokerLease!RegistrationRequest.
    Kafka: BrokerRegistrationRequest.
    """

    broker_id: BrokerId
    incarnation_id: IncarnationId
    cluster_id: str = ""
    listeners: tuple[Listener, ...] = ()
    features: tuple[SupportedFeature, ...] = ()
    rack: str | None = None
    is_migrating_zk_broker: bool = False
    log_dirs: tuple[DirectoryId, ...] = ()
    previous_broker_epoch: BrokerEpoch = NO_BROKER_EPOCH


@dataclass(frozen=True, slots=True)
class BrokerRegistrationResponse:
    """RPC 62, the answer: the epoch of the registration, or the error.

    Spec: BrokerLease!RegistrationResponse.
    Kafka: BrokerRegistrationResponse.
    """

    error_code: ErrorCode = ErrorCode.NONE
    broker_epoch: BrokerEpoch = NO_BROKER_EPOCH
