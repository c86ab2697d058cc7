"""Lease records, identifiers and error codes."""

from __future__ import annotations

import pytest

from kraft.errors import CorruptRecordError, ErrorCode, TornTailError, printable
from kraft.ids import (
    METADATA_TOPIC_ID,
    ZERO_UUID,
    BrokerEpoch,
    BrokerId,
    DirectoryId,
    IncarnationId,
    uuid_bytes,
    uuid_text,
)
from kraft.records.lease import (
    ENTER_CONTROLLED_SHUTDOWN,
    FENCE,
    BrokerRegistrationChangeRecord,
    Endpoint,
    FeatureRange,
    FenceBrokerRecord,
    NoOpRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    lease_record,
)
from kraft.records.value import decode_value, encode_value

BROKER = BrokerId(3)
EPOCH = BrokerEpoch(9)
LEASE_RECORDS = [
    RegisterBrokerRecord(
        BROKER,
        IncarnationId("ABEiM0RVZneImaq7zN3u_w"),
        EPOCH,
        (Endpoint("PLAINTEXT", "host", 9092), Endpoint("SSL", "", 65535, 1)),
        (FeatureRange("metadata.version", 7, 27),),
        "rack",
        fenced=False,
        in_controlled_shutdown=True,
        log_dirs=(DirectoryId(METADATA_TOPIC_ID),),
    ),
    RegisterBrokerRecord(BROKER, IncarnationId(ZERO_UUID), EPOCH),
    UnregisterBrokerRecord(BROKER, EPOCH),
    BrokerRegistrationChangeRecord(BROKER, EPOCH, fenced=FENCE),
    BrokerRegistrationChangeRecord(BROKER, EPOCH, in_controlled_shutdown=ENTER_CONTROLLED_SHUTDOWN),
    FenceBrokerRecord(BROKER, EPOCH),
    UnfenceBrokerRecord(BROKER, EPOCH),
    NoOpRecord(),
]


@pytest.mark.parametrize("record", LEASE_RECORDS, ids=lambda record: type(record).__name__)
def test_a_lease_record_survives_its_bytes(record):
    raw = encode_value(record.SCHEMA.api_key, record.SCHEMA.newest, record.to_fields())
    api_key, version, fields = decode_value(raw)
    assert (api_key, version) == (record.SCHEMA.api_key, record.SCHEMA.newest)
    assert fields == record.to_fields()
    assert lease_record(api_key, fields) == record


def test_older_versions_become_lease_records_with_defaults():
    raw = encode_value(0, 0, {"brokerId": 3, "brokerEpoch": 9, "rack": None, "fenced": False})
    assert lease_record(0, decode_value(raw).fields) == RegisterBrokerRecord(
        BROKER, IncarnationId(ZERO_UUID), EPOCH, fenced=False
    )
    raw = encode_value(17, 0, {"brokerId": 3, "brokerEpoch": 9, "fenced": -1})
    change = lease_record(17, decode_value(raw).fields)
    assert change == BrokerRegistrationChangeRecord(BROKER, EPOCH, -1, 0, ())


def test_only_lease_records_are_lease_records():
    with pytest.raises(KeyError):
        lease_record(2, {})


def test_uuids_are_written_as_kafka_writes_them():
    assert uuid_text(bytes(16)) == ZERO_UUID
    assert uuid_text(bytes(15) + b"\x01") == METADATA_TOPIC_ID == "AAAAAAAAAAAAAAAAAAAAAQ"
    raw = bytes(range(240, 256))
    assert uuid_bytes(uuid_text(raw)) == raw
    assert uuid_text(b"\xfb\xff" * 8) == "-__7__v_-__7__v_-__7_w"


@pytest.mark.parametrize("end", ["", "=", "B", "+", "é", "AA", "Q "])
def test_text_that_is_not_the_one_spelling_of_a_uuid_is_refused(end):
    with pytest.raises(ValueError, match="not a UUID"):
        uuid_bytes("A" * 21 + end)


def test_a_uuid_has_16_bytes():
    with pytest.raises(ValueError, match="16 bytes, not 15"):
        uuid_text(bytes(15))


def test_error_codes_are_kafkas():
    codes = {code.name: int(code) for code in ErrorCode}
    assert codes["NONE"] == 0
    assert codes["NOT_CONTROLLER"] == 41
    assert codes["STALE_BROKER_EPOCH"] == 77
    assert codes["DUPLICATE_BROKER_REGISTRATION"] == 101
    assert codes["BROKER_ID_NOT_REGISTERED"] == 102
    assert codes["INCONSISTENT_CLUSTER_ID"] == 104


def test_an_error_keeps_the_innermost_place_and_gains_the_outer_one():
    error = TornTailError("cut", position=3, offset=7).located(shift=10, base_offset=5, offset=6)
    assert (error.position, error.base_offset, error.offset) == (13, 5, 7)
    assert str(error) == "cut (byte 13, batch at offset 5, record at offset 7)"
    assert str(CorruptRecordError("bad")) == "bad"


def test_text_for_a_terminal_has_no_control_characters():
    assert printable("a\x1b[31mb\nc\u202ed é") == "a\\x1b[31mb\\nc\\u202ed é"
