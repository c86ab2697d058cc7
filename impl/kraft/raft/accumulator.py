"""What a leader's state machine wants to append, and when it goes into the log.

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
    """Batches that were prepared by the leader of `epoch`, the last one may grow.

    `next_offset` is the offset of the next value; `drain_deadline` is when linger is over;
    `scheduled_end` is the end of what may be drained: what is only prepared waits.
    """

    epoch: int
    next_offset: int
    batches: tuple[AccumulatedBatch, ...] = ()
    drain_deadline: int | None = None
    scheduled_end: int = 0
