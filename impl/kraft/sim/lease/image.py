"""The image of the lease simulation: the part of the metadata that the lease reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from immutables import Map

from kraft.ids import Offset

if TYPE_CHECKING:
    from kraft.controller.operations.lease_view import BrokerRegistration
    from kraft.ids import BrokerId


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


def can_elect(image: ClusterImage, broker_id: BrokerId) -> bool:
    """Return whether a broker may become a leader and leads nothing yet."""
    return is_active(image, broker_id) and broker_id not in image.leads
