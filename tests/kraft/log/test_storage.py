"""The files of the storage: their bytes, the order they are written in, and wrong requests."""

from __future__ import annotations

import pytest
from tests.kraft.log.log_samples import (
    CLUSTER,
    DIRECTORY,
    LOG,
    NODE,
    VOTERS,
    batch,
    formatted,
    leader_change_batch,
    opened,
    snapshot,
)
from tests.kraft.log.recording_files import EPOCHS, Recorder, recording, replacing

from kraft.ids import NodeId, OffsetAndEpoch, ReplicaKey
from kraft.log.identity import format_directory
from kraft.log.raft_storage import RaftStorage

STATE = f"{LOG}/quorum-state"
VOTE = ReplicaKey(NodeId(3001), DIRECTORY)


def test_format_writes_the_identity_last():
    files = Recorder()
    format_directory(files, CLUSTER, NODE, DIRECTORY, b"voters")
    assert files.asked == [
        "append ~000-~000.checkpoint 6",
        "flush ~000-~000.checkpoint",
        f"flush_directory {LOG}",
        "append meta.properties.tmp 95",
        "flush meta.properties.tmp",
        "rename meta.properties.tmp meta.properties",
        "flush_directory ",
    ]
    assert files.read("meta.properties").decode() == (
        "#\nnode.id=3000\ndirectory.id=AAECAwQFBgcICQoLDA0ODw\nversion=1\n"
        "cluster.id=TestClusterId-0123456A\n"
    )


def test_a_first_start_makes_the_files_that_kafka_makes():
    files = formatted()
    assert opened(files).end_offset == 0
    contents = files.contents()
    del contents["meta.properties"]
    assert contents == {
        f"{LOG}/00000000000000000000.log": b"",
        EPOCHS: b"0\n0\n",
        f"{LOG}/partition.metadata": b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ",
    }
    assert files.after_crash("all").contents() == files.contents()


@pytest.mark.parametrize(
    ("epoch", "leader", "voted", "version", "text"),
    [
        (
            3,
            None,
            VOTE,
            0,
            '{"clusterId":"","leaderId":-1,"leaderEpoch":3,"votedId":3001,"appliedOffset":0,'
            '"currentVoters":[{"voterId":3000},{"voterId":3001},{"voterId":3002}],'
            '"data_version":0}',
        ),
        (
            4,
            NodeId(3002),
            None,
            1,
            '{"leaderId":3002,"leaderEpoch":4,"votedId":-1,'
            '"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}',
        ),
        (
            4,
            NodeId(3002),
            VOTE,
            1,
            '{"leaderId":3002,"leaderEpoch":4,"votedId":3001,'
            '"votedDirectoryId":"AAECAwQFBgcICQoLDA0ODw","data_version":1}',
        ),
        (
            5,
            None,
            ReplicaKey(NodeId(3001)),
            1,
            '{"leaderId":-1,"leaderEpoch":5,"votedId":3001,'
            '"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}',
        ),
    ],
)
def test_the_quorum_state_is_kafkas_line_and_read_as_it_was_written(
    epoch, leader, voted, version, text
):
    storage, files = recording()
    storage.write_quorum_state(epoch, leader, voted, version)
    assert files.read(STATE).decode() == text
    assert files.asked == replacing("quorum-state", len(text))
    state = RaftStorage(files).open(CLUSTER, NODE).quorum_state
    assert state is not None
    assert (state.leader_epoch, state.version) == (epoch, version)
    assert state.leader_id == (-1 if leader is None else leader)
    assert state.voted_id == (-1 if voted is None else voted.node_id)


def test_a_quorum_state_of_no_known_version_is_not_written():
    storage, files = recording()
    with pytest.raises(ValueError, match="data version 2"):
        storage.write_quorum_state(1, None, None, 2)
    assert not files.asked


