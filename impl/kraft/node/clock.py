"""The clock of a node, which never jumps: the wall's time at the start, plus what passed since.

Deadlines and the timestamps of records come from one clock, so a wall clock that is set anew must
not move it. Kafka: Time.hiResClockMs, Time.milliseconds.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """A monotonic clock, anchored to the wall once, when it is made."""

    __slots__ = ("_anchor", "_monotonic")

    def __init__(
        self,
        wall: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._monotonic = monotonic
        self._anchor = wall() - monotonic()

    def now(self) -> int:
        """Return the time in nanoseconds since 1970; it never goes back."""
        return self._anchor + self._monotonic()
