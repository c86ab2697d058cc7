"""A folder for one run of TLC, which is removed however the run ends."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # pragma: no cover  # a system without locks keeps what is left behind
    fcntl = None  # type: ignore[assignment]  # asked for before each use

__all__ = ["scratch"]

_PREFIX = "krafla-tlc-"
_NEW_PREFIX = "krafla-new-"
_LOCK = "lock"
# The errors of a full disk, which often name no file.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a new folder; remove it afterwards, and with it the folders of killed runs beside it.

    The owner holds a lock in its folder, which ends with the process: a folder without a lock has
    no owner. ``KraflaError`` if no folder can be made or filled.
    """
    try:
        _sweep(Path(tempfile.gettempdir()))
        folder = Path(tempfile.mkdtemp(prefix=_NEW_PREFIX))
    except OSError as error:
        raise KraflaError(
            f"no folder for TLC's files can be made: {error.strerror or error} (TMPDIR is where)"
        ) from error
    descriptor = -1
    try:
        descriptor = _locked(folder / _LOCK, create=True)
        # From here on it has the name that is swept, and is locked.
        folder = folder.rename(folder.with_name(folder.name.replace(_NEW_PREFIX, _PREFIX, 1)))
        yield folder
    except OSError as error:
        is_ours = error.filename is not None and str(error.filename).startswith(str(folder))
        if not is_ours and error.errno not in _FULL:
            raise
        raise KraflaError(
            f"TLC's files cannot be written: {error.strerror or error}", str(folder)
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if descriptor >= 0:
            os.close(descriptor)


def _locked(path: Path, *, create: bool) -> int:
    """Return a descriptor of the file, locked; ``OSError`` if another process has the lock."""
    descriptor = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0), 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _sweep(parent: Path) -> None:
    """Remove the folders of runs that ended without removing them."""
    if fcntl is None:
        return
    for folder in parent.glob(f"{_PREFIX}*"):
        # A process that holds the lock still runs; the folders of other users are not ours to open.
        with suppress(OSError):
            descriptor = _locked(folder / _LOCK, create=False)
            shutil.rmtree(folder, ignore_errors=True)
            os.close(descriptor)
