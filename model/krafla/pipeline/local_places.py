"""What can be said of places on this machine before Spark has started, which takes a while.

On other machines, and in storages, only Spark can say it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.pipeline.listing import absolute, is_local
from krafla.verdict import KraflaError
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["check_makeable", "check_sources", "check_store"]


def check_sources(sources: Sequence[str]) -> None:
    """Raise ``KraflaError`` if a source here does not exist."""
    for source in filter(is_local, sources):
        if not os.path.lexists(absolute(source)):
            raise KraflaError("there is no such file or folder", printable(source))


def check_store(out: str) -> None:
    """Raise ``KraflaError`` if there are no tables here to be read."""
    if not is_local(out):
        return
    place = Path(absolute(out))
    if not place.exists():
        raise KraflaError("there is no such directory", printable(out))
    if not place.is_dir():
        raise KraflaError("this is a file, and no directory with tables", printable(out))


def check_makeable(out: str) -> None:
    """Raise ``KraflaError`` unless tables can be written here. Nothing is left behind."""
    if not is_local(out):
        return
    place = Path(absolute(out))
    made: list[Path] = []
    try:
        for folder in (*reversed(place.parents), place):
            if not folder.exists():
                folder.mkdir()
                made.append(folder)
        probe = place / f".krafla-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        reason = str(error.strerror or error).lower()
        raise KraflaError(
            f"this cannot be written, name another place: {reason}", printable(out)
        ) from None
    finally:
        for folder in reversed(made):
            folder.rmdir()
