"""Record batches: header checks, CRC, record framing, compression, control records."""

from __future__ import annotations

import struct
from pathlib import Path

import cramjam
import lz4.frame
import pytest
import zstandard
from tests.kraft.records.lengths import with_length
from tests.kraft.records.samples import every_record, leader_change, no_ops

from kraft.errors import CorruptRecordError, LimitExceededError, UnsupportedVersionError
from kraft.records.batch import HEADER_BYTES, parse_batch
from kraft.records.builder import control_batch, encode_batch, metadata_batch, with_crc
from kraft.records.compression import Compression, compress, decompress
from kraft.records.limits import DEFAULT_LIMITS, Limits
from kraft.records.record import encode_record
from kraft.records.value import encode_value

# The first batches of a bootstrap.checkpoint that Kafka 4.1.0 wrote.
KAFKA_SNAPSHOT_HEADER = bytes.fromhex(
    "00000000000000000000004700000000025fcdbc6e002000000000000001a1fe14a59a000001a1fe14a59aff"
    "ffffffffffffffffffffffffff000000012a000000080000000316000000000000000000000000"
)
KAFKA_FEATURES = bytes.fromhex(
    "0000000000000001000000b900000000020fe46a00000000000003000001a1fe14a601000001a1fe14a601ff"
    "ffffffffffffffffffffffffff000000043a000000012e010c00116d657461646174612e76657273696f6e00"
    "1b00005a000002014e010c0021656c696769626c652e6c65616465722e7265706c696361732e76657273696f"
    "6e00010000340000040128010c000e67726f75702e76657273696f6e00010000400000060134010c00147472"
    "616e73616374696f6e2e76657273696f6e00020000"
)


def patched(raw: bytes, at: int, new: bytes, *, crc: bool = True) -> bytes:
    changed = raw[:at] + new + raw[at + len(new) :]
    return with_crc(changed) if crc else changed


def records_batch(records: bytes, count: int = 1) -> bytes:
    raw = no_ops(7, count)[:HEADER_BYTES] + records
    return with_crc(with_length(raw))


def test_a_batch_of_kafka_is_read_and_built_again_byte_for_byte():
    batch = parse_batch(KAFKA_FEATURES)
    records = batch.metadata_records()
    assert [record.fields["name"] for record in records] == [
        "metadata.version",
        "eligible.leader.replicas.version",
        "group.version",
        "transaction.version",
    ]
    assert [(record.offset, record.version) for record in records] == [(n, 0) for n in range(1, 5)]
    again = metadata_batch(1, 0, batch.base_timestamp, [(12, 0, r.fields) for r in records])
    assert again == KAFKA_FEATURES


def test_a_control_batch_of_kafka_is_read_and_built_again_byte_for_byte():
    batch = parse_batch(KAFKA_SNAPSHOT_HEADER)
    (record,) = batch.control_records()
    assert batch.is_control
    assert batch.metadata_records() == []
    assert (record.control_type, record.fields["lastContainedLogTimestamp"]) == (3, 0)
    assert control_batch(0, 0, batch.base_timestamp, [(3, record.fields)]) == KAFKA_SNAPSHOT_HEADER


def test_a_batch_says_what_its_header_says():
    raw = metadata_batch(40, 7, 1_700_000_000_000, [(20, 0, {})] * 3)
    batch = parse_batch(raw, position=100, path=Path("some.log"))
    assert (batch.base_offset, batch.last_offset, batch.next_offset, batch.count) == (40, 42, 43, 3)
    assert (batch.leader_epoch, batch.position, batch.size) == (7, 100, len(raw))
    assert batch.compression is Compression.NONE
    assert not batch.is_control
    assert {record.timestamp for record in batch.metadata_records()} == {1_700_000_000_000}


def test_records_know_their_position_in_the_file():
    raw = metadata_batch(0, 1, 0, every_record(3))
    for record in parse_batch(raw, position=1000).metadata_records():
        start = record.position - 1000
        assert record.value in raw[start : start + len(record.value) + 16]


