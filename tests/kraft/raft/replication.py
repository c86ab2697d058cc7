"""What the tests of replication share: fetches and their answers, and a leader or follower to ask.

A log here is given by the epochs of its records, each in a batch of its own.
"""

from __future__ import annotations

from tests.kraft.raft.replicas import (
    CLUSTER_ID,
    EPOCH,
    TIMEOUTS,
    Replica,
    directory,
    follower,
    leader,
    log_of,
    replica,
    voter_set,
)

from kraft.errors import ErrorCode
from kraft.ids import NodeId, OffsetAndEpoch
from kraft.log.batches import data_batch
from kraft.log.image import Snapshot
from kraft.raft.configuration import MILLISECOND
from kraft.raft.snapshot_file import snapshot_bytes
from kraft.rpc.fetch import FetchRequest, FetchResponse
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse

WAIT = TIMEOUTS.fetch_maximum_wait // MILLISECOND


class Driven(Replica):
    """A replica whose effects are all of them, what its state machine is told included."""

    def _note(self, effects):
        super()._note(effects)
        self.effects = tuple(effects)
        return self.effects


OWN = (
    "bootstrap_servers",
    "directories",
    "node",
    "timeouts",
    "maximum_fetch_bytes",
    "maximum_batch_bytes",
    "maximum_snapshot_bytes",
    "maximum_completed_batches",
    "followers_always_flush",
)


def leading(log, *, high_watermark=None, voters=(1, 2, 3), epoch_start=0, **fields):
    """Return a replica that leads EPOCH and has flushed its log."""
    own = {name: fields.pop(name) for name in OWN if name in fields}
    role = leader(epoch_start=epoch_start, voters=voters, **fields)
    return Driven(replica(role, log=log, high_watermark=high_watermark, voters=voters, **own))


def following(log, *, high_watermark=None, asks=True, voters=(1, 2, 3), **fields):
    """Return a follower of node 2 in EPOCH that waits, unless told otherwise, for its answer."""
    own = {name: fields.pop(name) for name in OWN if name in fields}
    role = follower(**fields)
    driven = Driven(replica(role, log=log, high_watermark=high_watermark, voters=voters, **own))
    return driven.asks(2) if asks else driven


def fetch(offset, last_epoch=EPOCH, *, sender=2, epoch=EPOCH, wait=WAIT, **fields):
    """Return a fetch of a node whose log ends so; it knows of all that is committed."""
    return FetchRequest(
        fields.pop("cluster_id", CLUSTER_ID),
        NodeId(sender),
        fields.pop("disk", directory(max(sender, 0))),
        epoch,
        offset,
        last_epoch,
        wait,
        **fields,
    )


def fetched(batches=(), *, epoch=EPOCH, leader_id=2, error=ErrorCode.NONE, high_watermark=-1, **of):
    """Return an answer of the leader of EPOCH with these batches, or bytes."""
    if not isinstance(batches, bytes):
        batches = b"".join(batch.raw for batch in batches)
    return FetchResponse(error, epoch, leader_id, high_watermark, 0, batches, **of)


def batch(offset, epoch=EPOCH, *values):
    return data_batch(offset, epoch, 0, values or (f"from {offset}".encode(),))


def at(end_offset, epoch):
    return OffsetAndEpoch(end_offset, epoch)


def snapshot(end_offset, epoch, values=(b"\x01\x1b\x00\x00",), voters=(1, 2, 3), version=0):
    """Return a snapshot of the records before an offset."""
    snapshot_id = at(end_offset, epoch)
    data = snapshot_bytes(snapshot_id, values, voter_set(*voters), version, 0)
    return Snapshot(snapshot_id, data)


def log_from(taken, *epochs):
    """Return the log that begins at the end of a snapshot, with records of these epochs."""
    log = log_of().begin_at(taken)
    for offset, epoch in enumerate(epochs, log.end_offset):
        log = log.append((batch(offset, epoch),))
    return log


def fetch_snapshot(snapshot_id, position=0, *, sender=2, epoch=EPOCH, **fields):
    return FetchSnapshotRequest(
        fields.pop("cluster_id", CLUSTER_ID),
        NodeId(sender),
        directory(max(sender, 0)),
        epoch,
        snapshot_id,
        position,
        **fields,
    )


def piece(taken, position=0, length=None, *, epoch=EPOCH, leader_id=2, error=ErrorCode.NONE):
    """Return an answer with the bytes of a snapshot from a position on."""
    data = taken.data[position:] if length is None else taken.data[position : position + length]
    return FetchSnapshotResponse(
        error, epoch, leader_id, taken.snapshot_id, len(taken.data), position, data
    )
