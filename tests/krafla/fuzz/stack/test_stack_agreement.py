"""A run's image is compared with the audit's, part by part, and every answer with the image."""

from __future__ import annotations

import pytest
from tests.krafla.fuzz.raft.by_hand import A, change
from tests.krafla.fuzz.stack.test_stack_campaign import CALM

from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.answer_checks import CHECKS
from krafla.fuzz.stack.committed_log import CommittedLog
from krafla.fuzz.stack.image_agreement import PARTITION_RECORDS, SECTIONS, ImageAgreement
from krafla.fuzz.stack.log_judge import LogJudge
from krafla.fuzz.stack.system import SYSTEM
from krafla.fuzz.stack.token_checks import BY_SECRET
from kraft.controller.events import CommittedBatch
from kraft.controller.operation_table import OPERATIONS
from kraft.controller.record_bytes import encode_records
from kraft.image.brokers import BROKER_REPLAY
from kraft.image.metadata_image import METADATA_VERSION, MetadataImage
from kraft.image.others import OTHER_REPLAY
from kraft.image.topics import TOPIC_REPLAY
from kraft.log.batches import data_batch
from kraft.records.cluster import ClientQuotaRecord, FeatureLevelRecord, QuotaEntity
from kraft.rpc.elect_leaders import ElectLeadersRequest

LATEST = 27
CHANGE_NOTHING = {
    "NoOpRecord": "only moves offsets",
    "BeginTransactionRecord": "the reader of the log handles transactions",
    "EndTransactionRecord": "the reader of the log handles transactions",
    "AbortTransactionRecord": "the reader of the log handles transactions",
    "ZkMigrationStateRecord": "no image of Kafka 4 has it",
}


def test_every_part_of_an_image_is_compared_after_every_record_that_changes_it():
    assert {*SECTIONS, "partitions"} == set(MetadataImage.__struct_fields__)
    compared = {one.__name__ for records, _ in SECTIONS.values() for one in records}
    compared |= {one.__name__ for one in PARTITION_RECORDS}
    replayed = {one.__name__ for one in (*BROKER_REPLAY, *TOPIC_REPLAY, *OTHER_REPLAY)}
    assert replayed - compared == set(CHANGE_NOTHING)


def test_the_answers_to_every_operation_are_checked():
    by_records = {ElectLeadersRequest}
    assert {*CHECKS, *BY_SECRET, *by_records} == {*OPERATIONS.writes, *OPERATIONS.reads}


def test_a_quota_that_all_replays_keep_is_seen_once_it_is_removed():
    committed, judge = CommittedLog(), LogJudge()
    ImageAgreement(committed, judge)
    ann = (QuotaEntity("user", "ann"),)
    judge.add([change(0, 1, A)])
    committed.add([CommittedBatch(0, 1, (), 1)])

    def commit(records):
        base = committed.end
        judge.add([data_batch(base, 1, 0, encode_records(records, LATEST))])
        committed.add([CommittedBatch(base, 1, records, len(records))])

    level = FeatureLevelRecord(METADATA_VERSION, LATEST)
    commit((level, ClientQuotaRecord(ann, "request_percentage", 5.0, remove=False)))
    with (
        find_mutant("removed-quota-stays", SYSTEM).applied() as probe,
        pytest.raises(Violated, match=r"the client quotas are not .* is 5.0, .* nothing") as found,
    ):
        commit((ClientQuotaRecord(ann, "request_percentage", 0.0, remove=True),))
    assert found.value.name == "ImagesAgreeInv"
    assert probe.triggered == 1


def test_the_images_of_a_whole_run_agree_after_its_last_batch(monkeypatch):
    compared = []
    compare = ImageAgreement._compare_partitions
    monkeypatch.setattr(
        ImageAgreement,
        "_compare_partitions",
        lambda agreement: (compared.append(agreement._log_judge.end), compare(agreement))[1],
    )
    assert SYSTEM.play(CALM).finding is None
    assert len(compared) > 5
    assert compared == sorted(compared)
