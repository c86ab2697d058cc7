"""What a watch keeps between two triggers: bytes by name, in the state store of Spark."""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from krafla.pipeline.carry import place_below
from krafla.verdict import KraflaError
from kraft.log.files import FileBytes
from kraft.log.segment import BatchBefore, batches_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kraft.records.batch import RecordBatch
    from kraft.records.limits import Limits

__all__ = [
    *("JUDGING", "LOST", "ROOT", "STOPPED", "Base", "Cells", "Chunk", "DirectoryState"),
    *("HeldCheckpoint", "begun_by_another", "chunk_batches", "label_of"),
]

JUDGING: Final = "judging"
STOPPED: Final = "stopped"
LOST: Final = "lost"
ROOT: Final = Path("/krafla-watch-5e1d7c")
"""The folder below which all files are told while they are judged: a URI is no path. No folder of
anybody has this name."""


def label_of(path: str) -> Path:
    """Return the name of a file, by its path or URI, for the audit's code. Nothing lies there."""
    return place_below(ROOT, path)


def begun_by_another(why: str) -> KraflaError:
    """Return the error that cells cannot be used, because other code has written them."""
    return KraflaError(
        f"{why}: another krafla has begun this watch; finish it with that one, or give another OUT"
    )


class Cells(Protocol):
    """Bytes by name. A trigger that does not end leaves no trace in them."""

    def get(self, name: str) -> bytes | None:
        """Return the bytes of a name, None if there are none."""

    def put(self, name: str, content: bytes) -> None:
        """Set the bytes of a name."""

    def drop(self, name: str) -> None:
        """Forget a name."""


@dataclass(slots=True)
class Chunk:
    """Batches that follow one another in one file; the cell `name` has their bytes."""

    name: str
    path: str
    position: int
    first: int
    end: int
    bytes: int


@dataclass(slots=True)
class Base:
    """A saved history at an offset, to which judging can return; its cells begin with `name`.

    `last` is the batch before that offset, `batches` counts those before it.
    """

    name: str
    offset: int
    last: list[int] | None
    batches: int


@dataclass(slots=True)
class HeldCheckpoint:
    """A checkpoint whose bytes are in the cell `name`."""

    name: str
    path: str
    end: int
    epoch: int


@dataclass(slots=True)
class DirectoryState:
    """What is known of one directory; all of it is JSON, and names of cells.

    `start` is the offset from which its history is judged, on the checkpoint `judged_on`;
    `reached` is the offset after the last batch that was judged, None before the first.
    `epochs` are the epochs of the judged batches with their first offsets, `last` is the last
    batch. `kept` are the judged batches behind the first of the two `bases`. `waiting` are batches
    that came before their predecessor. `said` are the findings of the audit, `notes` those of the
    watch itself; a `fault` is why judging stopped, if the bytes are no batch.
    `faults` are those of places that the judging has not reached.
    """

    number: int
    phase: str = JUDGING
    start: int | None = None
    judged_on: str | None = None
    reached: int | None = None
    stopped_at: int | None = None
    epochs: list[list[int]] = field(default_factory=list)
    last: list[int] | None = None
    batches: int = 0
    records: int = 0
    repeated: int = 0
    unjudged: int = 0
    uncompared: int = 0
    serial: int = 0
    bases: list[Base] = field(default_factory=list)
    kept: list[Chunk] = field(default_factory=list)
    waiting: list[Chunk] = field(default_factory=list)
    checkpoints: list[HeldCheckpoint] = field(default_factory=list)
    said: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    fault: dict[str, Any] | None = None
    faults: list[dict[str, Any]] = field(default_factory=list)

    def cell(self, what: str) -> str:
        """Return a new name for a cell of this directory."""
        self.serial += 1
        return f"{self.number}/{what}/{self.serial}"

    def epoch_at(self, offset: int) -> int | None:
        """Return the epoch of a judged offset, None before the first."""
        found = [epoch for epoch, first in self.epochs if first <= offset]
        return found[-1] if found else None

    @property
    def before(self) -> BatchBefore | None:
        """The last judged batch."""
        return None if self.last is None else BatchBefore(*self.last)

    def as_json(self) -> dict[str, Any]:
        """Return the state as a value that JSON has."""
        return asdict(self)

    @staticmethod
    def of_json(value: dict[str, Any]) -> DirectoryState:
        """Return what `as_json` has made."""
        made = {
            "bases": [Base(**one) for one in value["bases"]],
            "kept": [Chunk(**one) for one in value["kept"]],
            "waiting": [Chunk(**one) for one in value["waiting"]],
            "checkpoints": [HeldCheckpoint(**one) for one in value["checkpoints"]],
        }
        return DirectoryState(**{**value, **made})


def chunk_batches(chunk: Chunk, cells: Cells, limits: Limits) -> Iterator[RecordBatch]:
    """Yield the batches of a chunk."""
    content = cells.get(chunk.name)
    assert content is not None, "a chunk has its cell"
    file = FileBytes(label_of(chunk.path), io.BytesIO(content), None, limits, chunk.position)
    yield from batches_of(file, limits=limits)
