"""A folder for one run of TLC, which is removed however the run ends."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING

from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["scratch"]

# The errors of a full disk, which often name no file.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a new folder; ``KraflaError`` if it cannot be made or filled."""
    with scratch_folder("tlc") as folder:
        try:
            yield folder
        except OSError as error:
            is_ours = error.filename is not None and str(error.filename).startswith(str(folder))
            if not is_ours and error.errno not in _FULL:
                raise
            raise KraflaError(
                f"TLC's files cannot be written: {error.strerror or error}", str(folder)
            ) from error
