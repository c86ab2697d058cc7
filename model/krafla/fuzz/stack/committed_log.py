"""The committed metadata log of a run as it grows, which no node may contradict.

The first node that hears of a batch as committed reports it. Raft's own properties check that no
node hears of another batch there.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.violation import Violated
from kraft.image.errors import RefusedRecordError
from kraft.image.metadata_image import EMPTY_IMAGE, MetadataImage
from kraft.image.replay import replay
from kraft.records.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kraft.controller.events import CommittedBatch
    from kraft.records.typed_record import TypedRecord

__all__ = ["CommittedLog"]

_KEPT: Final = 8_000


class CommittedLog:
    """The committed log: where it ends, and the image after each batch.

    ``stable_images`` has the image that may be visible after each record: it shows nothing of an
    open transaction. ``epochs`` has the epoch of each of these records, ``ends`` the ends of
    batches. ``observers`` are told of each batch once, in order.
    """

    def __init__(self) -> None:
        self.end = 0
        self.image: MetadataImage = EMPTY_IMAGE
        self.stable_images: OrderedDict[int, MetadataImage] = OrderedDict({0: EMPTY_IMAGE})
        self.epochs: dict[int, int] = {0: 0}
        self.ends: set[int] = {0}
        self.observers: list[Callable[[CommittedBatch, MetadataImage, MetadataImage], None]] = []
        self._before: MetadataImage | None = None

    def add(self, batches: Iterable[CommittedBatch]) -> None:
        """Add batches that a node has heard of as committed, and skip those that are known."""
        for batch in batches:
            if batch.base_offset < self.end:
                continue
            before = self.image
            for number, record in enumerate(batch.records, 1):
                self._replay(record, batch)
                self._keep(batch.base_offset + number, batch.epoch)
            self.end = batch.base_offset + batch.count
            self._keep(self.end, batch.epoch)
            self.ends.add(self.end)
            for observer in self.observers:
                observer(batch, before, self.image)

    def _keep(self, end: int, epoch: int) -> None:
        self.stable_images[end] = self.image if self._before is None else self._before
        self.epochs[end] = epoch
        if len(self.stable_images) > _KEPT:
            forgotten, _ = self.stable_images.popitem(last=False)
            del self.epochs[forgotten]
            self.ends.discard(forgotten)

    def _replay(self, record: TypedRecord, batch: CommittedBatch) -> None:
        if isinstance(record, BeginTransactionRecord):
            self._before = self.image
        elif isinstance(record, EndTransactionRecord):
            self._before = None
        elif isinstance(record, AbortTransactionRecord):
            if self._before is not None:
                self.image = self._before
            self._before = None
        else:
            try:
                self.image = replay(self.image, (record,))
            except RefusedRecordError as error:
                raise Violated(
                    "CommittedReplaysInv",
                    f"the batch at offset {batch.base_offset} cannot be replayed: {error}",
                ) from None

    def image_at(self, name: str, end: int) -> MetadataImage | None:
        """Return the image that may be visible where a committed batch ends; None if forgotten.

        Raises Violated, for the property with this name, if no batch ends there.
        """
        if end not in self.ends and end >= next(iter(self.stable_images)):
            raise Violated(
                name, f"no batch up to the committed end {self.end} ends at offset {end}"
            )
        return self.stable_images.get(end)

    def compare(self, name: str, end: int, shown: MetadataImage, node: str) -> None:
        """Check that an image is the committed one where a batch ends, unless that is forgotten.

        Raises Violated, for the property with this name.
        """
        image = self.image_at(name, end)
        if image is not None and shown is not image and shown != image:
            raise Violated(
                name, f"at offset {end} {node} shows another image than the committed log has"
            )
