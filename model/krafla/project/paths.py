"""A project that is nothing but paths: ``Lock.tla``, ``Lock.cfg``, or a folder of such files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.project.base import Project
from krafla.project.file import FILE_NAME, guessed
from krafla.project.models import Listing, Manifest
from krafla.project.pairs import Pair, module_of, pair_for, pairs_in, search_path_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["PathProject"]


class PathProject(Project):
    """The modules and cfg files of paths, which no file lists."""

    def __init__(self, paths: tuple[Path, ...]) -> None:
        self.paths = tuple(path.resolve() for path in paths)
        first = self.paths[0]
        self.folder = first if first.is_dir() else first.parent
        self.listing = self.folder / FILE_NAME

    def manifest(self) -> Manifest:
        """Return a model for each cfg; ``KraflaError`` if one has no module, or a module no cfg."""
        pairs = dict.fromkeys(pair for path in self.paths for pair in self._pairs(path))
        return Manifest(self.paths[0], tuple(guessed(pairs, Listing.PATH)), ())

    def rooms(self) -> tuple[Path, ...]:
        """Return the folders of the paths."""
        folders = (path if path.is_dir() else path.parent for path in self.paths)
        return tuple(dict.fromkeys(folders))

    def modules(self) -> tuple[Path, ...]:
        """Return the modules that lie where the paths do."""
        folders = (folder for room in self.rooms() for folder in search_path_of(room / "any.tla"))
        return tuple(
            path for folder in dict.fromkeys(folders) for path in sorted(folder.glob("*.tla"))
        )

    def search_path(self, module: Path) -> tuple[Path, ...]:
        """Return the folder of a module, and those of the paths."""
        return search_path_of(module, self.rooms())

    def _pairs(self, path: Path) -> Iterator[Pair]:
        if path.is_dir():
            yield from pairs_in(path)
        elif path.suffix == ".cfg":
            yield Pair(module_of(path), path)
        else:
            yield pair_for(path)
