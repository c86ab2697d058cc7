"""The project at hand: what is asked about when a command names no more than a model or a module.

The paths given to a command decide first, then ``KRAFLA_SPECS``, then the nearest ``krafla.toml``
upward from the working directory, then the specs of the repository or the wheel. What was given is
put into ``KRAFLA_SPECS``, so that the processes that a command starts see the same project.
"""

from __future__ import annotations

import os
import re
import shlex
from contextlib import contextmanager
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.files import is_there
from krafla.project.file import FILE_NAME, ProjectFile
from krafla.project.paths import PathProject
from krafla.project.tree import MANIFEST_NAME, Tree
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.project.base import Project

__all__ = [
    *("ENVIRONMENT_VARIABLE", "at_hand", "installed_specs", "is_given", "is_of_tree"),
    *("kept_at_hand", "known_projects", "listing_above", "on_this_project", "project_at"),
    *("projects_about", "put_at_hand", "put_shipped_at_hand", "search_path"),
]

ENVIRONMENT_VARIABLE: Final = "KRAFLA_SPECS"
_RECOGNIZED: Final = re.compile(r"^\s*(?:rooms\s*=|\[\[\s*model\s*\]\])", re.MULTILINE)
# What a folder of specs has: modules, or models of the Toolbox, in its folder or beside it.
_SPECS: Final = ("*.tla", "*.toolbox", "*/MC.cfg")
# The option that gives a command the same project again, once this process was given one.
_given: list[str] = []


def at_hand() -> Project:
    """Return the project at hand; ``KraflaError`` if there is none, or its file is wrong."""
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    if chosen:
        words = [chosen] if Path(chosen).exists() else chosen.split(os.pathsep)
        try:
            return project_at(tuple(map(Path, words)))
        except KraflaError as error:
            name = "" if is_given() else f"{ENVIRONMENT_VARIABLE}: "
            raise KraflaError(f"{name}{error.message}", error.place) from None
    file = _upward(Path.cwd(), (FILE_NAME,))
    if file is not None:
        return _file(file)
    found = installed_specs()
    if found is None:
        raise KraflaError(
            f"no specs/{MANIFEST_NAME} beside this installation; set it with {ENVIRONMENT_VARIABLE}"
        )
    return Tree(found)


def project_at(paths: tuple[Path, ...]) -> Project:
    """Return the project of some paths, as ``KRAFLA_SPECS`` names it.

    ``KraflaError`` if one is not there, or if they are of several projects.
    """
    for path in paths:
        if not path.exists():
            raise KraflaError("there is no such file or folder", str(path))
    listings = dict.fromkeys(_listing(path) for path in paths)
    if len(listings) > 1:
        first, second = (
            str(listing or path) for listing, path in zip(listings, paths, strict=False)
        )
        raise KraflaError(f"of another project than {first}: one command asks about one", second)
    (listing,) = listings
    if listing is None:
        _refuse_no_project(paths)
        return PathProject(paths)
    return Tree(listing.parent) if listing.name == MANIFEST_NAME else _file(listing)


def _listing(path: Path) -> Path | None:
    """Return the file that lists models if a path names a project; ``None`` if it names specs."""
    if path.name in {FILE_NAME, MANIFEST_NAME}:
        return path.resolve()
    names = (FILE_NAME, MANIFEST_NAME) if path.is_dir() else ()
    return next((file.resolve() for name in names if (file := path / name).is_file()), None)


def _refuse_no_project(paths: tuple[Path, ...]) -> None:
    for path in paths:
        if path.is_dir() and not any(one for kind in _SPECS for one in path.glob(kind)):
            raise KraflaError(f"holds no {FILE_NAME}, no {MANIFEST_NAME} and no module", str(path))
        if path.is_file() and path.suffix not in {".tla", ".cfg"}:
            raise KraflaError(f"is no module, no cfg and no {FILE_NAME}", str(path))


