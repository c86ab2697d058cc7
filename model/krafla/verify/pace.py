"""How far a verification is: done of all, time left, what is asked now."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from krafla.verify.rows import Question

__all__ = ["Pace"]

# Before this share is done, the time left is a guess that would mislead.
_SHARE_MIN: Final = 0.05


class Pace:
    """Takes the news of the questions, from any thread, and says in a line how far they are.

    ``seconds`` maps the key of a question to the seconds that it took before; a question without
    them counts by its weight. ``changed`` gets each new line.
    """

    def __init__(
        self,
        questions: Sequence[Question],
        seconds: Mapping[str, float],
        changed: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = len(questions)
        self.done = 0
        self._weights = {one.title: seconds.get(one.key, one.weight) for one in questions}
        self._left = sum(self._weights.values())
        self._asked = 0.0
        self._running: dict[str, str] = {}
        self._changed = changed
        self._clock = clock
        self._began = clock()
        self._lock = threading.RLock()

    def tell(self, question: Question, text: str) -> None:
        """Record what a question is doing now; the line has the first clause of it."""
        with self._lock:
            self._running[question.title] = text.partition(", ")[0]
            self._changed(self.line())

    def end(self, question: Question, *, is_kept: bool = False) -> None:
        """Record that a question is answered. A kept answer does not count for the pace."""
        with self._lock:
            self._running.pop(question.title, None)
            weight = self._weights[question.title]
            self.done += 1
            self._left -= weight
            if is_kept:
                self._began = self._clock() if self._asked == 0 else self._began
            else:
                self._asked += weight

    @property
    def seconds_left(self) -> float | None:
        """Return about how long it will take; None while that cannot be told."""
        if self._asked < _SHARE_MIN * (self._asked + self._left):
            return None
        return self._left * (self._clock() - self._began) / self._asked

    def line(self) -> str:
        """Return done and all, the time left, and what is asked now."""
        left = self.seconds_left
        parts = [f"[{self.done}/{self.total}]"]
        if left is not None:
            parts.append(f"about {_duration(left)} left;")
        parts.append("; ".join(f"{title}: {text}" for title, text in self._running.items()))
        return " ".join(parts)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