@pytest.mark.parametrize("kind", list(Compression))
def test_compressed_batches_hold_the_same_records(kind):
    records = every_record(5) * 20
    plain = parse_batch(metadata_batch(0, 1, 0, records)).metadata_records()
    packed = parse_batch(metadata_batch(0, 1, 0, records, compression=kind))
    assert packed.compression is kind
    assert [r[:6] for r in packed.metadata_records()] == [r[:6] for r in plain]


def test_only_wanted_types_are_returned_and_all_are_counted():
    records = every_record(6)
    batch = parse_batch(metadata_batch(0, 1, 0, records))
    counts: dict[tuple[int, int], int] = {}
    for _ in range(2):
        wanted = batch.metadata_records(frozenset({0, 17}), counts)
        assert {record.api_key for record in wanted} == {0, 17}
        assert len(wanted) == 7
    assert counts == {(api_key, version): 2 for api_key, version, _ in records}


def test_every_flipped_bit_behind_the_crc_is_detected():
    raw = metadata_batch(0, 1, 0, [(7, 0, {"id": 1, "epoch": 2})])
    for bit in range(17 * 8, len(raw) * 8):
        broken = bytearray(raw)
        broken[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CorruptRecordError, match="CRC"):
            parse_batch(bytes(broken))


BAD_HEADERS = {
    "negative length": (8, b"\xff\xff\xff\xff", "negative batch length -1", CorruptRecordError),
    "short length": (8, b"\x00\x00\x00\x30", "length 48 is less than 49", CorruptRecordError),
    "huge length": (8, b"\x7f\xff\xff\xff", "above the cap", LimitExceededError),
    "other length": (8, b"\x00\x00\x00\x50", "batch length 80", CorruptRecordError),
    "negative base offset": (0, b"\xff", "negative base offset", CorruptRecordError),
    "negative epoch": (12, b"\xff", "leader epoch -", CorruptRecordError),
    "magic 0": (16, b"\x00", "magic 0", UnsupportedVersionError),
    "magic 1": (16, b"\x01", "magic 1", UnsupportedVersionError),
    "magic 3": (16, b"\x03", "magic 3", UnsupportedVersionError),
    "magic -1": (16, b"\xff", "magic -1", CorruptRecordError),
    "unknown compression": (22, b"\x05", "unknown compression 5", UnsupportedVersionError),
    "last offset delta": (23, b"\x00\x00\x00\x07", "last offset delta 7", CorruptRecordError),
    "no records": (57, b"\x00\x00\x00\x00", "0 records", CorruptRecordError),
    "negative count": (57, b"\xff\xff\xff\xff", "-1 records", CorruptRecordError),
}


@pytest.mark.parametrize("name", BAD_HEADERS)
def test_a_bad_header_is_refused_with_its_place(name):
    at, new, reason, kind = BAD_HEADERS[name]
    with pytest.raises(kind, match=reason) as caught:
        parse_batch(patched(no_ops(7), at, new), position=500, path=Path("x.log"))
    assert str(caught.value).startswith("x.log: ")
    assert 500 <= caught.value.position < 500 + HEADER_BYTES


def test_more_records_than_bytes_are_refused_before_looking_at_them():
    raw = bytearray(no_ops(7))
    struct.pack_into(">i", raw, 57, 2**31 - 1)
    struct.pack_into(">i", raw, 23, 2**31 - 2)
    with pytest.raises(CorruptRecordError, match="2147483647 records cannot fit"):
        parse_batch(with_crc(bytes(raw)))


