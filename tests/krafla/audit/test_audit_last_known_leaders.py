"""Kafka 4.0 elected a last known leader that could not lead: a known bug, and what is none."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import NOTHING, OTHER
from tests.krafla.audit.old_logs import (
    BROKERS,
    ELECTED_LAST_KNOWN,
    ELR,
    NEW_INCARNATION,
    OldLog,
    continued,
    restarted_uncleanly,
)

from krafla.audit.result import Weight
from krafla.audit.run import audit
from kraft.ids import uuid_text

ANOTHER = uuid_text(bytes([8] * 16))
BUG = "KAFKA-19522, a known bug of Kafka 4.0"


def findings(log, folder, loading):
    log.write(folder)
    return judged(folder, loading)


def judged(folder, loading):
    cluster = audit([folder], loading=loading).clusters[0]
    found = [f for f in cluster.all_findings() if f.weight is not Weight.NOTE]
    return cluster.directories[0].judged_to, [(f.kind, f.offset, f.known_bug) for f in found]


def elected(most=25, *more):
    """Return a log in which the last known leader is elected while it is fenced, and the offset."""
    log = restarted_uncleanly(most, *more)
    return log, log.add(log.change(**ELECTED_LAST_KNOWN))


def test_a_broker_that_is_elected_while_it_is_fenced_leads_once_it_is_unfenced(tmp_path, loading):
    log, offset = elected()
    log.add(log.unfence(0))
    last = log.add(NOTHING)
    assert findings(log, tmp_path, loading) == (last + 1, [("P11", offset, BUG)])


def test_once_it_was_unfenced_it_is_excused_no_longer(tmp_path, loading):
    log, offset = elected()
    log.add(log.unfence(0))
    fenced = log.add(log.fence(0))
    _, found = findings(log, tmp_path, loading)
    assert found == [("P13", fenced, None), ("P11", fenced, None), ("P11", offset, BUG)]


def test_once_it_is_not_registered_it_is_excused_no_longer(tmp_path, loading):
    log, _ = elected()
    gone = log.add((1, 0, {"brokerId": 0, "brokerEpoch": log.epochs[0]}))
    _, found = findings(log, tmp_path, loading)
    assert ("P11", gone, None) in found


def test_another_partition_that_comes_into_its_state_is_refused(tmp_path, loading):
    other = {"partitionId": 1}
    log, offset = elected(25, other)
    log.add(log.change(isr=(1,), leader=1, leaderRecoveryState=1, lastKnownElr=(), **other))
    wrong = log.add(log.change(isr=(0,), leader=0, **other))
    _, found = findings(log, tmp_path, loading)
    assert ("P11", wrong, None) in found
    assert found[-1] == ("P11", offset, BUG)


ELECTIONS = {
    "of the last known leader": (ELECTED_LAST_KNOWN, BUG),
    "of another": (ELECTED_LAST_KNOWN | {"leader": 2, "isr": (2,)}, None),
    "without a recovery": (
        {n: v for n, v in ELECTED_LAST_KNOWN.items() if n != "leaderRecoveryState"}, None
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", ELECTIONS)
def test_only_the_last_known_leader_is_elected_while_it_is_fenced(tmp_path, loading, what):
    change, bug = ELECTIONS[what]
    log = restarted_uncleanly(25)
    log.add(log.fence(2))
    log.add(log.change(replicas=(0, 1, 2), addingReplicas=(2,)))
    log.add(log.change(**change))
    _, found = findings(log, tmp_path, loading)
    assert {known for *_, known in found} == {bug}


@pytest.mark.parametrize("most", [25, 27])
def test_a_last_known_leader_may_be_elected_by_the_record_that_ends_its_eligibility(
    tmp_path, loading, most
):
    log = OldLog(25, most, (ELR,))
    log.topic((0,))
    gone = {"isr": (), "leader": -1, "eligibleLeaderReplicas": (0,), "lastKnownElr": (0,)}
    log.add(log.change(**gone), log.fence(0))
    again = log.register(0, epoch=log.end, **NEW_INCARNATION)
    elected = log.change(**ELECTED_LAST_KNOWN, eligibleLeaderReplicas=())
    offset = log.add(elected, again) - 1
    _, found = findings(log, tmp_path, loading)
    known = [("P10", offset, BUG), ("P11", offset, BUG)]
    assert sorted(found) == known if most == 25 else found[0] == ("P10", offset, None)


@pytest.mark.parametrize("most", [25, 27])
def test_a_last_known_leader_may_be_elected_in_a_directory_that_is_lost(tmp_path, loading, most):
    log = restarted_uncleanly(most)
    log.add(log.register(0, epoch=log.end, incarnationId=ANOTHER, logDirs=(OTHER,)))
    offset = log.add(log.unfence(0), log.change(**ELECTED_LAST_KNOWN))
    last = log.add(NOTHING)
    judged_to, found = findings(log, tmp_path, loading)
    assert found == [("P14", offset, BUG if most == 25 else None)]
    assert judged_to == (last + 1 if most == 25 else last)


def checkpointed(*, most=25, features=(ELR,), partitions=({},)):
    """Return a log, and the records of a checkpoint: broker 0 leads, in recovery, shutting down."""
    log = OldLog(25, most, features)
    log.topic(isr=(0,), leaderRecoveryState=1)
    named, plain = log.batches[-1]
    led = [(*plain[:2], {**plain[2], "partitionId": n, **p}) for n, p in enumerate(partitions)]
    brokers = [
        log.register(b, epoch=log.epochs[b], fenced=False, inControlledShutdown=b == 0)
        for b in BROKERS
    ]
    return log, [*log.batches[0], *brokers, named, *led]


RECOVERED = {"leaderRecoveryState": 0, "replicas": (0, 2, 1)}
IN_CHECKPOINTS = {
    "Kafka 4.0": ({}, BUG),
    "Kafka 4.1": ({"most": 27}, None),
    "no eligible leader replicas": ({"features": ()}, None),
    "no recovery": ({"partitions": (RECOVERED,)}, None),
    "no recovery of one of two": ({"partitions": ({}, RECOVERED)}, None),
}


@pytest.mark.parametrize("what", IN_CHECKPOINTS)
def test_a_checkpoint_of_kafka_4_0_shows_the_known_bug(tmp_path, loading, what):
    fields, bug = IN_CHECKPOINTS[what]
    _, records = checkpointed(**fields)
    continued(tmp_path, records)
    assert set(judged(tmp_path, loading)[1]) == {("P11", 50, bug), ("P13", 50, bug)}


@pytest.mark.parametrize("most", [25, 27])
def test_behind_a_checkpoint_with_the_known_bug_judging_goes_on(tmp_path, loading, most):
    log, records = checkpointed(most=most)
    continued(tmp_path, records, [NOTHING], [log.fence(0)], [NOTHING])
    judged_to, found = judged(tmp_path, loading)
    later = sorted(one for one in found if one[2] is None)
    offset = 51 if most == 25 else 50
    assert {kind for kind, *_ in later} == {"P11", "P13"}
    assert {place for _, place, _ in later} == {offset}
    assert judged_to == offset + 1
