"""How fast a search goes, how far it has come, and when it may end."""

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
    """New states a second, and the seconds until the search ends at this rate.

    ``share`` is the share of all states that has been found, from 0 to 1; ``None`` if their number
    is unknown. Without it ``seconds_left`` is ``None`` while the queue does not fall.
    """

    states_per_second: float | None
    seconds_left: float | None
    share: float | None = None


class Pace:
    """Takes progress reports with their times, and returns the speed over the last ten seconds.

    ``total`` is the number of distinct states, where it is known.
    """

    def __init__(self, total: int | None = None) -> None:
        self._total = total
        self._reports: deque[tuple[float, Progress]] = deque()

    def add(self, seconds: float, progress: Progress) -> Speed:
        """Return the speed, given one more report at a time counted from any start."""
        self._reports.append((seconds, progress))
        while len(self._reports) > 2 and seconds - self._reports[1][0] >= _WINDOW_SECONDS:
            self._reports.popleft()
        share = None if not self._total else progress.distinct / self._total
        if share is not None and not 0 <= share <= 1:
            share = None
        began, first = self._reports[0]
        elapsed = seconds - began
        if elapsed <= 0:
            return Speed(None, None, share)
        rate = (progress.distinct - first.distinct) / elapsed
        if share is not None and self._total:
            left = (self._total - progress.distinct) / rate if rate > 0 else None
            return Speed(rate, left, share)
        falling = (first.queue - progress.queue) / elapsed
        return Speed(rate, progress.queue / falling if falling > 0 else None)
