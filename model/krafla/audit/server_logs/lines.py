"""The lines of a server log: time, logger, text and place.

A log is read as bytes, one line at a time. Only lines of the loggers that write about the lease
become text. The rest of a file (stack traces, other loggers, bytes that are no text) is counted; it
costs no memory and raises nothing. The pattern is that of Kafka's log4j2.yaml: `[%d] %p %m (%c)%n`.
"""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.errors import UnreadableFileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

LIFECYCLE_MANAGER: Final = "kafka.server.BrokerLifecycleManager"
HEARTBEAT_MANAGER: Final = "org.apache.kafka.controller.BrokerHeartbeatManager"
REPLICATION_CONTROL: Final = "org.apache.kafka.controller.ReplicationControlManager"
CLUSTER_CONTROL: Final = "org.apache.kafka.controller.ClusterControlManager"
QUORUM_CONTROLLER: Final = "org.apache.kafka.controller.QuorumController"
LOGGERS: Final = (
    LIFECYCLE_MANAGER,
    HEARTBEAT_MANAGER,
    REPLICATION_CONTROL,
    CLUSTER_CONTROL,
    QUORUM_CONTROLLER,
)
MAX_LINE_BYTES: Final = 64 * 1024
"""The rest of a longer line is skipped; no line of these loggers is that long."""
MAX_LOG_BYTES: Final = 4 * 2**30
"""A log that unpacks to more than this is rejected."""

_ENDINGS: Final = tuple(f"({logger})".encode() for logger in LOGGERS)
_STAMP: Final = re.compile(rb"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] ")
_LINE: Final = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] ([A-Z]+) (.*) \(([\w.$]+)\)")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class LogLine(NamedTuple):
    """One line of a logger of the lease.

    `time_ms` is in milliseconds since 1970 as if the log were written in UTC; `number` counts the
    lines of the file from 1. `level` is log4j's word.
    """

    path: Path
    number: int
    time_ms: int
    level: str
    text: str
    logger: str

    @property
    def place(self) -> str:
        """The place of the line, as `file:line`."""
        return f"{self.path}:{self.number}"


@dataclass(slots=True)
class Extent:
    """The number of lines in a file, and the times of the first and the last one.

    The times are None if no line has a time; `overlong` counts lines that were cut.
    """

    lines: int = 0
    first_ms: int | None = None
    last_ms: int | None = None
    overlong: int = 0


def read_lines(path: Path, extent: Extent | None = None) -> Iterator[LogLine]:
    """Yield the lines of a log that loggers of the lease wrote, in the order of the file.

    A file `*.gz` is unpacked. `extent`, if given, is filled in. Raises UnreadableFileError if the
    file cannot be read, is not a gzip file or unpacks to too much.
    """
    extent = extent if extent is not None else Extent()
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            yield from _lines(path, file, extent)
    except OSError as error:
        raise UnreadableFileError(path, str(error.strerror or error).lower()) from None
    except (EOFError, zlib.error) as error:
        raise UnreadableFileError(path, f"broken gzip file: {error}") from None


def _lines(path: Path, file: BinaryIO | gzip.GzipFile, extent: Extent) -> Iterator[LogLine]:
    number = size = 0
    last_stamp = b""
    while raw := file.readline(MAX_LINE_BYTES):
        number += 1
        size += len(raw)
        if not raw.endswith(b"\n") and len(raw) >= MAX_LINE_BYTES:
            extent.overlong += 1
            size += _skip_rest(file)
        if size > MAX_LOG_BYTES:
            raise UnreadableFileError(path, f"more than {MAX_LOG_BYTES:,} bytes of log")
        extent.lines = number
        stamp = _STAMP.match(raw)
        if stamp is None:
            continue
        if extent.first_ms is None:
            extent.first_ms = _milliseconds(stamp[1].decode())
        last_stamp = stamp[1]
        raw = raw.rstrip(b"\r\n")
        if raw.endswith(_ENDINGS):
            line = _line(path, number, raw)
            if line is not None:
                yield line
    if last_stamp:
        extent.last_ms = _milliseconds(last_stamp.decode())


def _skip_rest(file: BinaryIO | gzip.GzipFile) -> int:
    """Skip the rest of an overlong line; return its length."""
    skipped = 0
    while raw := file.readline(MAX_LINE_BYTES):
        skipped += len(raw)
        if raw.endswith(b"\n") or skipped > MAX_LOG_BYTES:
            break
    return skipped


def _line(path: Path, number: int, raw: bytes) -> LogLine | None:
    match = _LINE.fullmatch(raw.decode("utf-8", errors="replace"))
    if match is None:
        return None
    time_ms = _milliseconds(match[1])
    if time_ms is None:
        return None
    return LogLine(path, number, time_ms, match[2], match[3], match[4])


def _milliseconds(stamp: str) -> int | None:
    """Return a log4j time in milliseconds since 1970; None if it is not a valid time."""
    try:
        moment = datetime.strptime(stamp + "000+0000", "%Y-%m-%d %H:%M:%S,%f%z")
    except ValueError:
        return None
    elapsed = moment - _EPOCH
    return (elapsed.days * 86_400 + elapsed.seconds) * 1000 + elapsed.microseconds // 1000
