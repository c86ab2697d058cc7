"""The state machine above each replica: a register that folds all committed values into one number.

Two replicas have the same fold only if they applied the same values in the same order. A snapshot
is the fold, as one record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.chance import mix
from kraft.raft.snapshot_file import read_snapshot

if TYPE_CHECKING:
    from kraft.log.batches import LogBatch
    from kraft.log.image import LogImage
    from kraft.raft.effects import HandleLoadSnapshot

VALUE_BYTES: Final = 8
_SNAPSHOT: Final = b"register"


def value_bytes(number: int, size: int) -> bytes:
    """Return the record of a value: its number, padded with zeros."""
    return number.to_bytes(VALUE_BYTES, "big") + bytes(max(size - VALUE_BYTES, 0))


def value_number(data: bytes) -> int:
    """Return the number in a value's record."""
    return int.from_bytes(data[:VALUE_BYTES], "big")


class StateMachine:
    """The state of a register: `count` values folded to `fold`, all before `next_offset`.

    `epoch` is the epoch of the last record before it; `snapshot_end` the end of its last snapshot.
    `snapshots_loaded` counts the snapshots that replaced its state.
    """

    __slots__ = ("count", "epoch", "fold", "next_offset", "snapshot_end", "snapshots_loaded")

    def __init__(self) -> None:
        self.next_offset = 0
        self.epoch = 0
        self.count = 0
        self.fold = 0
        self.snapshot_end = 0
        self.snapshots_loaded = 0

    def apply(self, batches: tuple[LogBatch, ...]) -> None:
        """Apply committed batches.

        Raises ValueError if they are not the next ones. Kafka: RaftClient.Listener.handleCommit.
        """
        for batch in batches:
            if batch.base_offset != self.next_offset:
                raise ValueError(
                    f"offset {batch.base_offset} is committed, {self.next_offset} was to come"
                )
            for value in batch.values:
                self.fold = mix(self.fold ^ value_number(value))
            self.count += len(batch.values)
            self.next_offset = batch.end_offset
            self.epoch = batch.epoch

    def load(self, log: LogImage, effect: HandleLoadSnapshot) -> None:
        """Replace the state by a snapshot of the log.

        Raises ValueError if there is no such snapshot. Kafka:
        RaftClient.Listener.handleLoadSnapshot.
        """
        snapshot = log.snapshot(effect.snapshot_id)
        if snapshot is None:
            raise ValueError(f"snapshot {effect.snapshot_id} is to be loaded and is not there")
        self.count = self.fold = 0
        for value in read_snapshot(snapshot.data).values:
            self.count = int.from_bytes(value[8:16], "big")
            self.fold = int.from_bytes(value[16:24], "big")
        self.next_offset, self.epoch = effect.snapshot_id
        self.snapshot_end = self.next_offset
        self.snapshots_loaded += 1

    def snapshot(self) -> tuple[bytes, ...]:
        """Return the records of a snapshot of the state."""
        return (_SNAPSHOT + self.count.to_bytes(8, "big") + self.fold.to_bytes(8, "big"),)
