"""A damaged length is no torn tail: the whole batches it would hide are proof against it."""

from __future__ import annotations

import gzip

import pytest
from tests.kraft.records.samples import leader_change, no_ops, small_log

from kraft.errors import CorruptRecordError, LimitExceededError, TornTailError
from kraft.log.findings import FindingKind
from kraft.log.segment import iter_batches
from kraft.log.tail import judge_tail
from kraft.records.limits import DEFAULT_LIMITS

FIRST = "00000000000000000000.log"
LENGTH = 8
FAR = 1 << 24
PARTS = [leader_change(), *[no_ops(offset) for offset in range(1, 8)]]
LAST = len(PARTS) - 1


def log(tmp_path, *parts, name=FIRST):
    path = tmp_path / name
    raw = b"".join(parts)
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


def longer(batch, by=FAR):
    """Return a batch whose length has one more bit set."""
    length = int.from_bytes(batch[8:12], "big")
    assert not length & by
    return batch[:8] + (length | by).to_bytes(4, "big") + batch[12:]


def refused(path):
    """Return the error a log ends with and how many batches came before it."""
    read = []
    findings = []
    with pytest.raises(CorruptRecordError) as caught:
        read.extend(iter_batches(path, findings=findings))
    assert findings == []
    return caught.value, len(read)


@pytest.mark.parametrize("name", [FIRST, FIRST + ".gz"])
@pytest.mark.parametrize("index", range(LAST))
def test_a_flipped_bit_in_a_length_is_corruption_at_the_length(tmp_path, index, name):
    parts = [*PARTS[:index], longer(PARTS[index]), *PARTS[index + 1 :]]
    path = log(tmp_path, *parts, name=name)
    error, read = refused(path)
    start = sum(map(len, PARTS[:index]))
    following = start + len(PARTS[index])
    assert type(error) is CorruptRecordError
    assert (error.path, error.position, error.base_offset) == (path, start + LENGTH, index)
    assert read == index
    assert f"a whole batch at offset {index + 1} follows at byte {following};" in error.reason
    assert error.reason.endswith(f"; {len(b''.join(PARTS)) - start} bytes were not read")


@pytest.mark.parametrize("bit", range(32))
def test_no_bit_of_a_length_can_hide_what_follows(tmp_path, bit):
    raw = bytearray(PARTS[3])
    raw[LENGTH + 3 - bit // 8] ^= 1 << bit % 8
    error, read = refused(log(tmp_path, *PARTS[:3], bytes(raw), *PARTS[4:]))
    assert not isinstance(error, TornTailError)
    assert read == 3


def test_a_length_above_the_cap_is_refused_before_any_search(tmp_path):
    error, _ = refused(log(tmp_path, PARTS[0], longer(PARTS[1], 1 << 27), PARTS[2]))
    assert type(error) is LimitExceededError


def test_a_flipped_bit_in_the_length_of_the_last_batch_is_told_by_its_own_crc(tmp_path):
    error, read = refused(log(tmp_path, *PARTS[:-1], longer(PARTS[-1])))
    assert type(error) is CorruptRecordError
    assert f"its CRC-32C is right for {len(PARTS[-1]) - 12};" in error.reason
    assert read == LAST


@pytest.mark.parametrize("kept", [8, 12, 17, 61, 71])
def test_a_damaged_length_is_told_although_the_batch_behind_it_is_torn(tmp_path, kept):
    error, read = refused(log(tmp_path, *PARTS[:-2], longer(PARTS[-2]), PARTS[-1][:kept]))
    assert type(error) is CorruptRecordError
    assert f"its CRC-32C is right for {len(PARTS[-2]) - 12};" in error.reason
    assert read == LAST - 1


def test_a_damaged_batch_in_between_does_not_hide_the_whole_one_behind_it(tmp_path):
    damaged = PARTS[5][:-1] + b"\x77"
    error, _ = refused(log(tmp_path, *PARTS[:4], longer(PARTS[4]), damaged, *PARTS[6:]))
    assert "a whole batch at offset 6 follows" in error.reason


@pytest.mark.parametrize("batches", [PARTS, small_log()], ids=["no-ops", "every record type"])
def test_a_tail_cut_at_any_byte_of_the_last_batch_is_torn(tmp_path, batches):
    *before, last = batches
    for kept in range(1, len(last)):
        path = log(tmp_path, *before, last[:kept])
        findings = []
        assert len(list(iter_batches(path, findings=findings))) == len(before)
        (found,) = findings
        assert found.kind is FindingKind.TORN_TAIL
        assert found.position == len(b"".join(before))
        assert found.detail.endswith(f"; {kept} bytes were not read")


def test_an_older_batch_inside_a_torn_one_is_no_proof(tmp_path):
    whole = longer(PARTS[6])[:-1]
    findings = []
    list(iter_batches(log(tmp_path, *PARTS[:6], whole, PARTS[5], PARTS[6]), findings=findings))
    assert [finding.kind for finding in findings] == [FindingKind.TORN_TAIL]


def test_a_tail_full_of_headers_is_given_up_as_corrupt_not_called_torn(tmp_path):
    count = 400
    headers = []
    for index in range(count):
        length = (count - index) * 61 - 12
        headers.append((index + 1).to_bytes(8, "big") + length.to_bytes(4, "big") + PARTS[1][12:61])
    tail = longer(PARTS[0]) + b"".join(headers)
    error = judge_tail(tail, "a part", position=7, path=tmp_path / FIRST, limits=DEFAULT_LIMITS)
    assert type(error) is CorruptRecordError
    assert "too much after it looks like batches" in error.reason
    assert error.position == 7 + LENGTH
