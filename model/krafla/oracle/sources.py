"""The text of a spec by its location."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from krafla.oracle.errors import SpecError
from krafla.tlc.joined_modules import joined_in

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["Place", "Sources"]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A stretch of a module, from its first to its last line and column, counted from 1."""

    module: str
    line: int
    column: int
    end_line: int
    end_column: int
    path: Path | None = None

    def __str__(self) -> str:
        return f"{self.path.name if self.path else self.module}:{self.line}"


class Sources:
    """The files of one loaded spec: modules are looked up in these folders, in order.

    Behind them come the modules that stand behind the first in the file ``module``. ``made`` has
    the text of modules that were written for the occasion, ``read`` the names of all
    that the spec consists of.
    """

    def __init__(self, folders: Iterable[Path], module: Path) -> None:
        self._folders = tuple(folders)
        self._joined = dict.fromkeys(joined_in(module), module)
        self.made: dict[str, str] = {}
        self.read: frozenset[str] = frozenset()

    def find(self, module: str) -> Path | None:
        """Return the file of a module; a standard module of TLA+ has none here."""
        for folder in self._folders:
            path = folder / f"{module}.tla"
            if path.is_file():
                return path
        return self._joined.get(module)

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files of all modules in these folders."""
        return tuple(path for folder in self._folders for path in sorted(folder.glob("*.tla")))

    def place(self, node: Any) -> Place:
        """Return where a semantic node stands in its file."""
        location = node.getLocation()
        module = str(location.source())
        return Place(
            module,
            int(location.beginLine()),
            int(location.beginColumn()),
            int(location.endLine()),
            int(location.endColumn()),
            self.find(module),
        )

    def text(self, place: Place) -> str:
        """Return the source text at a place, without the indentation its lines share."""
        if place.path is None:
            whole = self.made.get(place.module, "").splitlines()
        else:
            whole = _lines(place.path)
        lines = whole[place.line - 1 : place.end_line]
        if not lines:
            return ""
        lines[-1] = lines[-1][: place.end_column]
        indent = place.column - 1
        margins = [_margin(line) for line in lines[1:] if line.strip()]
        cut = min([indent, *margins])
        return "\n".join([lines[0][indent:], *(line[cut:].rstrip() for line in lines[1:])])


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


@lru_cache(maxsize=64)
def _read(path: Path, _modified: int) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"cannot be read: {error}", str(path)) from error


def _lines(path: Path) -> list[str]:
    return list(_read(path, path.stat().st_mtime_ns))
