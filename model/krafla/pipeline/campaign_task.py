"""What the tasks of a campaign do: play a chunk of seeds; shrink a run that found something."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.collector import uncollected
from krafla.fuzz.render import save
from krafla.fuzz.seeds import play_one, shrunk_failure, spec_names
from krafla.oracle.jvm import settle, start
from krafla.pipeline import sketch
from krafla.pipeline.chunks import DIED, Journal, SeedRow, lost_row, row_of, write_chunk

if TYPE_CHECKING:
    from krafla.fuzz.seeds import Runs
    from krafla.pipeline.chunks import Chunk

__all__ = ["ChunkTask", "ShrinkTask", "names_task", "play_chunk", "shrink_seed"]

UNJUDGED: Final = "could not be judged"


@dataclass(frozen=True, slots=True)
class ChunkTask:
    """A chunk to play, and the campaign's folder; ``brief`` says that little is left to do."""

    chunk: Chunk
    runs: Runs
    folder: str
    brief: bool


@dataclass(frozen=True, slots=True)
class ShrinkTask:
    """A run with a finding that is to be shrunk and kept in a folder."""

    seed: int
    runs: Runs
    folder: str


def play_chunk(task: ChunkTask) -> None:
    """Play the seeds of a chunk in this process and commit what they came to."""
    folder = Path(task.folder)
    _start(brief=task.brief)
    journal = Journal(folder / "attempts", task.chunk)
    states = sketch.empty()
    worker = f"{socket.gethostname()}/{os.getpid()}"
    try:
        with uncollected():
            rows = [_play(seed, task.runs, journal, states, worker) for seed in task.chunk.seeds]
        write_chunk(folder / "results", task.chunk, rows, bytes(states))
    finally:
        journal.end()


def shrink_seed(task: ShrinkTask) -> dict[str, Any]:
    """Return what the shortest run with the finding of a seed looks like, and keep it in files."""
    _start(brief=True)
    with uncollected():
        failure = shrunk_failure(task.seed, task.runs)
    shrunk = failure.shrunk
    assert shrunk.finding is not None, "what was shrunk still has the finding"
    scratch = Path(tempfile.mkdtemp(prefix="krafla-found-"))
    try:
        paths = save(failure, scratch)
        for path in paths:
            draft = Path(task.folder) / f".{path.name}.{os.getpid()}.draft"
            shutil.copyfile(path, draft)
            draft.replace(Path(task.folder) / path.name)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return {
        "seed": task.seed,
        "profile": failure.profile,
        "steps": failure.run.steps,
        "shrunk_steps": shrunk.steps,
        "detail": str(shrunk.finding),
        "saved": [path.name for path in paths],
    }


def names_task(runs: Runs) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of all actions and witnesses of the spec."""
    _start(brief=True)
    return spec_names(runs)


def _play(seed: int, runs: Runs, journal: Journal, states: bytearray, worker: str) -> SeedRow:
    profile = runs.profile_of(seed)
    if journal.is_deadly(seed):
        detail = "the process that played it died each time, or was killed"
        return lost_row(seed, profile, DIED, detail, worker)
    journal.begin(seed)
    started = time.monotonic()
    try:
        result = play_one(seed, runs)
    except Exception as error:  # noqa: BLE001 - the other seeds are played; this one is no success
        return lost_row(seed, profile, UNJUDGED, f"{type(error).__name__}: {error}", worker)
    sketch.add(states, result.states)
    return row_of(result, round(1000 * (time.monotonic() - started)), worker)


def _start(*, brief: bool) -> None:
    """Have a JVM in this process; the next task in it finds it there."""
    start(brief=brief)
    settle()
