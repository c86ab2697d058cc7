"""The newest state of a controller: all records that it has replayed, committed or not.

Kafka: QuorumController, whose managers keep it in timeline structures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from immutables import Map

from kraft.ids import Offset
from kraft.image.brokers_to_partitions import (
    NO_PARTITIONS,
    BrokersToPartitions,
    after_records,
    brokers_to_partitions,
)
from kraft.image.metadata_image import EMPTY_IMAGE, MetadataImage
from kraft.image.replay import replay
from kraft.records.lease import RegisterBrokerRecord, UnregisterBrokerRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.ids import BrokerId
    from kraft.records.typed_record import TypedRecord

_NO_OFFSETS: Final[Map[BrokerId, Offset]] = Map()
_FIRST: Final = Offset(0)


@dataclass(frozen=True, slots=True)
class Written:
    """The image of all records before `end`, and the offset of each broker's last registration.

    A snapshot does not contain `registration_offsets`; after loading one, its last offset counts
    for each broker (`written_from_snapshot`). `index` is derived from the image, and built if
    omitted.

    Spec: MetadataLog!written.
    Kafka: ClusterControlManager.registerBrokerRecordOffsets.
    """

    image: MetadataImage = EMPTY_IMAGE
    registration_offsets: Map[BrokerId, Offset] = _NO_OFFSETS
    end: Offset = _FIRST
    index: BrokersToPartitions = NO_PARTITIONS

    def __post_init__(self) -> None:
        """Build the index if the image has partitions and the index has none."""
        if self.image.partitions and not self.index.leads:
            object.__setattr__(self, "index", brokers_to_partitions(self.image))


NOTHING_WRITTEN: Final = Written()


def replay_batch(written: Written, records: Sequence[TypedRecord], base_offset: Offset) -> Written:
    """Return the state after a batch whose first record is at `base_offset`.

    Raises RefusedRecordError if the records before it rule a record out.
    Kafka: QuorumController.replay.
    """
    offsets = written.registration_offsets
    for offset, record in enumerate(records, start=base_offset):
        if isinstance(record, RegisterBrokerRecord):
            offsets = offsets.set(record.broker_id, Offset(offset))
        elif isinstance(record, UnregisterBrokerRecord) and record.broker_id in offsets:
            offsets = offsets.delete(record.broker_id)
    image = replay(written.image, records)
    index = after_records(written.index, written.image, image, records)
    return Written(image, offsets, Offset(base_offset + len(records)), index)


def written_from_snapshot(image: MetadataImage, end: Offset) -> Written:
    """Return the state after a snapshot that ends at `end`, exclusively.

    Kafka: ClusterControlManager.replay, which is given the last offset of the snapshot.
    """
    last = Offset(end - 1)
    return Written(image, Map(dict.fromkeys(image.brokers, last)), end)


def leads_any(written: Written, broker_id: BrokerId) -> bool:
    """Return whether a broker leads a partition.

    Kafka: BrokersToIsrs.hasLeaderships.
    """
    return broker_id in written.index.leads
