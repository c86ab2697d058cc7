"""Logs with batches and frames of records that Kafka has not written."""

from __future__ import annotations

import struct

import google_crc32c
import pytest
from tests.krafla.audit.breaking import NOTHING, TIME, first_refusal, prefix
from tests.krafla.audit.editing import LOG, METADATA

from krafla.audit.run import audit
from kraft.records.builder import metadata_batch


def first(folder, loading):
    found = audit([folder], loading=loading).clusters[0].all_findings()
    refusal = first_refusal(found, "a refusal")
    return refusal.kind, refusal.offset


def with_crc(raw):
    """Return a batch with a right CRC."""
    return raw[:17] + google_crc32c.value(raw[21:]).to_bytes(4, "big") + raw[21:]


def behind_the_prefix(folder, raw):
    target = folder / METADATA
    target.mkdir()
    (target / LOG).write_bytes(b"".join([*prefix()[0], with_crc(raw)]))


def headed(position, code, value):
    """Return a batch with another number at a position of its header."""
    raw = bytearray(metadata_batch(prefix()[1], 1, TIME, [NOTHING]))
    struct.pack_into(code, raw, position, value)
    return bytes(raw)


HEADERS = {
    "a transaction of a producer": headed(21, ">h", 0x10),
    "the time of the append": headed(21, ">h", 0x08),
    "a delete horizon": headed(21, ">h", 0x40),
    "a later greatest timestamp": headed(35, ">q", TIME + 1),
    "an earlier greatest timestamp": headed(35, ">q", TIME - 1),
    "a producer": headed(43, ">q", 5),
    "a producer epoch": headed(51, ">h", 0),
    "a sequence": headed(53, ">i", 0),
}


@pytest.mark.parametrize("what", HEADERS)
def test_a_header_that_kafka_does_not_write_is_refused(tmp_path, loading, what):
    behind_the_prefix(tmp_path, HEADERS[what])
    assert first(tmp_path, loading) == ("W1", prefix()[1])


@pytest.mark.parametrize(("time", "held"), [(0, True), (-1, False), (-(2**63), False)])
def test_a_batch_has_the_time_of_its_append(tmp_path, loading, time, held):
    behind_the_prefix(tmp_path, metadata_batch(prefix()[1], 1, time, [NOTHING]))
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert [(one.kind, one.offset) for one in found] == ([] if held else [("W1", prefix()[1])])
    said = f"the batch has timestamp {time}; Kafka's controller writes the time of the append"
    assert [one.detail for one in found] == ([] if held else [said])


def batch_of(byte_count):
    """Return a batch of so many bytes."""
    longest = 30_000
    texts = [longest] * (byte_count // longest + 1)

    def made():
        records = [(4, 0, {"resourceType": 4, "resourceName": "", "name": f"a.{n}",
                           "value": "v" * size}) for n, size in enumerate(texts)]  # fmt: skip
        return metadata_batch(prefix()[1], 1, TIME, records)

    # What a record has beside its text takes as many bytes for any text of this length.
    surplus = len(made()) - byte_count
    while surplus > 0:
        cut = min(surplus, 10_000)
        texts[texts.index(longest)] -= cut
        surplus -= cut
    return made()


@pytest.mark.parametrize("surplus", [0, 1])
def test_a_batch_has_at_most_8_mebibytes(tmp_path, loading, surplus):
    raw = batch_of(8 * 1024 * 1024 + surplus)
    assert len(raw) == 8 * 1024 * 1024 + surplus
    behind_the_prefix(tmp_path, raw)
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert [(one.kind, one.offset) for one in found] == [("W1", prefix()[1])] * surplus


@pytest.mark.parametrize(
    ("byte", "value"), [(1, 2), (0, 1)], ids=["a timestamp delta", "attributes"]
)
@pytest.mark.parametrize("index", [0, 2])
def test_a_frame_that_kafka_does_not_write_is_refused_at_its_record(
    tmp_path, loading, byte, value, index
):
    raw = bytearray(metadata_batch(prefix()[1], 1, TIME, [NOTHING] * 3))
    size = raw[61] // 2 + 1
    raw[61 + index * size + 1 + byte] = value
    behind_the_prefix(tmp_path, bytes(raw))
    assert first(tmp_path, loading) == ("W2", prefix()[1] + index)
