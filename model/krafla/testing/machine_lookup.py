"""The class of a machine, from the words that name it on a command line."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krafla.project.at_hand import at_hand
from krafla.project.models import meant
from krafla.testing.machine import SpecMachine
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
    machines = _named()
    if word in machines:
        target, place = machines[word]
        return _of_module(target, place)
    file, _, name = word.partition("::")
    if file.endswith(".py"):
        return _of_file(Path(file), name)
    return _of_module(word, word)


def _named() -> dict[str, tuple[str, str]]:
    """Return the class and the place of each machine that the project at hand names."""
    return {one.name: (one.target, one.place) for one in at_hand().machines()}


def _of_module(target: str, place: str) -> type[SpecMachine]:
    module, _, name = target.partition(":")
    _make_importable(at_hand().folder, Path.cwd())
    return _machine_in(_imported(module, place), name, place)


def _of_file(path: Path, name: str) -> type[SpecMachine]:
    if not path.is_file():
        raise KraflaError("there is no such file", str(path))
    root, parts = path.resolve().parent, [path.stem]
    while (root / "__init__.py").is_file():
        parts.insert(0, root.name)
        root = root.parent
    _make_importable(at_hand().folder, Path.cwd(), root)
    return _machine_in(_imported(".".join(parts), str(path)), name, str(path))


def _make_importable(*folders: Path) -> None:
    """Let modules of these folders be imported, the last folder first."""
    for folder in folders:
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))


def _imported(module: str, place: str) -> ModuleType:
    try:
        return import_module(module)
    except KraflaError:
        raise
    except Exception as error:  # whatever a stranger's module does when it is imported
        what = f"{type(error).__name__}: {error}"
        raise KraflaError(f"{module} cannot be imported: {what}", place) from error


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
