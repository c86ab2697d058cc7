"""Logs that some release writes: the audit holds each, and refuses what looks much like it."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import UNASSIGNED, checkpoint, checkpoint_name, feature
from tests.krafla.audit.editing import METADATA
from tests.krafla.audit.old_logs import BROKERS, DIRECTORIES, NEW_INCARNATION, OldLog

from krafla.audit import checkpoints
from krafla.audit.history_state import HistoryState
from krafla.audit.image import Image
from krafla.audit.partition_state import PartitionState
from krafla.audit.run import audit
from kraft.ids import ZERO_UUID
from kraft.image.entries import LOST


def upgraded(folder, directories, most=21, then=None):
    """Write a log across 3.7-IV2, and a checkpoint with these directories of its partition.

    The brokers support metadata versions up to `most`, and come back with those up to `then`.
    """
    log = OldLog(14, most)
    log.topic((0, 1))
    topic, (key, _, partition) = log.batches[-1]
    log.add(log.change(replicas=BROKERS, addingReplicas=(2,)))
    log.add(log.change(isr=BROKERS, addingReplicas=()))
    grown = {"replicas": BROKERS, "isr": BROKERS, "partitionEpoch": 2, "directories": directories}
    level = feature("metadata.version", 19)
    log.add(level)
    brokers = [
        log.register(b, epoch=log.epochs[b], version=3, fenced=False, logDirs=()) for b in BROKERS
    ]
    if then is not None:
        log.level, log.most = 19, then
        brokers = [log.register(b, epoch=log.end + 2 * b, **NEW_INCARNATION) for b in BROKERS]
        for broker, registered in enumerate(brokers):
            log.add(registered)
            log.add(log.unfence(broker))
        brokers = [(0, version, {**fields, "fenced": False}) for _, version, fields in brokers]
    placed = (key, 1, {**partition, **grown})
    path = log.write(folder) / checkpoint_name(log.end)
    path.write_bytes(checkpoint([level, *brokers, topic, placed]))


def kinds(folder, loading):
    return [f.kind for f in audit([folder], loading=loading).clusters[0].all_findings()]


@pytest.mark.parametrize("added", [ZERO_UUID, UNASSIGNED], ids=["Kafka 3.7.1", "Kafka 3.7.0"])
def test_partitions_without_directories_get_unnamed_ones_in_the_next_checkpoint(
    tmp_path, loading, added
):
    upgraded(tmp_path, (ZERO_UUID, ZERO_UUID, added), most=19)
    assert kinds(tmp_path, loading) == []


@pytest.mark.parametrize(
    "directories",
    [
        (DIRECTORIES[0], ZERO_UUID, ZERO_UUID),
        (ZERO_UUID, ZERO_UUID, LOST),
        (ZERO_UUID, UNASSIGNED),
        (ZERO_UUID, ZERO_UUID, UNASSIGNED),
    ],
    ids=[
        "a directory that no record names",
        "a lost directory",
        "one too few",
        "one that Kafka 3.7.0 gives",
    ],
)
def test_other_directories_in_the_next_checkpoint_are_a_difference(tmp_path, loading, directories):
    upgraded(tmp_path, directories)
    assert kinds(tmp_path, loading) == ["L4"]


@pytest.mark.parametrize(("named", "held"), [(DIRECTORIES[0], True), (None, False)])
def test_a_checkpoint_keeps_the_directories_that_a_record_names(tmp_path, loading, named, held):
    log = OldLog(27, 27)
    log.topic((0,))
    topic, (key, version, partition) = log.batches[-1]
    brokers = [log.register(b, epoch=log.epochs[b], fenced=False) for b in BROKERS]
    placed = (key, version, {**partition, "directories": (named,) if named else ()})
    path = log.write(tmp_path) / checkpoint_name(log.end)
    path.write_bytes(checkpoint([*log.batches[0], *brokers, topic, placed]))
    assert kinds(tmp_path, loading) == ([] if held else ["L4"])


def test_directories_that_only_the_log_names_are_a_difference():
    images = Image(), Image()
    for image, directories in zip(images, ((ZERO_UUID,), ()), strict=True):
        image.partitions.put(bytes(20), PartitionState(0, (0,), (0,), directories=directories))
    assert checkpoints.difference(*images) is not None
    assert checkpoints.difference(*reversed(images)) is None


def test_a_replica_added_by_kafka_3_7_0_stays_unassigned_after_an_upgrade(tmp_path, loading):
    upgraded(tmp_path, (ZERO_UUID, ZERO_UUID, UNASSIGNED), most=19, then=27)
    assert kinds(tmp_path, loading) == []


@pytest.mark.parametrize(("given", "held"), [((), True), ((ZERO_UUID,), False)])
def test_an_unassigned_directory_differs_from_a_migrating_one_that_a_record_names(given, held):
    images = Image(), Image()
    for image, directories in zip(images, (given, (UNASSIGNED,)), strict=True):
        image.partitions.put(bytes(20), PartitionState(0, (0,), (0,), directories=directories))
    assert (checkpoints.difference(*images) is None) == held


@pytest.mark.parametrize(
    ("node", "expected"), [("3000", []), ("0", []), ("77", ["O5"])],
    ids=["a voter", "a broker", "neither"],
)  # fmt: skip
def test_a_voter_is_configured_where_no_controller_registers(tmp_path, loading, node, expected):
    log = OldLog(14, 14)
    named = {"resourceType": 4, "resourceName": node}
    log.add((4, 0, {**named, "name": "log.cleaner.threads", "value": "2"}))
    log.write(tmp_path)
    assert kinds(tmp_path, loading) == expected


def test_the_leader_that_aborts_a_transaction_still_leads_after_it():
    state = HistoryState.at(0, Image())
    before = state.image.copy()
    state.image.leader, state.image.voters = 3001, frozenset({3000, 3001})
    state.abort_to(before)
    assert (state.image.leader, state.image.voters) == (3001, {3000, 3001})


def lone_checkpoint(folder, **fields):
    """Write a checkpoint without a log: broker 0 leads, with these fields of its registration."""
    log = OldLog(19, 19)
    log.topic()
    brokers = [log.register(b, epoch=log.epochs[b], fenced=False) for b in BROKERS]
    brokers[0] = (*brokers[0][:2], {**brokers[0][2], **fields})
    target = folder / METADATA
    target.mkdir()
    path = target / checkpoint_name(log.end)
    path.write_bytes(checkpoint([*log.batches[0], *brokers, *log.batches[-1]]))


@pytest.mark.parametrize(("most", "expected"), [(1, []), (2, ["P11", "P12"])])
def test_a_checkpoint_of_many_partitions_may_stand_within_a_controlled_shutdown(
    tmp_path, loading, monkeypatch, most, expected
):
    monkeypatch.setattr(checkpoints, "MAX_RECORDS_PER_BATCH", most)
    lone_checkpoint(tmp_path, inControlledShutdown=True)
    assert kinds(tmp_path, loading) == expected
