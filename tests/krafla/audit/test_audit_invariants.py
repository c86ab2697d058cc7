"""Each invariant of the log can fail: a real log is edited so that it does."""

from __future__ import annotations

import re

import pytest
from tests.krafla.audit.editing import (
    CHANGE_BROKER,
    CHANGE_PARTITION,
    FEATURE,
    LOG,
    METADATA,
    PRODUCER_IDS,
    REGISTER,
    no_op_after,
    records,
    spoiled,
    to,
    to_no_op,
    with_fields,
)
from tests.krafla.audit.known_invariants import known_invariants
from tests.krafla.audit.old_logs import NEW_INCARNATION, OldLog

from krafla.audit.broker_registrations import BrokerRegistration
from krafla.audit.image import Image
from krafla.audit.invariants import partition_objections, replicas_objection
from krafla.audit.mapping import SPEC
from krafla.audit.partition_state import PartitionState
from krafla.audit.registry import REGISTRY
from krafla.audit.result import Weight
from krafla.audit.run import audit
from krafla.audit.statements import STATEMENTS
from kraft.ids import uuid_text

TOPIC = "Qthx3pPDREyXSAv41ulXxQ"  # p3 of the log of `crash`: six partitions on three brokers


@pytest.fixture(scope="module")
def crash(real_logs):
    return real_logs / "crash" / "n3000"


def violations(tmp_path, source, loading, edits, name=LOG):
    """Return the offsets of violations in an edited log by the id of the invariant."""
    report = audit([spoiled(source, tmp_path / "n3000", edits, name)], loading=loading)
    found = report.clusters[0].all_findings()
    return {f.kind: f.offset for f in found if f.weight is Weight.VIOLATION}


def fields_at(crash, offset):
    return next(dict(r.fields) for r in records(crash / METADATA / LOG) if r.offset == offset)


def test_b8_a_broker_lacks_a_feature_that_is_in_use(tmp_path, crash, loading):
    features = tuple(
        f for f in fields_at(crash, 17)["features"] if f["name"] != "transaction.version"
    )
    found = violations(tmp_path, crash, loading, {17: with_fields(features=features)})
    assert found == {"B8": 17}


def test_b8_a_feature_is_raised_beyond_a_registered_broker(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 30)
    raised = to(FEATURE, 0, name="group.version", featureLevel=9)
    assert violations(tmp_path, crash, loading, {offset: raised}) == {"B8": offset, "O3": offset}


def test_b8_a_broker_without_a_metadata_version_range_supports_the_first_level(
    tmp_path, crash, loading
):
    found = violations(tmp_path, crash, loading, {17: with_fields(features=())})
    assert found == {"B8": 17}


def test_b9_a_directory_belongs_to_another_broker(tmp_path, crash, loading):
    theirs = fields_at(crash, 8)["logDirs"]
    assert violations(tmp_path, crash, loading, {17: with_fields(logDirs=theirs)}) == {"B9": 17}


def test_b9_a_directory_id_is_reserved(tmp_path, crash, loading):
    reserved = (uuid_text((99).to_bytes(16, "big")),)
    assert violations(tmp_path, crash, loading, {17: with_fields(logDirs=reserved)}) == {"B9": 17}


def test_b9_a_directory_is_named_twice(tmp_path, crash, loading):
    twice = fields_at(crash, 17)["logDirs"] * 2
    assert violations(tmp_path, crash, loading, {17: with_fields(logDirs=twice)}) == {"B9": 17}


def test_b10_a_change_record_adds_a_directory(tmp_path, crash, loading):
    new = (*fields_at(crash, 312)["logDirs"], uuid_text(bytes(range(16))))
    assert violations(tmp_path, crash, loading, {312: with_fields(logDirs=new)}) == {"B10": 312}


def test_b15_a_broker_has_no_endpoint(tmp_path, crash, loading):
    assert violations(tmp_path, crash, loading, {17: with_fields(endPoints=())}) == {"B15": 17}


def test_b15_an_endpoint_has_no_port(tmp_path, crash, loading):
    (endpoint,) = fields_at(crash, 17)["endPoints"]
    portless = (dict(endpoint, port=0),)
    assert violations(tmp_path, crash, loading, {17: with_fields(endPoints=portless)}) == {
        "B15": 17
    }


@pytest.mark.parametrize("edit", [{"brokerEpoch": 7}, {"brokerEpoch": -1}, {"brokerId": 9}])
def test_o2_producer_ids_go_to_a_broker_that_is_not_registered(tmp_path, crash, loading, edit):
    (first, *_) = (r.offset for r in records(crash / METADATA / LOG, PRODUCER_IDS))
    assert violations(tmp_path, crash, loading, {first: with_fields(**edit)}) == {"O2": first}


def test_p11_and_p12_a_broker_is_fenced_without_a_change_of_its_partition(tmp_path, crash, loading):
    # Records 86 to 94 take broker 0 out of its partitions, 95 fences it; it led the one of 89.
    found = violations(tmp_path, crash, loading, {89: to_no_op})
    assert found == {"P11": 95, "P12": 95}


def test_p11_a_fenced_broker_is_elected(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 95)
    elected = to(CHANGE_PARTITION, 2, partitionId=1, topicId=TOPIC, leader=0, isr=(0, 1))
    found = violations(tmp_path, crash, loading, {offset: elected})
    assert found == {"P11": offset, "P12": offset}


def test_p11_a_broker_in_controlled_shutdown_is_elected(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 152)
    assert offset < 172, "broker 2 is still unfenced"
    fields = {"leader": 2, "isr": (2, 1, 0)}
    elected = to(CHANGE_PARTITION, 2, partitionId=1, topicId=TOPIC, **fields)
    found = violations(tmp_path, crash, loading, {offset: elected})
    assert found == {"P11": offset, "P12": offset}


