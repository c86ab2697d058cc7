"""The files of a store, laid out again in a task, so that the audit's own code reads them.

The tables are data like any other: a path in them is a name below the task's scratch folder, never
a place outside it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from krafla.pipeline.carry import place_below
from krafla.pipeline.sources import FileKind
from krafla.scratch import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

__all__ = ["LAID", "Bench", "bench", "grouped"]

LAID: Final = "slot int, kind string, path string, position long, content binary"
"""What a task lays out: its rows have one ``slot``. ``position`` is a byte in the file of
``path``. Without ``content`` it is a folder, or a file that could not be opened."""


class Bench:
    """A folder of one task, on which files lie as they lay in their storage."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def lay(self, row: dict[str, Any]) -> None:
        """Lay out what one row of ``LAID`` has."""
        place = place_below(self.root, row["path"])
        if row["content"] is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("r+b" if place.exists() else "wb") as file:
                file.seek(row["position"])
                if not file.write(row["content"]):
                    # Of some files only the size is of interest.
                    file.truncate()
        elif row["kind"] == FileKind.UNFINISHED.value:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        else:
            # What could not be opened is a folder here, which no reader takes for a file.
            place.mkdir(parents=True, exist_ok=True)


@contextmanager
def bench() -> Iterator[Bench]:
    """Yield an empty bench, which is cleared afterwards."""
    with scratch_folder("bench") as folder:
        # Some of the audit's code resolves the paths it is given.
        yield Bench(folder.resolve())


def grouped(
    batches: Iterable[pa.RecordBatch], key: str
) -> Iterator[tuple[Any, Iterator[dict[str, Any]]]]:
    """Yield each value of a column, by which the rows are sorted, with its rows one by one."""
    from itertools import groupby

    rows = (
        batch.slice(index, 1).to_pylist()[0] for batch in batches for index in range(batch.num_rows)
    )
    yield from groupby(rows, lambda row: row[key])
