"""Fencing is judged where an operation ends; an operation may be cut into several batches."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import leader_change
from tests.krafla.audit.editing import CHANGE_BROKER, CHANGE_PARTITION, LOG, METADATA, NO_OP
from tests.krafla.audit.old_logs import NEW_INCARNATION, OldLog

from krafla.audit.result import Weight
from krafla.audit.run import audit
from kraft.ids import uuid_text
from kraft.records.builder import metadata_batch
from kraft.records.limits import MAX_RECORDS_PER_BATCH

TOPIC = uuid_text(bytes(range(16)))
FEATURES = ({"name": "metadata.version", "minSupportedVersion": 1, "maxSupportedVersion": 27},)
TIME = 1_700_000_000_000


def beginning(level):
    """Return the batches in which brokers 0 and 1 start and share a partition, led by 0."""
    version = {"name": "metadata.version", "featureLevel": level}
    parts, offset = [leader_change(0, 1, 3000), metadata_batch(1, 1, TIME, [(12, 0, version)])], 2
    for broker in (0, 1):
        registration = {
            "brokerId": broker,
            "incarnationId": uuid_text(bytes([7 + broker]) * 16),
            "brokerEpoch": offset,
            "endPoints": ({"name": "P", "host": "h", "port": 1, "securityProtocol": 0},),
        }
        unfence = {"brokerId": broker, "brokerEpoch": offset, "fenced": -1}
        parts.append(
            metadata_batch(
                offset,
                1,
                TIME,
                [(0, 1 if level < 8 else 2, {**registration, "features": FEATURES, "rack": None})],
            )
        )
        parts.append(metadata_batch(offset + 1, 1, TIME, [(CHANGE_BROKER, 0, unfence)]))
        offset += 2
    topic = {"name": "t", "topicId": TOPIC}
    partition = {
        "partitionId": 0,
        "topicId": TOPIC,
        "replicas": (0, 1),
        "isr": (0, 1),
        "removingReplicas": (),
        "addingReplicas": (),
        "leader": 0,
        "leaderEpoch": 0,
        "partitionEpoch": 0,
    }
    parts.append(metadata_batch(offset, 1, TIME, [(2, 0, topic), (3, 0, partition)]))
    return parts, offset + 2


SHUT_DOWN = (CHANGE_BROKER, 1, {"brokerId": 0, "brokerEpoch": 2, "inControlledShutdown": 1})
TAKE_OUT = (CHANGE_PARTITION, 0, {"partitionId": 0, "topicId": TOPIC, "isr": (1,), "leader": 1})
FENCE = (CHANGE_BROKER, 0, {"brokerId": 0, "brokerEpoch": 2, "fenced": 1})
NOTHING = (NO_OP, 0, {})
FULL = [SHUT_DOWN, *[NOTHING] * (MAX_RECORDS_PER_BATCH - 1)]
FAILOVER = "a new leader"
"""What stands between two batches for a failover."""


def violations(tmp_path, loading, *batches, level=7):
    parts, offset = beginning(level)
    epoch = 1
    for records in batches:
        if records == FAILOVER:
            epoch += 1
            parts.append(leader_change(offset, epoch, 3000, (3000, 3001, 3002)))
            offset += 1
            continue
        parts.append(metadata_batch(offset, epoch, TIME, records))
        offset += len(records)
    directory = tmp_path / METADATA
    directory.mkdir()
    (directory / LOG).write_bytes(b"".join(parts))
    found = audit([directory], loading=loading).clusters[0].all_findings()
    assert all(f.weight is Weight.VIOLATION for f in found)
    return {f.kind for f in found}


def test_a_shutdown_with_its_partition_changes_in_one_batch_holds(tmp_path, loading):
    assert violations(tmp_path, loading, [SHUT_DOWN, TAKE_OUT]) == set()


def test_a_shutdown_whose_partition_changes_follow_in_another_batch_is_violated(tmp_path, loading):
    assert violations(tmp_path, loading, [SHUT_DOWN], [TAKE_OUT]) == {"P11", "P12"}


@pytest.mark.parametrize(
    ("then", "expected"), [([TAKE_OUT], set()), ([NOTHING], {"P11", "P12"})], ids=["goes on", "not"]
)
def test_an_operation_that_fills_a_batch_may_continue_in_the_next(
    tmp_path, loading, then, expected
):
    assert violations(tmp_path, loading, FULL, then) == expected


@pytest.mark.parametrize(
    ("begun", "then", "expected"),
    [
        (FULL, [[NOTHING]], set()),
        (FULL, [[NOTHING], [TAKE_OUT]], set()),
        (FULL, [[NOTHING], [TAKE_OUT, FENCE]], set()),
        (FULL, [[NOTHING], [FENCE]], {"P11", "P12"}),
        ([SHUT_DOWN], [[NOTHING]], {"P11", "P12"}),
        ([NOTHING] * MAX_RECORDS_PER_BATCH, [[SHUT_DOWN]], {"P11", "P12"}),
        ([FENCE, *FULL[1:]], [[NOTHING]], {"P11", "P12"}),
    ],
    ids=[
        "stays",
        "is taken out",
        "is fenced",
        "fenced, yet leads",
        "not cut",
        "not in it",
        "no shutdown",
    ],
)
def test_a_failover_leaves_a_cut_shutdown_as_it_is(tmp_path, loading, begun, then, expected):
    # PartitionLog judges from 3.6-IV0 on.
    assert violations(tmp_path, loading, begun, FAILOVER, *then, level=14) == expected


@pytest.mark.parametrize(
    ("count", "filler", "held"),
    [
        (MAX_RECORDS_PER_BATCH, [], True),
        (MAX_RECORDS_PER_BATCH - 1, [], False),
        (MAX_RECORDS_PER_BATCH - 1, [NOTHING], False),
    ],
    ids=["a cut operation", "two operations", "a record that no registration writes"],
)
def test_a_registration_that_fills_a_batch_has_the_epoch_where_it_began(
    tmp_path, loading, count, filler, held
):
    log = OldLog(27, 27)
    log.topic()
    out, back = log.change(isr=(0, 1)), log.change(isr=(0, 1, 2))
    if count % 2:
        log.add(out)
    begin = log.end
    log.add(*[(out, back)[(count + place) % 2] for place in range(count)], *filler)
    log.add(out, log.register(2, epoch=begin, **NEW_INCARNATION))
    found = audit([log.write(tmp_path)], loading=loading).clusters[0].all_findings()
    assert [f.kind for f in found] == ([] if held else ["UntimedLease!RegisterBroker"])
