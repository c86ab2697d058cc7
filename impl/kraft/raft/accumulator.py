"""The values that a leader's state machine appends, and when they go into the log.

Kafka: BatchAccumulator.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AccumulatedBatch:
    """Values that become one batch at `base_offset`; the bytes of each are a record's value."""

    base_offset: int
    values: tuple[bytes, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Accumulator:
    """The batches that the leader of `epoch` has prepared; the last one may grow.

    `next_offset` is the offset of the next value. Linger ends at `drain_deadline`. Batches below
    `scheduled_end` may be drained; a batch that is only prepared waits.
    """

    epoch: int
    next_offset: int
    batches: tuple[AccumulatedBatch, ...] = ()
    drain_deadline: int | None = None
    scheduled_end: int = 0
