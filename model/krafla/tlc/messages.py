"""Split what ``TLC -tool`` prints into coded messages and the lines between them."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Message", "MessageReader"]

_MARK = re.compile(r"@!@!@(?:STARTMSG (?P<start>-?\d+):(?P<kind>\d+)|ENDMSG (?P<end>-?\d+)) ?@!@!@")
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
# A message is text for a reader; this much of one is kept, the rest only passes by.
_MAX_LINES = 200_000


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its code, its class, its text, and the messages printed inside it."""

    code: int
    kind: int
    text: str
    inner: tuple[Message, ...] = ()

    def all_texts(self) -> str:
        """Return the text and those of the inner messages, one after the other."""
        return "\n".join(part for part in (self.text, *(i.all_texts() for i in self.inner)) if part)


@dataclass(slots=True)
class _Open:
    code: int
    kind: int
    lines: list[str]
    inner: list[Message]


class MessageReader:
    """Takes lines as they come and returns each message when it is complete.

    Messages may be nested, and may begin in the middle of a line. ``damaged`` tells that
    an end did not match its beginning; ``is_open`` that one has begun and not ended. No
    input raises.
    """

    def __init__(self) -> None:
        self._stack: list[_Open] = []
        self.damaged = False

    @property
    def is_open(self) -> bool:
        """Return whether a message has begun and not ended."""
        return bool(self._stack)

    def feed(self, line: str) -> list[Message | str]:
        """Return the outermost messages this line completed and the text outside of any."""
        line = line.rstrip("\r\n")
        if "\x1b" in line:
            line = _ANSI.sub("", line)
        if "@!@!@" not in line:
            if not self._stack:
                return [line] if line else []
            self._add(line)
            return []
        return self._feed_marked(line)

    def _feed_marked(self, line: str) -> list[Message | str]:
        found: list[Message | str] = []
        position = 0
        for mark in _MARK.finditer(line):
            self._text(line[position : mark.start()], found)
            position = mark.end()
            if mark["start"] is not None:
                self._stack.append(_Open(int(mark["start"]), int(mark["kind"]), [], []))
            else:
                self._close(int(mark["end"]), found)
        self._text(line[position:], found)
        return found

    def _text(self, text: str, found: list[Message | str]) -> None:
        if not text.strip():
            return
        if self._stack:
            self._add(text)
        else:
            found.append(text)

    def _add(self, line: str) -> None:
        if len(self._stack[-1].lines) < _MAX_LINES:
            self._stack[-1].lines.append(line)

    def _close(self, code: int, found: list[Message | str]) -> None:
        if not self._stack or self._stack[-1].code != code:
            self.damaged = True
            self._stack.clear()
            return
        done = self._stack.pop()
        message = Message(done.code, done.kind, "\n".join(done.lines).strip(), tuple(done.inner))
        if self._stack:
            self._stack[-1].inner.append(message)
        else:
            found.append(message)
