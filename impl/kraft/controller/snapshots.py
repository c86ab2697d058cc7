"""When a controller writes a snapshot, and what the snapshot contains.

Kafka: SnapshotGenerator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.controller.effects import CreateSnapshot
from kraft.controller.state import NEVER, visible
from kraft.ids import OffsetAndEpoch
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.snapshot import snapshot_records

if TYPE_CHECKING:
    from kraft.controller.state import ControllerState, Turn


def has_news(state: ControllerState) -> bool:
    """Return whether a snapshot now would be newer than the last one.

    A snapshot never ends in the middle of a batch (KAFKA-17713), so none ends where a transaction
    began in one. Nor is there one before the first metadata record (KAFKA-15375): it would be
    empty, without a metadata version, and end before the transaction of the bootstrap records. One
    of Kafka's standbys that loads it dies.

    Kafka: SnapshotGenerator.publishLogDelta, MetadataLoader.stillNeedToCatchUp.
    """
    if state.snapshot_end >= state.stable_end:
        return False
    memory = visible(state)
    return memory.is_aligned and memory.image != EMPTY_IMAGE


def snapshot_deadline(state: ControllerState) -> int:
    """Return when the next snapshot is due, in milliseconds; NEVER without news.

    Kafka: SnapshotGenerator, by bytes and by time.
    """
    configuration = state.configuration
    if not has_news(state):
        return NEVER
    if state.bytes_since_snapshot >= configuration.max_record_bytes_between_snapshots:
        return state.snapshot_ms
    if not configuration.max_snapshot_interval_ms:
        return NEVER
    return state.snapshot_ms + configuration.max_snapshot_interval_ms


def create_snapshot(turn: Turn) -> None:
    """Ask for a snapshot of the visible state, in the fewest records; its end is exclusive.

    Spec: MetadataLog!CreateSnapshot.
    Kafka: SnapshotGenerator.run, RaftSnapshotWriter (KAFKA-14618).
    """
    state = turn.state
    if not has_news(state):
        return
    memory = visible(state)
    turn.do(
        CreateSnapshot(
            OffsetAndEpoch(state.stable_end, memory.epoch),
            tuple(snapshot_records(memory.image)),
            memory.image.metadata_version or 0,
        )
    )
    turn.change(snapshot_end=state.stable_end, snapshot_ms=turn.now_ms, bytes_since_snapshot=0)
