"""A tree of rooms made of any project, in which its mutants are tried."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from krafla.mutate.baseline import NotHeldError, breaks
from krafla.oracle import explore
from krafla.project.tree import MANIFEST_NAME, ROOM_NAME, Tree
from krafla.tlc.config import read_config
from krafla.tlc.inputs import modules_of
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from krafla.manifest import Model
    from krafla.project import Project

__all__ = ["Workspace", "lay_out"]

# Each mutant needs a search, so a model with more states is not worth it.
_STATES_MAX: Final = 100_000
# Names of rooms that have a meaning in a tree.
_TAKEN: Final = frozenset({"lib", "broken"})
_KEYS: Final = ("name", "spec", "tier", "kind", "expect", "bounds", "property", "generated")


@dataclass(frozen=True, slots=True)
class Workspace:
    """A tree of rooms in ``folder``, and by its room the folder that the files of it come from.

    ``unpinned`` are the models of which the project pins no number of states.
    """

    folder: Path
    homes: Mapping[str, Path]
    unpinned: tuple[str, ...] = ()

    def original(self, file: str) -> Path:
        """Return the file of the project that a file of the tree, as mutants name it, is of."""
        room, _, rest = file.partition("/")
        return self.homes[room] / rest


def lay_out(
    project: Project, names: Sequence[str], folder: Path, progress: Callable[[str], None]
) -> Workspace:
    """Lay out the specs of a project in a new folder, as a tree of rooms.

    A tree is copied. Of another project come the named models (by default all) and their modules;
    the states of a model that pins none are counted. ``NotHeldError`` if such a model does not
    hold as it stands; ``KraflaError`` if a model is no TLA+, or is too large.
    """
    if isinstance(project, Tree):
        homes = {path.name: path for path in project.folder.iterdir() if path.is_dir()}
        return Workspace(shutil.copytree(project.folder, folder).resolve(), homes)
    folder.mkdir()
    models = project.manifest().select(tuple(names))
    rooms: dict[Path, str] = {}
    tables: dict[str, str] = {}
    for model in models:
        table = _table(model, folder, rooms, progress)
        room = rooms[model.module.parent]
        tables[room] = tables.get(room, "") + table
    listed = f"rooms = {json.dumps(list(tables))}\n"
    (folder / MANIFEST_NAME).write_text(listed, encoding="utf-8")
    for room, text in tables.items():
        (folder / room / ROOM_NAME).write_text(text, encoding="utf-8")
    unpinned = tuple(model.name for model in models if not model.distinct)
    return Workspace(folder.resolve(), {room: home for home, room in rooms.items()}, unpinned)


def _table(
    model: Model, folder: Path, rooms: dict[Path, str], progress: Callable[[str], None]
) -> str:
    """Copy the files of a model; return the table that lists it."""
    copied = [_copy(path, folder, rooms) for path in (*modules_of(model), model.config)]
    module = _copy(model.module, folder, rooms)
    data: dict[str, Any] = {key: getattr(model, key) for key in _KEYS}
    data |= {"module": module, "cfg": copied[-1], "witnesses": list(model.witnesses)}
    data["properties"] = model.properties
    counts = model.expect == "holds" and model.kind != "simulation"
    data["distinct"] = model.distinct or (_counted(model, progress) if counts else None)
    # A text in JSON is one in TOML, too.
    lines = [f"{key} = {json.dumps(one)}" for key, one in data.items() if one is not None]
    untaken = [f"{name} = {json.dumps(reason)}" for name, reason in model.untaken]
    lines += ["[model.untaken]", *untaken] if untaken else []
    return "\n".join(["[[model]]", *lines, ""])


def _copy(path: Path, folder: Path, rooms: dict[Path, str]) -> str:
    """Copy a file into its room, which has the name of its folder; return its place there."""
    home = path.parent
    if home not in rooms:
        name = home.name or "specs"
        while name in rooms.values() or name in _TAKEN:
            name += "_"
        rooms[home] = name
    place = f"{rooms[home]}/{path.name}"
    target = folder / place
    target.parent.mkdir(exist_ok=True)
    if not target.is_file():
        shutil.copyfile(path, target)
    return place


def _counted(model: Model, progress: Callable[[str], None]) -> int:
    """Return the number of distinct states of a model that pins none."""
    from krafla.match.validation import bounded

    progress(f"{model.name}: counting its states")
    found = explore(bounded(model), limit=_STATES_MAX)
    what = breaks(found, read_config(model.config))
    if what is not None:
        raise NotHeldError(
            f"it is not held as it stands ({what}): a mutant of it says nothing", model.name
        )
    if not found.is_complete:
        what = f"has more than {_STATES_MAX:,} states: mutate a cfg with smaller bounds, or pin"
        raise KraflaError(f"{what} them by krafla check --pin", model.name)
    return found.distinct
