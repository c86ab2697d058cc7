"""What a start puts right: torn tails, holes, leftovers, a log that is behind its snapshot."""

from __future__ import annotations

import pytest
from tests.kraft.log.crashing_files import CrashingFiles
from tests.kraft.log.log_samples import CLUSTER, LOG, NODE, batch, formatted, opened, snapshot
from tests.kraft.log.recording_files import EPOCHS, recording

from kraft.ids import OffsetAndEpoch
from kraft.log.examination import SECTOR
from kraft.log.findings import FindingKind
from kraft.log.raft_storage import RaftStorage
from kraft.log.unusable import UnusableLogError
from kraft.records.batch import HEADER_BYTES
from kraft.records.builder import with_crc


@pytest.mark.parametrize(
    ("tail", "kind"),
    [
        (batch(2, 1).raw[:-1], FindingKind.TORN_TAIL),
        (batch(2, 1).raw[:5], FindingKind.TORN_TAIL),
        (bytes(100), FindingKind.ZERO_TAIL),
    ],
)
def test_a_torn_tail_of_the_last_segment_is_cut_and_told(tail, kind):
    storage, files = recording()
    storage.append((batch(0, 1, 2),))
    segment = f"{LOG}/00000000000000000000.log"
    disk = CrashingFiles.of({**files.contents(), segment: batch(0, 1, 2).raw + tail})
    found = RaftStorage(disk).open(CLUSTER, NODE)
    assert found.log.end_offset == 2
    assert [finding.kind for finding in found.findings] == [kind]
    assert found.findings[0].position == len(batch(0, 1, 2).raw)
    assert disk.read(segment) == batch(0, 1, 2).raw


def test_a_hole_in_the_last_segment_is_a_torn_tail_wherever_it_is():
    storage, files = recording()
    first = batch(0, 1, 2)
    storage.append((first,))
    storage.flush()
    added = b"".join(batch(2 + 9 * n, 1, 9).raw for n in range(6))
    whole = first.raw + added
    segment = f"{LOG}/00000000000000000000.log"
    starts = [len(first.raw), *range(SECTOR, len(whole), SECTOR)]
    assert len(starts) > 3
    for begin, end in zip(starts, [*starts[1:], len(whole)], strict=True):
        data = whole[:begin] + bytes(end - begin) + whole[end:]
        disk = CrashingFiles.of({**files.contents(), segment: data})
        found = RaftStorage(disk).open(CLUSTER, NODE)
        assert 2 <= found.log.end_offset < 56
        assert [finding.kind for finding in found.findings] in (
            [FindingKind.TORN_TAIL],
            [FindingKind.ZERO_TAIL],
        )
        assert whole.startswith(disk.read(segment))


def test_a_decayed_bit_in_the_last_segment_is_no_hole():
    storage, files = recording()
    raws = [batch(9 * n, 1, 9).raw for n in range(6)]
    storage.append(tuple(batch(9 * n, 1, 9) for n in range(6)))
    storage.flush()
    segment = f"{LOG}/00000000000000000000.log"
    for position in range(21, sum(map(len, raws)), 61):
        data = bytearray(b"".join(raws))
        data[position] ^= 4
        disk = CrashingFiles.of({**files.contents(), segment: bytes(data)})
        before = disk.contents()
        with pytest.raises(UnusableLogError):
            RaftStorage(disk).open(CLUSTER, NODE)
        assert disk.contents() == before


@pytest.mark.parametrize("broken", range(4))
def test_records_before_the_start_of_the_log_are_not_read_again(broken):
    storage, files = recording()
    batches = [batch(2 * n, 1, 2) for n in range(4)]
    storage.append(batches)
    storage.write_snapshot(*snapshot(4, 1))
    storage.clean(OffsetAndEpoch(4, 1))
    raws = [one.raw for one in batches]
    wrong_delta = bytearray(raws[broken])
    wrong_delta[HEADER_BYTES + 3] = 8
    raws[broken] = with_crc(bytes(wrong_delta))
    segment = f"{LOG}/00000000000000000000.log"
    disk = CrashingFiles.of({**files.contents(), segment: b"".join(raws)})
    if broken < 2:
        log = RaftStorage(disk).open(CLUSTER, NODE).log
        assert (log.start_offset, list(log.batches())) == (4, batches[2:])
        assert all(len(one.values) == 2 for one in log.batches())
    else:
        with pytest.raises(UnusableLogError, match="offset delta 4 in record 0") as raised:
            RaftStorage(disk).open(CLUSTER, NODE)
        assert f"byte {len(raws[0]) * broken + HEADER_BYTES + 3}" in str(raised.value)


