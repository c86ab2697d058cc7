"""Batches, snapshots and a formatted disk, for tests of the storage."""

from __future__ import annotations

from tests.kraft.log.crashing_files import CrashingFiles

from kraft.ids import DirectoryId, NodeId, OffsetAndEpoch, uuid_text
from kraft.log.batches import LogBatch, controls_batch, data_batch
from kraft.log.identity import format_directory
from kraft.log.raft_storage import RaftStorage
from kraft.raft.snapshot_file import snapshot_bytes
from kraft.records.control_schemas import LEADER_CHANGE
from kraft.records.value import encode_value

CLUSTER = "TestClusterId-0123456A"
NODE = NodeId(3000)
DIRECTORY = DirectoryId(uuid_text(bytes(range(16))))
VOTERS = (NodeId(3001), NodeId(3000), NodeId(3002))
LOG = "__cluster_metadata-0"
NO_OP = 20
TIME = 1_700_000_000_000


def value(number: int) -> bytes:
    """Return a record that says its number: a feature level."""
    return encode_value(12, 0, {"name": f"feature.{number}", "featureLevel": number % 7 + 1})


def batch(base_offset: int, epoch: int, count: int = 1) -> LogBatch:
    """Return a batch of so many records, which differ by offset and epoch."""
    values = [value(base_offset + index + 1000 * epoch) for index in range(count)]
    return data_batch(base_offset, epoch, TIME + base_offset, values)


def leader_change_batch(base_offset: int, epoch: int) -> LogBatch:
    """Return the first batch of an epoch."""
    voters = tuple({"voterId": voter} for voter in sorted(VOTERS))
    fields = {"version": 0, "leaderId": 3000, "voters": voters, "grantingVoters": voters[:2]}
    return controls_batch(base_offset, epoch, TIME, [(LEADER_CHANGE.api_key, fields)])


def snapshot(end_offset: int, epoch: int) -> tuple[OffsetAndEpoch, bytes]:
    """Return the id and the file of a snapshot."""
    snapshot_id = OffsetAndEpoch(end_offset, epoch)
    return snapshot_id, snapshot_bytes(snapshot_id, [value(end_offset)], None, 0, TIME)


def formatted(crash_at: int | None = None) -> CrashingFiles:
    """Return a disk that is formatted for NODE, and flushed."""
    files = CrashingFiles()
    format_directory(files, CLUSTER, NODE, DIRECTORY)
    disk = CrashingFiles.of(files.contents())
    disk.crash_at = crash_at
    return disk


def opened(files: CrashingFiles, segment_bytes: int = 400) -> RaftStorage:
    """Return a storage that has started on these files."""
    storage = RaftStorage(files, segment_bytes=segment_bytes, voters=VOTERS)
    storage.open(CLUSTER, NODE, DIRECTORY)
    return storage
