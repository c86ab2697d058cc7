"""Digests of what answers rest on: the program, the specs, the recordings.

Each call looks at the files again, so that an edit while questions are asked is seen. A file whose
size and time have not changed is not read again.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from functools import cache, lru_cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.manifest import find_specs
from krafla.tlc.inputs import digest_of
from krafla.tlc.jar import find_jar
from krafla.tlc.jre import find_jre

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["foundation", "program"]

# The beginning of a requirement, such as "msgspec>=0.20", and what marks one of an extra.
_NAME: Final = re.compile(r"[\w.-]+")
_EXTRA: Final = re.compile(r"\bextra\s*==")

# The path of a file, its name in its folder, its time and its size.
_File = tuple[str, str, int, int]


def program() -> bytes:
    """Return a digest of krafla, the implementation, and the libraries and Java that they use."""
    return digest_of(_versions(), *(_contents(one, ".py") for one in _packages())).encode()


def foundation(*folders: Path) -> str:
    """Return a digest of the program, TLC, the specs, and all files in these folders."""
    contents = (_contents(str(one), "") for one in (find_specs(), *folders))
    return digest_of(program(), find_jar().sha256.encode(), *contents)


@cache
def _packages() -> tuple[str, ...]:
    found = [find_spec(name) for name in ("krafla", "kraft")]
    return tuple(str(Path(str(one.origin)).parent) for one in found if one is not None)


@cache
def _versions() -> bytes:
    needed = metadata.requires("krafla") or ()
    # No answer of `krafla verify` rests on an extra: one that is installed later changes none.
    always = (one for one in needed if not _EXTRA.search(one))
    names = sorted({match[0] for one in always if (match := _NAME.match(one))})
    return repr([sys.version, find_jre(), *map(_version, names)]).encode()


def _version(name: str) -> tuple[str, str | None]:
    try:
        return name, metadata.version(name)
    except metadata.PackageNotFoundError:
        # Not for this platform or version of Python.
        return name, None


def _contents(folder: str, suffix: str) -> bytes:
    """Return a digest of the names and contents of all files with this suffix."""
    return _digest(tuple(sorted(_files(folder, suffix))))


def _files(folder: str, suffix: str) -> Iterator[_File]:
    for where, _, names in os.walk(folder):
        if where.endswith("__pycache__"):
            continue
        for name in names:
            path = os.path.join(where, name)  # noqa: PTH118 - a path object is ten times slower
            if name.endswith(suffix) and (found := _regular(path)) is not None:
                yield path, os.path.relpath(path, folder), found.st_mtime_ns, found.st_size


def _regular(path: str) -> os.stat_result | None:
    """Return the facts of a file; None if it is none, such as the lock of an editor."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a path object is ten times slower
    except OSError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None


@lru_cache(maxsize=64)
def _digest(files: tuple[_File, ...]) -> bytes:
    parts = (part for path, name, *_ in files for part in (name.encode(), Path(path).read_bytes()))
    return digest_of(*parts).encode()
