"""The stored bytes of a file in pieces, cut where each can be decoded without the others.

A file is a name, a kind and a stream of bytes: nothing here opens a path. The pieces of an
uncompressed segment or checkpoint end where a batch ends, and each knows what the one before it
leaves to check. Other files are decoded in a run of pieces, in their order.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.pipeline.sources import FileKind
from kraft.errors import CorruptRecordError, LimitExceededError, UnreadableFileError
from kraft.log.checkpoint import last_control_type
from kraft.log.files import GZIP_SUFFIX
from kraft.log.segment import BatchBefore
from kraft.records.batch import (
    HEADER,
    HEADER_BYTES,
    LOG_OVERHEAD,
    BatchHeader,
    check_framing,
    parse_batch,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kraft.log.files import ByteStream
    from kraft.records.limits import Limits

__all__ = [
    *("PIECE_BYTES", "Before", "Piece", "PieceStream"),
    *("cut", "file_id_of", "piece_of", "piece_values"),
]

PIECE_BYTES: Final = 1024 * 1024
"""About how large a piece is. Spark holds some dozens of them at once."""
INT64_MAX: Final = 2**63 - 1
_STEP: Final = 1024 * 1024
_BATCHES: Final = (FileKind.SEGMENT, FileKind.CHECKPOINT)


@dataclass(frozen=True, slots=True)
class Before:
    """What a piece follows: the batch before it, and in a checkpoint its last control type."""

    base_offset: int
    last_offset: int
    leader_epoch: int
    last_kind: int | None = None

    @property
    def batch(self) -> BatchBefore:
        """The place of that batch."""
        return BatchBefore(self.base_offset, self.last_offset, self.leader_epoch)


@dataclass(frozen=True, slots=True)
class Piece:
    """Some stored bytes of a file, from a byte on.

    Pieces are numbered from 0. Those of one `run`, named by the number of its first piece, must be
    decoded together and in their order. `is_last` is true for the last piece of the file. `before`
    is None where a file begins, and in a file without batches. `first_offset` is that in the header
    of the first batch, or None: nothing has checked it. All pieces of a run have the `before` of
    its first one.
    """

    number: int
    position: int
    content: bytes
    run: int
    is_last: bool
    before: Before | None = None
    first_offset: int | None = None


def piece_values(piece: Piece) -> dict[str, Any]:
    """Return a piece as the table ``content`` has it, by the names of its columns."""
    row: dict[str, Any] = {name: getattr(piece, name) for name in Piece.__slots__}
    row["before"] = None if piece.before is None else json.dumps(asdict(piece.before))
    return row


def piece_of(row: dict[str, Any]) -> Piece:
    """Return the piece of a row of the table ``content``."""
    values = {name: row[name] for name in Piece.__slots__}
    if values["before"] is not None:
        values["before"] = Before(**json.loads(values["before"]))
    return Piece(**values)


def file_id_of(name: str, sha256: str) -> str:
    """Return the key of a file in the tables, by its own name and its stored bytes' SHA-256.

    Equal files of equal names have the same key, wherever they lie.
    """
    return hashlib.sha256(sha256.encode() + os.fsencode(name)).hexdigest()[:32]


def cut(
    stream: ByteStream,
    name: str,
    kind: FileKind,
    limits: Limits,
    piece_bytes: int = PIECE_BYTES,
    *,
    position: int = 0,
    before: Before | None = None,
    each_batch: bool = False,
) -> Iterator[Piece]:
    """Yield all bytes of a stream in pieces, at least one; `name` is the file's, without folders.

    The stream begins at byte `position` of the file, right after the batch `before`.
    With `each_batch`, each batch is a piece of its own.

    A batch that is larger than `piece_bytes` makes a larger piece. From the first header on that no
    batch can have, or whose batch the file does not have to its end, the pieces are one run. Raises
    `LimitExceededError` for a file above the cap, `UnreadableFileError` if the stream cannot be
    read.
    """
    source = _Stored(stream, name, limits)
    first = Piece(0, position, b"", 0, False, before)
    if kind in _BATCHES and not name.endswith(GZIP_SUFFIX):
        batches_bytes = 1 if each_batch else piece_bytes
        pieces = _batch_pieces(source, first, kind, limits, batches_bytes, piece_bytes)
    else:
        pieces = _plain_pieces(source, first, b"", piece_bytes)
    yield from _with_ends(pieces)


class PieceStream:
    """The bytes of consecutive pieces as a stream, which holds one piece at a time.

    Satisfies `ByteStream`. `first` is the first piece, None without any.
    """

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._pieces = iter(pieces)
        self.first = self._piece = next(self._pieces, None)
        self._at = 0

    def read(self, length: int, /) -> bytes:
        """Return the next `length` bytes, fewer only at the end of the last piece.

        Raises AssertionError if the pieces do not follow one another.
        """
        parts = []
        while length > 0 and self._piece is not None:
            part = self._piece.content[self._at : self._at + length]
            parts.append(part)
            self._at += len(part)
            length -= len(part)
            if self._at == len(self._piece.content):
                if self._piece.is_last or (following := next(self._pieces, None)) is None:
                    break
                self._follow(self._piece, following)
        return b"".join(parts)

    def goes_on(self) -> bool:
        """Return whether the file goes on after the piece that was read from last."""
        return self._piece is not None and not self._piece.is_last

    def _follow(self, piece: Piece, following: Piece) -> None:
        end = piece.position + len(piece.content)
        if (following.number, following.position) != (piece.number + 1, end):
            raise AssertionError(
                f"piece {following.number} at byte {following.position} follows piece"
                f" {piece.number}, which ends at byte {end}"
            )
        self._piece, self._at = following, 0


class _Stored:
    """The bytes of a file as they are stored, up to the cap."""

    def __init__(self, stream: ByteStream, name: str, limits: Limits) -> None:
        self.path = Path(name)
        self._stream = stream
        self._cap = limits.file_bytes
        self._count = 0

    def read(self, length: int) -> bytes:
        """Return exactly so many bytes, fewer only at the end."""
        parts = []
        while length > 0:
            try:
                part = self._stream.read(min(length, _STEP))
            except OSError as error:
                reason = str(error.strerror or error)
                raise UnreadableFileError(self.path, reason[:1].lower() + reason[1:]) from None
            if not part:
                break
            parts.append(bytes(part))
            length -= len(part)
            self._count += len(part)
            if self._count > self._cap:
                raise LimitExceededError(f"the file has more than {self._cap} bytes",
                                         path=self.path)  # fmt: skip
        return b"".join(parts)


def _with_ends(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Yield the pieces, of which the last is told that it is."""
    piece = next(pieces)
    for following in pieces:
        yield piece
        piece = following
    yield replace(piece, is_last=True)


