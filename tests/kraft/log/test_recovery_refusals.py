"""Files that no crash leaves: a start refuses them with place and remedy, and changes nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.kraft.log.crashing_files import CrashingFiles
from tests.kraft.log.log_samples import (
    CLUSTER,
    DIRECTORY,
    LOG,
    NODE,
    batch,
    formatted,
    opened,
    snapshot,
)

from kraft.ids import NodeId, OffsetAndEpoch, ReplicaKey, uuid_text
from kraft.log.identity import format_directory
from kraft.log.raft_storage import RaftStorage
from kraft.log.unusable import UnusableLogError

if TYPE_CHECKING:
    from collections.abc import Callable

Contents = dict[str, bytes]
SECOND = f"{LOG}/00000000000000000004.log"
LAST = f"{LOG}/00000000000000000008.log"
FIRST = f"{LOG}/00000000000000000000.log"
EPOCHS = f"{LOG}/leader-epoch-checkpoint"
STATE = f"{LOG}/quorum-state"
OTHER = uuid_text(bytes(16 * [7]))


def used() -> Contents:
    """Return the files of a log of three segments, two epochs and a snapshot at offset 6."""
    files = formatted()
    storage = opened(files, 300)
    storage.write_quorum_state(2, NODE, ReplicaKey(NODE, DIRECTORY), 1)
    for offset in range(0, 12, 2):
        storage.append((batch(offset, 1 + offset // 6, 2),))
    storage.flush()
    storage.write_snapshot(*snapshot(6, 1))
    contents = files.contents()
    assert {FIRST, SECOND, LAST} == {name for name in contents if name.endswith(".log")}
    return contents


def cleaned() -> Contents:
    """Return the files of the same log after it was cleaned: it begins at 6, in SECOND."""
    files = CrashingFiles.of(used())
    opened(files, 300).clean(OffsetAndEpoch(6, 1))
    contents = files.contents()
    assert FIRST not in contents
    return contents


def put(name: str, data: bytes | str) -> Callable[[Contents], None]:
    def change(contents: Contents) -> None:
        contents[name] = data.encode() if isinstance(data, str) else data

    return change


def without(*names: str) -> Callable[[Contents], None]:
    def change(contents: Contents) -> None:
        for name in names:
            del contents[name]

    return change


def flipped(name: str, position: int) -> Callable[[Contents], None]:
    def change(contents: Contents) -> None:
        data = bytearray(contents[name])
        data[position] ^= 1
        contents[name] = bytes(data)

    return change


def replaced(name: str, old: str, new: str) -> Callable[[Contents], None]:
    def change(contents: Contents) -> None:
        assert old.encode() in contents[name]
        contents[name] = contents[name].replace(old.encode(), new.encode())

    return change


def renamed(name: str, new_name: str) -> Callable[[Contents], None]:
    def change(contents: Contents) -> None:
        contents[new_name] = contents.pop(name)

    return change


def with_snapshot(end_offset: int, epoch: int) -> Callable[[Contents], None]:
    name = f"{LOG}/{end_offset:020d}-{epoch:010d}.checkpoint"
    return put(name, snapshot(end_offset, epoch)[1])


def snapshot_file(end_offset: int, epoch: int) -> str:
    return f"{end_offset:020d}-{epoch:010d}.checkpoint"


STATE_CASES = [
    (put(STATE, ""), "quorum-state: 0 lines"),
    (put(STATE, "{"), "quorum-state: not valid JSON"),
    (put(STATE, "\xff".encode("latin-1")), r"quorum-state: invalid UTF-8.*\(byte 0\)"),
    (put(STATE, '{"leaderId":1,"data_version":1}'), "quorum-state: fields missing or unknown"),
    (replaced(STATE, '"data_version":1', '"data_version":2'), "quorum-state data_version 2"),
    (replaced(STATE, '"leaderEpoch":2', '"leaderEpoch":-1'), "negative epoch.*field leaderEpoch"),
]
SEGMENT_CASES = [
    (without(SECOND), "00000000000000000008.log: a segment is missing before it.* offset 4"),
    (without(FIRST, SECOND, LAST), "__cluster_metadata-0: the log has been used, and no segment"),
    (
        put(f"{LOG}/00000000000000000006.log", batch(6, 2, 2).raw),
        "00000000000000000006.log: a segment is there without need: the log.* ends at offset 8",
    ),
    (
        put(f"{LOG}/00000000000000000020.log", b""),
        "00000000000000000020.log: a segment is missing before it: the log.* ends at offset 12",
    ),
    (
        renamed(LAST, f"{LOG}/00000000000000000009.log"),
        "00000000000000000009.log: a segment is mis",
    ),
    (put(LAST, batch(9, 2).raw), r"00000000000000000008.log: the segment begins with offset 9"),
    (put(LAST, batch(8, 1, 4).raw), "epoch 1 at offset 8 after epoch 2"),
    (flipped(FIRST, 100), r"00000000000000000000.log: CRC-32C.*\(byte 17, batch at offset 0\)"),
    (flipped(LAST, 100), r"00000000000000000008.log: CRC-32C.*\(byte 17, batch at offset 8\)"),
    (flipped(SECOND, 8), r"00000000000000000004.log: batch length .*\(byte 8, batch at offset 4\)"),
    (
        put(SECOND, (batch(4, 1, 2).raw + batch(6, 2, 2).raw)[:-3]),
        r"00000000000000000004.log: .*but another segment follows \(byte \d+\)",
    ),
]
SNAPSHOT_CASES = [
    (with_snapshot(20, 1), f"{snapshot_file(20, 1)}: the snapshot ends after the log.* epoch 2"),
    (with_snapshot(8, 1), f"{snapshot_file(8, 1)}: the snapshot is of epoch 1.* epoch 2 before"),
    (with_snapshot(6, 2), f"{snapshot_file(6, 2)}: a snapshot of all before.*cannot be of one"),
    (with_snapshot(4, 2), f"{snapshot_file(6, 1)}: a snapshot of all before.*cannot be of one"),
    (with_snapshot(0, 3), f"{snapshot_file(0, 3)}: a snapshot of all before"),
    (flipped(f"{LOG}/{snapshot_file(6, 1)}", 150), f"{snapshot_file(6, 1)}: .*CRC.*byte"),
    (put(f"{LOG}/{snapshot_file(6, 1)}", b""), f"{snapshot_file(6, 1)}: .*no SnapshotFooter"),
]
EPOCH_CASES = [
    (put(EPOCHS, "0\n2\n1 0\n2 4\n"), "leader-epoch-checkpoint: its epochs.*2 at 4.*2 at 6"),
    (put(EPOCHS, "0\n1\n1 0\n"), "leader-epoch-checkpoint: its epochs and starts"),
    (put(EPOCHS, "0\n3\n1 0\n2 6\n3 8\n"), "leader-epoch-checkpoint: its epochs.*3 at 8"),
    (put(EPOCHS, ""), "leader-epoch-checkpoint: its epochs and starts in the log are none"),
    (without(EPOCHS), "leader-epoch-checkpoint: its epochs and starts in the log are none"),
    (put(EPOCHS, "0\n2\n1 0\n"), "leader-epoch-checkpoint: 1 entries, line 2 says '2'"),
    (put(EPOCHS, "1\n1\n1 0\n"), "leader-epoch-checkpoint version '1'"),
    (put(EPOCHS, "0\n1\n1 zero\n"), "leader-epoch-checkpoint: line 3 is not"),
]
IDENTITY_CASES = [
    (without("meta.properties"), "meta.properties: no such file: not formatted.*format the"),
    (replaced("meta.properties", CLUSTER, "Other"), "cluster.id is Other, not.*its own log dir"),
    (replaced("meta.properties", "3000", "3001"), "node.id is 3001, not 3000.*its own log dir"),
    (replaced("meta.properties", DIRECTORY, OTHER), f"directory.id is {OTHER}, not {DIRECTORY}"),
    (replaced("meta.properties", "version=1", "version=7"), "meta.properties version '7'"),
    (replaced("meta.properties", "node.id", "?"), "node.id is missing, not 3000"),
    (
        replaced(f"{LOG}/partition.metadata", "AAAAAAAAAAAAAAAAAAAAAQ", OTHER),
        "partition.metadata: not the partition.metadata of the metadata log",
    ),
]


@pytest.mark.parametrize(
    ("change", "message"),
    [*STATE_CASES, *SEGMENT_CASES, *SNAPSHOT_CASES, *EPOCH_CASES, *IDENTITY_CASES],
)
def test_it_is_refused_with_its_place_and_a_remedy_and_no_byte_changes(change, message):
    contents = used()
    contents[f"{LOG}/00000000000000000003-0000000001-7.checkpoint.part"] = b"unfinished"
    opened(CrashingFiles.of(contents))  # as it was, a start is fine with it
    change(contents)
    assert_refused(contents, message)


def assert_refused(contents: Contents, message: str) -> None:
    files = CrashingFiles.of(contents)
    with pytest.raises(UnusableLogError) as caught:
        opened(files)
    text = str(caught.value)
    assert re.search(message, text), text
    assert text.startswith("/disk/")
    assert text.endswith(f"; {caught.value.remedy}")
    assert "\n" not in text
    assert files.contents() == dict(sorted(contents.items()))
    assert files.operations == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without(f"{LOG}/{snapshot_file(6, 1)}"), "00000000000000000004.log: the log begins at of"),
        (
            put(f"{LOG}/{snapshot_file(6, 1)}", snapshot(6, 2)[1]),
            "epoch 2 in a checkpoint of epoch 1",
        ),
        (renamed(f"{LOG}/{snapshot_file(6, 1)}", f"{LOG}/{snapshot_file(5, 1)}"), "begins at off"),
        (without(SECOND), "00000000000000000008.log: the log begins at offset 8, and no snapshot"),
    ],
)
def test_a_log_that_begins_later_needs_the_snapshot_of_what_was_before(change, message):
    contents = cleaned()
    change(contents)
    assert_refused(contents, message)


def test_without_its_older_segments_a_log_begins_at_a_snapshot_that_has_what_was_in_them():
    contents = used()
    del contents[FIRST]
    found = RaftStorage(CrashingFiles.of(contents)).open(CLUSTER, NODE, DIRECTORY)
    assert (found.log.start_offset, found.log.end_offset) == (6, 12)


def test_a_log_that_begins_within_its_first_segment_needs_its_snapshot_as_well():
    files = formatted()
    storage = opened(files, 100_000)
    storage.append((batch(0, 1, 2), batch(2, 1, 2)))
    storage.flush()
    storage.write_snapshot(*snapshot(2, 1))
    storage.clean(OffsetAndEpoch(2, 1))
    contents = files.contents()
    del contents[f"{LOG}/{snapshot_file(2, 1)}"]
    assert_refused(
        contents, "00000000000000000000.log: the log begins at offset 2, and no snapshot"
    )


def test_a_snapshot_of_a_younger_epoch_than_the_log_that_follows_it_is_refused():
    files = formatted()
    storage = opened(files)
    storage.write_snapshot(*snapshot(6, 3))
    storage.truncate_to_snapshot(OffsetAndEpoch(6, 3))
    storage.append((batch(6, 3),))
    storage.flush()
    contents = files.contents()
    contents[f"{LOG}/00000000000000000006.log"] = batch(6, 2).raw
    contents[EPOCHS] = b"0\n1\n2 6\n"
    # Kafka would begin anew from the snapshot, and lose what follows it.
    assert_refused(
        contents, f"{snapshot_file(6, 3)}: the log does not go on from it: a batch of epoch 2"
    )


def test_who_does_not_say_its_node_or_disk_is_not_asked_for_them():
    found = RaftStorage(CrashingFiles.of(used())).open(CLUSTER, None)
    assert found.directory_id == DIRECTORY
    assert found.log.end_offset == 12


def test_a_formatted_directory_is_not_formatted_again():
    files = CrashingFiles.of(used())
    before = files.contents()
    with pytest.raises(UnusableLogError, match="formatted already"):
        format_directory(files, CLUSTER, NodeId(1), DIRECTORY)
    assert files.contents() == before


def test_a_cluster_id_that_cannot_be_written_is_refused_before_anything_is():
    files = CrashingFiles()
    with pytest.raises(ValueError, match="not a cluster id"):
        format_directory(files, "a=b", NODE, DIRECTORY)
    assert files.contents() == {}
