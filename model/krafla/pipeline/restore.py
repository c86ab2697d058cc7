"""The files of an ingest, laid out again as they lay, under a folder of their own.

The tables are data like any other: a path in them is a name below that folder, never a place
outside it.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

import pyarrow.dataset as ds  # type: ignore[import-untyped]  # pyarrow ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.pipeline.sources import AUDITED, FileKind
from krafla.pipeline.tables import CONTENT, FILES
from krafla.verdict import KraflaError
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["place_below", "restore"]

_AUDITED: Final = frozenset(kind.value for kind in AUDITED)
_ROWS: Final = 8


def place_below(folder: Path, path: str) -> Path:
    """Return where an absolute path lies when the root is a folder.

    ``KraflaError`` if it is not an absolute path without ``..``.
    """
    parts = PurePosixPath(path).parts
    if not parts or parts[0] != "/" or ".." in parts or "\0" in path:
        raise KraflaError(f"the tables name a file by no absolute path: {printable(path)[:200]}")
    return folder.joinpath(*parts[1:])


def restore(out: Path, folder: Path, logs: Sequence[str]) -> None:
    """Write below ``folder`` every file of the tables that an audit looks at.

    What could not be opened is a directory there, which no reader takes for a file.
    """
    for log in logs:
        place_below(folder, log).mkdir(parents=True, exist_ok=True)
    files = pq.read_table(out / FILES, partitioning=None).to_pylist()
    places: dict[str, Path] = {}
    for file in files:
        if file["kind"] not in _AUDITED:
            continue
        place = place_below(folder, file["path"])
        place.parent.mkdir(parents=True, exist_ok=True)
        if file["kind"] == FileKind.UNFINISHED.value:
            place.touch()
        elif file["sha256"] is None:
            place.mkdir(exist_ok=True)
        else:
            place.touch()
            places[file["file_id"]] = place
    _fill(out, places)


def _fill(out: Path, places: dict[str, Path]) -> None:
    """Append each piece of content to its file; the pieces of one file lie in order in one part."""
    for part in sorted((out / CONTENT).glob("part-*.parquet")):
        for rows in ds.dataset(part).to_batches(batch_size=_ROWS):
            for row in rows.to_pylist():
                place = places.get(row["file_id"])
                if place is not None:
                    with place.open("ab") as file:
                        file.write(row["bytes"])