def _plain_pieces(source: _Stored, first: Piece, start: bytes, piece_bytes: int) -> Iterator[Piece]:
    """Yield one run of pieces: these bytes, and all that follow in the stream."""
    number, position = first.number, first.position
    while True:
        content, start = start[:piece_bytes], start[piece_bytes:]
        content += source.read(piece_bytes - len(content))
        if content or number == 0:
            yield replace(first, number=number, position=position, content=content)
        if len(content) < piece_bytes:
            return
        number += 1
        position += len(content)


def _batch_pieces(
    source: _Stored,
    first: Piece,
    kind: FileKind,
    limits: Limits,
    batches_bytes: int,
    rest_bytes: int,
) -> Iterator[Piece]:
    """Yield pieces of whole batches, each a run, and as one run what is no batch."""
    piece = first
    held = bytearray()
    size = 0
    last = 0
    header: BatchHeader | None = None
    while True:
        found = _whole_batch(source, held, size, limits)
        ends = found is None
        if size and (ends or size + _size(found) > batches_bytes):
            assert header is not None
            content = bytes(held[:size])
            yield replace(piece, content=content)
            kind_before = (
                _last_kind(content[last:], limits) if kind is FileKind.CHECKPOINT else None
            )
            last_offset = header.base_offset + header.last_offset_delta
            before = Before(header.base_offset, last_offset, header.leader_epoch, kind_before)
            number = piece.number + 1
            piece = Piece(number, piece.position + size, b"", number, False, before)
            del held[:size]
            size = 0
        if found is None:
            break
        if not size:
            piece = replace(piece, first_offset=found.base_offset)
        header, last = found, size
        size += _size(found)
    if held or piece.number == 0:
        yield from _plain_pieces(source, piece, bytes(held), rest_bytes)


def _size(header: BatchHeader | None) -> int:
    return 0 if header is None else header.length + LOG_OVERHEAD


def _whole_batch(source: _Stored, held: bytearray, at: int, limits: Limits) -> BatchHeader | None:
    """Return the header at a byte of what is held if all its batch is there or can be read."""
    _hold(source, held, at + HEADER_BYTES)
    if len(held) < at + HEADER_BYTES:
        return None
    header = BatchHeader._make(HEADER.unpack_from(held, at))
    try:
        check_framing(header.base_offset, header.length, header.magic, limits)
    except CorruptRecordError:
        return None
    if header.base_offset + header.last_offset_delta > INT64_MAX:
        return None
    end = at + _size(header)
    _hold(source, held, end)
    return header if len(held) >= end else None


def _hold(source: _Stored, held: bytearray, end: int) -> None:
    if len(held) < end:
        held += source.read(max(_STEP, end - len(held)))


def _last_kind(raw: bytes, limits: Limits) -> int | None:
    """Return the control type of a batch's last record; a broken batch has none."""
    try:
        return last_control_type(parse_batch(raw, limits=limits))
    except CorruptRecordError:
        return None
