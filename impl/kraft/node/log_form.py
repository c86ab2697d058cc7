"""The form of a node's log: lines as Kafka's controllers write them, or one JSON object a line.

It has no floods: of warnings with the same words, ten in ten seconds are written.
"""

from __future__ import annotations

import enum
import json
import logging
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_TEXT: Final = "[%(asctime)s] %(levelname)s %(message)s (%(name)s)"
_ROOT: Final = logging.getLogger("kraft")
_LEVELS: Final = {"WARNING": "WARN", "CRITICAL": "FATAL"}
"""Kafka's names of levels, where Python has others."""
_MOST_ALIKE: Final = 10
_PERIOD_SECONDS: Final = 10.0


class LogFormat(enum.StrEnum):
    """How a log is written."""

    TEXT = "text"
    JSON = "json"


class LogLevel(enum.StrEnum):
    """The least level that is logged, in Kafka's words."""

    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"


def start_logging(
    node_id: int,
    warnings: Iterable[str] = (),
    form: LogFormat = LogFormat.TEXT,
    level: LogLevel = LogLevel.INFO,
) -> None:
    """Write the log to standard output, as Kafka's controllers do; warnings come first."""
    handler = _Output(sys.stdout)
    handler.setFormatter(_JsonLine(node_id) if form is LogFormat.JSON else _TextLine(_TEXT))
    handler.addFilter(FloodFilter())
    _ROOT.addHandler(handler)
    _ROOT.setLevel(logging.WARNING if level is LogLevel.WARN else level.value)
    _ROOT.propagate = False
    for warning in warnings:
        _ROOT.warning("%s", warning)


class _Output(logging.StreamHandler):  # type: ignore[type-arg]  # it is generic in stubs alone
    """Standard output. A controller goes on when the reader of its log has left."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        if not isinstance(sys.exception(), OSError):
            super().handleError(record)


class _TextLine(logging.Formatter):
    """A line in the form of Kafka's log4j2.properties."""

    def format(self, record: logging.LogRecord) -> str:
        record.levelname = _LEVELS.get(record.levelname, record.levelname)
        return super().format(record)


class _JsonLine(logging.Formatter):
    """A JSON object: time, level, logger, node_id, message and, if there is one, exception."""

    def __init__(self, node_id: int) -> None:
        super().__init__()
        self._node_id = node_id

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told: dict[str, object] = {
            "time": time.replace("+00:00", "Z"),
            "level": _LEVELS.get(record.levelname, record.levelname),
            "logger": record.name,
            "node_id": self._node_id,
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told)


class FloodFilter(logging.Filter):
    """Leaves out warnings and errors after ten with the same words in ten seconds.

    The next one that is written says how many were left out. What is put into the words does not
    count: a thousand connections may fail in the same way.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is written."""
        if record.levelno < logging.WARNING:
            return True
        words = str(record.msg)
        # Words that are nothing but a place for others say nothing themselves.
        key = (record.name, record.getMessage() if words == "%s" else words)
        since, count = self._seen.get(key, (record.created, 0))
        if record.created - since >= _PERIOD_SECONDS:
            if count > _MOST_ALIKE:
                record.msg = f"{words} ({count - _MOST_ALIKE} more like it were left out)"
            since, count = record.created, 0
        self._seen[key] = (since, count + 1)
        return count < _MOST_ALIKE
