"""``mutation.toml``: what is asked of a project's mutants, and why each survivor is no loss."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krafla.manifest import read_toml
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Explained", "Explanation", "explanations"]

_FILE_NAME = "mutation.toml"
_KEYS = ("id", "text", "reason")
_TABLES = ("equivalent", "survivor")
_ENTRY = "an explanation has the id of a mutant, the text that it changes, and a reason"
# Of 100 mutants so many are noticed at least, and so many killed by name, unless the file says.
_NOTICED, _KILLED = 90, 70


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
    """The content of the file: the size and seed of the sample, and every explanation.

    ``noticed_least`` and ``killed_least`` are the shares of mutants that must be noticed at all,
    and killed by what has a name. Nothing is asked where the file ``is_there`` not.
    """

    path: Path
    size: int
    seed: int
    entries: tuple[Explanation, ...]
    noticed_least: float = _NOTICED / 100
    killed_least: float = _KILLED / 100
    is_there: bool = True

    def reason(self, mutant: str) -> str | None:
        """Return why a mutant survives; ``None`` if it is not explained."""
        return next((one.reason for one in self.entries if one.id == mutant), None)

    @property
    def equivalent(self) -> frozenset[str]:
        """Return the mutants that are said to be the same specification."""
        return frozenset(one.id for one in self.entries if one.is_equivalent)


def explanations(specs: Path) -> Explained:
    """Return the explanations in the folder of a project; without a file there are none.

    ``KraflaError`` names the faulty line.
    """
    path = specs / _FILE_NAME
    if not path.is_file():
        return Explained(path, 200, 1, (), is_there=False)
    text, data = read_toml(path)
    tables = ("sample", "least", *_TABLES)
    unknown = sorted(data.keys() - set(tables))
    if unknown:
        known = ", ".join(tables)
        raise KraflaError(f"there is no key {unknown[0]!r}; known: {known}", str(path))
    chosen = data.get("sample", {})
    if not isinstance(chosen, dict) or set(chosen) - {"size", "seed"}:
        raise KraflaError("'sample' holds a size and a seed", str(path))
    least = data.get("least", {})
    if not isinstance(least, dict) or set(least) - {"noticed", "killed"}:
        raise KraflaError("'least' holds the percentages 'noticed' and 'killed'", str(path))
    entries = [one for kind in _TABLES for one in _entries(path, text, data, kind)]
    entries.sort(key=lambda one: one.line)
    seen: dict[str, int] = {}
    for one in entries:
        if one.id in seen:
            raise KraflaError(f"{one.id} is explained twice", f"{path}:{one.line}")
        seen[one.id] = one.line
    return Explained(
        path,
        _number(path, chosen, "size", 200),
        _number(path, chosen, "seed", 1),
        tuple(entries),
        _percentage(path, least, "noticed", _NOTICED) / 100,
        _percentage(path, least, "killed", _KILLED) / 100,
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


def _percentage(path: Path, table: dict[str, Any], key: str, default: int) -> int:
    value = table.get(key, default)
    if type(value) is not int or not 0 <= value <= 100:
        raise KraflaError(f"{key!r} is a percentage from 0 to 100, found {value!r}", str(path))
    return value


def _entry(path: Path, line: int, table: Any, *, is_equivalent: bool) -> Explanation:
    place = f"{path}:{line}"
    if not isinstance(table, dict) or set(table) != set(_KEYS):
        raise KraflaError(f"{_ENTRY}: the keys {', '.join(_KEYS)}", place)
    for key in _KEYS:
        if not isinstance(table[key], str) or not table[key].strip():
            raise KraflaError(f"{key!r} of an explanation is a string", place)
    text = " ".join(table["text"].split())
    return Explanation(table["id"], text, table["reason"], line, is_equivalent)
