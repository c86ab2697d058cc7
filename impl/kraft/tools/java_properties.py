r"""Java's properties files: `key=value` lines with continuations and escapes.

Kafka: Utils.loadProps, PropertiesUtils.readPropertiesFile, which call Java's Properties.load.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kraft.errors import CorruptRecordError
from kraft.log.files import read_small_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_PAIR: Final = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_BLANKS: Final = " \t\f"
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(path: Path) -> dict[str, str]:
    """Return the values of a properties file by key; the last of a repeated key counts.

    Raises UnreadableFileError, LimitExceededError, or CorruptRecordError for a broken escape.
    """
    # Java reads each byte as one character of ISO-8859-1.
    text = read_small_bytes(path).decode("latin-1")
    try:
        return parse_properties(text)
    except ValueError as error:
        raise CorruptRecordError(str(error), path=path) from None


def parse_properties(text: str) -> dict[str, str]:
    """Return the values in the text of a properties file, by key.

    Raises ValueError for a Unicode escape without four hexadecimal digits.
    """
    values: dict[str, str] = {}
    for line in _logical_lines(text):
        match = _PAIR.fullmatch(line)
        assert match is not None, "its last group takes all that is left"
        values[_unescaped(match[1])] = _unescaped(match[2])
    return values


def _logical_lines(text: str) -> Iterator[str]:
    """Yield the lines that are neither blank nor a comment, each joined with its continuations."""
    pending, is_continued = "", False
    for natural in _LINE_END.split(text):
        line = natural.lstrip(_BLANKS)
        if not is_continued and (not line or line[0] in "#!"):
            continue
        is_continued = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        pending += line[:-1] if is_continued else line
        if not is_continued:
            yield pending
            pending = ""
    if pending:
        yield pending


def _unescaped(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        code, character = match.groups()
        if code is not None:
            return chr(int(code, 16))
        if character == "u":
            raise ValueError("malformed \\uxxxx encoding")
        return _CONTROLS.get(character, character)

    return _ESCAPE.sub(plain, text)
