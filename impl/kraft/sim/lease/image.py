"""The image of the cluster: what the records of the log say, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from immutables import Map

from kraft.ids import Offset

if TYPE_CHECKING:
    from kraft.ids import BrokerEpoch, BrokerId, IncarnationId


@dataclass(frozen=True, slots=True)
class BrokerRegistration:
    """What the log says of one broker id.

    `epoch` is the offset of the record that registered the incarnation; `record_offset` is that of
    its last RegisterBrokerRecord, which is later if it registered again.

    Spec: BrokerLease!Registration.
    Kafka: BrokerRegistration.
    """

    incarnation_id: IncarnationId
    epoch: BrokerEpoch
    record_offset: Offset
    fenced: bool = True
    in_controlled_shutdown: bool = False


_NO_REGISTRATIONS: Final[Map[BrokerId, BrokerRegistration]] = Map()
_FIRST_OFFSET: Final = Offset(0)


@dataclass(frozen=True, slots=True)
class ClusterImage:
    """The registrations, the brokers that lead a partition, and the offset of the next record.

    Kafka: ClusterImage, ClusterControlManager.
    """

    registrations: Map[BrokerId, BrokerRegistration] = _NO_REGISTRATIONS
    leads: frozenset[BrokerId] = frozenset()
    log_end: Offset = _FIRST_OFFSET


EMPTY_IMAGE: Final = ClusterImage()


def is_active(image: ClusterImage, broker_id: BrokerId) -> bool:
    """Return whether a broker may lead: registered, neither fenced nor in controlled shutdown.

    Spec: BrokerLease!Active.
    Kafka: ClusterControlManager.isActive.
    """
    registration = image.registrations.get(broker_id)
    return (
        registration is not None
        and not registration.fenced
        and not registration.in_controlled_shutdown
    )
