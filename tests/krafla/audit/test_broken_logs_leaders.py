"""Logs of levels, new partitions and leaders that Kafka never writes, beside those it writes."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import (
    ELECTED_AGAIN,
    NOTHING,
    TIME,
    checkpoint,
    checkpoint_name,
    feature,
    from_start,
    leader_change,
)
from tests.krafla.audit.editing import LOG
from tests.krafla.audit.old_logs import DIRECTORIES, ELR, NEW_INCARNATION, OldLog, without_a_leader

from krafla.audit.image import METADATA_VERSION
from krafla.audit.result import Weight
from krafla.audit.run import audit
from kraft.image.entries import LOST
from kraft.records.builder import control_batch, metadata_batch, with_crc
from kraft.records.limits import MAX_RECORDS_PER_BATCH


def violations(folder, loading):
    """Return kind and offset of each violation."""
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(f.kind, f.offset) for f in found if f.weight is Weight.VIOLATION]


@pytest.mark.parametrize("level", [1, 2, 3])
def test_no_record_names_a_level_before_levels_had_records(tmp_path, loading, level):
    from_start(tmp_path, [feature(METADATA_VERSION, level)])
    assert violations(tmp_path, loading)[0] == ("F3", 1)


def test_the_first_level_that_has_records_is_named(tmp_path, loading):
    from_start(tmp_path, [feature(METADATA_VERSION, 4)])
    assert violations(tmp_path, loading) == []


def test_a_fall_below_the_first_level_that_has_records_is_refused(tmp_path, loading):
    # No level from 1 to 4 loses metadata of the one above, so only F3 refuses the fall.
    from_start(tmp_path, [feature(METADATA_VERSION, 4)], [feature(METADATA_VERSION, 3)])
    assert violations(tmp_path, loading) == [("F3", 2)]


def test_a_checkpoint_names_no_such_level_either(tmp_path, loading):
    folder = from_start(tmp_path)
    (folder / "00000000000000000000.log").unlink()
    (folder / checkpoint_name(9)).write_bytes(checkpoint([feature(METADATA_VERSION, 2)]))
    assert violations(tmp_path, loading) == [("F3", 9)]


def begun(level, replicas, **fields):
    """Return a log with a new partition; broker 1 is in controlled shutdown, or fenced."""
    log = OldLog(level, level)
    leaving = {"brokerId": 1, "brokerEpoch": log.epochs[1], "inControlledShutdown": 1}
    log.add((17, 1, leaving) if level >= 7 else log.fence(1))
    log.topic(replicas, **fields)
    return log


NEW_PARTITIONS = {
    "an active replica is left out": ({"isr": (2,), "leader": 2}, False),
    "in another order": ({"isr": (0, 2), "leader": 0}, False),
    "the active replicas in order": ({"isr": (2, 0), "leader": 2}, True),
}


@pytest.mark.parametrize("level", [1, 4, 7, 27])
@pytest.mark.parametrize("what", NEW_PARTITIONS)
def test_the_isr_of_a_new_partition_is_its_active_replicas(tmp_path, loading, what, level):
    # Kafka 3.2 and before, which name no level, chose otherwise.
    fields, held = NEW_PARTITIONS[what]
    log = begun(level, (2, 1, 0), **fields)
    log.write(tmp_path)
    assert violations(tmp_path, loading) == ([] if held or level == 1 else [("T7", log.end - 1)])


def test_a_new_partition_of_a_known_topic_is_judged_as_well(tmp_path, loading):
    log = begun(27, (2, 1, 0), isr=(2, 0), leader=2)
    more = log.batches[-1][1][2] | {"partitionId": 1, "isr": (0,), "leader": 0}
    offset = log.add((3, 2, more))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == [("T7", offset)]


FRAMES = {
    "a timestamp delta": (2, 10, False),
    "attributes": (1, 1, False),
    "neither": (1, 0, True),
}
"""By name: a byte of a control record's frame after its length, its value, whether that holds."""


@pytest.mark.parametrize("what", FRAMES)
def test_a_control_record_has_the_frame_that_kafka_writes(tmp_path, loading, what):
    byte, value, held = FRAMES[what]
    folder = from_start(tmp_path, [feature(METADATA_VERSION, 27)])
    raw = bytearray(leader_change(2, 2, 3000, (3000,)))
    raw[61 + byte] = value
    (folder / LOG).write_bytes((folder / LOG).read_bytes() + with_crc(bytes(raw)))
    assert violations(tmp_path, loading) == ([] if held else [("W2", 2)])


