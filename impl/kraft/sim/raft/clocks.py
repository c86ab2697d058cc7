"""The clock of a simulated machine: it drifts and jumps, but never runs backwards.

A real wall clock can be set back, and Kafka's timers read it; but Kafka's Timer keeps the latest
time that it has seen. So a clock that is set back stands still here until it passes its latest
reading. That lengthens every running timer, as in Kafka.

Kafka: Timer.updateCurrentTimeMs.
"""

from __future__ import annotations

from typing import Final

_MILLION: Final = 1_000_000


class Clock:
    """A clock with its own nanoseconds."""

    __slots__ = ("_base_own", "_base_true", "_floor", "_rate")

    def __init__(self, start: int = 0) -> None:
        self._base_own = start
        self._base_true = 0
        self._floor = start
        self._rate = _MILLION

    def read(self, now: int) -> int:
        """Return the clock's time at a true time; true times must not go back."""
        own = self._base_own + (now - self._base_true) * self._rate // _MILLION
        if own > self._floor:
            self._floor = own
        return self._floor

    def restart(self, now: int) -> int:
        """Return the clock's time for a new process, which has seen no later reading."""
        self._floor = self._base_own + (now - self._base_true) * self._rate // _MILLION
        return self._floor

    def true_time(self, own: int, now: int) -> int:
        """Return the first true time from `now` on at which the clock reads `own` or more."""
        if own <= self._floor:
            return now
        ahead = -(-(own - self._base_own) * _MILLION // self._rate)
        return max(now, self._base_true + ahead)

    def drift(self, now: int, drift: int) -> None:
        """Make the clock faster or slower from now on, in parts per million."""
        own = self._base_own + (now - self._base_true) * self._rate // _MILLION
        self._base_own, self._base_true, self._rate = own, now, _MILLION + drift

    def jump(self, now: int, by: int) -> None:
        """Set the clock forward, or back if `by` is negative: then it stands still."""
        self.read(now)
        self._base_own += by
