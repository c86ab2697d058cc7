"""A campaign in chunks of seeds: each is played by one task and committed as one file.

The name of the file has the seeds and a digest of their results. So a chunk that was played twice,
because a process died or a driver was killed, gives the same file; if it ever gave another one, the
runs are not reproducible, and that is seen.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.fuzz.engine.seen import TALLIES
from krafla.pipeline import sketch
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from krafla.fuzz.engine.runs import Run

__all__ = [
    "DIED",
    "Chunk",
    "ChunkResults",
    "Journal",
    "SeedRow",
    "chunks_of",
    "committed",
    "read_chunk",
    "rows_digest",
    "write_chunk",
]

DIED: Final = "process died"
"""The finding of a seed whose process died several times."""
_DEATHS_MAX: Final = 3
_NAME: Final = re.compile(r"chunk-(\d{12})-(\d{12})-([0-9a-f]{16})\.parquet")
_SKETCH: Final = b"krafla.states"
_COUNTS: Final = pa.map_(pa.string(), pa.int64())
SCHEMA: Final = pa.schema(
    [
        pa.field("seed", pa.int64()),
        pa.field("profile", pa.string()),
        pa.field("steps", pa.int64()),
        pa.field("verdict", pa.string()),
        pa.field("finding", pa.list_(pa.string())),
        pa.field("detail", pa.string()),
        pa.field("run", pa.string()),
        pa.field("digest", pa.string()),
        *(pa.field(name, _COUNTS) for name in TALLIES),
        pa.field("milliseconds", pa.int32()),
        pa.field("worker", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True, order=True)
class Chunk:
    """Seeds from ``first`` to ``last``, both included."""

    first: int
    last: int

    @property
    def seeds(self) -> range:
        """Return the seeds."""
        return range(self.first, self.last + 1)

    def __str__(self) -> str:
        return f"{self.first:012}-{self.last:012}"


@dataclass(frozen=True, slots=True)
class SeedRow:
    """One seed as it is stored: see ``docs/internals/pipeline.md``.

    What took ``milliseconds``, and in which ``worker``, is no part of the digest.
    """

    seed: int
    profile: str
    steps: int
    verdict: str
    finding: list[str]
    detail: str
    run: str
    digest: str
    milliseconds: int
    worker: str
    tallies: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class ChunkResults:
    """A committed chunk: its rows in the order of their seeds, and the sketch of their states."""

    chunk: Chunk
    rows: list[SeedRow]
    states: bytes


def chunks_of(first: int, last: int, size: int) -> list[Chunk]:
    """Return the chunks of the seeds from ``first`` to ``last``, none with more than ``size``."""
    return [Chunk(start, min(start + size - 1, last)) for start in range(first, last + 1, size)]


def row_of(seed: int, run: Run, milliseconds: int, worker: str) -> SeedRow:
    """Return the stored row of a run."""
    return SeedRow(
        seed,
        run.profile,
        run.steps,
        (Verdict.HELD if run.finding is None else Verdict.VIOLATED).value,
        list(run.kind),
        run.detail,
        run.digest,
        run.result_digest(seed),
        milliseconds,
        worker,
        {name: dict(run.tallies.get(name, {})) for name in TALLIES},
    )


def lost_row(seed: int, profile: str, finding: str, detail: str, worker: str) -> SeedRow:
    """Return the stored row of a run without a result, which proves nothing."""
    digest = hashlib.sha256(f"{seed} {finding} {detail}".encode()).hexdigest()
    return SeedRow(seed, profile, 0, Verdict.INCONCLUSIVE.value, [finding], detail, "", digest,
                   0, worker, {name: {} for name in TALLIES})  # fmt: skip


def rows_digest(rows: Iterable[SeedRow]) -> str:
    """Return the SHA-256 of the results of runs, in any order."""
    lines = sorted((row.seed, row.digest) for row in rows)
    return hashlib.sha256("".join(f"{s} {d}\n" for s, d in lines).encode()).hexdigest()


def write_chunk(folder: Path, chunk: Chunk, rows: list[SeedRow], states: bytes) -> Path:
    """Commit a chunk: its file is there whole or not at all."""
    path = folder / f"chunk-{chunk}-{rows_digest(rows)[:16]}.parquet"
    columns = [[_stored(row, name) for row in rows] for name in SCHEMA.names]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    table = pa.Table.from_arrays(arrays, schema=SCHEMA.with_metadata({_SKETCH: states.hex()}))
    draft = folder / f".{path.name}.{os.getpid()}.draft"
    with draft.open("wb") as file:
        pq.write_table(table, file, compression="zstd")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    return path


def committed(folder: Path) -> dict[Chunk, list[Path]]:
    """Return the files of each committed chunk by their names; more than one is one too many."""
    found: dict[Chunk, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        match = _NAME.fullmatch(path.name)
        if match:
            found.setdefault(Chunk(int(match[1]), int(match[2])), []).append(path)
    return found


def read_chunk(path: Path) -> ChunkResults | None:
    """Return a committed chunk, ``None`` if the file is not what its name says."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        return None
    chunk = Chunk(int(match[1]), int(match[2]))
    try:
        table = pq.read_table(path, partitioning=None)
        rows = [_row(stored) for stored in table.to_pylist()]
        states = bytes.fromhex((table.schema.metadata or {})[_SKETCH].decode())
    except (pa.ArrowException, OSError, TypeError, KeyError, ValueError):
        return None
    sound = rows_digest(rows)[:16] == match[3] and len(states) == sketch.REGISTERS
    return ChunkResults(chunk, rows, states) if sound and _has_all(rows, chunk) else None


def _stored(row: SeedRow, column: str) -> Any:
    if column in TALLIES:
        return list(row.tallies[column].items())
    return getattr(row, column)


def _row(stored: dict[str, Any]) -> SeedRow:
    tallies = {name: dict(stored.pop(name)) for name in TALLIES}
    return SeedRow(**stored, tallies=tallies)


def _has_all(rows: list[SeedRow], chunk: Chunk) -> bool:
    return [row.seed for row in rows] == list(chunk.seeds)


class Journal:
    """The current seed of an attempt at a chunk, on disk, so that a death shows its seed.

    A killed process leaves its file, which names the seed. A seed at which several attempts died is
    not tried again.
    """

    def __init__(self, folder: Path, chunk: Chunk) -> None:
        self._folder = folder / str(chunk)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._deaths = Counter(self._seeds())
        # A process id may come again on another machine, or later.
        self._own = self._folder / f"{os.getpid()}-{os.urandom(8).hex()}"

    def is_deadly(self, seed: int) -> bool:
        """Return whether so many attempts died at a seed that it is skipped."""
        return self._deaths[seed] >= _DEATHS_MAX

    def begin(self, seed: int) -> None:
        """Note which seed is played next."""
        self._own.write_text(str(seed), encoding="ascii")

    def end(self) -> None:
        """Take the note back: this attempt did not die."""
        self._own.unlink(missing_ok=True)

    def _seeds(self) -> Iterator[int]:
        for note in sorted(self._folder.iterdir()):
            text = note.read_text(encoding="ascii", errors="replace")
            if text.isdecimal():
                yield int(text)
