"""Digests of everything that a search of a model rests on."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from krafla.files import why_unread
from krafla.tlc.comments import without_comments
from krafla.tlc.jar import find_jar
from krafla.tlc.library import searched
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.manifest import Model

__all__ = ["digest_of", "inputs_of", "modules_of", "statements_of"]

_WORD = re.compile(r"\w+")
_TRAILING: Final = re.compile(r"[ \t]+$|^\s*\n", re.MULTILINE)


def inputs_of(model: Model) -> str:
    """Return a digest of the files that a search reads, of its witnesses, and of TLC.

    It covers every module on the search path that another covered module names: perhaps more than
    TLC reads, and never less. ``KraflaError`` if one cannot be read.
    """
    return digest_of(_head(model), *(_read(path) for path in (model.config, *modules_of(model))))


def statements_of(model: Model) -> str:
    """Return a digest like that of `inputs_of`, which comments and empty lines do not change.

    A search finds the same with an equal digest, but it may find it on other lines.
    """
    paths = (model.config, *modules_of(model))
    texts = (_TRAILING.sub("", _plain(path)) for path in paths)
    return digest_of(_head(model), *(text.encode() for text in texts))


def modules_of(model: Model) -> list[Path]:
    """Return the module of a model and those of its search path that it may use, in order."""
    there: dict[str, Path] = {}
    for folder in searched(model.search_path, find_jar().capabilities):
        for path in sorted(folder.glob("*.tla")):
            there.setdefault(path.stem, path)
    there[model.module.stem] = model.module
    known, waiting = {model.module.stem}, [model.module.stem]
    while waiting:
        new = (_words(there[waiting.pop()]) & there.keys()) - known
        known |= new
        waiting += sorted(new)
    return [there[name] for name in sorted(known)]


def digest_of(*parts: bytes) -> str:
    """Return a digest of some parts, in which it counts where each ends."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:32]


def _head(model: Model) -> bytes:
    return repr((model.name, sorted(model.witnesses), model.kind, find_jar().sha256)).encode()


def _words(path: Path) -> frozenset[str]:
    return _words_at(path, _version(path))


def _plain(path: Path) -> str:
    return _plain_at(path, _version(path))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise KraflaError(why_unread(error), str(error.filename)) from error


def _version(path: Path) -> tuple[int, int, int]:
    """Return what changes with a file, so that what was read of it can be kept until then."""
    try:
        stat = path.stat()
    except OSError as error:
        raise KraflaError(why_unread(error), str(error.filename)) from error
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


@lru_cache(maxsize=1024)
def _plain_at(path: Path, _version: tuple[int, int, int]) -> str:
    return without_comments(_read(path).decode("utf-8", errors="replace"))


@lru_cache(maxsize=1024)
def _words_at(path: Path, version: tuple[int, int, int]) -> frozenset[str]:
    return frozenset(_WORD.findall(_plain_at(path, version)))