def listing_above(path: Path) -> Path | None:
    """Return the nearest ``krafla.toml`` or ``manifest.toml`` in the folder of a path or above."""
    folder = path.resolve()
    return _upward(folder if folder.is_dir() else folder.parent, (FILE_NAME, MANIFEST_NAME))


def _upward(folder: Path, names: tuple[str, ...]) -> Path | None:
    for one in (folder, *folder.parents):
        for name in names:
            if is_there(one / name) and _is_ours(one / name):
                return one / name
    return None


def _is_ours(file: Path) -> bool:
    """Return whether a file lists models: other programs have a ``manifest.toml``, too."""
    if file.name == FILE_NAME:
        return True
    return _RECOGNIZED.search(file.read_text(encoding="utf-8", errors="replace")) is not None


def known_projects() -> tuple[Project, ...]:
    """Return the project at hand, and after it the shipped specs if it is no tree of its own."""
    first, shipped = at_hand(), installed_specs()
    if isinstance(first, Tree) or shipped is None:
        return (first,)
    return first, Tree(shipped)


def is_of_tree(name: str) -> bool:
    """Return whether a module is one of a tree of specs, whose implementation krafla has."""
    return any(isinstance(one, Tree) and bool(one.named(name)) for one in known_projects())


def projects_about(name: str) -> tuple[Project, ...]:
    """Return the projects that may say something of a module: the first that has it, or all."""
    projects = known_projects()
    if len(projects) > 1 and projects[0].named(name):
        return projects[:1]
    return projects


def search_path(module: Path) -> tuple[Path, ...]:
    """Return the folders of the modules that a module may use: its own comes first."""
    projects = known_projects()
    owner = next((one for one in projects if one.owns(module)), projects[0])
    return owner.search_path(module)


def installed_specs() -> Path | None:
    """Return the folder of the specs of the repository or the wheel; ``None`` if there is none."""
    package = Path(str(resources.files("krafla")))
    for folder in (package / "specs", package.parent.parent / "specs"):
        if (folder / MANIFEST_NAME).is_file():
            return folder.resolve()
    return None


@contextmanager
def kept_at_hand() -> Iterator[None]:
    """Leave the project at hand as it was before, whatever is put at hand inside."""
    chosen, given = os.environ.get(ENVIRONMENT_VARIABLE), list(_given)
    try:
        yield
    finally:
        _given[:] = given
        if chosen is None:
            os.environ.pop(ENVIRONMENT_VARIABLE, None)
        else:
            os.environ[ENVIRONMENT_VARIABLE] = chosen


def put_at_hand(paths: tuple[Path, ...], option: str = "") -> Project:
    """Make the project of these paths the one at hand, here and in every process started here.

    ``option`` gives the same again to a command that takes no path of a spec by itself.
    """
    project = project_at(paths)
    os.environ[ENVIRONMENT_VARIABLE] = os.pathsep.join(str(path.resolve()) for path in paths)
    _given[:] = [option]
    return project


def is_given() -> bool:
    """Return whether paths given to this command made the project the one at hand."""
    return bool(_given)


def put_shipped_at_hand() -> None:
    """Make the shipped specs those at hand, unless ``KRAFLA_SPECS`` names others.

    A command about what is shipped means them wherever it is started.
    """
    found = installed_specs()
    hides = _upward(Path.cwd(), (FILE_NAME,)) is not None
    if found is not None and hides and not os.environ.get(ENVIRONMENT_VARIABLE):
        put_at_hand((found,))


def on_this_project(command: str) -> str:
    """Return a command for the shell that asks about the same project as this process does."""
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    if _given:
        return f"{command}{_given[0]}"
    return f"{ENVIRONMENT_VARIABLE}={shlex.quote(chosen)} {command}" if chosen else command


def _file(path: Path) -> ProjectFile:
    found = path.stat()
    return _read(path.resolve(), found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=16)
def _read(path: Path, _modified: int, _size: int) -> ProjectFile:
    return ProjectFile(path)