NO_OP = "01140000"
BAD_RECORDS = {
    "too few": (f"14 00 00 00 01 08 {NO_OP} 00", 2, "cut short|cannot fit"),
    "too many": (f"14 00 00 00 01 08 {NO_OP} 00" * 2, 1, "left over after the last record"),
    "negative length": (f"13 00 00 00 01 08 {NO_OP} 00", 1, "negative record length"),
    "length beyond": (f"7e 00 00 00 01 08 {NO_OP} 00", 1, "the record needs 63 bytes"),
    "wide length beyond": (f"fe7f 00 00 00 01 08 {NO_OP} 00", 1, "the record needs 8191 bytes"),
    "spare bytes": (f"16 00 00 00 01 08 {NO_OP} 00 00", 1, "1 bytes left over in the record"),
    "offset delta": (f"14 00 00 02 01 08 {NO_OP} 00", 1, "offset delta 1 in record 0"),
    "key": (f"16 00 00 00 02 61 08 {NO_OP} 00", 1, "with a key"),
    "key length -2": (f"14 00 00 00 03 08 {NO_OP} 00", 1, "key length -2"),
    "value length -2": (f"14 00 00 00 01 03 {NO_OP} 00", 1, "value length -2"),
    "null value": ("0c 00 00 00 01 01 00 00", 1, "without a value|left over"),
    "value past the record": (f"14 00 00 00 01 0e {NO_OP} 00", 1, "the value needs 7 bytes"),
    "headers": (f"14 00 00 00 01 08 {NO_OP} 02", 1, "1 headers"),
    "negative headers": (f"14 00 00 00 01 08 {NO_OP} 01", 1, "-1 headers"),
    "varlong timestamp": ("18 00" + "80" * 10 + "01", 1, "more than 10 bytes"),
    "bad value": ("14 00 00 00 01 08 02140000 00", 1, "frame version 2"),
    "trailing value": ("16 00 00 00 01 0a 0114000000 00", 1, "left over after the last field"),
}


@pytest.mark.parametrize("name", BAD_RECORDS)
def test_bad_records_are_refused_with_the_offset_of_the_record(name):
    text, count, reason = BAD_RECORDS[name]
    no_ops_learned = parse_batch(no_ops(7, 3)).metadata_records()
    assert len(no_ops_learned) == 3
    with pytest.raises(CorruptRecordError, match=reason) as caught:
        parse_batch(records_batch(bytes.fromhex(text), count), position=10).check()
    assert caught.value.position is not None
    assert caught.value.base_offset == 7


def test_an_error_names_file_byte_batch_record_and_field():
    fields = encode_value(28, 0, {"topicName": "ab"}).replace(b"ab", b"\xffb")
    raw = encode_batch(40, 1, 0, [encode_value(20, 0, {}), fields])
    with pytest.raises(CorruptRecordError, match="UTF-8") as caught:
        parse_batch(raw, position=1000, path=Path("dir/0.log")).check()
    place = "(byte 1082, batch at offset 40, record at offset 41, field topicName)"
    assert str(caught.value) == f"dir/0.log: invalid UTF-8: invalid start byte {place}"


def test_an_unusual_but_legal_record_is_accepted():
    late = bytes.fromhex(f"14 00 02 02 01 08 {NO_OP} 00")
    raw = records_batch(bytes.fromhex(f"14 05 00 00 01 08 {NO_OP} 00") + late, 2)
    raw = patched(patched(raw, 57, struct.pack(">i", 2)), 23, struct.pack(">i", 1))
    first, second = parse_batch(raw).metadata_records()
    assert second.timestamp == first.timestamp + 1


BAD_CONTROLS = {
    "key of 3 bytes": ("000000", "000000", "has 3 bytes, not 4"),
    "key version -1": ("ffff0004", "000000", "key version -1"),
    "key version 1": ("00010004", "000000", "key version 1"),
    "unknown type": ("00000009", "000000", "control record type 9"),
    "no key": (None, "000000", "without key or value"),
    "empty value": ("00000004", "", "needs 2 bytes, 0 are left"),
    "newer value": ("00000004", "000100", "SnapshotFooter version 1"),
    "negative version": ("00000004", "ffff00", "SnapshotFooter version -1"),
    "truncated LeaderChange": ("00000002", "00000000", "int32 needs 4 bytes"),
}


