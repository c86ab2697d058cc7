"""The files of the storage: their bytes, the order they are written in, and wrong requests."""

from __future__ import annotations

import pytest
from tests.kraft.log.crashing_files import CrashingFiles
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

from kraft.ids import NodeId, OffsetAndEpoch, ReplicaKey
from kraft.log.examination import SegmentIndex
from kraft.log.identity import format_directory
from kraft.log.raft_storage import RaftStorage

EPOCHS = f"{LOG}/leader-epoch-checkpoint"
STATE = f"{LOG}/quorum-state"
VOTE = ReplicaKey(NodeId(3001), DIRECTORY)


class Recorder(CrashingFiles):
    """A disk that keeps what it was asked to change, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def append(self, name: str, data: bytes) -> None:
        super().append(name, data)
        self.asked.append(f"append {short(name)} {len(data)}")

    def truncate(self, name: str, size: int) -> None:
        super().truncate(name, size)
        self.asked.append(f"truncate {short(name)} {size}")

    def flush(self, name: str) -> None:
        super().flush(name)
        self.asked.append(f"flush {short(name)}")

    def rename(self, name: str, new_name: str) -> None:
        super().rename(name, new_name)
        self.asked.append(f"rename {short(name)} {short(new_name)}")

    def remove(self, name: str) -> None:
        super().remove(name)
        self.asked.append(f"remove {short(name)}")

    def flush_directory(self, directory: str) -> None:
        super().flush_directory(directory)
        self.asked.append(f"flush_directory {directory}")


def short(name: str) -> str:
    return name.removeprefix(f"{LOG}/").replace("00000000000000000", "~").replace("0000000", "~")


def recording(segment_bytes: int = 100_000) -> tuple[RaftStorage, Recorder]:
    """Return a storage that has started, and its disk, which has recorded nothing yet."""
    files = Recorder()
    format_directory(files, CLUSTER, NODE, DIRECTORY)
    storage = opened(files, segment_bytes)
    files.asked.clear()
    return storage, files


def replacing(name: str, size: int) -> list[str]:
    return [
        f"append {name}.tmp {size}",
        f"flush {name}.tmp",
        f"rename {name}.tmp {name}",
        f"flush_directory {LOG}",
    ]


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


def test_a_snapshot_is_flushed_before_it_gets_its_name():
    storage, files = recording()
    storage.append((batch(0, 1, 6),))
    snapshot_id, data = snapshot(6, 1)
    files.asked.clear()
    storage.write_snapshot(snapshot_id, data)
    part, name = "~006-~001-0.checkpoint.part", "~006-~001.checkpoint"
    assert files.asked == [
        f"append {part} {len(data)}",
        f"flush {part}",
        f"rename {part} {name}",
        f"flush_directory {LOG}",
    ]
    files.asked.clear()
    storage.write_snapshot(snapshot_id, b"another")
    assert not files.asked


def test_pieces_of_a_snapshot_make_the_same_file():
    storage, files = recording()
    snapshot_id, data = snapshot(9, 2)
    storage.write_snapshot_part(OffsetAndEpoch(5, 1), 0, b"given up")
    storage.write_snapshot_part(snapshot_id, 0, b"begun and lost")
    storage.write_snapshot_part(snapshot_id, 0, data[:10])
    storage.write_snapshot_part(snapshot_id, 10, data[10:])
    storage.freeze_snapshot(snapshot_id)
    assert {n: d for n, d in files.contents().items() if "checkpoint." in n or "-000" in n} == {
        f"{LOG}/00000000000000000009-0000000002.checkpoint": data
    }


def test_a_snapshot_of_its_own_leaves_the_pieces_of_another_alone():
    storage, files = recording()
    storage.append((batch(0, 1, 6),))
    own, others = snapshot(6, 1), snapshot(9, 2)
    storage.write_snapshot_part(others[0], 0, others[1][:10])
    storage.write_snapshot(*own)
    storage.write_snapshot_part(others[0], 10, others[1][10:])
    storage.freeze_snapshot(others[0])
    assert files.read(f"{LOG}/00000000000000000006-0000000001.checkpoint") == own[1]
    assert files.read(f"{LOG}/00000000000000000009-0000000002.checkpoint") == others[1]


def test_pieces_that_do_not_follow_are_refused():
    storage, files = recording()
    snapshot_id, data = snapshot(9, 2)
    with pytest.raises(ValueError, match="a piece at byte 10 of a snapshot with 0 bytes"):
        storage.write_snapshot_part(snapshot_id, 10, data)
    with pytest.raises(ValueError, match="nothing is written"):
        storage.freeze_snapshot(snapshot_id)
    storage.write_snapshot_part(snapshot_id, 0, data[:9])
    with pytest.raises(ValueError, match="a piece at byte 10 of a snapshot with 9 bytes"):
        storage.write_snapshot_part(snapshot_id, 10, data)
    assert len(files.asked) == 1


def test_a_log_that_begins_anew_loses_its_epochs_first_and_its_old_snapshots_last():
    size = len(batch(0, 1).raw)
    storage, files = recording(2 * size)
    storage.append((batch(0, 1), batch(1, 1)))
    storage.append((batch(2, 1),))
    storage.flush()
    storage.write_snapshot(*snapshot(2, 1))
    storage.write_snapshot(*snapshot(9, 4))
    files.asked.clear()
    storage.truncate_to_snapshot(OffsetAndEpoch(9, 4))
    old = "~002-~001.checkpoint"
    assert files.asked == [
        *replacing("leader-epoch-checkpoint", 4),
        "rename ~002.log ~002.log.deleted",
        f"flush_directory {LOG}",
        "remove ~002.log.deleted",
        "rename ~000.log ~000.log.deleted",
        f"flush_directory {LOG}",
        "remove ~000.log.deleted",
        "append ~009.log 0",
        "flush ~009.log",
        f"flush_directory {LOG}",
        f"rename {old} {old}.deleted",
        f"flush_directory {LOG}",
        f"remove {old}.deleted",
    ]
    storage.append((batch(9, 4),))
    assert files.read(EPOCHS) == b"0\n1\n4 9\n"


def test_a_clean_moves_the_first_epoch_and_removes_what_is_wholly_before():
    size = len(batch(0, 1).raw)
    storage, files = recording(2 * size)
    for offset in range(6):
        storage.append((batch(offset, 1 + offset // 5),))
    storage.flush()
    for end in (1, 3):
        storage.write_snapshot(*snapshot(end, 1))
    files.append(f"{LOG}/00000000000000000000.index", b"of Kafka")
    files.asked.clear()
    storage.clean(OffsetAndEpoch(3, 1))
    old = "~001-~001.checkpoint"
    assert files.asked == [
        *replacing("leader-epoch-checkpoint", 12),
        "rename ~000.log ~000.log.deleted",
        "rename ~000.index ~000.index.deleted",
        f"flush_directory {LOG}",
        "remove ~000.log.deleted",
        "remove ~000.index.deleted",
        f"rename {old} {old}.deleted",
        f"flush_directory {LOG}",
        f"remove {old}.deleted",
    ]
    assert files.read(EPOCHS) == b"0\n2\n1 3\n2 5\n"


@pytest.mark.parametrize("end", range(7, 13))
def test_a_log_that_was_cleaned_is_cut_where_it_would_be_otherwise(end):
    (storage, files), (other, whole) = recording(), recording()
    for one in (storage, other):
        for offset in range(0, 12, 2):
            one.append((batch(offset, 1, 2),))
    storage.write_snapshot(*snapshot(7, 1))
    storage.clean(OffsetAndEpoch(7, 1))
    storage.truncate(end)
    other.truncate(end)
    assert storage.end_offset == other.end_offset
    name = f"{LOG}/{0:020}.log"
    assert files.read(name) == whole.read(name)


def test_a_segment_forgets_the_places_of_batches_that_are_cleaned():
    index = SegmentIndex(0, 0)
    for offset in range(0, 12, 2):
        index.add(batch(offset, 1, 2))
    index.forget_before(7)
    assert index.offsets == [6, 8, 10]
    assert index.positions == [n * len(batch(0, 1, 2).raw) for n in (3, 4, 5)]
    index.forget_before(12)
    assert index.offsets == [10]
    index.forget_before(7)
    assert index.offsets == [10]


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
