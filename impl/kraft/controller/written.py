"""What a controller has in memory: all records that it has replayed, committed or not.

Kafka: QuorumController, whose managers keep it in timeline structures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from immutables import Map

from kraft.ids import Offset
from kraft.image.metadata_image import EMPTY_IMAGE, MetadataImage
from kraft.image.replay import replay
from kraft.records.lease import RegisterBrokerRecord, UnregisterBrokerRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.ids import BrokerId
    from kraft.records.typed import TypedRecord

_NO_OFFSETS: Final[Map[BrokerId, Offset]] = Map()
_FIRST: Final = Offset(0)


@dataclass(frozen=True, slots=True)
class Written:
    """The image of all records before `end`, and at which offset each broker last registered.

    `registration_offsets` are no part of an image: a snapshot does not say them, so whoever loads
    one takes its last offset for each broker.

    Spec: MetadataLog!written.
    Kafka: ClusterControlManager.registerBrokerRecordOffsets.
    """

    image: MetadataImage = EMPTY_IMAGE
    registration_offsets: Map[BrokerId, Offset] = _NO_OFFSETS
    end: Offset = _FIRST


NOTHING_WRITTEN: Final = Written()


def replay_batch(written: Written, records: Sequence[TypedRecord], base_offset: Offset) -> Written:
    """Return what is in memory after a batch whose first record is at `base_offset`.

    Raises RefusedRecordError if a record is ruled out by those before it.
    Kafka: QuorumController.replay.
    """
    offsets = written.registration_offsets
    for offset, record in enumerate(records, start=base_offset):
        if isinstance(record, RegisterBrokerRecord):
            offsets = offsets.set(record.broker_id, Offset(offset))
        elif isinstance(record, UnregisterBrokerRecord) and record.broker_id in offsets:
            offsets = offsets.delete(record.broker_id)
    image = replay(written.image, records)
    return Written(image, offsets, Offset(base_offset + len(records)))
