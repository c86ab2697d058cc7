"""The metadata that the rules of the lease read, and a view of all metadata that provides it.

`heartbeats` and `cluster_control` hold the rules. `WrittenLease` lets them read an image of all
metadata; the lease simulation has an image of its own (`kraft.sim.lease.image`).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from kraft.controller.operations.written import leads_any
from kraft.ids import NO_OFFSET, BrokerId, Offset

if TYPE_CHECKING:
    from kraft.controller.operations.written import Written
    from kraft.ids import BrokerEpoch, IncarnationId


@dataclass(frozen=True, slots=True)
class BrokerRegistration:
    """The registration of one broker id, as far as the lease reads it.

    `epoch` is the offset of the record that registered the incarnation. `record_offset` is the
    offset of its last RegisterBrokerRecord; it is later than `epoch` if the same incarnation
    registered again.

    Spec: BrokerLease!Registration.
    Kafka: BrokerRegistration.
    """

    incarnation_id: IncarnationId
    epoch: BrokerEpoch
    record_offset: Offset
    fenced: bool = True
    in_controlled_shutdown: bool = False


class LeaseView(Protocol):
    """The registrations, the brokers that lead a partition, and the offset of the next record."""

    @property
    def registrations(self) -> Mapping[BrokerId, BrokerRegistration]:
        """The registrations, by broker id."""

    @property
    def leads(self) -> Container[BrokerId]:
        """The brokers that lead a partition."""

    @property
    def log_end(self) -> Offset:
        """The offset of the next record."""


@dataclass(frozen=True, slots=True)
class WrittenLease:
    """A `LeaseView` of all metadata. It copies nothing and scans no partitions."""

    written: Written

    @property
    def registrations(self) -> Mapping[BrokerId, BrokerRegistration]:
        """The registrations by broker id, built on access."""
        return _Registrations(self.written)

    @property
    def leads(self) -> Container[BrokerId]:
        """The brokers that lead a partition, from the index."""
        return _Leading(self.written)

    @property
    def log_end(self) -> Offset:
        """The offset of the next record."""
        return self.written.end


class _Registrations(Mapping[BrokerId, BrokerRegistration]):
    def __init__(self, written: Written) -> None:
        self._brokers = written.image.brokers
        self._offsets = written.registration_offsets

    def __getitem__(self, broker_id: BrokerId) -> BrokerRegistration:
        registration = self._brokers[broker_id]
        return BrokerRegistration(
            registration.incarnation_id,
            registration.epoch,
            self._offsets.get(broker_id, NO_OFFSET),
            registration.fenced,
            registration.in_controlled_shutdown,
        )

    def __iter__(self) -> Iterator[BrokerId]:
        return iter(sorted(self._brokers))

    def __len__(self) -> int:
        return len(self._brokers)


class _Leading:
    def __init__(self, written: Written) -> None:
        self._written = written

    def __contains__(self, broker_id: object) -> bool:
        return isinstance(broker_id, int) and leads_any(self._written, BrokerId(broker_id))
