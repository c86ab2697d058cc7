"""A tree of rooms: ``manifest.toml``, and ``models.toml`` of the rooms that it lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.project.base import Project
from krafla.project.model_tables import Base, models_in, refuse_duplicates
from krafla.project.models import Manifest, read_toml
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MANIFEST_NAME", "ROOM_NAME", "Tree"]

MANIFEST_NAME: Final = "manifest.toml"
ROOM_NAME: Final = "models.toml"
# Folders that belong to no search path but their own: their modules break rules on purpose.
_APART: Final = frozenset({"broken"})


class Tree(Project):
    """The folder of a ``manifest.toml`` with its rooms: the shipped specs are one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.listing = self.folder / MANIFEST_NAME

    def manifest(self) -> Manifest:
        """Return its models, and the cfg files that no model names."""
        path = self.listing
        text, data = read_toml(path)
        unknown = sorted(data.keys() - {"rooms", "model"})
        rooms = data.get("rooms", [])
        if unknown or not isinstance(rooms, list) or not all(isinstance(one, str) for one in rooms):
            raise KraflaError("a manifest consists of rooms and [[model]] tables", str(path))
        self._refuse_forgotten(rooms)
        # Looked for once: there are many models.
        folders = self._folders_of_modules()
        base = Base((self.folder,), lambda module: self._path(module, folders))
        models = models_in(base, path, text, data.get("model", []))
        for room in rooms:
            listing = self.folder / room / ROOM_NAME
            text, data = read_toml(listing)
            if data.keys() - {"model"}:
                what = "a list of models consists of [[model]] tables only"
                raise KraflaError(what, str(listing))
            models += models_in(base, listing, text, data.get("model", []), room)
        refuse_duplicates(models)
        listed = {model.config for model in models}
        configs = sorted(config.resolve() for config in self.folder.rglob("*.cfg"))
        return Manifest(path, models, tuple(config for config in configs if config not in listed))

    def rooms(self) -> tuple[Path, ...]:
        """Return the folders of the rooms, in the manifest's order, that are there."""
        rooms = read_toml(self.listing)[1].get("rooms", [])
        return tuple(path for room in rooms if (path := self.folder / str(room)).is_dir())

    def default_model(self, _name: str) -> None:
        """Return no model: what a trace of these specs leaves out has a meaning."""
        return

    def modules(self) -> tuple[Path, ...]:
        """Return the modules of all rooms, of the broken specs too."""
        return tuple(sorted(self.folder.rglob("*.tla")))

    def owns(self, module: Path) -> bool:
        """Return whether a module lies anywhere in the tree."""
        return module.is_relative_to(self.folder)

    def named(self, name: str) -> tuple[Path, ...]:
        """Return the files of the modules of this name."""
        return tuple(sorted(self.folder.rglob(f"{name}.tla")))

    def search_path(self, module: Path) -> tuple[Path, ...]:
        """Return the folder of a module, ``lib``, and the other rooms."""
        return self._path(module, self._folders_of_modules())

    def _path(self, module: Path, rooms: tuple[Path, ...]) -> tuple[Path, ...]:
        lib = self.folder / "lib"
        others = [room for room in rooms if room not in (module.parent, lib)]
        return (module.parent, lib, *others)

    def _folders_of_modules(self) -> tuple[Path, ...]:
        rooms = sorted({one.parent for one in self.folder.rglob("*.tla")})
        return tuple(
            one for one in rooms if not _APART.intersection(one.relative_to(self.folder).parts)
        )

    def _refuse_forgotten(self, rooms: list[str]) -> None:
        folder = self.folder
        for one in sorted(folder.rglob(ROOM_NAME)):
            room = one.parent.relative_to(folder).as_posix()
            if room not in rooms:
                what = f"rooms does not list {room}, which has a {ROOM_NAME}"
                raise KraflaError(what, str(self.listing))
