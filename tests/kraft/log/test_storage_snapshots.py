"""The snapshots of the storage, and what leaves the log for them."""

from __future__ import annotations

import pytest
from tests.kraft.log.log_samples import (
    LOG,
    batch,
    snapshot,
)
from tests.kraft.log.recording_files import EPOCHS, recording, replacing

from kraft.ids import OffsetAndEpoch
from kraft.log.examination import SegmentIndex


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
        index.add(batch(offset, 1, 2), 50)
    index.forget_before(7)
    assert index.offsets == [6, 8, 10]
    assert index.positions == [150, 200, 250]
    index.forget_before(12)
    assert index.offsets == [10]
    index.forget_before(7)
    assert index.offsets == [10]
