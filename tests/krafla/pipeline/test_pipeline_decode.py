"""Files decoded in pieces: the rows, notes and faults of the whole file, whatever the pieces."""

from __future__ import annotations

import gzip
import io
import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.krafla.pipeline.poison import BOMB_BYTES, poison

from krafla.pipeline.decode import batch_rows, rows_of_pieces
from krafla.pipeline.pieces import Piece, cut, file_id_of
from krafla.pipeline.sources import FileKind, kind_of
from krafla.verdict import KraflaError
from kraft.errors import CorruptRecordError, LimitExceededError, UnreadableFileError
from kraft.log.checkpoint import read_checkpoint
from kraft.log.segment import iter_batches
from kraft.records.builder import metadata_batch, with_crc
from kraft.records.limits import DEFAULT_LIMITS, Limits

REAL = Path(__file__).parents[3] / "traces" / "kafka-4.1"
CLUSTER = "*/*/__cluster_metadata-0"
LOGS = sorted([*REAL.glob(f"{CLUSTER}/*.log"), *REAL.glob(f"{CLUSTER}/*.checkpoint")])
FAULTS = (CorruptRecordError, UnreadableFileError, KraflaError)
FILE = "f" * 32


def fault_of(error):
    """Return all that an error says but the path."""
    if isinstance(error, CorruptRecordError):
        place = error.position, error.base_offset, error.offset, error.field
        return type(error), error.reason, place
    reason = error.reason if isinstance(error, UnreadableFileError) else error.message
    return type(error), reason, getattr(error, "place", None)


def outcome(rows, notes):
    """Return the rows before the first fault, the notes, and the fault."""
    found = []
    try:
        found.extend(rows)
    except FAULTS as error:
        return found, notes, fault_of(error)
    return found, notes, None


def by_kraft(path, limits=DEFAULT_LIMITS):
    """Return the outcome of a segment or checkpoint as the readers of whole files have it."""
    findings = []
    if path.name.endswith((".checkpoint", ".checkpoint.gz")):
        batches = read_checkpoint(path, limits=limits)
    else:
        batches = iter_batches(path, limits=limits, findings=findings)
    rows, _, fault = outcome(batch_rows(batches, FILE), [])
    notes = [] if fault else [f"{one.kind.value}: {one.detail}" for one in findings]
    return rows, notes, fault


def together(name, pieces, limits=DEFAULT_LIMITS):
    notes = []
    return outcome(rows_of_pieces(name, kind_of(name), FILE, pieces, limits, notes), notes)


def grouped(pieces, draw=lambda: False):
    """Return the pieces in groups of whole runs; `draw` says where one more run joins a group."""
    groups = []
    for piece in pieces:
        if groups and (piece.run != piece.number or draw()):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def in_groups(name, groups, limits=DEFAULT_LIMITS):
    """Return the outcome of a file whose groups of pieces are decoded without each other."""
    rows, notes = [], []
    for group in groups:
        more, oddities, fault = together(name, group, limits)
        rows += more
        if fault:
            return rows, [], fault
        notes += oddities
    return rows, notes, None


def cut_bytes(content, name, piece_bytes, limits=DEFAULT_LIMITS):
    return list(cut(io.BytesIO(content), name, kind_of(name), limits, piece_bytes))


def check_pieces(pieces, content):
    """Fail unless the pieces are the bytes, and say of themselves what is true."""
    assert b"".join(piece.content for piece in pieces) == content
    assert [piece.number for piece in pieces] == list(range(len(pieces)))
    assert [piece.is_last for piece in pieces] == [*[False] * (len(pieces) - 1), True]
    position = 0
    for piece in pieces:
        assert piece.position == position
        position += len(piece.content)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parts[-4]}-{path.name}")
