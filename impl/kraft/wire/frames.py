"""Frames: each request and response on a connection comes after its size, four bytes.

Kafka: NetworkReceive, NetworkSend.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from kraft.errors import CorruptMessageError, LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_FRAME_BYTES: Final = 100 * 1024 * 1024
"""Kafka's default of `socket.request.max.bytes`."""

_SIZE: Final = struct.Struct(">i")


class FrameBuffer:
    """The bytes of a connection that are not a whole frame yet.

    Give it what arrives by `receive_data`, then take each whole frame from `frames`. It holds what
    arrived and no more: a frame's size alone makes it allocate nothing. After an error its
    connection must be closed.
    """

    __slots__ = ("_data", "_max_frame_bytes")

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        """Refuse frames of more than `max_frame_bytes`, their size not counted."""
        self._data = bytearray()
        self._max_frame_bytes = max_frame_bytes

    def __len__(self) -> int:
        """Return how many bytes wait."""
        return len(self._data)

    def receive_data(self, data: bytes) -> None:
        """Take the next bytes of the connection."""
        self._data += data

    def frames(self) -> Iterator[bytes]:
        """Yield each whole frame without its size, and forget it.

        Raises CorruptMessageError for a negative size, LimitExceededError for one above the limit:
        both as soon as the size is there, after the frames before it.
        Kafka: NetworkReceive.readFrom.
        """
        while (size := self._next_size()) is not None:
            end = _SIZE.size + size
            if len(self._data) < end:
                return
            with memoryview(self._data) as view:
                frame = bytes(view[_SIZE.size : end])
            # Python moves the start of a bytearray and copies nothing.
            del self._data[:end]
            yield frame

    def _next_size(self) -> int | None:
        if len(self._data) < _SIZE.size:
            return None
        size: int = _SIZE.unpack_from(self._data)[0]
        if size < 0:
            raise CorruptMessageError(f"a frame of {size} bytes", position=0)
        if size > self._max_frame_bytes:
            reason = f"a frame of {size} bytes, the limit is {self._max_frame_bytes}"
            raise LimitExceededError(reason, position=0)
        return size


def framed(payload: bytes) -> bytes:
    """Return a payload after its size."""
    return _SIZE.pack(len(payload)) + payload
