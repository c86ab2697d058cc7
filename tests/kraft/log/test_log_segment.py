"""Segments and checkpoints on disk: order, continuity, torn and zero tails, things not files."""

from __future__ import annotations

import gzip
import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.kraft.records.samples import leader_change, no_ops, small_log

from kraft.errors import (
    CorruptRecordError,
    DiscontinuityError,
    LimitExceededError,
    TornTailError,
    UnreadableFileError,
    UnsupportedVersionError,
)
from kraft.log.checkpoint import Checkpoint, checkpoint_at, read_checkpoint
from kraft.log.findings import FindingKind
from kraft.log.segment import (
    BatchBefore,
    LogPlace,
    Segment,
    iter_batches,
    read_segments,
    segment_at,
)
from kraft.records.batch import parse_batch
from kraft.records.builder import control_batch
from kraft.records.limits import Limits

FIRST = "00000000000000000000.log"
HEADER = (3, {"version": 0, "lastContainedLogTimestamp": 7})
FOOTER = (4, {"version": 0})


def write(path: Path, *parts: bytes) -> Path:
    path.write_bytes(b"".join(parts))
    return path


def offsets(batches) -> list[tuple[int, int]]:
    return [(batch.base_offset, batch.last_offset) for batch in batches]


def test_a_segment_yields_its_batches_in_order(tmp_path):
    path = write(tmp_path / FIRST, *small_log())
    batches = list(iter_batches(path))
    assert offsets(batches) == [(0, 0), (1, 35), (36, 38)]
    assert [batch.position for batch in batches] == [
        0,
        batches[0].size,
        batches[0].size + batches[1].size,
    ]
    assert len(batches[1].metadata_records()) == 35


def test_a_gzipped_segment_reads_like_the_plain_one(tmp_path):
    plain = write(tmp_path / FIRST, *small_log())
    packed = write(tmp_path / f"{FIRST}.gz", gzip.compress(plain.read_bytes()))
    assert [b.raw for b in iter_batches(packed)] == [b.raw for b in iter_batches(plain)]


def test_names_say_what_a_file_is():
    assert segment_at(Path("x/00000000000000000042.log")) == Segment(
        42, Path("x/00000000000000000042.log")
    )
    for name in ("42.log", FIRST + ".part", "0000000000000000000x.log", FIRST + ".deleted"):
        assert segment_at(Path(name)) is None
    name = "00000000000000000929-0000000012.checkpoint"
    assert checkpoint_at(Path(name)) == Checkpoint(929, 12, Path(name))
    for other in ("929-12.checkpoint", "bootstrap.checkpoint", name + ".part"):
        assert checkpoint_at(Path(other)) is None


def test_an_empty_segment_is_a_finding_not_an_error(tmp_path):
    findings = []
    assert list(iter_batches(write(tmp_path / FIRST), findings=findings)) == []
    assert [finding.kind for finding in findings] == [FindingKind.EMPTY_SEGMENT]


@pytest.mark.parametrize("kept", [1, 5, 16, 17, 40, 60, 61, 71])
def test_a_torn_tail_is_not_corruption(tmp_path, kept):
    first, second = leader_change(), no_ops(1)
    path = write(tmp_path / FIRST, first, second[:kept])
    read = []
    with pytest.raises(TornTailError, match="the file ends after") as caught:
        read.extend(iter_batches(path))
    assert caught.value.position == len(first)
    findings = []
    assert offsets(iter_batches(path, findings=findings)) == [(0, 0)]
    assert [finding.kind for finding in findings] == [FindingKind.TORN_TAIL]
    assert str(path) in str(findings[0])


@pytest.mark.parametrize("zeros", [17, 60, 61, 200_000])
def test_a_tail_of_zeros_was_preallocated(tmp_path, zeros):
    path = write(tmp_path / FIRST, leader_change(), bytes(zeros))
    findings = []
    assert offsets(iter_batches(path, findings=findings)) == [(0, 0)]
    assert [finding.kind for finding in findings] == [FindingKind.ZERO_TAIL]
    assert offsets(iter_batches(path)) == [(0, 0)]


