"""Digests of what answers rest on: the program, the specs, the recordings."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.manifest import find_specs
from krafla.tlc.inputs import digest_of
from krafla.tlc.jar import find_jar

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["foundation", "program"]

# What decides an answer together with the program.
_LIBRARIES: Final = ("JPype1", "z3-solver", "msgspec", "immutables")


@cache
def program() -> bytes:
    """Return a digest of krafla, the implementation, and the libraries that decide answers."""
    packages = [find_spec(name) for name in ("krafla", "kraft")]
    folders = [Path(str(one.origin)).parent for one in packages if one is not None]
    versions = [sys.version, *(metadata.version(name) for name in _LIBRARIES)]
    return digest_of(repr(versions).encode(), *_contents(folders, ".py")).encode()


@cache
def foundation(*folders: Path) -> str:
    """Return a digest of the program, TLC, the specs, and all files in these folders."""
    specs = _contents([find_specs()], "")
    return digest_of(program(), find_jar().sha256.encode(), *specs, *_contents(folders, ""))


def _contents(folders: Iterable[Path], suffix: str) -> Iterable[bytes]:
    """Yield name and content of each file with this suffix, in the same order everywhere."""
    for folder in folders:
        names = [
            os.path.join(where, name)  # noqa: PTH118 - a thousand paths as text are ten times faster
            for where, _, found in os.walk(folder)
            for name in found
            if name.endswith(suffix) and "__pycache__" not in where
        ]
        for name in sorted(names):
            yield os.path.relpath(name, folder).encode()
            yield Path(name).read_bytes()
