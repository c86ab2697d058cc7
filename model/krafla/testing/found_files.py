"""The names of the files in which failures are saved, so that none takes the place of another."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Final

from krafla.testing.current_test import name_of_failure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from krafla.traces import PartialTrace, Trace

__all__ = ["LIST_NAME", "file_for", "list_file"]

LIST_NAME: Final = ".krafla-found"
"""The file in the folder of saved traces which names them, each with the class that failed."""

_ENDING: Final = ".trace.ndjson"
_HEAD: Final = (
    "# Traces that krafla saved here, and the classes that failed. pytest leaves the traces\n"
    "# out of a whole run: copy the trace that is to be a test to the tests.\n"
)

# What this process has saved.
_saved: dict[Path, Trace | PartialTrace] = {}


def file_for(folder: Path, machine: type, trace: Trace | PartialTrace, more: str = "") -> Path:
    """Return the file for a failure of a class: named after it, the test, and ``more``.

    The module's name is added if a class of another file has that name, and a number if another
    failure of this run has. A failure of an earlier run gives way.
    """
    name, own = name_of_failure(machine) + more, _owner(machine, folder)
    owners: dict[str, str] = {}
    # A folder that cannot be read cannot be written to either, and the caller tells that.
    with suppress(OSError, UnicodeDecodeError):
        owners = _owners(folder)

    def is_ours(path: Path) -> bool:
        return owners.get(path.name, own) == own or not path.is_file()

    if not is_ours(folder / f"{name}{_ENDING}"):
        name = f"{name}-{machine.__module__.rpartition('.')[2]}"
    for one in _numbered(name):
        path = folder / f"{one}{_ENDING}"
        if is_ours(path) and _saved.get(path.absolute(), trace) == trace:
            _saved[path.absolute()] = trace
            return path
    raise AssertionError("numbers have no end")


def list_file(path: Path, machine: type) -> None:
    """Name a saved trace, and the class that failed, in the list of its folder."""
    owner = _owner(machine, path.parent)
    if _owners(path.parent).get(path.name) == owner:
        return
    file = path.with_name(LIST_NAME)
    head = "" if file.is_file() else _HEAD
    with file.open("a", encoding="utf-8") as lines:
        lines.write(f"{head}{path.name} {owner}\n")


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}-{number}" for number in count(2))


def _owner(machine: type, folder: Path) -> str:
    """Return what tells a class from others of its name: its file, from the folder, and name."""
    file = getattr(sys.modules.get(machine.__module__), "__file__", None)
    place = machine.__module__ if file is None else file
    # On Windows there is no way from one drive to another.
    with suppress(ValueError):
        place = place if file is None else os.path.relpath(file, folder)
    return f"{place}::{machine.__qualname__}"


def _owners(folder: Path) -> dict[str, str]:
    """Return the class that each saved trace of a folder is of; the last line of a name counts."""
    file = folder / LIST_NAME
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else ()
    pairs = (line.partition(" ") for line in lines)
    return {name: owner for name, _, owner in pairs if owner}