@pytest.mark.parametrize("piece_bytes", [1, 61, 500, 4_000, 30_000, 10**9])
def test_the_pieces_of_a_real_log_give_its_rows(path, piece_bytes):
    content = path.read_bytes()
    pieces = cut_bytes(content, path.name, piece_bytes)
    check_pieces(pieces, content)
    assert all(piece.run == piece.number for piece in pieces)
    largest = max(batch.size for batch in iter_batches(path))
    assert all(len(piece.content) <= max(piece_bytes, largest) for piece in pieces)
    expected = by_kraft(path)
    assert expected[0]
    assert expected[2] is None
    assert together(path.name, pieces) == expected
    assert in_groups(path.name, [[piece] for piece in pieces]) == expected
    offsets = [row[3] for table, row in expected[0] if table == "batches"]
    assert [piece.first_offset for piece in pieces] == [
        offset for offset in offsets if offset in {piece.first_offset for piece in pieces}
    ]
    for one, following in pairwise(pieces):
        assert one.first_offset <= following.before.last_offset == following.first_offset - 1


def small(path, count=14):
    batches = list(iter_batches(path))
    return b"".join(batch.raw for batch in (batches if len(batches) <= count else batches[:count]))


SMALL = {
    "log": (LOGS[0].name, small(REAL / "combined/n1/__cluster_metadata-0" / LOGS[0].name)),
    "checkpoint": next((p.name, p.read_bytes()) for p in LOGS if p.name.endswith(".checkpoint")),
}


def damaged(content, draw, starts):
    """Return bytes of which something is wrong, perhaps so that only a number between shows it."""
    at, to = sorted((draw(st.integers(0, len(content))), draw(st.integers(0, len(content)))))
    cut_at, cut_to = sorted((draw(st.sampled_from(starts)), draw(st.sampled_from(starts))))
    batch = draw(st.sampled_from(starts[:-1]))
    field = batch + draw(st.integers(0, 60))
    return draw(
        st.sampled_from(
            [
                content[:at],
                content[:at] + content[to:],
                content[:to] + content[at:],
                content[:cut_at] + content[cut_to:],
                content[:cut_to] + content[cut_at:],
                content[:field] + bytes([content[field] ^ draw(st.integers(1, 255))])
                + content[field + 1 :],
                content[:at] + bytes([content[min(at, len(content) - 1)] ^ 1]) + content[at + 1 :],
                content[:cut_to] + bytes(draw(st.integers(1, 3_000))),
                content[:at] + b"\xff" * draw(st.integers(1, 100)) + content[to:],
                content[:cut_to] + bytes(100) + content[cut_to:],
            ]
        )
    )  # fmt: skip


@settings(max_examples=max(200, settings.default.max_examples))
@given(data=st.data(), which=st.sampled_from(sorted(SMALL)))
def test_the_pieces_of_a_damaged_log_give_the_fault_of_the_whole_at_its_place(
    tmp_path_factory, data, which
):
    name, content = SMALL[which]
    starts = batch_starts(content)
    for _ in range(data.draw(st.integers(1, 2))):
        content = damaged(content, data.draw, starts)
        starts = [start for start in starts if start <= len(content)]
        if len(starts) < 2:
            break
    path = tmp_path_factory.mktemp("log") / name
    path.write_bytes(content)
    expected = by_kraft(path)
    pieces = cut_bytes(content, name, data.draw(st.sampled_from([30, 200, 2_000, 10**6])))
    check_pieces(pieces, content)
    draw = random.Random(data.draw(st.integers(0, 99)))
    for groups in ([pieces], grouped(pieces), grouped(pieces, lambda: draw.random() < 0.5)):
        assert in_groups(name, groups) == expected
    assert (
        in_groups(name + ".gz", [cut_bytes(gzip.compress(content), name + ".gz", 100)]) == expected
    )


def batch_starts(content):
    starts = [0]
    while starts[-1] < len(content):
        starts.append(starts[-1] + 12 + int.from_bytes(content[starts[-1] + 8 : starts[-1] + 12]))
    return starts


def next_offset(content, start):
    return int.from_bytes(content[start : start + 8]) + int.from_bytes(
        content[start + 23 : start + 27]
    ) + 1  # fmt: skip