def test_zeros_before_something_else_are_corrupt(tmp_path):
    path = write(tmp_path / FIRST, leader_change(), bytes(100), b"\x01")
    with pytest.raises(CorruptRecordError, match="magic 0"):
        list(iter_batches(path))


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (no_ops(3), "offset gap: a batch starts at 3, the one before it ends at 0"),
        (no_ops(0), "offset overlap: a batch starts at 0, the one before it ends at 0"),
        (no_ops(1, epoch=0), "epoch 0 at offset 1 after epoch 1 at offset 0"),
    ],
)
def test_batches_that_do_not_follow_each_other_name_both_offsets(tmp_path, second, reason):
    path = write(tmp_path / FIRST, leader_change(), second)
    with pytest.raises(DiscontinuityError, match=reason) as caught:
        list(iter_batches(path))
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("length", "kind", "reason"),
    [
        (-1, CorruptRecordError, "negative batch length -1"),
        (13, CorruptRecordError, "less than 49"),
        (2**31 - 1, LimitExceededError, "above the cap"),
        (5000, TornTailError, "of 5012 bytes of a batch"),
    ],
)
def test_a_length_is_judged_before_anything_is_read(tmp_path, length, kind, reason):
    raw = no_ops(0)[:-1]
    path = write(tmp_path / FIRST, raw[:8], length.to_bytes(4, "big", signed=True), raw[12:])
    with pytest.raises(kind, match=reason) as caught:
        list(iter_batches(path))
    assert type(caught.value) is kind


def test_old_formats_are_unsupported_not_corrupt(tmp_path):
    raw = bytearray(no_ops(0))
    raw[16] = 1
    with pytest.raises(UnsupportedVersionError, match="magic 1"):
        list(iter_batches(write(tmp_path / FIRST, bytes(raw))))


def test_segments_continue_each_other(tmp_path):
    second = write(tmp_path / "00000000000000000001.log", no_ops(1, 2))
    first = write(tmp_path / FIRST, leader_change())
    segments = [Segment(1, second), Segment(0, first)]
    assert offsets(read_segments(segments)) == [(0, 0), (1, 2)]


@pytest.mark.parametrize(
    ("name", "raw", "reason"),
    [
        ("00000000000000000003.log", no_ops(3), "offset gap: a batch starts at 3"),
        ("00000000000000000001.log", no_ops(2), "is named 1 and starts with offset 2"),
        ("00000000000000000001.log", no_ops(1, epoch=0), "epoch 0 at offset 1 after epoch 1"),
    ],
)
def test_segments_that_do_not_continue_are_refused(tmp_path, name, raw, reason):
    write(tmp_path / FIRST, leader_change())
    write(tmp_path / name, raw)
    segments = [segment for path in tmp_path.iterdir() if (segment := segment_at(path))]
    with pytest.raises(DiscontinuityError, match=reason):
        list(read_segments(segments))


@pytest.mark.parametrize("following", [1, 2])
def test_a_torn_tail_in_the_middle_of_a_log_is_corrupt(tmp_path, following):
    write(tmp_path / FIRST, leader_change(), no_ops(1)[:-1])
    write(tmp_path / f"{following:020}.log", no_ops(following))
    segments = [segment for path in tmp_path.iterdir() if (segment := segment_at(path))]
    with pytest.raises(CorruptRecordError, match="but another segment follows"):
        list(read_segments(segments, findings=[]))


def test_a_torn_tail_of_the_last_segment_is_a_finding(tmp_path):
    write(tmp_path / FIRST, leader_change())
    write(tmp_path / "00000000000000000001.log", no_ops(1), no_ops(2)[:-1])
    segments = [segment for path in tmp_path.iterdir() if (segment := segment_at(path))]
    findings = []
    assert offsets(read_segments(segments, findings=findings)) == [(0, 0), (1, 1)]
    assert [finding.kind for finding in findings] == [FindingKind.TORN_TAIL]


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_log_is_read_from_each_of_its_batches_on(tmp_path, suffix):
    pack = gzip.compress if suffix else bytes
    write(tmp_path / (FIRST + suffix), pack(leader_change() + no_ops(1, 2) + no_ops(3)))
    write(tmp_path / f"{4:020}.log{suffix}", pack(no_ops(4, 2) + no_ops(6)))
    segments = [segment for path in tmp_path.iterdir() if (segment := segment_at(path))]
    every = list(read_segments(segments))
    assert len(every) == 5
    for number, batch in enumerate(every[1:], 1):
        last = every[number - 1]
        before = BatchBefore(last.base_offset, last.last_offset, last.leader_epoch)
        start = LogPlace(batch.path, batch.position, before)
        if number == 3:
            # Files before the place need not be there.
            (tmp_path / (FIRST + suffix)).unlink()
        assert list(read_segments(segments, start=start)) == every[number:]
        wrong = replace(start, before=replace(before, last_offset=before.last_offset + 1))
        with pytest.raises(DiscontinuityError, match="offset overlap"):
            list(read_segments(segments, start=wrong))


def test_a_log_that_grows_while_it_is_read_gives_what_was_there(tmp_path):
    path = write(tmp_path / FIRST, leader_change(), no_ops(1))
    findings = []
    batches = iter_batches(path, findings=findings)
    assert next(batches).base_offset == 0
    with path.open("ab") as file:
        file.write(no_ops(2))
    assert offsets(batches) == [(1, 1)]
    assert [finding.kind for finding in findings] == [FindingKind.FILE_CHANGED]


