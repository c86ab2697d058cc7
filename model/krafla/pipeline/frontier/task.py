"""The tasks: one level of a part of the frontier, or many small levels in one task.

A Python worker loads a spec once, into one JVM, and keeps it for the tasks that follow.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy
import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types
from pyspark import TaskContext

from krafla.oracle.jvm import java_error, start
from krafla.pipeline.arrow import as_spark
from krafla.pipeline.frontier.expand import CHUNK, Expander, Found
from krafla.pipeline.frontier.plan import Plan, loaded
from krafla.pipeline.frontier.seen import Seen
from krafla.pipeline.frontier.tally import Tally
from krafla.pipeline.store import Store
from krafla.testing import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

    from krafla.oracle.state_bytes import StateBytes

__all__ = ["SCHEMA", "STATES", "Alone", "Spread", "search_store"]

STATES: Final = "states"
"""The table of a search."""
# A state, or a note: the tally of a task, which has no fingerprint.
SCHEMA: Final = pyarrow.schema(
    [
        ("fp", pyarrow.int64()), ("depth", pyarrow.int32()), ("parent", pyarrow.int64()),
        ("action", pyarrow.int32()), ("state", pyarrow.binary()), ("note", pyarrow.string()),
    ]
)  # fmt: skip
# Of the JVM in a Python worker; the states of one chunk and of one small level must fit.
_HEAP_MIB: Final = 1024


class _Loaded:
    """A spec in this process, ready to step states."""

    def __init__(self, packed: bytes) -> None:
        start(brief=False, heap_mib=_HEAP_MIB)
        self.packed = packed
        plan = Plan.unpacked(packed)
        self.spec = loaded(plan)
        self.codec: StateBytes = plan.codec(self.spec)
        self.expander = Expander(self.spec, self.codec, plan.witnesses)

    def reduced(self) -> AbstractContextManager[None]:
        return self.spec.reduced()

    def complaint(self, error: Exception) -> str:
        """Return what TLC says of a state that it cannot evaluate."""
        if isinstance(error, EvaluationError):
            return error.message
        message = getattr(error, "getMessage", lambda: None)() or error
        return f"{self.spec.name}: {' '.join(str(message).split())}"


def search_store(spark: SparkSession, uri: str) -> Store:
    """Return the tables of a search below a URI."""
    return Store(spark, uri, {STATES: as_spark(SCHEMA)})


_kept: _Loaded | None = None


def _loaded(packed: bytes) -> _Loaded:
    global _kept
    if _kept is None or _kept.packed != packed:
        _kept = None
        _kept = _Loaded(packed)
    return _kept


@dataclass(frozen=True, slots=True)
class Spread:
    """The function of a task that expands a part of the states at ``depth``."""

    packed: bytes
    depth: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the states after those of the batches, and at the end one note."""
        began, tally, seen = time.process_time(), Tally(), Seen()
        batch = next(batches, None)
        while batch is not None:
            one = _loaded(self.packed)
            for first in range(0, batch.num_rows, CHUNK):
                yield from self._expanded(one, batch.slice(first, CHUNK), seen, tally)
                if tally.error is not None:
                    break
            batch = next(batches, None) if tally.error is None else None
        tally.seconds = time.process_time() - began
        if tally.expanded or tally.error is not None:
            yield _note(tally)

    def _expanded(self, one: _Loaded, rows: Any, seen: Seen, tally: Tally) -> Iterator[Any]:
        prints = rows.column("fp").to_pylist()
        # A step to the state itself, or to its neighbour here, leads to nothing new.
        for fingerprint in prints:
            seen.add(fingerprint)
        found = None
        with one.reduced():
            try:
                states = one.codec.decode(rows.column("state").to_pylist())
                found = one.expander.expand(prints, states, self.depth, seen, tally)
            except (EvaluationError, java_error()) as error:
                tally.error = one.complaint(error)
        if found is not None and len(found):
            yield _rows(found, self.depth + 1)


@dataclass(frozen=True, slots=True)
class Alone:
    """The function of the only task of several levels, from the states at ``depth`` on.

    Its input has the fingerprint of every state so far, and of those at ``depth`` also the state;
    at depth 0 it begins with the initial states. It ends before a level of more than
    ``states_most`` states, after ``seconds_most``, or before the level from which on there are more
    than ``limit`` states in all.
    """

    packed: bytes
    depth: int
    states_most: int
    seconds_most: float
    limit: int | None
    checks_deadlock: bool

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the states of every level after ``depth``, and at the end one note."""
        began, cpu, tally = time.monotonic(), time.process_time(), Tally()
        one = _loaded(self.packed)
        prints, packed, visited = self._input(batches)
        seen = Seen(visited, forgets=False)
        total, depth = len(visited), self.depth
        states: list[Any] = one.codec.decode(packed)
        while depth == 0 or states:
            found = None
            with one.reduced():
                try:
                    found = (
                        one.expander.expand(prints, states, depth, seen, tally)
                        if depth
                        else one.expander.initial(seen, tally)
                    )
                except (EvaluationError, java_error()) as error:
                    tally.error = one.complaint(error)
            if found is None:
                break
            depth += 1
            total += len(found)
            yield from _parts(found, depth)
            prints, states = found.prints, found.java
            if self._is_over(tally, len(states), total, time.monotonic() - began):
                break
        tally.seconds, tally.left = time.process_time() - cpu, len(states)
        yield _note(tally)

    def _input(self, batches: Iterator[Any]) -> tuple[list[int], list[bytes], Any]:
        prints: list[int] = []
        packed: list[bytes] = []
        known = [numpy.empty(0, dtype=numpy.int64)]
        for batch in batches:
            if self.depth == 0:
                continue
            known.append(batch.column("fp").to_numpy())
            here = batch.filter(batch.column("state").is_valid())
            prints += here.column("fp").to_pylist()
            packed += here.column("state").to_pylist()
        return prints, packed, numpy.sort(numpy.concatenate(known))

    def _is_over(self, tally: Tally, frontier: int, total: int, seconds: float) -> bool:
        full = self.limit is not None and total >= self.limit
        large = frontier > self.states_most or seconds > self.seconds_most
        stuck = self.checks_deadlock and tally.stuck is not None
        return tally.fault is not None or stuck or full or large


# A batch of rows must stay small beside the memory of a worker.
_ROWS_MOST: Final = 16_384


def _parts(found: Found, depth: int) -> Iterator[Any]:
    whole = _rows(found, depth)
    for first in range(0, whole.num_rows, _ROWS_MOST):
        yield whole.slice(first, _ROWS_MOST)


def _rows(found: Found, depth: int) -> Any:
    count = len(found)
    return pyarrow.RecordBatch.from_arrays(
        [
            pyarrow.array(found.prints, pyarrow.int64()),
            pyarrow.array([depth] * count, pyarrow.int32()),
            pyarrow.array(found.parents, pyarrow.int64()),
            pyarrow.array(found.labels, pyarrow.int32()),
            pyarrow.array(found.packed, pyarrow.binary()),
            pyarrow.nulls(count, pyarrow.string()),
        ],
        schema=SCHEMA,
    )


def _note(tally: Tally) -> Any:
    context = TaskContext.get()
    text = tally.as_json(task=0 if context is None else context.partitionId())
    row = {name: [None] for name in SCHEMA.names}
    return pyarrow.RecordBatch.from_pydict({**row, "note": [text]}, schema=SCHEMA)
