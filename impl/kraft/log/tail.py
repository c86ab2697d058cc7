"""Telling a torn tail from a damaged length: what lies in the bytes that a batch seems to lack.

The CRC does not cover a batch's length. One flipped bit in it makes the batch reach beyond the end
of the file, just as a torn one does, and everything after it would be lost in silence. So before a
tail is called torn, its bytes are searched for proof of the contrary.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from kraft.errors import CorruptRecordError, TornTailError
from kraft.records.batch import (
    CRC_START,
    HEADER,
    HEADER_BYTES,
    LENGTH_OFFSET,
    LOG_OVERHEAD,
    MAGIC,
    MINIMUM_LENGTH,
    BatchHeader,
    parse_batch,
)

if TYPE_CHECKING:
    from pathlib import Path

    from kraft.records.limits import Limits

_MAGIC_BYTE: Final = bytes([MAGIC])
_MAGIC_OFFSET: Final = CRC_START - 1
_OFFSET_AND_LENGTH: Final = struct.Struct(">qi")
_OFFSET: Final = struct.Struct(">q")
BYTES_NOT_READ: Final = "bytes were not read"
"""The end of a reason that counts the bytes after the fault itself."""
_WORK: Final = 8
"""How many times its own size may be checksummed before a tail is given up as corrupt."""


class _UndecidedError(Exception):
    """Too many places in a tail look like a batch to check them all."""


def judge_tail(
    tail: bytes, what: str, *, position: int, path: Path, limits: Limits
) -> CorruptRecordError:
    """Return the error for a batch that seems to go on after the end of its file.

    `tail` is everything from the batch's start on, which is at byte `position`; `what` names it.
    A TornTailError, unless a whole batch follows in the tail or the batch's own CRC is right for
    fewer bytes: then its length is damaged, and the CorruptRecordError is placed there.
    """
    try:
        proof = _TailSearch(tail, limits).proof(position)
    except _UndecidedError:
        proof = "too much after it looks like batches to call the tail torn"
    if proof is None:
        return TornTailError(
            f"the file ends after {what}; {len(tail)} {BYTES_NOT_READ}",
            path=path,
            position=position,
        )
    base_offset, length = _OFFSET_AND_LENGTH.unpack_from(tail)
    return CorruptRecordError(
        f"batch length {length} reaches past the end of the file, but {proof};"
        f" {len(tail)} {BYTES_NOT_READ}",
        path=path,
        position=position + LENGTH_OFFSET,
        base_offset=base_offset,
    )


class _TailSearch:
    """A search through one tail, with a bound on the bytes it checksums."""

    def __init__(self, tail: bytes, limits: Limits) -> None:
        self._tail = tail
        self._limits = limits
        self._work = _WORK * len(tail)

    def proof(self, position: int) -> str | None:
        """Return the evidence that the tail's first length is wrong, None if there is none."""
        if len(self._tail) < HEADER_BYTES:
            return None
        following = self._following()
        if following is not None:
            offset, start = following
            return f"a whole batch at offset {offset} follows at byte {position + start}"
        size = self._own_size()
        return None if size is None else f"its CRC-32C is right for {size - LOG_OVERHEAD}"

    def _following(self) -> tuple[int, int] | None:
        """Return base offset and start of the first whole batch after the first one's start."""
        tail = self._tail
        (base_offset,) = _OFFSET.unpack_from(tail)
        magic = tail.find(_MAGIC_BYTE, _MAGIC_OFFSET + 1)
        while 0 <= magic <= len(tail) - (HEADER_BYTES - _MAGIC_OFFSET):
            start = magic - _MAGIC_OFFSET
            offset, length = _OFFSET_AND_LENGTH.unpack_from(tail, start)
            size = length + LOG_OVERHEAD
            if (
                offset > base_offset
                and length >= MINIMUM_LENGTH
                and start + size <= len(tail)
                and _may_be_header(BatchHeader._make(HEADER.unpack_from(tail, start)))
                and self._is_batch(tail[start : start + size])
            ):
                return offset, start
            magic = tail.find(_MAGIC_BYTE, magic + 1)
        return None

    def _own_size(self) -> int | None:
        """Return for how many bytes the tail's first batch is whole, None if for no number.

        It may end where the file does, or where the offset after its last one is written: there a
        torn batch may follow.
        """
        tail = self._tail
        header = BatchHeader._make(HEADER.unpack_from(tail))
        if not _may_be_header(header):
            return None
        next_offset = (header.base_offset + header.record_count) & (2**63 - 1)
        pattern = _OFFSET.pack(next_offset)
        end = len(tail)
        at = HEADER_BYTES
        while end >= 0:
            if self._is_first_batch(end):
                return end
            end = tail.find(pattern, at)
            at = end + 1
        return None

    def _is_first_batch(self, size: int) -> bool:
        length = (size - LOG_OVERHEAD).to_bytes(LOG_OVERHEAD - LENGTH_OFFSET, "big")
        return self._is_batch(self._tail[:LENGTH_OFFSET] + length + self._tail[LOG_OVERHEAD:size])

    def _is_batch(self, raw: bytes) -> bool:
        self._work -= len(raw)
        if self._work < 0:
            raise _UndecidedError
        try:
            parse_batch(raw, limits=self._limits)
        except CorruptRecordError:
            return False
        return True


def _may_be_header(header: BatchHeader) -> bool:
    """Return whether the numbers are plausible, as random bytes seldom are; cheaper than a CRC."""
    return (
        header.leader_epoch >= 0
        and header.record_count > 0
        and header.last_offset_delta == header.record_count - 1
    )
