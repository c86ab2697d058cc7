"""The file of a snapshot: what Kafka's has, byte by byte, and what ours must have to be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraft.errors import CorruptRecordError
from kraft.ids import OffsetAndEpoch, ReplicaKey
from kraft.log.batches import controls_batch, data_batch, read_batches
from kraft.log.checkpoint import read_checkpoint
from kraft.raft.snapshot_file import SnapshotContent, read_snapshot, snapshot_bytes
from kraft.raft.voter_records import (
    snapshot_footer_record,
    snapshot_header_record,
    version_record,
    voters_record,
)
from kraft.raft.voters import Voter, VoterSet
from kraft.records.control_schemas import (
    KRAFT_VERSION,
    KRAFT_VOTERS,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
)
from kraft.rpc.endpoints import Endpoint

TRACES = Path(__file__).parents[3] / "traces" / "kafka-4.1"
REAL = sorted(TRACES.rglob("*.checkpoint"))
SNAPSHOT_ID = OffsetAndEpoch(7, 3)
NO_OP = b"\x01\x14\x00\x00"
HEADER, FOOTER = snapshot_header_record(12), snapshot_footer_record()
DISK = "disk-of-one-AAAAAAAAAA"
TWO = VoterSet.of(
    [
        Voter(ReplicaKey(1, DISK), (Endpoint("CONTROLLER", "one", 9093),)),
        Voter(ReplicaKey(2, None), (), 0, 3),
    ]
)

NAMES = st.text("abcz.-", min_size=1, max_size=8)
VOTER_SETS = st.lists(
    st.builds(
        Voter,
        st.builds(ReplicaKey, st.integers(0, 2**31 - 1), st.sampled_from([DISK, None])),
        st.lists(st.builds(Endpoint, NAMES, NAMES, st.integers(0, 65535)), max_size=3).map(tuple),
        st.integers(0, 1),
        st.integers(1, 5),
    ),
    max_size=4,
    unique_by=lambda voter: voter.key.node_id,
).map(VoterSet.of)
VALUES = st.lists(st.just(NO_OP), max_size=20).map(tuple)


def kinds(data):
    return [
        [kind for kind, _ in batch.controls] or len(batch.values) for batch in read_batches(data)
    ]


def in_file(folder, data, snapshot_id=SNAPSHOT_ID):
    path = folder / f"{snapshot_id.end_offset:020d}-{snapshot_id.epoch:010d}.checkpoint"
    path.write_bytes(data)
    return list(read_checkpoint(path))


def test_there_are_real_snapshots_to_compare_with():
    assert len(REAL) >= 2


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_real_snapshot_is_written_again_byte_by_byte(path):
    batches = list(read_checkpoint(path))
    content = read_snapshot(path.read_bytes())
    assert (content.version, content.voters) == (0, None)
    assert len(content.values) == sum(batch.count for batch in batches) - 2
    end_offset, epoch = path.stem.split("-")
    snapshot_id = OffsetAndEpoch(int(end_offset), int(epoch))
    for index, batch in enumerate(batches):
        # Kafka looks at its clock for each batch, we once for the file.
        ours = snapshot_bytes(
            snapshot_id, content.values, None, 0, content.last_timestamp, batch.base_timestamp
        )
        written = read_batches(ours)
        assert len(written) == len(batches)
        assert written[index].raw == batch.raw


def test_with_kraft_version_one_the_first_batch_tells_the_version_and_the_voters():
    data = snapshot_bytes(SNAPSHOT_ID, [NO_OP] * 3, TWO, 1, 12)
    assert kinds(data) == [
        [SNAPSHOT_HEADER.api_key, KRAFT_VERSION.api_key, KRAFT_VOTERS.api_key],
        3,
        [SNAPSHOT_FOOTER.api_key],
    ]
    assert {batch.epoch for batch in read_batches(data)} == {SNAPSHOT_ID.epoch}


def test_with_kraft_version_zero_the_voters_are_in_no_snapshot():
    assert kinds(snapshot_bytes(SNAPSHOT_ID, [], TWO, 0, 12)) == [
        [SNAPSHOT_HEADER.api_key],
        [SNAPSHOT_FOOTER.api_key],
    ]


def test_what_does_not_fit_one_batch_goes_into_several_and_a_large_value_alone():
    large = NO_OP[:3] + b"\x01\x05\x64" + b"x" * 100
    data = snapshot_bytes(SNAPSHOT_ID, [NO_OP] * 5 + [large, NO_OP], None, 0, 12, None, 50)
    assert kinds(data)[1:-1] == [2, 2, 1, 1, 1]
    offsets = [batch.base_offset for batch in read_batches(data)]
    assert offsets == [0, 1, 3, 5, 6, 7, 8]
    assert read_snapshot(data).values == (*[NO_OP] * 5, large, NO_OP)


def test_the_header_tells_when_the_last_record_was_written_and_the_batches_when_the_file_was():
    data = snapshot_bytes(SNAPSHOT_ID, [NO_OP], None, 0, 12, 99)
    assert read_snapshot(data).last_timestamp == 12
    assert data == snapshot_bytes(SNAPSHOT_ID, [NO_OP], None, 0, 12, timestamp=99)
    assert data != snapshot_bytes(SNAPSHOT_ID, [NO_OP], None, 0, 12)


@given(values=VALUES, voters=st.none() | VOTER_SETS, last=st.integers(0, 2**40))
def test_what_is_written_is_read_and_passes_the_reader_of_kafkas_snapshots(
    tmp_path_factory, values, voters, last
):
    data = snapshot_bytes(SNAPSHOT_ID, values, voters, 1, last)
    assert read_snapshot(data) == SnapshotContent(voters, 1, values, last)
    batches = in_file(tmp_path_factory.mktemp("snapshot"), data)
    assert sum(batch.count for batch in batches) == len(values) + 3 + (voters is not None)
    assert b"".join(batch.raw for batch in batches) == data


def control_file(*batches):
    """Return batches of control records, or of as many data records, one after the other."""
    data, offset = b"", 0
    for records in batches:
        if isinstance(records, int):
            batch = data_batch(offset, 3, 0, [NO_OP] * records)
        else:
            batch = controls_batch(offset, 3, 0, records)
        data, offset = data + batch.raw, batch.end_offset
    return data


@pytest.mark.parametrize(
    ("batches", "reason"),
    [
        ((), r"the snapshot is empty \(byte 0\)"),
        ((1, [HEADER], [FOOTER]), "does not start with a SnapshotHeader"),
        (([version_record(1), HEADER], [FOOTER]), "does not start with a SnapshotHeader"),
        (([HEADER],), "no SnapshotFooter at its end"),
        (([HEADER], [FOOTER], 1), "no SnapshotFooter at its end"),
        (([HEADER], [FOOTER, version_record(1)]), "no SnapshotFooter at its end"),
        (([HEADER, HEADER], [FOOTER]), "a second SnapshotHeader or SnapshotFooter"),
        (([HEADER], [FOOTER], 1, [FOOTER]), "a second SnapshotHeader or SnapshotFooter"),
        (
            ([HEADER, version_record(1), version_record(1)], [FOOTER]),
            r"a second KRaftVersion .*offset 0",
        ),
        (([HEADER, voters_record(TWO), voters_record(TWO)], [FOOTER]), "a second KRaftVoters"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_file_that_is_no_whole_snapshot_is_refused(batches, reason):
    with pytest.raises(CorruptRecordError, match=reason):
        read_snapshot(control_file(*batches))


def test_a_hole_between_two_batches_is_refused():
    data = controls_batch(0, 3, 0, [HEADER]).raw + controls_batch(2, 3, 0, [FOOTER]).raw
    with pytest.raises(CorruptRecordError, match="starts at offset 2, not 1"):
        read_snapshot(data)


@given(st.data())
def test_a_damaged_byte_is_noticed_or_changes_nothing_that_counts(data):
    whole = snapshot_bytes(SNAPSHOT_ID, [NO_OP] * 2, TWO, 1, 12)
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged = bytearray(whole)
    damaged[place] ^= data.draw(st.integers(1, 255))
    try:
        content = read_snapshot(bytes(damaged))
    except CorruptRecordError:
        return
    assert content == read_snapshot(whole)
