"""What every verb needs of a terminal: output that suits pipes, narrow windows and NO_COLOR."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["VERDICT_STYLES", "LiveLine", "line", "show", "stderr", "stdout", "styled"]

VERDICT_STYLES = {
    Verdict.HELD: "bold green",
    Verdict.VIOLATED: "bold red",
    Verdict.INCONCLUSIVE: "bold yellow",
}
# On a file or a pipe, a line of progress is worth this much silence.
_PLAIN_INTERVAL_SECONDS = 10.0


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Raise ``BrokenPipeError`` as any program would; rich would exit with 1, violated."""
        raise


def stdout() -> Console:
    """Return the console for results. ``BrokenPipeError`` if their reader has left."""
    return _Console(highlight=False, soft_wrap=True)


def stderr() -> Console:
    """Return the console for progress and hints."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def line(console: Console, *parts: str | tuple[str, str]) -> None:
    """Print one line; a part may be ``(text, style)``. Nothing in the text is markup."""
    console.print(Text.assemble(*parts), soft_wrap=True)


def show(texts: Iterable[str], verdict: Verdict | None = None) -> None:
    """Print lines of results; where a line begins with the word of the verdict, it has a colour."""
    styled(stdout(), ((text, "") for text in texts), verdict)


def styled(
    console: Console, lines: Iterable[tuple[str, str]], verdict: Verdict | None = None
) -> None:
    """Print lines, each with its style; the word of the verdict at a beginning has its own."""
    for text, style in lines:
        word, blanks, rest = text.partition("  ")
        if verdict is not None and word == verdict.name:
            line(console, (word, VERDICT_STYLES[verdict]), (blanks + rest, style))
        else:
            line(console, (text, style))


class LiveLine:
    """A line of progress on stderr: rewritten in place on a terminal, else printed now and then.

    Use as a context; it leaves no trace on a terminal.
    """

    def __init__(self, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = stderr()
        self._quiet = quiet
        self._clock = clock
        self._printed = clock()

    def __enter__(self) -> LiveLine:
        return self

    def __exit__(self, *_exception: Any) -> None:
        self.erase()

    def begin(self, text: str) -> None:
        """Show the text at once, wherever: what begins now takes long before it tells more."""
        self._printed = -math.inf
        self.show(text)

    def remark(self, text: str) -> None:
        """Print a line that stays."""
        if not self._quiet:
            self.erase()
            line(self._console, text)

    def show(self, text: str) -> None:
        """Show the text as the state of things now."""
        if self._quiet:
            return
        if self._console.is_terminal:
            width = max(1, self._console.width - 1)
            shown = text if len(text) <= width else f"{text[: max(0, width - 4)]} ..."[:width]
            sys.stderr.write(f"\r\x1b[K{shown}")
            sys.stderr.flush()
        elif self._clock() - self._printed >= _PLAIN_INTERVAL_SECONDS:
            self._printed = self._clock()
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    def erase(self) -> None:
        """Take the line away, so that a result can be printed in its place."""
        if not self._quiet and self._console.is_terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
