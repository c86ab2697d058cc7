"""The metadata log of a run in the numbers of the spec: its ends and its images.

An end of the spec counts the controllers' appends and the records that begin an epoch. Raft may put
several appends into one batch. Its other control records mean nothing to a controller, so they
share the end of what is before them.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.values import record
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.records.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.values import Value
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.typed_record import TypedRecord

__all__ = ["NO_END", "NO_IMAGE", "Appended", "Images", "Log", "Replayed"]

NO_END: Final = -2
"""The end of an offset that has none in the spec. No variable may have this value."""
NO_IMAGE: Final = -1
"""The number of an image that is not the expected one. Spec: MetadataLogSteps!NoImage."""

_MARKERS: Final = {
    BeginTransactionRecord: "BeginTransaction",
    EndTransactionRecord: "EndTransaction",
    AbortTransactionRecord: "AbortTransaction",
}


class Replayed(NamedTuple):
    """The number of an image and, in a transaction, of the image before it."""

    image: int = 0
    before: int | None = None


class Appended(NamedTuple):
    """An append of the newest epoch's leader, and the image after it."""

    base: int
    end: int
    epoch: int
    records: tuple[TypedRecord, ...]
    replayed: Replayed


class Images:
    """All images of a run by their numbers; number 0 is the empty one."""

    def __init__(self) -> None:
        self._images: list[MetadataImage] = [EMPTY_IMAGE]

    def __getitem__(self, number: int) -> MetadataImage:
        return self._images[number]

    def is_number(self, number: int, image: MetadataImage) -> bool:
        """Return whether this is the image of a number."""
        known = self._images[number]
        return image is known or image == known

    def after(
        self, replayed: Replayed, records: Sequence[TypedRecord]
    ) -> tuple[tuple[Value, ...], Replayed]:
        """Return a batch as records of the spec, and the image after it.

        Spec: MetadataLogSteps!ChangeRecord.
        """
        values: list[Value] = []
        number, before = replayed
        plain: list[TypedRecord] = []
        for one in (*records, None):
            marker = None if one is None else _MARKERS.get(type(one))
            if one is not None and marker is None:
                plain.append(one)
                continue
            if plain:
                changed = self._replay(number, plain)
                values.append(record(type="Change", **{"from": number, "to": changed}))
                number, plain = changed, []
            if marker is not None:
                values.append(record(type=marker))
                if marker == "BeginTransaction":
                    before = number
                else:
                    number = (
                        before if marker == "AbortTransaction" and before is not None else number
                    )
                    before = None
        return tuple(values), Replayed(number, before)

    def _replay(self, number: int, records: Sequence[TypedRecord]) -> int:
        image = replay(self._images[number], records)
        if image == self._images[number]:
            return number
        self._images.append(image)
        return len(self._images) - 1


class Log:
    """The committed log as ends and images, and what the newest leader appended after it.

    `ends` has the spec's end for each offset at which a committed batch, or one append in it, ends.
    `at` has the image at each end.
    """

    def __init__(self) -> None:
        self.end = 0
        self.epoch = 0
        self.ends: dict[int, int] = {0: 0}
        self.at: list[Replayed] = [Replayed()]
        self.uncommitted: deque[Appended] = deque()

    def begin_epoch(self, epoch: int, end: int) -> None:
        """Add the control record that begins an epoch: nothing older can be committed any more."""
        self.epoch = epoch
        self.uncommitted.clear()
        self.at.append(self.at[-1])
        self.extend(end)

    def extend(self, end: int) -> None:
        """Add a batch that controllers do not see: the spec's end stays the same."""
        self.end = end
        self.ends[end] = len(self.at) - 1

    def commit(
        self, base: int, end: int, epoch: int, records: tuple[TypedRecord, ...]
    ) -> int | None:
        """Add a committed batch; return how many appends it holds, None if it matches none."""
        count, at = 0, base
        found: list[TypedRecord] = []
        while at < end and count < len(self.uncommitted):
            one = self.uncommitted[count]
            if one.base != at or one.epoch != epoch:
                return None
            at = one.end
            found += one.records
            count += 1
        if at != end or tuple(found) != records:
            return None
        for _ in range(count):
            one = self.uncommitted.popleft()
            self.at.append(one.replayed)
            self.extend(one.end)
        return count
