"""Replay: the only way in which a `MetadataImage` becomes another.

Kafka: MetadataDelta.replay, and the `replay` of each of the controller's managers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.image.brokers import BROKER_REPLAY
from kraft.image.delta import MetadataDelta
from kraft.image.others import OTHER_REPLAY
from kraft.image.topics import TOPIC_REPLAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kraft.image.metadata_image import MetadataImage
    from kraft.records.typed_record import TypedRecord

_REPLAY: Final[dict[type[TypedRecord], Callable[[Any, Any], None]]] = {
    **BROKER_REPLAY,
    **TOPIC_REPLAY,
    **OTHER_REPLAY,
}


def replay(image: MetadataImage, records: Iterable[TypedRecord]) -> MetadataImage:
    """Return an image after more records, in order.

    The records that begin, end and abort a transaction change nothing here: the reader of the log
    handles them. Raises RefusedRecordError if a record contradicts the records before it.
    """
    delta = MetadataDelta(image)
    for record in records:
        _REPLAY[type(record)](delta, record)
    return delta.image()