def test_a_log_that_shrinks_while_it_is_read_is_torn(tmp_path):
    path = write(tmp_path / FIRST, *[no_ops(n) for n in range(5)])
    batches = iter_batches(path)
    assert next(batches).base_offset == 0
    os.truncate(path, 100)
    with pytest.raises(TornTailError, match="28 of 72 bytes of a batch"):
        list(batches)


def make_directory(path: Path) -> None:
    path.mkdir()


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_loop(path: Path) -> None:
    path.symlink_to(path)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (make_directory, "not a regular file but a directory"),
        (make_fifo, "not a regular file but a FIFO"),
        (make_device, "not a regular file but a character device"),
        (make_loop, "too many levels of symbolic links"),
        (lambda _: None, "no such file or directory"),
    ],
)
def test_only_regular_files_are_read(tmp_path, make, reason):
    path = tmp_path / FIRST
    make(path)
    with pytest.raises(UnreadableFileError, match=reason) as caught:
        list(iter_batches(path))
    assert str(caught.value).startswith(str(path))


def test_a_broken_gzip_file_is_one_error(tmp_path):
    packed = gzip.compress(b"".join(small_log()))
    for raw in (packed[: len(packed) // 2], b"not gzip at all", packed[:-6] + b"\0" * 6):
        path = write(tmp_path / f"{FIRST}.gz", raw)
        with pytest.raises(CorruptRecordError, match="broken gzip file"):
            list(iter_batches(path))


def test_a_gzip_bomb_stops_at_the_cap(tmp_path):
    path = write(tmp_path / f"{FIRST}.gz", gzip.compress(bytes(50 * 1024 * 1024)))
    with pytest.raises(LimitExceededError, match="more than 1048576 bytes"):
        list(iter_batches(path, limits=Limits(file_bytes=1024 * 1024)))


CHECKPOINT = "00000000000000000040-0000000001.checkpoint"


def test_a_checkpoint_has_a_header_records_and_a_footer(tmp_path):
    parts = (
        control_batch(0, 1, 5, [HEADER]),
        no_ops(1, 4),
        control_batch(5, 1, 5, [FOOTER]),
    )
    for name in (CHECKPOINT, "bootstrap.checkpoint"):
        batches = list(read_checkpoint(write(tmp_path / name, *parts)))
        assert offsets(batches) == [(0, 0), (1, 4), (5, 5)]
        assert batches[0].control_records()[0].fields["lastContainedLogTimestamp"] == 7


def bad_checkpoints() -> dict[str, tuple[list[bytes], str]]:
    header, footer = control_batch(0, 1, 5, [HEADER]), control_batch(2, 1, 5, [FOOTER])
    records = no_ops(1)
    return {
        "empty": ([], "no SnapshotFooter"),
        "no header": ([no_ops(0), no_ops(1), footer], "does not start with a SnapshotHeader"),
        "two headers": ([control_batch(0, 1, 5, [HEADER, HEADER]), footer], "second"),
        "no footer": ([header, records], "no SnapshotFooter"),
        "early footer": (
            [header, control_batch(1, 1, 5, [FOOTER]), no_ops(2)],
            "after the SnapshotFooter",
        ),
        "two footers": ([header, control_batch(1, 1, 5, [FOOTER, FOOTER])], "after the Snap"),
        "torn": ([header, records, footer[:-1]], "the file ends after"),
        "other epoch": ([header, no_ops(1, epoch=2)], "epoch 2 in a checkpoint of epoch 1"),
        "other start": ([control_batch(9, 1, 5, [HEADER])], "starts at offset 9, not 0"),
    }


@pytest.mark.parametrize("name", bad_checkpoints())
def test_a_checkpoint_that_is_not_whole_is_corrupt(tmp_path, name):
    parts, reason = bad_checkpoints()[name]
    with pytest.raises(CorruptRecordError, match=reason) as caught:
        list(read_checkpoint(write(tmp_path / CHECKPOINT, *parts)))
    assert not isinstance(caught.value, TornTailError)


def test_a_checkpoint_under_another_name_is_refused(tmp_path):
    with pytest.raises(CorruptRecordError, match="not the name of a checkpoint"):
        list(read_checkpoint(write(tmp_path / "40-1.checkpoint")))


def test_a_batch_can_be_parsed_from_what_the_reader_read(tmp_path):
    (batch, *_) = iter_batches(write(tmp_path / FIRST, *small_log()))
    assert parse_batch(batch.raw).header == batch.header
