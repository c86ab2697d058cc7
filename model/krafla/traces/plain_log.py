"""Plain logs: what a program writes while it runs, a JSON object for each step, and no header.

A program can append such a line without knowing how many follow, and without a library. The spec
that judges the log is not named in it. ``docs/other-languages.md`` describes the form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from krafla.manifest import meant
from krafla.traces.encoding import decode
from krafla.traces.errors import TraceFormatError, TruncatedTraceError
from krafla.traces.files import read_text
from krafla.traces.limits import MAX_LINE, MAX_STEPS
from krafla.traces.lines import LogLine
from krafla.traces.partial import Observation
from krafla.traces.reader import convert, strict_json
from krafla.traces.trace import INITIAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from krafla.traces.partial import Part
    from krafla.values import Value

__all__ = ["LogEntry", "PlainLog", "is_plain_log", "parameters_of", "read_log", "seen_of"]

_FIRST: Final = re.compile(r'\s*\{\s*"(action|parameters|seen|time_ms|lamport|kind)"\s*:')
_FIELDS: Final = LogLine.__struct_fields__


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An observation, and the clock of the process that made it."""

    observation: Observation
    lamport: int | None


@dataclass(frozen=True, slots=True)
class PlainLog:
    """The observations in the whole lines of a log, in its order.

    ``cut`` is the place, ``file:line``, of a last line that was cut short. ``None`` if there is no
    such line. ``moments`` has the process of each entry and its time there, if several processes
    made them: the order is open where their times are equal.
    """

    name: str
    entries: tuple[LogEntry, ...]
    cut: str | None = None
    moments: tuple[tuple[int, int], ...] | None = None

    @property
    def has_clocks(self) -> bool:
        """Return whether a line after the beginning says when it was."""
        return any(
            one.lamport is not None or one.observation.time_ms is not None
            for one in self.entries
            if one.observation.action != INITIAL
        )

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Return the observations, each with its place."""
        return tuple(one.observation for one in self.entries)


def is_plain_log(text: str) -> bool:
    """Return whether a text begins like a plain log."""
    return _FIRST.match(text) is not None


def read_log(path: Path) -> PlainLog:
    """Return the plain log in a file, compressed by gzip or not.

    ``TraceFormatError`` names the first line that is wrong. A last line without a line feed that
    is no JSON was cut short: it is left out, and the log says so.
    """
    text, cut = read_text(path)
    lines = text.split("\n")
    if len(lines) > MAX_STEPS + 1:
        raise TraceFormatError(f"more than {MAX_STEPS:,} lines: judge it in parts", str(path))
    is_open = bool(lines[-1])
    entries: list[LogEntry] = []
    for number, line in enumerate(lines, 1):
        place = f"{path}:{number}"
        if not line.strip():
            continue
        if len(line) > MAX_LINE:
            raise TraceFormatError(
                f"a line of {len(line):,} characters; the most is {MAX_LINE:,}", place
            )
        try:
            data = strict_json(line, place)
        except TraceFormatError:
            if number == len(lines) and (is_open or cut):
                if not entries:
                    raise TruncatedTraceError("ends within its first line", place, None) from None
                return PlainLog(str(path), tuple(entries), place)
            raise
        entries += _entries(data, place, is_first=not entries)
    if not entries:
        raise TraceFormatError("a log without a line", str(path))
    return PlainLog(str(path), tuple(entries), f"{path}:{len(lines)}" if cut else None)


def _entries(data: Any, place: str, *, is_first: bool) -> list[LogEntry]:
    """Return the observation in a line; of a refusal also the stay that shows what was seen."""
    if not isinstance(data, dict):
        raise TraceFormatError(f"expected an object, found {type(data).__name__}", place)
    for name in data:
        if name not in _FIELDS:
            raise TraceFormatError(f"no field {name!r} of a log{meant(name, _FIELDS)}", place)
    row = convert(data, LogLine, place)
    if row.action == INITIAL and not is_first:
        raise TraceFormatError("Init is the first line of a log or none", place)
    if row.kind == "stay" and (row.action is not None or row.parameters is not None):
        raise TraceFormatError(
            'a stay has no action and no parameters: of an action that was refused, "kind" is '
            '"refusal"',
            place,
        )
    try:
        found = Observation(
            row.action, parameters_of(row.parameters), seen_of(row.seen), place, row.time_ms,
            row.kind,
        )  # fmt: skip
    except ValueError as error:
        raise TraceFormatError(str(error), place) from error
    if found.kind == "refusal" and found.seen:
        after = Observation(None, None, found.seen, place, row.time_ms, "stay")
        return [LogEntry(one, row.lamport) for one in (replace(found, seen=()), after)]
    return [LogEntry(found, row.lamport)]


def parameters_of(data: Sequence[Any] | None) -> tuple[Value | None, ...] | None:
    """Return the parameters of a line; ``None`` in them is one that was not seen.

    ``ValueError`` names the first that is no value.
    """
    if data is None:
        return None
    return tuple(None if one is None else _value(one, "parameters") for one in data)


def seen_of(data: Mapping[str, Any] | Sequence[Sequence[Any]]) -> tuple[tuple[Part, Value], ...]:
    """Return the values that a line shows, by variable or by path into one.

    ``ValueError`` names the first that is no value.
    """
    if hasattr(data, "items"):
        return tuple(((name,), _value(value, name)) for name, value in data.items())
    found = []
    for path, value in data:
        if not isinstance(path[0], str):
            text = "what was seen begins with the name of a variable"
            raise ValueError(text)  # noqa: TRY004  # it is JSON that is wrong, as anywhere here
        part = tuple(_value(one, path[0]) for one in path)
        found.append((part, _value(value, path[0])))
    return tuple(found)


def _value(data: Any, name: str) -> Value:
    if data is None:
        raise ValueError(
            f"{name!r}: null stands for no TLA+ value: leave out what was not seen, and write the "
            "spec's own value for nothing"
        )
    try:
        return decode(data)
    except ValueError as error:
        raise ValueError(f"{name!r}: {error}") from error
