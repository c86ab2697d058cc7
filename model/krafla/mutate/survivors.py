"""``specs/mutation.toml``: the fixed sample, and why each of its survivors is no loss."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krafla.manifest import read_toml
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["FILE_NAME", "Explained", "Explanation", "explanations"]

FILE_NAME = "mutation.toml"
_KEYS = ("id", "text", "reason")
_TABLES = ("equivalent", "survivor")


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why no property notices a mutant; ``text`` is the changed text, ``line`` a line of this file.

    ``is_equivalent``: it is the same specification, whatever the bounds.
    """

    id: str
    text: str
    reason: str
    line: int
    is_equivalent: bool = False


@dataclass(frozen=True, slots=True)
class Explained:
    """The content of the file: the size and seed of the sample, and every explanation."""

    path: Path
    size: int
    seed: int
    entries: tuple[Explanation, ...]

    def reason(self, mutant: str) -> str | None:
        """Return why a mutant survives; ``None`` if it is not explained."""
        return next((one.reason for one in self.entries if one.id == mutant), None)

    @property
    def equivalent(self) -> frozenset[str]:
        """Return the mutants that are said to be the same specification."""
        return frozenset(one.id for one in self.entries if one.is_equivalent)


def explanations(specs: Path) -> Explained:
    """Return the explanations of a folder of specs; without a file there are none.

    ``KraflaError`` names the faulty line.
    """
    path = specs / FILE_NAME
    if not path.is_file():
        return Explained(path, 200, 1, ())
    text, data = read_toml(path)
    unknown = sorted(data.keys() - {"sample", *_TABLES})
    if unknown:
        known = ", ".join(("sample", *_TABLES))
        raise KraflaError(f"there is no key {unknown[0]!r}; known: {known}", str(path))
    chosen = data.get("sample", {})
    if not isinstance(chosen, dict) or set(chosen) - {"size", "seed"}:
        raise KraflaError("'sample' holds a size and a seed", str(path))
    entries = [one for kind in _TABLES for one in _entries(path, text, data, kind)]
    entries.sort(key=lambda one: one.line)
    seen: dict[str, int] = {}
    for one in entries:
        if one.id in seen:
            raise KraflaError(f"{one.id} is explained twice", f"{path}:{one.line}")
        seen[one.id] = one.line
    return Explained(
        path, _number(path, chosen, "size", 200), _number(path, chosen, "seed", 1), tuple(entries)
    )


def _entries(path: Path, text: str, data: dict[str, Any], kind: str) -> Iterator[Explanation]:
    head = re.compile(rf"\s*\[\[\s*{kind}\s*\]\]")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if head.match(line)]
    tables = data.get(kind, [])
    if not isinstance(tables, list):
        raise KraflaError(f"{kind!r} is a list of [[{kind}]] tables", str(path))
    for line, table in zip(lines, tables, strict=False):
        yield _entry(path, line, table, is_equivalent=kind == "equivalent")


def _number(path: Path, table: dict[str, Any], key: str, default: int) -> int:
    value = table.get(key, default)
    if type(value) is not int or value < 1:
        raise KraflaError(f"{key!r} of the sample is a number from 1, found {value!r}", str(path))
    return value


def _entry(path: Path, line: int, table: Any, *, is_equivalent: bool) -> Explanation:
    place = f"{path}:{line}"
    if not isinstance(table, dict) or set(table) != set(_KEYS):
        raise KraflaError(f"an explanation has the keys {', '.join(_KEYS)}", place)
    for key in _KEYS:
        if not isinstance(table[key], str) or not table[key].strip():
            raise KraflaError(f"{key!r} of an explanation is a text", place)
    text = " ".join(table["text"].split())
    return Explanation(table["id"], text, table["reason"], line, is_equivalent)
