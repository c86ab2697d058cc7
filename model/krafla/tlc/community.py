"""The CommunityModules: modules that many specs use and no registry of packages has.

The user names them by ``KRAFLA_COMMUNITY_MODULES``: a jar, or a folder of modules, such as a
checkout's. Else they are found beside the jar of ``KRAFLA_TLA2TOOLS``, or in TLA+'s extension of an
editor. Only the modules are read. Java that is beside them in the jar overrides operators
faster, and some that TLA+ cannot define (read a file, run a program): it counts only where the user
trusts it (`krafla.tlc.trust`).
"""

from __future__ import annotations

import os
import re
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from krafla.files import is_there
from krafla.scratch import scratch_folder
from krafla.tlc.jar import ENVIRONMENT_VARIABLE as TLA2TOOLS
from krafla.tlc.jar import cache_directory, sha256_of
from krafla.verdict import KraflaError

__all__ = ["COMMUNITY_NAMES", "ENVIRONMENT_VARIABLE", "Community", "find_community"]

ENVIRONMENT_VARIABLE = "KRAFLA_COMMUNITY_MODULES"
# The first has the libraries that its Java needs.
_JARS: Final = ("CommunityModules-deps.jar", "CommunityModules.jar")
_EDITORS: Final = (".vscode", ".vscode-server", ".vscode-oss", ".cursor", ".windsurf")
_MODULE: Final = re.compile(r"(?:modules/)?(\w+\.tla)")
# A module has some kilobytes; what claims to be larger is none.
_MODULE_BYTES: Final = 4_000_000
# Of the error about a module that is not there.
COMMUNITY_NAMES: Final = frozenset(
    {
        "BagsExt", "Bitwise", "CSV", "Combinatorics", "DifferentialEquations", "DyadicRationals",
        "FiniteSetsExt", "FiniteSetsExtTheorems", "Folds", "FoldsTheorems", "FunctionTheorems",
        "Functions", "GraphTheorems", "GraphViz", "Graphs", "HTML", "IOUtils", "Json", "Relation",
        "SVG", "SequencesExt", "SequencesExtTheorems", "ShiViz", "Statistics", "UndirectedGraphs",
        "VectorClocks",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Community:
    """A folder with the modules; their jar, unless the user has the modules as a folder."""

    folder: Path
    jar: Path | None
    source: str


def find_community() -> Community | None:
    """Return the CommunityModules of this machine, None if it has none.

    ``KraflaError`` if the user names something else.
    """
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    if chosen:
        return _named(Path(chosen))
    tools = os.environ.get(TLA2TOOLS)
    for path in _usual_places(Path(tools).parent if tools else None, Path.home()):
        return _of_jar(path, str(path))
    return None


def _named(path: Path) -> Community:
    if path.is_file():
        return _of_jar(path, ENVIRONMENT_VARIABLE)
    for folder in (path / "modules", path):
        if (folder / "SequencesExt.tla").is_file():
            return Community(folder.resolve(), None, ENVIRONMENT_VARIABLE)
    for name in _JARS:
        if (path / name).is_file():
            return _of_jar(path / name, ENVIRONMENT_VARIABLE)
    raise KraflaError(
        f"{ENVIRONMENT_VARIABLE} names neither {_JARS[0]} nor a folder with SequencesExt.tla",
        str(path),
    )


@cache
def _usual_places(beside: Path | None, home: Path) -> tuple[Path, ...]:
    """Return the first jar that lies where tools of TLA+ have it, if there is one."""
    folders = [] if beside is None else [beside]
    for editor in _EDITORS:
        try:
            # The newest version last.
            found = sorted((home / editor / "extensions").glob("*.vscode-*tla*/tools"))
        except OSError:
            # The home of another user.
            continue
        folders += reversed(found)
    folders.append(cache_directory())
    jars = (folder / name for folder in folders for name in _JARS)
    return tuple(jar for jar in jars if is_there(jar))[:1]


def _of_jar(jar: Path, source: str) -> Community:
    jar = jar.resolve()
    stat = jar.stat()
    return Community(_unpacked(jar, stat.st_mtime_ns, stat.st_size), jar, source)


@cache
def _unpacked(jar: Path, _modified: int, _size: int) -> Path:
    """Return a folder with the modules of a jar, made once for each jar."""
    folder = cache_directory() / f"community-{sha256_of(jar)[:12]}"
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder("community", folder.parent) as scratch:
            draft = scratch / "modules"
            draft.mkdir()
            _unpack(jar, draft)
            try:
                draft.rename(folder)
            except OSError:
                # Another process was faster.
                if not folder.is_dir():
                    raise
    except OSError as error:
        raise KraflaError(
            f"the modules of a jar cannot be stored: {error.strerror or error}", str(folder.parent)
        ) from error
    return folder


def _unpack(jar: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(jar) as archive:
            for entry in archive.infolist():
                name = _MODULE.fullmatch(entry.filename)
                if name and entry.file_size <= _MODULE_BYTES:
                    (folder / name[1]).write_bytes(archive.read(entry))
    except (zipfile.BadZipFile, RuntimeError) as error:
        raise KraflaError("not a readable jar", str(jar)) from error
    if not any(folder.iterdir()):
        raise KraflaError("no module of TLA+ is in this jar", str(jar))
