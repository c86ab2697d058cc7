"""The plain logs of several processes as one, ordered by the clocks of the processes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Final

from krafla.traces.errors import TraceFormatError
from krafla.traces.plain_log import LogEntry, PlainLog
from krafla.traces.trace import INITIAL

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["merged"]

# The process and the time of the initial state, which is that of all processes.
_BEFORE_ALL: Final = (-1, -1)


def merged(logs: Sequence[PlainLog]) -> PlainLog:
    """Return the logs of several processes as one, ordered by their clocks.

    By ``lamport`` if every line has it, else by ``time_ms``; without either every order is open.
    First lines ``Init`` become one that shows what all of them show. From the last whole line of a
    log that was cut short on, the others show steps that may rest on unseen ones, so nothing is
    taken from there. ``TraceFormatError`` names a line without a clock that others have, or whose
    clock goes back, and a log that was cut short if there are no clocks.
    """
    clock = _clock_of(logs)
    starts = [one for log in logs for one in takewhile(_is_initial, log.entries)]
    rest = [
        [(_time(one, clock), number, one) for one in log.entries if not _is_initial(one)]
        for number, log in enumerate(logs)
    ]
    for times in rest:
        _check_order(times, clock)
    torn = next((log.cut for log in logs if log.cut is not None), None)
    if clock is None and torn is not None:
        raise TraceFormatError(
            "was cut short, and without lamport or time_ms nothing says which lines of the other "
            "files came before",
            torn,
        )
    # Sorting keeps the order of the files and of their lines.
    steps = sorted((one for times in rest for one in times), key=lambda one: one[0])
    cut = None
    for times, log in zip(rest, logs, strict=True):
        if log.cut is not None:
            kept = _before(steps, times[-1][0] if times else -1)
            if cut is None or len(kept) < len(steps):
                cut = log.cut
            steps = kept
    entries = [_joined(starts)] if starts else []
    moments = [_BEFORE_ALL] if starts else []
    entries += [one for _, _, one in steps]
    moments += [(number, time) for time, number, _ in steps]
    name = ", ".join(log.name for log in logs)
    return PlainLog(name, tuple(entries), cut, tuple(moments))


def _before(
    steps: Sequence[tuple[int, int, LogEntry]], end: int
) -> list[tuple[int, int, LogEntry]]:
    """Return the steps before a time, and those at it if one process took all of them."""
    at_end = {number for time, number, _ in steps if time == end}
    return [one for one in steps if one[0] < end or (one[0] == end and len(at_end) == 1)]


def _is_initial(entry: LogEntry) -> bool:
    return entry.observation.action == INITIAL


def _clock_of(logs: Sequence[PlainLog]) -> str | None:
    """Return the clock that every line has, but for first lines ``Init``; ``None`` for none."""
    entries = [one for log in logs for one in log.entries if not _is_initial(one)]
    if all(one.lamport is not None for one in entries):
        return "lamport"
    bare = [one.observation for one in entries if one.observation.time_ms is None]
    if not bare:
        return "time_ms"
    if len(bare) == len(entries) and all(one.lamport is None for one in entries):
        return None
    raise TraceFormatError(
        "has no time_ms, and not all lines have lamport: its place among the lines of other "
        "processes is not known",
        bare[0].place,
    )


def _time(entry: LogEntry, clock: str | None) -> int:
    found = entry.lamport if clock == "lamport" else entry.observation.time_ms
    return 0 if clock is None or found is None else found


def _check_order(times: Sequence[tuple[int, int, LogEntry]], clock: str | None) -> None:
    for (before, _, _), (after, _, entry) in pairwise(times):
        if after < before:
            raise TraceFormatError(
                f"{clock} goes back from {before} to {after}; in the log of one process it "
                "never may",
                entry.observation.place,
            )


def _joined(starts: Sequence[LogEntry]) -> LogEntry:
    """Return one observation of the initial state that shows what several show."""
    first = starts[0].observation
    seen = tuple(pair for one in starts for pair in one.observation.seen)
    return LogEntry(replace(first, seen=seen), None)
