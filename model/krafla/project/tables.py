"""The tables of a list of models or machines, each with the lines on which it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Table", "tables_in"]


@dataclass(frozen=True, slots=True)
class Table:
    """One table ``[[kind]]``: its keys, and its lines from line ``start`` of the file on."""

    path: Path
    kind: str
    start: int
    lines: tuple[str, ...]
    data: dict[str, Any]

    def place(self, key: str | None = None) -> str:
        """Return the file and the line of a key; without a key, or where it is not, of the head."""
        for offset, line in enumerate(self.lines):
            if key is not None and re.match(rf"\s*\[?(?:{self.kind}\.)?{re.escape(key)}\b", line):
                return f"{self.path}:{self.start + offset + 1}"
        return f"{self.path}:{self.start + 1}"


def tables_in(path: Path, text: str, kind: str, entries: Any) -> tuple[Table, ...]:
    """Return the tables ``[[kind]]`` of a file with this text; ``entries`` is what TOML read.

    ``KraflaError`` if the entries are no tables.
    """
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise KraflaError(f"each {kind} is a table [[{kind}]]", str(path))
    lines = text.splitlines()
    head = re.compile(rf"\s*\[\[\s*{kind}\s*\]\]")
    # The head of another table. A value never begins a line with a bare word.
    other = re.compile(rf"\s*\[{{1,2}}\s*(?!{kind}\b)[A-Za-z_]\w*\s*\]{{1,2}}\s*(?:#.*)?$")
    heads = [n for n, line in enumerate(lines) if head.match(line)]
    parts = []
    for start, end in pairwise([*heads, len(lines)]):
        parts.append(
            (start, next((n for n in range(start + 1, end) if other.match(lines[n])), end))
        )
    if len(parts) != len(entries):
        # TOML may be written in other ways; then the place of each is the whole file.
        parts = [(0, len(lines))] * len(entries)
    return tuple(
        Table(path, kind, start, tuple(lines[start:end]), entry)
        for (start, end), entry in zip(parts, entries, strict=True)
    )
