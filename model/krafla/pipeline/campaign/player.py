"""What an executor does for a campaign: it plays the seeds of a task, one after the other.

A task whose process died comes again as a further attempt. It then plays in a child process, whose
death shows the seed: no disk is shared, and nothing outside the task remembers its attempts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.fuzz.engine import breeding
from krafla.pipeline.campaign.child import played_in_child
from krafla.pipeline.campaign.rows import (
    LEARNED,
    PLAYED,
    UNJUDGED,
    batch_of,
    lost_row,
    row_of,
    worker_name,
)
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krafla.fuzz.engine.novelty import Parent
    from krafla.fuzz.engine.runs import Runs
    from krafla.pipeline.campaign.rows import SeedRow

__all__ = ["LOADED", "Player", "first_of", "play_batches", "play_seeds"]

LOADED: Final = pa.schema([pa.field("message", pa.string()), pa.field("place", pa.string())])
"""What `first_of` gives back: why this process cannot play; no row if it can."""
_ROWS_PER_BATCH: Final = 50


@dataclass(frozen=True, slots=True)
class Player:
    """How seeds are played; ``is_brief`` says that a process plays little in all.

    In a campaign that learns, ``parents`` are the runs that a round is bred from; else it is None.
    """

    runs: Runs
    is_brief: bool
    parents: tuple[Parent, ...] | None = None

    @property
    def schema(self) -> pa.Schema:
        """Return the columns of the rows."""
        return PLAYED if self.parents is None else LEARNED

    def load(self) -> None:
        """Prepare this process."""
        self.runs.load(brief=self.is_brief)

    def play(self, seed: int, worker: str) -> SeedRow:
        """Return the row of one seed, played in this process."""
        started = time.monotonic()
        tried = None
        try:
            if self.parents is None:
                run = self.runs.play(seed)
            else:
                tried = breeding.tried(self.runs, breeding.plan_of(self.runs, seed, self.parents))
                run = tried.run
        except Exception as error:  # noqa: BLE001 - the other seeds are played; it is no success
            detail = f"{type(error).__name__}: {error}"
            return lost_row(seed, self.runs.profile_of(seed), UNJUDGED, detail, worker)
        return row_of(seed, run, round(1000 * (time.monotonic() - started)), worker, tried)


def play_batches(player: Player, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the seeds in the first column of batches, as Spark's ``mapInArrow`` asks.

    A seed at which three processes died is a row, too.
    """
    seeds = [seed for batch in batches for seed in batch.column(0).to_pylist()]
    yield from play_seeds(player, seeds)


def play_seeds(player: Player, seeds: Iterable[int]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of seeds."""
    waiting: list[SeedRow] = []
    for row in _played(player, list(seeds)):
        waiting.append(row)
        if len(waiting) == _ROWS_PER_BATCH:
            yield batch_of(waiting, player.schema)
            waiting = []
    if waiting:
        yield batch_of(waiting, player.schema)


def first_of(
    runs: Runs, is_brief: bool, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Play run 0 once, and yield no row; if the specs cannot be loaded, one that says why.

    As a value, the reason comes at once: Spark would repeat a task that raises, in vain. This
    process stays as it begins here: if it plays much in all, ``is_brief`` must not be said.
    """
    for _ in batches:
        try:
            runs.load(brief=is_brief)
            runs.play(0)
        except KraflaError as error:
            yield pa.RecordBatch.from_arrays(
                [pa.array([error.message]), pa.array([error.place], pa.string())], schema=LOADED
            )


def _played(player: Player, seeds: list[int]) -> Iterator[SeedRow]:
    if _is_further_attempt():
        yield from played_in_child(player, seeds)
        return
    player.load()
    worker = worker_name()
    for seed in seeds:
        yield player.play(seed, worker)


def _is_further_attempt() -> bool:
    """Return whether this is a task of Spark that was tried before."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return context is not None and context.attemptNumber() > 0
