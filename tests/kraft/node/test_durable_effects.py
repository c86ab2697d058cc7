"""Durable effects: all of them, in their order, and there after a kill."""

import asyncio

from tests.kraft.node.one_node import CLUSTER, properties, serving

from kraft.ids import METADATA_DIRECTORY
from kraft.node.disk import Disk
from kraft.raft.effects import AppendLog, FlushLog

EPOCH = 9
VOTE = 52


class RecordedStorage:
    """A storage that writes down what is asked of it."""

    def __init__(self):
        self.asked = []

    def append(self, _batches):
        self.asked.append("append")

    def flush(self):
        self.asked.append("flush")


def test_a_disk_performs_effects_in_their_order(tmp_path):
    (tmp_path / METADATA_DIRECTORY).mkdir()
    storage = RecordedStorage()
    disk = Disk(storage, tmp_path)
    asyncio.run(disk.perform((AppendLog(()), FlushLog())))
    disk.close()

    assert storage.asked == ["append", "flush"]


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
