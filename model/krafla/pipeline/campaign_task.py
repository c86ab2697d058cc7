"""The tasks of a campaign: play a chunk of seeds; shrink a run with a finding."""

from __future__ import annotations

import os
import shutil
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.pipeline import sketch
from krafla.pipeline.chunks import DIED, Journal, SeedRow, lost_row, row_of, write_chunk
from krafla.scratch import scratch_folder

if TYPE_CHECKING:
    from krafla.fuzz.engine.runs import Kept, Runs
    from krafla.pipeline.chunks import Chunk

__all__ = ["ChunkTask", "ShrinkTask", "load_task", "play_chunk", "shrink_seed"]

UNJUDGED: Final = "could not be judged"


@dataclass(frozen=True, slots=True)
class ChunkTask:
    """A chunk to play, and the campaign's folder; ``is_brief``: a process plays little in all."""

    chunk: Chunk
    runs: Runs
    folder: str
    is_brief: bool


@dataclass(frozen=True, slots=True)
class ShrinkTask:
    """A run with a finding that is to be shrunk and kept in a folder."""

    seed: int
    runs: Runs
    folder: str


def play_chunk(task: ChunkTask) -> None:
    """Play the seeds of a chunk in this process and commit their results."""
    folder = Path(task.folder)
    task.runs.load(brief=task.is_brief)
    journal = Journal(folder / "attempts", task.chunk)
    states = sketch.empty()
    worker = f"{socket.gethostname()}/{os.getpid()}"
    try:
        rows = [_play(seed, task.runs, journal, states, worker) for seed in task.chunk.seeds]
        write_chunk(folder / "results", task.chunk, rows, bytes(states))
    finally:
        journal.end()


def shrink_seed(task: ShrinkTask) -> Kept:
    """Shrink the run of a seed with a finding, keep it in files, and return its description."""
    task.runs.load(brief=True)
    with scratch_folder("found") as scratch:
        failure = task.runs.failure(task.seed, task.runs.play(task.seed)).shrunk(lambda _: None)
        kept = failure.save(scratch)
        for name in kept.saved:
            draft = Path(task.folder) / f".{name}.{os.getpid()}.draft"
            shutil.copyfile(scratch / name, draft)
            draft.replace(Path(task.folder) / name)
    return kept


def load_task(asked: tuple[Runs, bool]) -> None:
    """Play one run in this process; it fails where the specs cannot be loaded.

    The pair has the runs, and whether the process plays little in all.
    """
    runs, is_brief = asked
    runs.load(brief=is_brief)
    runs.play(0)


def _play(seed: int, runs: Runs, journal: Journal, states: bytearray, worker: str) -> SeedRow:
    profile = runs.profile_of(seed)
    if journal.is_deadly(seed):
        detail = "the process that played it died each time, or was killed"
        return lost_row(seed, profile, DIED, detail, worker)
    journal.begin(seed)
    started = time.monotonic()
    try:
        run = runs.play(seed)
    except Exception as error:  # noqa: BLE001 - the other seeds are played; this one is no success
        return lost_row(seed, profile, UNJUDGED, f"{type(error).__name__}: {error}", worker)
    sketch.add(states, run.states)
    return row_of(seed, run, round(1000 * (time.monotonic() - started)), worker)
