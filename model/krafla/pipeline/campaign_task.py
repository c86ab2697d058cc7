"""What the tasks of a campaign do: play a chunk of seeds; shrink a run that found something."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.pipeline import sketch
from krafla.pipeline.chunks import DIED, Journal, SeedRow, lost_row, row_of, write_chunk

if TYPE_CHECKING:
    from krafla.fuzz.engine.run_source import Kept, RunSource
    from krafla.pipeline.chunks import Chunk

__all__ = ["ChunkTask", "ShrinkTask", "names_task", "play_chunk", "shrink_seed"]

UNJUDGED: Final = "could not be judged"


@dataclass(frozen=True, slots=True)
class ChunkTask:
    """A chunk to play, and the campaign's folder; a process has about ``count`` runs to play."""

    chunk: Chunk
    runs: RunSource
    folder: str
    count: int


@dataclass(frozen=True, slots=True)
class ShrinkTask:
    """A run with a finding that is to be shrunk and kept in a folder."""

    seed: int
    runs: RunSource
    folder: str


def play_chunk(task: ChunkTask) -> None:
    """Play the seeds of a chunk in this process and commit what they came to."""
    folder = Path(task.folder)
    task.runs.prepare(task.count)
    journal = Journal(folder / "attempts", task.chunk)
    states = sketch.empty()
    worker = f"{socket.gethostname()}/{os.getpid()}"
    try:
        rows = [_play(seed, task.runs, journal, states, worker) for seed in task.chunk.seeds]
        write_chunk(folder / "results", task.chunk, rows, bytes(states))
    finally:
        journal.end()


def shrink_seed(task: ShrinkTask) -> Kept:
    """Return what the smallest run with the finding of a seed looks like, and keep it in files."""
    task.runs.prepare(1)
    scratch = Path(tempfile.mkdtemp(prefix="krafla-found-"))
    try:
        kept = task.runs.keep(task.seed, scratch)
        for name in kept.saved:
            draft = Path(task.folder) / f".{name}.{os.getpid()}.draft"
            shutil.copyfile(scratch / name, draft)
            draft.replace(Path(task.folder) / name)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return kept


def names_task(asked: tuple[RunSource, int]) -> dict[str, tuple[str, ...]]:
    """Return by tally what is to be counted even if it never happens.

    Asked are the runs, and about how many of them this process has yet to play.
    """
    runs, count = asked
    runs.prepare(count)
    return runs.names()


def _play(seed: int, runs: RunSource, journal: Journal, states: bytearray, worker: str) -> SeedRow:
    profile = runs.profile_of(seed)
    if journal.is_deadly(seed):
        detail = "the process that played it died each time, or was killed"
        return lost_row(seed, profile, DIED, detail, worker)
    journal.begin(seed)
    started = time.monotonic()
    try:
        result = runs.play(seed)
    except Exception as error:  # noqa: BLE001 - the other seeds are played; this one is no success
        return lost_row(seed, profile, UNJUDGED, f"{type(error).__name__}: {error}", worker)
    sketch.add(states, result.states)
    return row_of(result, round(1000 * (time.monotonic() - started)), worker)
