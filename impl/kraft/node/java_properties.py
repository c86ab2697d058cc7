r"""Java's properties files: `key=value` lines with continuations and escapes.

Kafka: Utils.loadProps, PropertiesUtils.readPropertiesFile, which call Java's Properties.load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import javaproperties

from kraft.errors import CorruptRecordError
from kraft.log.files import read_small_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Property(NamedTuple):
    """One entry: its key and value, and the line on which it begins, counted from 1."""

    key: str
    value: str
    line: int


def read_properties(path: Path) -> dict[str, str]:
    """Return the values of a properties file by key; the last of a repeated key counts.

    Raises UnreadableFileError, LimitExceededError, or CorruptRecordError for a broken escape.
    """
    return {key: value for key, value, _ in read_entries(path)}


def read_entries(path: Path) -> tuple[Property, ...]:
    """Return the entries of a properties file in their order. Raises as `read_properties`."""
    # Java reads each byte as one character of ISO-8859-1.
    text = read_small_bytes(path).decode("latin-1")
    try:
        return tuple(parse_entries(text))
    except ValueError as error:
        raise CorruptRecordError(str(error), path=path) from None


def parse_properties(text: str) -> dict[str, str]:
    """Return the values in the text of a properties file, by key.

    Raises ValueError for a Unicode escape without four hexadecimal digits.
    """
    return {key: value for key, value, _ in parse_entries(text)}


def parse_entries(text: str) -> Iterator[Property]:
    """Yield the entries in the text of a properties file. Raises as `parse_properties`."""
    line = 1
    try:
        for element in javaproperties.parse(text):
            if isinstance(element, javaproperties.KeyValue):
                yield Property(element.key, element.value, line)
            line += _line_ends(element.source)
    except javaproperties.InvalidUEscapeError:
        raise ValueError(f"malformed \\uxxxx encoding on line {line}") from None


def _line_ends(text: str) -> int:
    """Return how many lines end in a text; Java ends them by CR, LF, or both."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")
