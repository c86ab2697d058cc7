"""The class of a machine, from the words that name it on a command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krafla.project.at_hand import at_hand
from krafla.project.models import meant
from krafla.testing.machine import SpecMachine
from krafla.testing.project_lookup import import_module_of, imported
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

__all__ = ["find_machine"]


def find_machine(word: str) -> type[SpecMachine]:
    """Return the machine that a word names.

    It is the name of a ``[[machine]]`` in ``krafla.toml``, ``package.module:Class``, or
    ``path/test_file.py::Class``; the class of its tests (``LockMachine.TestCase``) will do, and
    none if the file has one machine. ``KraflaError`` if it cannot be imported or is no machine.
    """
    project = at_hand()
    for one in project.machines():
        if one.name == word:
            module = import_module_of(one, project.folder)
            return _machine_in(module, one.target.partition(":")[2], one.place)
    file, _, name = word.partition("::")
    if file.endswith(".py"):
        return _of_file(Path(file), name)
    module_name, _, name = word.partition(":")
    _make_importable(project.folder, Path.cwd())
    return _machine_in(imported(module_name, word), name, word)


def _of_file(path: Path, name: str) -> type[SpecMachine]:
    if not path.is_file():
        raise KraflaError("there is no such file", str(path))
    root, parts = path.resolve().parent, [path.stem]
    while (root / "__init__.py").is_file():
        parts.insert(0, root.name)
        root = root.parent
    _make_importable(at_hand().folder, Path.cwd(), root)
    return _machine_in(imported(".".join(parts), str(path)), name, str(path))


def _make_importable(*folders: Path) -> None:
    """Let modules of these folders be imported, the last folder first."""
    for folder in folders:
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))


def _machine_in(module: ModuleType, name: str, place: str) -> type[SpecMachine]:
    known = {one.__name__: one for one in _machines_of(module)}
    if not name and len(known) == 1:
        return next(iter(known.values()))
    found: Any = getattr(module, name, None) if name else None
    of_tests = next((one for one in known.values() if one.TestCase is found), None)
    if of_tests is not None and found is not None:
        return of_tests
    if isinstance(found, type) and issubclass(found, SpecMachine):
        return found
    what = f"{name or module.__name__} is no SpecMachine"
    raise KraflaError(f"{what}{meant(name, known)}", place)


def _machines_of(module: ModuleType) -> Iterable[type[SpecMachine]]:
    return (
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, SpecMachine) and one is not SpecMachine
    )
