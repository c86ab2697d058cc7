"""A project that a ``krafla.toml`` describes: its models, its machines, its views."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from krafla.project.base import Machine, Project
from krafla.project.model_tables import Base, models_in, refuse_duplicates
from krafla.project.models import Listing, Manifest, Model, meant, read_toml
from krafla.project.pairs import module_of, pairs_in, search_path_of
from krafla.project.tables import tables_in
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from krafla.project.pairs import Pair

__all__ = ["FILE_NAME", "ProjectFile", "guessed"]

FILE_NAME: Final = "krafla.toml"
_TABLES: Final = ("project", "model", "machine", "view")
_PROJECT_KEYS: Final = ("name", "specs")
_MACHINE_KEYS: Final = ("name", "class")
_DEFAULTS: Final = {"tier": "smoke", "kind": "safety", "expect": "holds", "bounds": ""}
_TARGET: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class ProjectFile(Project):
    """The project of a ``krafla.toml``. Its folder is that of the file."""

    def __init__(self, path: Path) -> None:
        """Read the file; ``KraflaError`` with the line if a key is wrong."""
        self.listing = path.resolve()
        self.folder = self.listing.parent
        self._text, self._data = read_toml(self.listing)
        for key in self._data:
            if key not in _TABLES:
                raise self._error(f"there is no key {key!r}{meant(key, _TABLES)}", key)
        self._folders = self._specs()

    def manifest(self) -> Manifest:
        """Return the models of its tables; without a table those of the cfg files that are there.

        A cfg that no table names is none of its models.
        """
        tables = self._tables("model")
        if not tables:
            pairs = (
                pair for one in self._folders if any(one.glob("*.cfg")) for pair in pairs_in(one)
            )
            return Manifest(self.listing, tuple(guessed(pairs, Listing.PROJECT)), ())
        base = Base(tuple(dict.fromkeys((self.folder, *self._folders))), self.search_path,
                    Listing.PROJECT)  # fmt: skip
        whole = [self._filled(table, base.folders) for table in tables]
        models = models_in(base, self.listing, self._text, whole)
        refuse_duplicates(models)
        return Manifest(self.listing, models, ())

    def rooms(self) -> tuple[Path, ...]:
        """Return the folders of its modules."""
        of_models = (
            (self.folder / name).resolve().parent
            for table in self._tables("model")
            if isinstance(name := table.get("module", table.get("cfg")), str)
        )
        found = dict.fromkeys((*self._folders, *of_models))
        return tuple(one for one in found if one.is_dir())

    def modules(self) -> tuple[Path, ...]:
        """Return the modules of these folders, not of folders inside."""
        return tuple(path for one in self.rooms() for path in sorted(one.glob("*.tla")))

    def search_path(self, module: Path) -> tuple[Path, ...]:
        """Return the folder of a module, and the others of the project."""
        return search_path_of(module, self.rooms())

    def machines(self) -> tuple[Machine, ...]:
        """Return the machines that it names; ``KraflaError`` with the line if one is wrong."""
        return tuple(self._machines())

    def views(self) -> tuple[dict[str, Any], ...]:
        """Return its tables ``[[view]]``."""
        return tuple(self._tables("view"))

    def _machines(self) -> Iterator[Machine]:
        seen: set[str] = set()
        for table in tables_in(self.listing, self._text, "machine", self._tables("machine")):
            for key, value in table.data.items():
                if key not in _MACHINE_KEYS:
                    known = meant(key, _MACHINE_KEYS)
                    raise KraflaError(f"[[machine]] has no key {key!r}{known}", table.place(key))
                if not isinstance(value, str):
                    raise KraflaError(f"{key!r} of a machine is a string", table.place(key))
            for key in _MACHINE_KEYS:
                if key not in table.data:
                    raise KraflaError(f"a [[machine]] has a {key!r}", table.place())
            name, target = table.data["name"], table.data["class"]
            if not _TARGET.fullmatch(target):
                what = f"class is package.module:Class, found {target!r}"
                raise KraflaError(what, table.place("class"))
            if name in seen:
                raise KraflaError(f"a second machine is called {name!r}", table.place("name"))
            seen.add(name)
            yield Machine(name, target, table.place())

    def _specs(self) -> tuple[Path, ...]:
        """Return the folders of modules that ``[project]`` names; by default the file's own."""
        table = self._data.get("project", {})
        if not isinstance(table, dict):
            raise self._error("'project' is a table", "project")
        for key in table:
            if key not in _PROJECT_KEYS:
                known = meant(key, _PROJECT_KEYS)
                raise self._error(f"[project] has no key {key!r}{known}", key)
        if not isinstance(table.get("name", ""), str):
            raise self._error("'name' of the project is a string", "name")
        names = table.get("specs", ["."])
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            raise self._error("'specs' lists folders of modules", "specs")
        for name in names:
            if not (self.folder / name).is_dir():
                raise self._error(f"there is no folder {name}", "specs")
        return tuple((self.folder / name).resolve() for name in names)

    def _tables(self, key: str) -> list[dict[str, Any]]:
        tables = self._data.get(key, [])
        if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
            raise self._error(f"each {key} is a table [[{key}]]", key)
        return tables

    def _filled(self, table: dict[str, Any], folders: Iterable[Path]) -> dict[str, Any]:
        """Return the table of a model with what it leaves out."""
        found = {**_DEFAULTS, **table}
        module, config = found.get("module"), found.get("cfg")
        if isinstance(module, str) and config is None:
            config = found["cfg"] = module.removesuffix(".tla") + ".cfg"
        elif isinstance(config, str) and module is None:
            there = next((path for one in folders if (path := one / config).is_file()), None)
            # Where the cfg is missing, that is what the error is about.
            module = found["module"] = config if there is None else str(module_of(there))
        if isinstance(module, str):
            found.setdefault("spec", module.rpartition("/")[2].removesuffix(".tla"))
        if isinstance(config, str):
            found.setdefault("name", config.rpartition("/")[2].removesuffix(".cfg"))
        return found

    def _error(self, message: str, key: str) -> KraflaError:
        lines = enumerate(self._text.splitlines(), 1)
        begins = re.compile(rf"\s*\[*\s*{re.escape(key)}\b")
        line = next((number for number, line in lines if begins.match(line)), 1)
        return KraflaError(message, f"{self.listing}:{line}")


def guessed(pairs: Iterable[Pair], listing: Listing) -> Iterator[Model]:
    """Yield a model for each pair of a module and a cfg, named after the cfg."""
    seen: set[str] = set()
    for module, config in pairs:
        name = config.stem
        if name in seen or name == "MC":
            # The Toolbox gives all of them one name, each in a folder of its own.
            name = config.parent.name
        while name in seen:
            name += "_"
        seen.add(name)
        yield Model(
            name, module, config, search_path_of(module), module.stem, listing=listing,
        )  # fmt: skip
