"""The log of a simulated cluster, written in Kafka's bytes and read back."""

from __future__ import annotations

from kraft.records.batch import parse_batch
from kraft.records.builder import metadata_batch
from kraft.records.lease import lease_record
from kraft.sim.lease.configuration import kafka_4_1
from kraft.sim.lease.replay import replay, replay_log
from kraft.sim.lease.runs import run
from kraft.sim.lease.stand_ins import LeaderChangeMessage, LeadershipChange

STAND_INS = LeaderChangeMessage | LeadershipChange


def test_every_lease_record_of_a_run_survives_kafkas_bytes():
    log = [run(kafka_4_1(), seed, 800).last.log for seed in range(4)]
    written = [record for records in log for record in records if not isinstance(record, STAND_INS)]
    assert {type(record).__name__ for record in written} == {
        "RegisterBrokerRecord", "UnregisterBrokerRecord", "BrokerRegistrationChangeRecord",
    }  # fmt: skip
    values = [
        (record.SCHEMA.api_key, record.SCHEMA.newest, record.to_fields()) for record in written
    ]
    batch = parse_batch(metadata_batch(0, 1, 0, values))
    read = [lease_record(record.api_key, record.fields) for record in batch.metadata_records()]
    assert read == written


def written_and_read(record, offset):
    value = (record.SCHEMA.api_key, record.SCHEMA.newest, record.to_fields())
    (read,) = parse_batch(metadata_batch(offset, 1, 0, [value])).metadata_records()
    return lease_record(read.api_key, read.fields)


def test_replaying_the_decoded_log_gives_the_image_of_the_run():
    last = run(kafka_4_1(), seed=2, steps=800).last
    image = replay_log(())
    for offset, record in enumerate(last.log):
        read_back = record if isinstance(record, STAND_INS) else written_and_read(record, offset)
        image = replay(image, read_back, offset)
    assert image == last.controller.image
