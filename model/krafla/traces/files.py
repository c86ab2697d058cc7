"""Trace files: read within limits, compressed or not, and written completely or not at all."""

from __future__ import annotations

import gzip
import re
import shlex
import zlib
from typing import TYPE_CHECKING, Final

from krafla.files import why_unread, write_bytes
from krafla.pipes import read_start
from krafla.traces.errors import TraceFormatError
from krafla.traces.limits import MAX_BYTES, MAX_RATIO, RATIO_FROM_BYTES

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_text", "refuse_run", "write_file"]

_BYTE_ORDER_MARK: Final = "\ufeff"
_GZIP_MAGIC: Final = b"\x1f\x8b"
# How a kept run of `krafla fuzz` begins; such a file is easily taken for a trace.
_RUN: Final = re.compile(r'\s*\{\s*"format"\s*:\s*"krafla fuzz ')
_PIECE: Final = 1024 * 1024
# With this value zlib reads the header and the checksum of gzip.
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


def read_text(path: Path, most: int = MAX_BYTES) -> tuple[str, bool]:
    """Return the text of a file, and whether its data ends too early.

    A file that begins like gzip is decompressed, whatever its name. ``TraceFormatError`` if it
    cannot be read, is larger than a trace may be, or is no text.
    """
    try:
        data = read_start(path, most + 1)
    except OSError as error:
        raise TraceFormatError(why_unread(error), str(path)) from error
    cut = False
    if data.startswith(_GZIP_MAGIC):
        data, cut = _decompressed(data, path, most)
    if len(data) > most:
        raise TraceFormatError(f"larger than {most} bytes, the most of a trace", str(path))
    try:
        return data.decode("utf-8").removeprefix(_BYTE_ORDER_MARK), cut
    except UnicodeDecodeError as error:
        if error.end == len(data) and error.reason == "unexpected end of data":
            return data[: error.start].decode("utf-8").removeprefix(_BYTE_ORDER_MARK), True
        raise TraceFormatError("not UTF-8 text", f"{path}, byte {error.start}") from error


def refuse_run(text: str, path: Path) -> None:
    """Raise ``TraceFormatError`` with what to do if this is a run that ``krafla fuzz`` kept."""
    if _RUN.match(text):
        command = f"krafla replay {shlex.quote(str(path))}"
        raise TraceFormatError(
            f"a run of `krafla fuzz`, not a trace: `{command}` plays it", str(path)
        )


def _decompressed(data: bytes, path: Path, most: int) -> tuple[bytes, bool]:
    """Return the decompressed data, cut just above the limit, and whether it ends too early."""
    stream = zlib.decompressobj(_GZIP_WINDOW)
    found = bytearray()
    most = min(most, max(RATIO_FROM_BYTES, MAX_RATIO * len(data)))
    for start in range(0, len(data), _PIECE):
        rest = data[start : start + _PIECE]
        while rest and not stream.eof:
            try:
                found += stream.decompress(rest, _PIECE)
            except zlib.error as error:
                raise TraceFormatError(f"damaged gzip data: {error}", str(path)) from error
            rest = stream.unconsumed_tail
            if len(found) > most:
                raise TraceFormatError(
                    f"unpacks to more than {most} bytes from {len(data)}: no trace does", str(path)
                )
        if stream.eof and (stream.unused_data or start + _PIECE < len(data)):
            raise TraceFormatError("more follows the end of the compressed data", str(path))
    return bytes(found), not stream.eof


def write_file(path: Path, text: str) -> None:
    """Write a file, completely or not at all; as gzip if its name ends in ``.gz``."""
    data = text.encode("utf-8")
    if path.suffix == ".gz":
        # Without a time and a name, equal traces give equal files.
        data = gzip.compress(data, mtime=0)
    write_bytes(path, [data])
