"""Durable effects: all of them, in their order, and there after a kill."""

import asyncio
import threading
from typing import get_args

from tests.kraft.node.one_node import CLUSTER, PATIENCE_SECONDS, properties, serving

from kraft.ids import METADATA_DIRECTORY, OffsetAndEpoch
from kraft.node.disk import Disk
from kraft.raft.effects import (
    AppendLog,
    CleanLog,
    Durable,
    FlushLog,
    FreezeSnapshot,
    TruncateLog,
    TruncateToSnapshot,
    WriteQuorumState,
    WriteSnapshot,
    WriteSnapshotPart,
)

EPOCH = 9
VOTE = 52


ID = OffsetAndEpoch(5, 1)
EFFECTS = {
    "write_quorum_state": WriteQuorumState(EPOCH, None, None, 0),
    "append": AppendLog(()),
    "flush": FlushLog(),
    "truncate": TruncateLog(3),
    "write_snapshot": WriteSnapshot(ID, b""),
    "write_snapshot_part": WriteSnapshotPart(ID, 0, b""),
    "freeze_snapshot": FreezeSnapshot(ID),
    "truncate_to_snapshot": TruncateToSnapshot(ID),
    "clean": CleanLog(ID),
}
"""Each kind of durable effect, by the method of a storage that does it."""


class HeldStorage:
    """A storage that writes down what is asked of it, and does nothing until it is `released`."""

    def __init__(self):
        self.asked = []
        self.begun, self.released = threading.Event(), threading.Event()

    def __getattr__(self, name):
        def method(*_arguments):
            self.begun.set()
            assert self.released.wait(PATIENCE_SECONDS)
            self.asked.append(name)

        return method


def test_a_disk_has_performed_all_effects_in_their_order_when_it_says_so(tmp_path):
    (tmp_path / METADATA_DIRECTORY).mkdir()
    storage = HeldStorage()
    disk = Disk(storage, tmp_path)

    async def main():
        performing = asyncio.create_task(disk.perform(tuple(EFFECTS.values())))
        assert await asyncio.to_thread(storage.begun.wait, PATIENCE_SECONDS)
        is_early = performing.done()
        storage.released.set()
        await performing
        return is_early, list(storage.asked)

    is_early, asked = asyncio.run(main())
    disk.close()

    assert not is_early
    assert asked == list(EFFECTS)
    assert {type(one) for one in EFFECTS.values()} == set(get_args(Durable))


async def is_granted(client, candidate):
    """Ask node 1 for its vote, and return whether a candidate got it."""
    partition = {"replicaEpoch": EPOCH, "replicaId": candidate, "lastOffset": 0}
    topics = ({"topicName": "__cluster_metadata", "partitions": (partition,)},)
    said = await client.call(VOTE, 2, clusterId=CLUSTER, voterId=1, topics=topics)
    (told,) = said["topics"][0]["partitions"]
    assert told["leaderEpoch"] == EPOCH
    return told["voteGranted"]


def test_a_node_that_was_killed_votes_for_no_other_candidate_in_that_epoch(tmp_path):
    path = properties(
        tmp_path,
        controller_quorum_voters="1@127.0.0.1:1,2@127.0.0.1:2,3@127.0.0.1:3",
        controller_quorum_election_timeout_ms="60000",
    )

    async def votes(*candidates):
        # The node is no leader: the end of `serving` drops it without a word, as kill -9 does.
        async with serving(path) as (_node, client):
            return [await is_granted(client, one) for one in candidates]

    assert asyncio.run(votes(2)) == [True]
    assert asyncio.run(votes(3, 2)) == [False, True]
