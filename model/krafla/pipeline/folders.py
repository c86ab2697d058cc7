"""Folders of results: complete and unchanged, or not read at all.

A manifest is written last and names every file with its size and SHA-256. So a folder that is still
being written has none, and one that lost, gained or changed a file contradicts its manifest.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from krafla.verdict import KraflaError
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["MANIFEST", "Manifest", "exclusive", "kind_of", "opened", "seal", "write_whole"]

MANIFEST: Final = "_manifest.json"
_FORMAT: Final = 1
_LARGEST_MANIFEST: Final = 256 * 1024 * 1024
_BLOCK: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of a folder: its kind, facts about it, and its files with size and SHA-256."""

    kind: str
    facts: dict[str, Any]
    files: dict[str, tuple[int, str]]


class _Stored(msgspec.Struct, forbid_unknown_fields=True):
    krafla_output: int
    kind: str
    facts: dict[str, Any]
    folders: list[str]
    files: dict[str, tuple[int, str]]


def seal(folder: Path, kind: str, facts: dict[str, Any], folders: Iterable[str]) -> Manifest:
    """Write the manifest of a folder over all files in these subfolders; return it."""
    names = sorted(folders)
    files = {
        name: ((folder / name).stat().st_size, _digest(folder / name))
        for name in _listed(folder, names)
    }
    stored = _Stored(_FORMAT, kind, facts, names, files)
    write_whole(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(stored)) + b"\n")
    return Manifest(kind, facts, files)


def opened(folder: Path, *kinds: str) -> Manifest:
    """Return the manifest of a finished folder of one of these kinds, after checking its files.

    ``KraflaError`` if it is not there, not finished, of another kind, or not as it was written.
    """
    stored = _stored(folder)
    if stored.kind not in kinds:
        raise KraflaError(f"this is the output of {stored.kind}, not of {' or '.join(kinds)}",
                          _shown(folder))  # fmt: skip
    found = list(_listed(folder, stored.folders))
    missing, strange = set(stored.files) - set(found), set(found) - set(stored.files)
    for problem, names in (("is missing", missing), ("is not of this output", strange)):
        if names:
            raise _damaged(folder, f"{min(names)} {problem}")
    for name in found:
        size, digest = stored.files[name]
        if (folder / name).stat().st_size != size or _digest(folder / name) != digest:
            raise _damaged(folder, f"{name} is not what was written")
    return Manifest(stored.kind, stored.facts, stored.files)


def kind_of(folder: Path) -> str:
    """Return the kind of output in a finished folder; ``KraflaError`` if it is not one."""
    return _stored(folder).kind


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all, also after a loss of power."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold a folder for this process alone; ``KraflaError`` if another one holds it."""
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise KraflaError(
                "another krafla is writing here; wait for it", _shown(folder)
            ) from None
        yield


def _stored(folder: Path) -> _Stored:
    path = folder / MANIFEST
    if not folder.is_dir():
        raise KraflaError("there is no such directory", _shown(folder))
    try:
        if path.stat().st_size > _LARGEST_MANIFEST:
            raise _damaged(folder, f"{MANIFEST} is too large to be one")
        stored = msgspec.json.decode(path.read_bytes(), type=_Stored)
    except FileNotFoundError:
        raise KraflaError(
            f"not a finished output: it has no {MANIFEST}, which is written last;"
            " run the command that writes it again",
            _shown(folder),
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OSError) as error:
        raise _damaged(folder, f"{MANIFEST} cannot be read ({error})") from None
    if stored.krafla_output != _FORMAT:
        raise KraflaError(
            f"output format {stored.krafla_output}, this krafla reads {_FORMAT}", _shown(folder)
        )
    if any(name in ("", ".", "..") or "/" in name for name in stored.folders):
        raise _damaged(folder, f"{MANIFEST} names a folder outside")
    return stored


def _listed(folder: Path, names: Iterable[str]) -> Iterator[str]:
    """Yield the files below these folders, in order, except those whose name starts with a dot."""
    for name in names:
        for path in sorted((folder / name).rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                yield str(path.relative_to(folder))


def _digest(path: Path) -> str:
    content = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            content.update(block)
    return content.hexdigest()


def _damaged(folder: Path, what: str) -> KraflaError:
    return KraflaError(f"{what}: this output is damaged, make it again", _shown(folder))


def _shown(folder: Path) -> str:
    return printable(str(folder))