@pytest.mark.parametrize("name", BAD_CONTROLS)
def test_bad_control_records_are_refused(name):
    key, value, reason = BAD_CONTROLS[name]
    key_bytes = None if key is None else bytes.fromhex(key)
    record = encode_record(0, bytes.fromhex(value), key=key_bytes)
    raw = with_crc(with_length(leader_change(3)[:HEADER_BYTES] + record))
    with pytest.raises(CorruptRecordError, match=reason) as caught:
        parse_batch(raw).control_records()
    assert caught.value.offset == 3


BOMB = b"\x00" * (80 * 1024 * 1024)


@pytest.mark.parametrize("kind", [k for k in Compression if k])
def test_a_decompression_bomb_stops_at_the_cap(kind):
    limits = Limits(decompressed_bytes=2 * 1024 * 1024, expansion=10_000)
    with pytest.raises(LimitExceededError, match="the cap of 2097152 bytes"):
        decompress(kind, compress(kind, BOMB), limits)


@pytest.mark.parametrize("kind", [Compression.GZIP, Compression.ZSTD])
def test_a_batch_may_not_grow_out_of_proportion(kind):
    packed = compress(kind, BOMB[: 40 * 1024 * 1024])
    with pytest.raises(LimitExceededError, match="decompress to more than"):
        decompress(kind, packed, DEFAULT_LIMITS)


@pytest.mark.parametrize("kind", [k for k in Compression if k])
def test_a_truncated_or_garbage_stream_is_refused(kind):
    data = bytes(range(256)) * 40
    packed = compress(kind, data)
    assert decompress(kind, packed, DEFAULT_LIMITS) == data
    for cut in (1, 5, len(packed) // 2, len(packed) - 1):
        with pytest.raises(CorruptRecordError):
            decompress(kind, packed[:cut], DEFAULT_LIMITS)
    with pytest.raises(CorruptRecordError):
        decompress(kind, packed + b"\x00\x01", DEFAULT_LIMITS)
    with pytest.raises(CorruptRecordError):
        decompress(kind, b"\xff" * 40, DEFAULT_LIMITS)


def test_raw_snappy_is_read_as_well():
    data = b"records" * 100
    packed = bytes(cramjam.snappy.compress_raw(data))
    assert decompress(Compression.SNAPPY, packed, DEFAULT_LIMITS) == data


def test_several_frames_in_one_batch_are_refused():
    for kind, frame in (
        (Compression.LZ4, lz4.frame.compress(b"a")),
        (Compression.ZSTD, zstandard.ZstdCompressor().compress(b"a")),
    ):
        with pytest.raises(CorruptRecordError, match="follow the compressed records"):
            decompress(kind, frame + frame, DEFAULT_LIMITS)


def test_a_broken_stream_in_a_batch_is_one_error_with_its_place():
    raw = metadata_batch(4, 1, 0, every_record(1), compression=Compression.GZIP)
    broken = with_crc(raw[:HEADER_BYTES] + b"\x00" + raw[HEADER_BYTES + 1 :])
    with pytest.raises(CorruptRecordError, match="broken gzip stream") as caught:
        parse_batch(broken, position=9).check()
    assert (caught.value.position, caught.value.base_offset) == (9 + HEADER_BYTES, 4)


def test_an_error_in_compressed_records_says_where_in_them():
    raw = encode_batch(4, 1, 0, [b"\x02\x14\x00\x00"], compression=Compression.ZSTD)
    with pytest.raises(UnsupportedVersionError, match="at byte 6 of the decompressed records"):
        parse_batch(raw).check()


def test_a_compressed_batch_may_not_claim_more_records_than_bytes():
    raw = bytearray(encode_batch(4, 1, 0, [b"\x01\x14\x00\x00"], compression=Compression.GZIP))
    struct.pack_into(">i", raw, 57, 10_000)
    struct.pack_into(">i", raw, 23, 9_999)
    with pytest.raises(CorruptRecordError, match="10000 records cannot fit 11 decompressed"):
        parse_batch(with_crc(bytes(raw))).check()


def test_a_batch_without_records_is_not_built():
    with pytest.raises(ValueError, match="at least one record"):
        encode_batch(0, 1, 0, [])
