"""How many elements a request may have: its values take more memory and time than its bytes.

An element of an array may take a byte of a frame, and as a value a thousand.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kraft.errors import LimitExceededError
from kraft.records.decoders import Mismatch, uvarint
from kraft.records.schema import FIXED_FORMATS, Field, FieldType

if TYPE_CHECKING:
    from kraft.records.layouts import Layout

MAX_ELEMENTS: Final = 64 * 1024
"""The most elements and unknown tagged fields in all arrays of a request, nested ones included.

No request of as many bytes has more. One that Kafka's brokers send for 10,000 partitions of three
replicas has 40,000.
"""

_INT16: Final = struct.Struct(">h").unpack_from
_INT32: Final = struct.Struct(">i").unpack_from


def check_element_count(layout: Layout, frame: bytes, position: int) -> None:
    """Check that the body of a request, which begins at `position`, has few enough elements.

    Raises LimitExceededError. Bytes that are no request may pass: reading refuses them.
    """
    if len(frame) - position <= MAX_ELEMENTS:
        return
    try:
        _Count(frame, position).struct(layout)
    except (IndexError, struct.error, Mismatch):
        return


class _Count:
    """Passes over the bytes of a body, and makes no value of them."""

    __slots__ = ("data", "left", "position")

    def __init__(self, data: bytes, position: int) -> None:
        self.data = data
        self.position = position
        self.left = MAX_ELEMENTS

    def struct(self, layout: Layout) -> None:
        is_flexible = layout.is_flexible
        for f in layout.plain:
            size = _size_of_element(f)
            if size and not f.array:
                self.position += size
            else:
                self.sized(f, layout, is_flexible=is_flexible)
        if is_flexible:
            self.tags(layout)

    def sized(self, f: Field, layout: Layout, *, is_flexible: bool) -> None:
        """Pass over an array, a struct, or a text."""
        inner = layout.inner.get(f.name)
        if not f.array:
            if inner is not None:
                self.struct(inner)
            else:
                self.text(is_flexible=is_flexible, is_string=f.type is FieldType.STRING)
            return
        count = self.length(is_flexible=is_flexible, is_string=False)
        self.spend(count)
        size = _size_of_element(f)
        if size:
            self.position += count * size
        elif inner is not None:
            for _ in range(count):
                self.struct(inner)
        else:
            for _ in range(count):
                self.text(is_flexible=is_flexible, is_string=f.type is FieldType.STRING)

    def tags(self, layout: Layout) -> None:
        count = self.uvarint()
        for _ in range(count):
            tag, size = self.uvarint(), self.uvarint()
            f = layout.tagged.get(tag)
            if f is None:
                self.spend(1)
                self.position += size
            elif _size_of_element(f) and not f.array:
                self.position += size
            else:
                self.sized(f, layout, is_flexible=True)

    def text(self, *, is_flexible: bool, is_string: bool) -> None:
        length = self.length(is_flexible=is_flexible, is_string=is_string)
        self.position += length

    def length(self, *, is_flexible: bool, is_string: bool) -> int:
        """Return a length; that of null is 0."""
        if is_flexible:
            return max(0, self.uvarint() - 1)
        length: int = (_INT16 if is_string else _INT32)(self.data, self.position)[0]
        self.position += 2 if is_string else 4
        return max(0, length)

    def uvarint(self) -> int:
        value, self.position = uvarint(self.data, self.position)
        return value

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            reason = f"more than {MAX_ELEMENTS} elements in its arrays"
            raise LimitExceededError(reason, position=min(self.position, len(self.data)))


@lru_cache(maxsize=1024)
def _size_of_element(f: Field) -> int:
    """Return the bytes of one value of a field, 0 if they differ from value to value."""
    return struct.calcsize(">" + FIXED_FORMATS[f.type]) if f.type in FIXED_FORMATS else 0