def test_p12_a_fenced_broker_joins_an_isr(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 95)
    joined = to(CHANGE_PARTITION, 2, partitionId=1, topicId=TOPIC, isr=(1, 2, 0))
    assert violations(tmp_path, crash, loading, {offset: joined}) == {"P12": offset}


def test_p13_the_last_of_an_isr_is_fenced_and_the_partition_has_a_leader(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 95)
    fields = {"leader": 0, "isr": (0,), "leaderRecoveryState": 1}
    alone = to(CHANGE_PARTITION, 2, partitionId=1, topicId=TOPIC, **fields)
    found = violations(tmp_path, crash, loading, {offset: alone})
    assert found == {"P13": offset, "P11": offset}


def test_t8_a_partition_is_created_on_a_broker_that_is_not_registered(tmp_path, crash, loading):
    assert violations(tmp_path, crash, loading, {50: with_fields(replicas=(5,))}) == {"T8": 50}


@pytest.mark.parametrize("replicas", [(), (0, 0, 1), (0, 1, 5)])
def test_t8_a_partition_is_moved_to_invalid_replicas(tmp_path, crash, loading, replicas):
    offset = no_op_after(crash / METADATA / LOG, 40)
    moved = to(CHANGE_PARTITION, 2, partitionId=1, topicId=TOPIC, replicas=replicas)
    assert violations(tmp_path, crash, loading, {offset: moved}) == {"T8": offset}


def test_t8_an_unregistered_replica_may_stay():
    image = Image()
    image.registrations = {1: BrokerRegistration("a", 1, False, False)}
    assert replicas_objection(image, (1, 2), (2, 1)) is None
    assert replicas_objection(image, (1,), (1, 2)) is not None


def test_t5_a_partition_that_does_not_exist_is_changed(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 40)
    lost = to(CHANGE_PARTITION, 2, partitionId=6, topicId=TOPIC, leader=1)
    assert violations(tmp_path, crash, loading, {offset: lost}) == {"T5": offset}


def test_t6_a_partition_is_changed_after_its_topic_was_removed(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 40)
    edits = {
        offset: to(9, 0, topicId=TOPIC),
        no_op_after(crash / METADATA / LOG, offset): to(
            CHANGE_PARTITION, 2, partitionId=1, topicId=TOPIC, leader=1
        ),
    }
    found = violations(tmp_path, crash, loading, edits)
    assert set(found) == {"T6"}
    assert found["T6"] > offset


class TestBrokersWhoseIncarnationWasReplacedWhileUnfenced:
    """KAFKA-18106: before eligible leader replicas, partitions changed with the next fencing."""

    state = PartitionState(leader=0, isr=(0, 1), replicas=(0, 1))

    def image(self, elr, **how):
        image = Image(**how)
        image.registrations = {
            0: BrokerRegistration("new", 9, True, False),
            1: BrokerRegistration("b", 2, False, False),
        }
        image.displaced = {0}
        image.features = {"eligible.leader.replicas.version": 1} if elr else {}
        return image

    def test_displaced_brokers_are_excused_without_eligible_leader_replicas(self):
        image = self.image(elr=False)
        assert partition_objections(image, self.state, image.active()) == []

    def test_displaced_brokers_are_not_excused_in_the_log_of_a_simulated_cluster(self):
        for image in (
            self.image(elr=False, excuses=False),
            self.image(False, excuses=False).copy(),
        ):
            found = partition_objections(image, self.state, image.active())
            assert [invariant.id for invariant, _ in found] == ["P11", "P12"]

    def test_displaced_brokers_are_not_excused_with_eligible_leader_replicas(self):
        image = self.image(elr=True)
        found = partition_objections(image, self.state, image.active())
        assert [invariant.id for invariant, _ in found] == ["P11", "P12"]

    def test_displaced_brokers_are_not_excused_after_the_next_fencing(self, tmp_path, loading):
        log = OldLog(19, 19)
        log.topic()
        log.add(log.register(0, epoch=log.end, **NEW_INCARNATION))
        fence = log.add(log.fence(0))
        found = audit([log.write(tmp_path)], loading=loading).clusters[0].all_findings()
        assert [(f.kind, f.offset) for f in found] == [("P11", fence), ("P12", fence)]

    def test_displaced_brokers_are_not_excused_in_the_log_of_kafka_4(
        self, tmp_path, crash, loading
    ):
        offset = no_op_after(crash / METADATA / LOG, 30)
        again = dict(
            fields_at(crash, 17), incarnationId=uuid_text(bytes(range(16))), brokerEpoch=offset
        )
        edits = {
            3: to(FEATURE, 0, name="eligible.leader.replicas.version", featureLevel=0),
            offset: to(REGISTER, 3, **again),
        }
        assert violations(tmp_path, crash, loading, edits)["P11"] == offset


def test_every_invariant_has_an_id_a_sentence_and_a_source():
    known = known_invariants()
    assert len({*STATEMENTS.values()}) == len(STATEMENTS)
    assert {one.id for one in known} | {*REGISTRY} | {f"{SPEC}!Next"} == STATEMENTS.keys()
    for invariant in known:
        assert invariant.statement
        assert re.search("KIP-|Kafka: |^UntimedLease", invariant.source)


def test_each_invariant_is_reported_once_for_all_partitions_of_a_broker(tmp_path, crash, loading):
    offset = no_op_after(crash / METADATA / LOG, 30)
    fence = to(CHANGE_BROKER, 0, brokerId=0, brokerEpoch=17, fenced=1)
    assert violations(tmp_path, crash, loading, {offset: fence}) == {"P11": offset, "P12": offset}
