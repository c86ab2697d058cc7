"""How fast a search goes, and when it may end."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krafla.tlc.output import Progress

__all__ = ["Pace", "Speed"]

_WINDOW_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Speed:
    """New states a second, and the seconds until the queue is empty if it keeps falling so.

    ``seconds_left`` is ``None`` while the queue does not fall: nobody knows then.
    """

    states_per_second: float | None
    seconds_left: float | None


class Pace:
    """Takes progress reports with their times, and returns the speed over the last ten seconds."""

    def __init__(self) -> None:
        self._reports: deque[tuple[float, Progress]] = deque()

    def add(self, seconds: float, progress: Progress) -> Speed:
        """Return the speed, given one more report at a time counted from any start."""
        self._reports.append((seconds, progress))
        while len(self._reports) > 2 and seconds - self._reports[1][0] >= _WINDOW_SECONDS:
            self._reports.popleft()
        began, first = self._reports[0]
        elapsed = seconds - began
        if elapsed <= 0:
            return Speed(None, None)
        falling = (first.queue - progress.queue) / elapsed
        left = progress.queue / falling if falling > 0 else None
        return Speed((progress.distinct - first.distinct) / elapsed, left)
