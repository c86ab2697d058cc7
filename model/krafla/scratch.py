"""Temporary folders that are gone once their process is, whatever ended it.

A process locks each of its folders, and the lock ends with the process. So a folder without a lock
has no owner, and a later process of the same user removes it. Whatever such a folder holds goes
with it, the files of Java and of other programs too.
"""

from __future__ import annotations

import atexit
import errno
import os
import re
import shutil
import tempfile
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # pragma: no cover  # a system without locks keeps what is left behind
    fcntl = None  # type: ignore[assignment]  # asked for before each use

__all__ = ["lasting_folder", "scratch_folder", "sweep"]

_PREFIX: Final = "krafla-scratch-"
# A name that no person gives: it ends in eight characters of `mkdtemp`.
_NAME: Final = re.compile(rf"{_PREFIX}[a-z]+-[a-z0-9_]{{8}}")
_UNLOCKED: Final = -1

# The folders of this process, with the descriptors that hold their locks.
_held: dict[Path, int] = {}
_swept: set[Path] = set()


@contextmanager
def scratch_folder(what: str, parent: Path | None = None) -> Iterator[Path]:
    """Yield a new folder and remove it afterwards; ``what`` is a word of its name.

    It lies in the folder for temporary files, or in ``parent``. ``KraflaError`` if it cannot be
    made; with a ``parent`` an ``OSError``.
    """
    folder = _temporary(what) if parent is None else _made(what, parent)
    try:
        yield folder
    finally:
        _remove(folder)


def lasting_folder(what: str) -> Path:
    """Return a new folder that is removed when this process ends; ``KraflaError`` if none can be.

    ``what`` is a word of its name.
    """
    return _temporary(what)


def sweep(parent: Path | None = None) -> None:
    """Remove the folders of ended processes, once for each ``parent`` and process.

    It never raises, and touches no folder of another user or of a process that lives.
    """
    try:
        parent = parent or Path(tempfile.gettempdir())
        if fcntl is None or parent in _swept:
            return
        _swept.add(parent)
        with os.scandir(parent) as entries:
            left = [Path(entry.path) for entry in entries if _NAME.fullmatch(entry.name)]
    except OSError:
        return
    for folder in left:
        # An error means that its process lives (it is locked), or that it is another user's.
        with suppress(OSError):
            descriptor = _locked(folder)
            if os.fstat(descriptor).st_uid == os.geteuid():
                shutil.rmtree(folder, ignore_errors=True)
            os.close(descriptor)


def _temporary(what: str) -> Path:
    try:
        return _made(what, Path(tempfile.gettempdir()))
    except OSError as error:
        raise KraflaError(
            f"cannot make a temporary folder: {error.strerror or error} (TMPDIR says where)"
        ) from error


def _made(what: str, parent: Path) -> Path:
    _remove_at_exit()
    sweep(parent)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{what}-", dir=parent))  # noqa: TID251  # the one place
        try:
            _held[folder] = _UNLOCKED if fcntl is None else _locked(folder)
        except (BlockingIOError, FileNotFoundError):
            # Another process saw it before it was locked, and removes it.
            continue
        except OSError:
            # On a file system without locks no process can lock it to remove it, either.
            _held[folder] = _UNLOCKED
        return folder


def _locked(folder: Path) -> int:
    """Return a descriptor that holds the lock of a folder.

    ``BlockingIOError`` if another process holds it, ``FileNotFoundError`` if the folder is gone.
    """
    # Opening a pipe would wait for its other end.
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # It may have been removed before it was locked, or be a link.
        is_there = os.path.samestat(os.fstat(descriptor), folder.lstat())
    except OSError:
        os.close(descriptor)
        raise
    if not is_there:
        os.close(descriptor)
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
    return descriptor


def _remove(folder: Path) -> None:
    descriptor = _held.pop(folder, None)
    if descriptor is None:
        # A forked process has none of its parent's folders.
        return
    shutil.rmtree(folder, ignore_errors=True)
    if descriptor != _UNLOCKED:
        os.close(descriptor)


def _remove_all() -> None:
    for folder in tuple(_held):
        _remove(folder)


@cache
def _remove_at_exit() -> None:
    atexit.register(_remove_all)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_held.clear)
