"""Performing the durable effects of a replica on its storage."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from kraft.raft.effects import (
    AppendLog,
    CleanLog,
    FlushLog,
    FreezeSnapshot,
    TruncateLog,
    TruncateToSnapshot,
    WriteQuorumState,
    WriteSnapshot,
    WriteSnapshotPart,
)

if TYPE_CHECKING:
    from kraft.log.raft_storage import RaftStorage
    from kraft.raft.effects import Durable


def perform(storage: RaftStorage, effect: Durable) -> None:
    """Perform a durable effect on the disk; it is done when this returns."""
    match effect:
        case WriteQuorumState(epoch, leader_id, voted, version):
            storage.write_quorum_state(epoch, leader_id, voted, version)
        case AppendLog(batches):
            storage.append(batches)
        case FlushLog():
            storage.flush()
        case TruncateLog(end_offset):
            storage.truncate(end_offset)
        case WriteSnapshot(snapshot_id, data):
            storage.write_snapshot(snapshot_id, data)
        case WriteSnapshotPart(snapshot_id, position, data):
            storage.write_snapshot_part(snapshot_id, position, data)
        case FreezeSnapshot(snapshot_id):
            storage.freeze_snapshot(snapshot_id)
        case TruncateToSnapshot(snapshot_id):
            storage.truncate_to_snapshot(snapshot_id)
        case CleanLog(snapshot_id):
            storage.clean(snapshot_id)
        case _:
            assert_never(effect)
