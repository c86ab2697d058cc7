"""The journal of a recording: the file `harness.log`, and the line of progress."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["Journal"]


class Journal:
    """A file of timed lines; the begin of an activity also goes to `progress`."""

    def __init__(self, path: Path, progress: Callable[[str], None]) -> None:
        self._path = path
        self._progress = progress

    def note(self, text: str) -> None:
        """Write down what happened, with the local time, as Kafka's logs have it."""
        time = datetime.now().astimezone().strftime("%H:%M:%S.%f")[:-3]
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{time} {text}\n")

    def begin(self, text: str) -> None:
        """Write down the begin of an activity, and show it."""
        self.note(text)
        self._progress(text)

    def show(self, text: str) -> None:
        """Only show it."""
        self._progress(text)