def test_a_log_cut_back_to_a_start_within_its_segment_begins_there_again():
    storage, files = recording()
    storage.append((batch(0, 1, 5), batch(5, 2, 5)))
    storage.flush()
    storage.write_snapshot(*snapshot(5, 1))
    storage.clean(OffsetAndEpoch(5, 1))
    storage.truncate(5)
    assert files.read(EPOCHS) == b"0\n1\n1 5\n"
    log = RaftStorage(files).open(CLUSTER, NODE).log
    assert (log.start_offset, log.start_epoch, log.end_offset) == (5, 1, 5)
    storage.append((batch(5, 3),))
    assert files.read(EPOCHS) == b"0\n1\n3 5\n"


@pytest.mark.parametrize("begins_with_segment", [False, True])
def test_where_an_empty_log_begins_is_known_after_its_first_record_is_lost(begins_with_segment):
    storage, files = recording()
    storage.append((batch(0, 1, 5),))
    storage.flush()
    if begins_with_segment:
        storage.write_snapshot(*snapshot(7, 1))
        storage.truncate_to_snapshot(OffsetAndEpoch(7, 1))
    else:
        storage.append((batch(5, 1, 2),))
        storage.flush()
        storage.write_snapshot(*snapshot(7, 1))
        storage.clean(OffsetAndEpoch(7, 1))
    storage.append((batch(7, 3),))
    assert files.read(EPOCHS) == b"0\n1\n3 7\n"
    # The epoch is written before its record, and the record is lost. The first start takes the
    # epoch out of the file; the next one must still know where the log begins.
    for _ in range(3):
        files = files.after_crash("all")
        log = RaftStorage(files).open(CLUSTER, NODE).log
        assert (log.start_offset, log.start_epoch, log.end_offset) == (7, 1, 7)


def test_unfinished_files_go_at_a_start_and_are_told():
    files = formatted()
    opened(files)
    contents = files.contents()
    unfinished = [
        f"{LOG}/00000000000000000000.log.deleted",
        f"{LOG}/00000000000000000007-0000000001-123.checkpoint.part",
        f"{LOG}/00000000000000000007-0000000001.checkpoint.deleted",
        f"{LOG}/quorum-state.tmp",
    ]
    disk = CrashingFiles.of({**contents, **dict.fromkeys(unfinished, b"x"), "other.tmp": b"y"})
    found = RaftStorage(disk).open(CLUSTER, NODE)
    assert [str(finding.path) for finding in found.findings] == [f"/disk/{n}" for n in unfinished]
    assert disk.contents() == {**contents, "other.tmp": b"y"}


def test_a_crash_of_kafka_while_its_log_begins_anew_is_finished():
    storage, files = recording(100)
    storage.append((batch(0, 1, 2),))
    storage.append((batch(2, 1, 2),))
    storage.flush()
    storage.write_snapshot(*snapshot(9, 2))
    contents = files.contents()
    contents[f"{LOG}/00000000000000000009.log"] = b""
    disk = CrashingFiles.of(contents)
    found = RaftStorage(disk).open(CLUSTER, NODE)
    assert (found.log.start_offset, found.log.end_offset, found.log.start_epoch) == (9, 9, 2)
    assert [finding.kind for finding in found.findings] == [FindingKind.BEHIND_SNAPSHOT]
    assert [n for n in disk.contents() if n.endswith(".log")] == [f"{LOG}/00000000000000000009.log"]


def test_records_that_a_killed_process_left_unflushed_are_flushed_by_the_next_start():
    files = formatted()
    opened(files).append((batch(0, 1),))
    assert opened(files).end_offset == 1
    assert opened(files.after_crash("all")).end_offset == 1
