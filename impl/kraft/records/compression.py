"""Decompression and compression of a batch's records, with caps on what may come out.

A batch says in its attributes how its records are compressed. Output is capped in bytes and in
proportion to the input, so that a few kilobytes cannot ask for gigabytes; a stream that is cut
short, or that is followed by more bytes, is refused.

Kafka: CompressionType. Snappy appears raw and in the framing of snappy-java (a 16 byte header, then
chunks with a 32 bit length); Kafka writes the latter.
"""

from __future__ import annotations

import enum
import struct
import zlib
from typing import TYPE_CHECKING, Final

import cramjam
import lz4.frame  # type: ignore[import-untyped]  # it has no stubs
import zstandard

from kraft.errors import CorruptRecordError, LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.records.limits import Limits


class Compression(enum.IntEnum):
    """Compression of a batch; the number is the low three bits of the batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


_SNAPPY_MAGIC: Final = b"\x82SNAPPY\x00"
_SNAPPY_HEADER: Final = _SNAPPY_MAGIC + struct.pack(">ii", 1, 1)
_SNAPPY_CHUNK: Final = 32 * 1024
_STEP: Final = 256 * 1024
_ZSTD_MAX_WINDOW: Final = 8 * 1024 * 1024
_ZSTD_STEP: Final = 256
"""Input bytes per step: one step can then not yield more than some 8 MiB."""


def decompress(kind: Compression, data: bytes, limits: Limits) -> bytes:
    """Return the decompressed records of a batch.

    Raises CorruptRecordError for a broken stream, LimitExceededError above `limits`.
    """
    cap = limits.output_cap(len(data))
    try:
        return _DECOMPRESSORS[kind](data, cap)
    except (zlib.error, zstandard.ZstdError, RuntimeError, cramjam.DecompressionError) as error:
        raise CorruptRecordError(f"broken {kind.name.lower()} stream: {error}") from None


def compress(kind: Compression, data: bytes) -> bytes:
    """Return `data` compressed the way Kafka frames it."""
    if kind is Compression.GZIP:
        compressor = zlib.compressobj(wbits=31)
        return compressor.compress(data) + compressor.flush()
    if kind is Compression.SNAPPY:
        chunks = [data[i : i + _SNAPPY_CHUNK] for i in range(0, len(data), _SNAPPY_CHUNK)]
        packed = [bytes(cramjam.snappy.compress_raw(chunk)) for chunk in chunks]
        return _SNAPPY_HEADER + b"".join(struct.pack(">i", len(p)) + p for p in packed)
    if kind is Compression.LZ4:
        return bytes(lz4.frame.compress(data))
    if kind is Compression.ZSTD:
        return bytes(zstandard.ZstdCompressor().compress(data))
    return data


def _too_much(cap: int) -> LimitExceededError:
    return LimitExceededError(f"records decompress to more than the cap of {cap} bytes")


def _none(data: bytes, cap: int) -> bytes:  # noqa: ARG001 - same signature as the others
    return data


def _cut_short() -> CorruptRecordError:
    return CorruptRecordError("the compressed records are cut short")


def _finish(output: bytearray, trailing: int) -> bytes:
    if trailing:
        raise CorruptRecordError(f"{trailing} bytes follow the compressed records")
    return bytes(output)


def _gzip(data: bytes, cap: int) -> bytes:
    stream = zlib.decompressobj(wbits=31)
    output = bytearray()
    while not stream.eof:
        part = stream.decompress(data, min(_STEP, cap + 1 - len(output)))
        data = stream.unconsumed_tail
        output += part
        if len(output) > cap:
            raise _too_much(cap)
        if not part and not data and not stream.eof:
            raise _cut_short()
    return _finish(output, len(stream.unused_data))


def _lz4(data: bytes, cap: int) -> bytes:
    stream = lz4.frame.LZ4FrameDecompressor()
    output = bytearray()
    while not stream.eof:
        if not data and stream.needs_input:
            raise _cut_short()
        output += stream.decompress(data, min(_STEP, cap + 1 - len(output)))
        data = b""
        if len(output) > cap:
            raise _too_much(cap)
    return _finish(output, len(stream.unused_data or b""))


def _zstd(data: bytes, cap: int) -> bytes:
    stream = zstandard.ZstdDecompressor(max_window_size=_ZSTD_MAX_WINDOW).decompressobj()
    output = bytearray()
    position = 0
    while not stream.eof:
        if position >= len(data):
            raise _cut_short()
        output += stream.decompress(data[position : position + _ZSTD_STEP])
        position += _ZSTD_STEP
        if len(output) > cap:
            raise _too_much(cap)
    return _finish(output, len(stream.unused_data) + max(0, len(data) - position))


def _snappy_chunk(chunk: bytes, room: int, cap: int) -> bytes:
    if cramjam.snappy.decompress_raw_len(chunk) > room:
        raise _too_much(cap)
    return bytes(cramjam.snappy.decompress_raw(chunk))


def _snappy(data: bytes, cap: int) -> bytes:
    if not data.startswith(_SNAPPY_MAGIC):
        return _snappy_chunk(data, cap, cap)
    if len(data) < len(_SNAPPY_HEADER):
        raise _cut_short()
    output = bytearray()
    position = len(_SNAPPY_HEADER)
    while position < len(data):
        if position + 4 > len(data):
            raise _cut_short()
        length = int.from_bytes(data[position : position + 4], "big", signed=True)
        position += 4
        if length < 0 or position + length > len(data):
            raise _cut_short()
        output += _snappy_chunk(data[position : position + length], cap - len(output), cap)
        position += length
    return bytes(output)


_DECOMPRESSORS: Final[dict[Compression, Callable[[bytes, int], bytes]]] = {
    Compression.NONE: _none,
    Compression.GZIP: _gzip,
    Compression.SNAPPY: _snappy,
    Compression.LZ4: _lz4,
    Compression.ZSTD: _zstd,
}