def test_a_damaged_log_is_cut_in_pieces_of_its_whole_batches_and_one_run_of_the_rest():
    name, content = SMALL["log"]
    start = batch_starts(content)[4]
    broken = content[: start + 16] + b"\x07" + content[start + 17 :]
    pieces = cut_bytes(broken, name, 300)
    runs = [piece.run for piece in pieces]
    rest = next(piece for piece in pieces if piece.position == start)
    assert runs[: rest.number] == [*range(rest.number)]
    assert runs[rest.number :] == [rest.number] * (len(pieces) - rest.number)
    assert len(pieces) - rest.number > 2
    with pytest.raises(AssertionError, match="cannot be decoded without"):
        together(name, pieces[rest.number + 1 :])
    with pytest.raises(AssertionError, match="follows piece"):
        together(name, [pieces[0], pieces[2]])


@pytest.mark.parametrize("piece_bytes", [10, 1_000, 10**7])
def test_every_poison_has_the_reason_and_the_place_of_the_whole_file(tmp_path, piece_bytes):
    limits = Limits(file_bytes=BOMB_BYTES // 2)
    for path, word in poison(tmp_path, LOGS[0]).items():
        if not path.is_file() or path.stat().st_size > 10_000 * piece_bytes:
            continue
        name, content = path.name, path.read_bytes()
        pieces = cut_bytes(content, name, piece_bytes, limits)
        whole = together(name, cut_bytes(content, name, len(content) + 1, limits), limits)
        assert in_groups(name, grouped(pieces), limits) == whole, path
        assert word in " ".join(map(str, whole[2])), path
        if kind_of(name) in (FileKind.SEGMENT, FileKind.CHECKPOINT):
            assert whole == by_kraft(path, limits)


@pytest.mark.parametrize("path", sorted(REAL.glob("*/*/logs/*.log")), ids=str)
def test_the_lines_of_a_server_log_are_the_same_in_any_pieces(path):
    content = path.read_bytes()
    rows, notes, fault = together(path.name, cut_bytes(content, path.name, 10**9))
    assert len(rows) > 10
    assert (notes, fault) == ([], None)
    for name, raw in ((path.name, content), (path.name + ".gz", gzip.compress(content))):
        pieces = cut_bytes(raw, name, 999)
        check_pieces(pieces, raw)
        assert {piece.run for piece in pieces} == {0}
        assert together(name, pieces)[0] == rows


def test_a_file_without_a_byte_is_one_piece(tmp_path):
    name = LOGS[0].name
    (piece,) = cut_bytes(b"", name, 100)
    assert (piece.run, piece.is_last, piece.content) == (0, True, b"")
    assert together(name, [piece]) == ([], ["empty segment: 0 batches"], None)
    checkpoint = SMALL["checkpoint"][0]
    (tmp_path / checkpoint).touch()
    assert together(checkpoint, cut_bytes(b"", checkpoint, 9)) == by_kraft(tmp_path / checkpoint)


def test_a_torn_tail_is_a_note_of_the_piece_that_has_it_and_of_no_other():
    name, content = SMALL["log"]
    pieces = cut_bytes(content[:-5], name, 1)
    assert pieces[-1].first_offset is None
    noted = [together(name, group)[1] for group in grouped(pieces)]
    assert noted[:-1] == [[]] * pieces[-1].run
    assert noted[-1][0].startswith("torn tail: the file ends after")


def test_a_checkpoint_that_ends_early_or_goes_on_is_told_in_any_pieces(tmp_path):
    name, content = SMALL["checkpoint"]
    starts = batch_starts(content)
    end = next_offset(content, starts[-2])
    after = end.to_bytes(8) + content[starts[1] + 8 : starts[2]]
    header = end.to_bytes(8) + content[8 : starts[1]]
    for spoiled in (content[: starts[-2]], content + content, content + after, content + header):
        (tmp_path / name).write_bytes(spoiled)
        expected = by_kraft(tmp_path / name)
        assert expected[2] is not None
        for piece_bytes in (1, 10**6):
            assert in_groups(name, grouped(cut_bytes(spoiled, name, piece_bytes))) == expected


def test_a_batch_before_a_cut_is_compared_with_the_one_after_it(tmp_path):
    name, content = SMALL["log"]
    starts = batch_starts(content)
    epoch = starts[5] + 12
    for spoiled in (
        content[: starts[3]] + content[starts[4] :],
        content[: starts[3]] + content[starts[2] :],
        content[:epoch] + bytes(4) + content[epoch + 4 :],
    ):
        (tmp_path / name).write_bytes(spoiled)
        expected = by_kraft(tmp_path / name)
        assert expected[2][0].__name__ in ("DiscontinuityError", "EpochFallsError")
        assert in_groups(name, grouped(cut_bytes(spoiled, name, 1))) == expected


def test_a_stream_above_the_cap_is_refused_before_it_is_held():
    class Endless:
        asked = 0

        def read(self, length):
            self.asked += length
            return bytes(length if self.asked < 9_000_000 else 0)

    for name in ("server.log", LOGS[0].name):
        stream = Endless()
        with pytest.raises(LimitExceededError, match="more than 3000000 bytes"):
            list(cut(stream, name, kind_of(name), Limits(file_bytes=3_000_000), 100_000))
        assert stream.asked < 6_000_000


def test_a_stream_that_breaks_is_an_unreadable_file():
    class Broken:
        def read(self, _length):
            raise OSError(5, "Input/output error")

    with pytest.raises(UnreadableFileError, match="input/output error"):
        list(cut(Broken(), "server.log", FileKind.SERVER_LOG, DEFAULT_LIMITS))


def test_a_stream_that_gives_few_bytes_at_a_time_is_cut_as_any_other():
    class Slow(io.BytesIO):
        def read(self, length=-1):
            return super().read(min(length, 7))

    name, content = SMALL["log"]
    assert list(cut(Slow(content), name, FileKind.SEGMENT, DEFAULT_LIMITS, 700)) == cut_bytes(
        content, name, 700
    )


def test_an_offset_beyond_64_bits_is_a_fault_and_no_number_of_a_table():
    name, content = SMALL["log"]
    second = next(
        at for at in batch_starts(content) if int.from_bytes(content[at + 57 : at + 61]) > 1
    )
    spoiled = (2**63 - 1).to_bytes(8) + content[second + 8 :]
    rows, _, fault = in_groups(name, grouped(cut_bytes(spoiled, name, 1)))
    assert rows == []
    assert "last offset" in fault[1]
    assert {piece.first_offset for piece in cut_bytes(spoiled, name, 1)} == {None}


def test_a_timestamp_beyond_64_bits_wraps_around_as_in_java():
    plain = metadata_batch(0, 1, 2**63 - 1, [(20, 0, {})])
    header, record = bytearray(plain[:61]), plain[61:]
    record = bytes([record[0] + 2]) + record[1:2] + b"\x80\x01" + record[3:]
    header[8:12] = (49 + len(record)).to_bytes(4)
    spoiled = with_crc(bytes(header) + record)
    for content, timestamp in ((plain, 2**63 - 1), (spoiled, -(2**63) + 63)):
        pieces = cut_bytes(content, LOGS[0].name, 1)
        (_, (_, row)), _, fault = in_groups(LOGS[0].name, grouped(pieces))
        assert fault is None
        assert row[3] == timestamp


def test_a_file_is_known_by_its_name_and_its_bytes():
    one = file_id_of("00000000000000000000.log", "ab" * 32)
    assert len(one) == 32
    assert one == file_id_of("00000000000000000000.log", "ab" * 32)
    assert one != file_id_of("00000000000000000001.log", "ab" * 32)
    assert one != file_id_of("00000000000000000000.log", "ac" * 32)
    assert file_id_of("\udcff.log", "ab" * 32) != file_id_of("\udcfe.log", "ab" * 32)


def test_pieces_are_taken_one_at_a_time():
    name, content = SMALL["log"]
    taken = 0

    def counted():
        nonlocal taken
        for piece in cut_bytes(content, name, 1):
            taken += 1
            yield piece

    rows = rows_of_pieces(name, FileKind.SEGMENT, FILE, counted(), DEFAULT_LIMITS, [])
    next(rows)
    assert taken <= 2
    assert isinstance(next(iter(cut_bytes(content, name, 1))), Piece)