def test_an_epoch_is_written_before_its_first_record_and_no_other_time():
    storage, files = recording()
    first = leader_change_batch(0, 1)
    storage.append((first,))
    storage.append((batch(1, 1),))
    segment = "~000.log"
    size = len(batch(1, 1).raw)
    assert files.asked == [
        *replacing("leader-epoch-checkpoint", 8),
        f"append {segment} {len(first.raw)}",
        f"append {segment} {size}",
    ]
    assert files.read(EPOCHS) == b"0\n1\n1 0\n"
    files.asked.clear()
    storage.flush()
    storage.flush()
    assert files.asked == [f"flush {segment}"]


def test_a_full_segment_is_flushed_before_the_next_begins():
    size = len(batch(0, 1).raw)
    storage, files = recording(2 * size)
    for offset in range(3):
        storage.append((batch(offset, 1),))
    storage.flush()
    assert files.asked[4:] == [
        f"append ~000.log {size}",
        f"append ~000.log {size}",
        "flush ~000.log",
        f"append ~002.log {size}",
        "flush ~002.log",
        f"flush_directory {LOG}",
    ]


def test_batches_that_fit_in_no_segment_are_split_between_them():
    size = len(batch(0, 1).raw)
    storage, files = recording(2 * size)
    storage.append(tuple(batch(offset, 1) for offset in range(5)))
    storage.append((batch(5, 1, 9),))
    names = [name for name in files.contents() if name.endswith(".log")]
    assert names == [f"{LOG}/{offset:020d}.log" for offset in (0, 2, 4, 5)]


def test_an_append_that_would_overfill_a_segment_goes_to_the_next_one_whole():
    size = len(batch(0, 1).raw)
    storage, files = recording(3 * size)
    storage.append((batch(0, 1), batch(1, 1)))
    storage.append((batch(2, 1), batch(3, 1)))
    assert len(files.read(f"{LOG}/00000000000000000000.log")) == 2 * size
    assert len(files.read(f"{LOG}/00000000000000000002.log")) == 2 * size


def test_a_truncation_removes_later_segments_from_the_end_then_cuts_then_drops_epochs():
    size = len(batch(0, 1).raw)
    storage, files = recording(2 * size)
    for offset in range(6):
        storage.append((batch(offset, 1 + offset // 2),))
    storage.flush()
    files.asked.clear()
    storage.truncate(1)
    assert files.asked == [
        "rename ~004.log ~004.log.deleted",
        f"flush_directory {LOG}",
        "remove ~004.log.deleted",
        "rename ~002.log ~002.log.deleted",
        f"flush_directory {LOG}",
        "remove ~002.log.deleted",
        f"truncate ~000.log {size}",
        "flush ~000.log",
        *replacing("leader-epoch-checkpoint", 8),
    ]
    assert files.read(EPOCHS) == b"0\n1\n1 0\n"
    files.asked.clear()
    storage.truncate(1)
    assert not files.asked


def test_a_batch_is_cut_whole():
    storage, files = recording()
    storage.append((batch(0, 1, 2), batch(2, 1, 3)))
    storage.truncate(4)
    assert storage.end_offset == 2
    assert files.read(f"{LOG}/00000000000000000000.log") == batch(0, 1, 2).raw


def test_what_is_asked_wrongly_changes_nothing():
    storage, files = recording()
    storage.append((batch(0, 1, 4),))
    storage.write_snapshot(*snapshot(4, 1))
    storage.clean(OffsetAndEpoch(4, 1))
    files.asked.clear()
    with pytest.raises(ValueError, match="a batch at offset 5, the log ends at 4"):
        storage.append((batch(5, 1),))
    with pytest.raises(ValueError, match="a batch at offset 7, the log ends at 5"):
        storage.append((batch(4, 2), batch(7, 2)))
    with pytest.raises(ValueError, match=r"offset 3 is not in 4 \.\. 4"):
        storage.truncate(3)
    with pytest.raises(ValueError, match=r"offset 5 is not in 4 \.\. 4"):
        storage.clean(OffsetAndEpoch(5, 1))
    storage.append(())
    assert not files.asked


def test_static_voters_are_those_of_the_configuration():
    files = formatted()
    storage = RaftStorage(files, voters=VOTERS[:1])
    storage.open(CLUSTER, NODE)
    storage.write_quorum_state(1, None, None, 0)
    assert b'"currentVoters":[{"voterId":3001}]' in files.read(STATE)