def test_the_control_record_with_another_frame_is_named(tmp_path, loading):
    folder = from_start(tmp_path, [feature(METADATA_VERSION, 27)])
    voters = ({"voterId": 3000},)
    led = (2, {"version": 0, "leaderId": 3000, "voters": voters, "grantingVoters": voters})
    raw = bytearray(control_batch(2, 2, TIME, [led, led]))
    raw[61 + 2 + raw[61] // 2] = 1
    (folder / LOG).write_bytes((folder / LOG).read_bytes() + with_crc(bytes(raw)))
    assert ("W2", 3) in violations(tmp_path, loading)


FIRST_ENTRIES = {
    "a later epoch than the log's first": ("7 0", False),
    "a later epoch after an earlier one": ("1 0\n7 0", False),
    "the epoch of the log's first batch": ("1 0", True),
    "an earlier epoch, as after a loss of entries": ("0 0", True),
    "an entry after the log's end": ("1 0\n7 900", True),
}


@pytest.mark.parametrize("what", FIRST_ENTRIES)
def test_the_log_begins_in_no_earlier_epoch_than_the_file_says(tmp_path, loading, what):
    entries, held = FIRST_ENTRIES[what]
    folder = from_start(tmp_path, [feature(METADATA_VERSION, 27)])
    count = len(entries.splitlines())
    (folder / "leader-epoch-checkpoint").write_text(f"0\n{count}\n{entries}\n")
    assert violations(tmp_path, loading) == ([] if held else [("EpochStarts", 0)])


EPOCHS = {
    "every epoch": ("1 0\n2 2\n3 4", True),
    "not the second": ("1 0\n3 4", False),
    "not the first": ("2 2\n3 4", True),
    "not the last": ("1 0\n2 2", True),
    "a later log": ("1 0\n2 2\n3 4\n5 9", True),
    "none between the first and one after the log's end": ("1 0\n4 9", True),
}


@pytest.mark.parametrize("what", EPOCHS)
def test_the_file_has_every_epoch_between_two_that_it_has(tmp_path, loading, what):
    entries, held = EPOCHS[what]
    begun = [[feature(METADATA_VERSION, 27)], ELECTED_AGAIN, [NOTHING], ELECTED_AGAIN]
    folder = from_start(tmp_path, *begun)
    count = len(entries.splitlines())
    (folder / "leader-epoch-checkpoint").write_text(f"0\n{count}\n{entries}\n")
    assert violations(tmp_path, loading) == ([] if held else [("EpochStarts", 2)])


EMPTIED = {"isr": (), "leader": -1, "eligibleLeaderReplicas": (0,), "lastKnownElr": (0,)}


def led_alone(level=25, *, elr=True):
    """Return a log whose partition of brokers 0 and 1 has broker 0 alone in sync."""
    log = OldLog(level, max(level, 7), (ELR,) if elr else ())
    log.topic((0, 1))
    raised = {"leader": 0} if level < 12 else {}
    log.add(log.change(isr=(0,), **raised, **({"eligibleLeaderReplicas": (1,)} if elr else {})))
    return log


def shut_down(log, broker):
    return (17, 1, {"brokerId": broker, "brokerEpoch": log.epochs[broker],
                    "inControlledShutdown": 1})  # fmt: skip


def lost_last(log, broker, *left):
    """Return the record that leaves a broker these directories."""
    return (17, 2, {"brokerId": broker, "brokerEpoch": log.epochs[broker], "logDirs": left})


BOTH_GONE = EMPTIED | {"eligibleLeaderReplicas": (1, 0)}
OPERATIONS = {
    "an eligible replica is active": (lambda log: (log.change(**BOTH_GONE), log.fence(0)), False),
    "no broker is taken out": (lambda log: (log.change(**EMPTIED),), False),
    "all are fenced": (lambda log: (log.change(**BOTH_GONE), log.fence(0), log.fence(1)), True),
    "all shut down": (
        lambda log: (shut_down(log, 1), shut_down(log, 0), log.change(**BOTH_GONE)), True,
    ),
    "one lost its last directory, the other is fenced": (
        lambda log: (log.change(**BOTH_GONE), lost_last(log, 0), log.fence(1)), True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", OPERATIONS)
def test_a_leader_is_lost_only_if_no_replica_that_may_lead_is_active(tmp_path, loading, what):
    operation, held = OPERATIONS[what]
    log = led_alone()
    records = operation(log)
    offset = log.end + next(i for i, (key, *_) in enumerate(records) if key == 5)
    log.add(*records)
    log.write(tmp_path)
    assert violations(tmp_path, loading) == ([] if held else [("P16", offset)])


@pytest.mark.parametrize("level", [1, 4, 6, 7, 19])
def test_without_the_feature_an_active_member_of_the_isr_leads(tmp_path, loading, level):
    # Below 7 no record says that a broker is in controlled shutdown.
    log = led_alone(level, elr=False)
    offset = log.add(log.change(leader=-1))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == ([] if level < 7 else [("P16", offset)])


@pytest.mark.parametrize("held", [True, False], ids=["a failover", "the same leader"])
def test_a_failover_may_break_off_the_operation_that_takes_a_leader(tmp_path, loading, held):
    log = led_alone(19, elr=False)
    offset = log.end
    log.add(log.change(leader=-1), *[NOTHING] * (MAX_RECORDS_PER_BATCH - 1))
    end, epoch = log.end, 2 if held else 1
    folder = log.write(tmp_path)
    more = leader_change(end, 2, 3000, (3000,)) if held else b""
    more += metadata_batch(end + held, epoch, TIME, [NOTHING])
    (folder / LOG).write_bytes((folder / LOG).read_bytes() + more)
    assert violations(tmp_path, loading) == ([] if held else [("P16", offset)])


def test_a_leader_that_comes_back_in_its_batch_was_not_lost(tmp_path, loading):
    log = led_alone(19, elr=False)
    log.add(log.change(leader=-1), log.fence(0), log.unfence(0), log.change(leader=0))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == []


@pytest.mark.parametrize("there", [LOST, DIRECTORIES[0]], ids=["offline", "online"])
def test_an_election_goes_by_the_directories_from_before_the_record(tmp_path, loading, there):
    log = without_a_leader()
    moved = {} if there == DIRECTORIES[0] else {"directories": (there, LOST)}
    elected = log.add(log.change(leader=0, **moved))
    back = {"directories": (DIRECTORIES[0], LOST)} if moved else {}
    offset = log.add(log.change(leader=-1, **back))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == [("P14", elected) if moved else ("P16", offset)]


def with_minimum(value, *, elr=True):
    """Return a log whose topic needs so many replicas in sync; None: the log does not say."""
    log = OldLog(25, 27, (ELR,) if elr else ())
    log.topic((0, 1, 2))
    if value is not None:
        log.add((4, 0, {"resourceType": 4, "resourceName": "", "name": "min.insync.replicas",
                        "value": value}))  # fmt: skip
    return log


def restarted(log, broker):
    """Return the registration of a new incarnation, which ends a batch of two records."""
    return log.register(broker, epoch=log.end, **NEW_INCARNATION)


ALONE = {"isr": (0,), "eligibleLeaderReplicas": (1, 2)}
SHRUNK = {"isr": (0, 1), "eligibleLeaderReplicas": (2,)}
FORGETTING = {
    "out of the ISR": ([], lambda log: [log.change(isr=(0, 1))], False),
    "out of the ELR": ([ALONE], lambda log: [log.change(eligibleLeaderReplicas=(1,))], False),
    "all but the leader": ([], lambda log: [log.change(isr=(0,))], False),
    "another broker registers": (
        [ALONE], lambda log: [log.change(eligibleLeaderReplicas=(2,)), restarted(log, 2)], False,
    ),
    "its broker registers, out of the ELR": (
        [ALONE], lambda log: [log.change(eligibleLeaderReplicas=(1,)), restarted(log, 2)], True,
    ),
    "its broker registers, out of the ISR": (
        [], lambda log: [log.change(isr=(0, 1)), restarted(log, 2)], True,
    ),
    "it becomes eligible": (
        [], lambda log: [log.change(isr=(0, 1), eligibleLeaderReplicas=(2,))], True,
    ),
    "a replica stays where it was assigned, and empties the ELR": (
        [ALONE], lambda log: [log.change(eligibleLeaderReplicas=())], True,
    ),
    "the ELR is emptied beside another change": (
        [ALONE], lambda log: [log.change(eligibleLeaderReplicas=(), isr=(0, 1))], False,
    ),
    "a replica moves, and empties the ELR": (
        [ALONE],
        lambda log: [log.change(directories=(DIRECTORIES[0], DIRECTORIES[1], LOST),
                                eligibleLeaderReplicas=())],
        True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FORGETTING)
def test_below_the_minimum_what_leaves_the_isr_is_eligible(tmp_path, loading, what):
    before, records, held = FORGETTING[what]
    log = with_minimum("3")
    for change in before:
        log.add(log.change(**change))
    offset = log.end
    log.add(*records(log))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == ([] if held else [("P7", offset)])


@pytest.mark.parametrize(
    ("value", "elr"), [("2", True), (None, True), ("3", False)],
    ids=["the minimum is reached", "the log has no minimum", "the feature is off"],
)  # fmt: skip
def test_nobody_is_eligible_at_the_minimum_or_without_the_feature(tmp_path, loading, value, elr):
    log = with_minimum(value, elr=elr)
    log.add(log.change(isr=(0, 1)))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == []


def test_an_unclean_election_leaves_no_replica_eligible(tmp_path, loading):
    log = with_minimum("3")
    log.add(log.change(**ALONE))
    log.add(log.change(eligibleLeaderReplicas=(1,)), restarted(log, 2))
    log.add(log.unfence(2), log.fence(1))
    unclean = {"isr": (2,), "leader": 2, "eligibleLeaderReplicas": (), "leaderRecoveryState": 1}
    log.add(log.change(**unclean), log.fence(0))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == []


def test_what_a_clear_elr_record_clears_is_not_asked_for_again(tmp_path, loading):
    log = with_minimum("3")
    log.add(log.change(**ALONE))
    log.add((28, 0, {"topicName": ""}))
    log.add(log.change(isr=(0, 1)))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == []


@pytest.mark.parametrize("held", [True, False])
def test_only_the_last_member_of_an_isr_leaves_it_empty(tmp_path, loading, held):
    log = with_minimum("3")
    log.add(log.change(**(ALONE if held else SHRUNK)))
    eligible = {"eligibleLeaderReplicas": (1, 2, 0), "lastKnownElr": (0,)}
    emptied = log.end
    log.add(log.change(isr=(), leader=-1, **eligible), *map(log.fence, (0, 1, 2)))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == ([] if held else [("P4", emptied)])
