"""Eligible leader replicas beside an ISR that reaches the minimum, by where that is configured."""

from __future__ import annotations

from copy import deepcopy

import pytest
from tests.krafla.audit.breaking import OTHER, TOPIC, feature
from tests.krafla.audit.old_logs import DIRECTORIES, ELR, NEW_INCARNATION, OldLog

from krafla.audit.image import Image
from krafla.audit.min_insync_replicas import effective_minimum
from krafla.audit.partition_state import PartitionState
from krafla.audit.result import Weight
from krafla.audit.run import audit

LEADER = 3000
"""The node that leads these logs; in `combined`, broker 1 does."""


def minimum(kind, name, value):
    return (4, 0, {
        "resourceType": kind, "resourceName": name, "name": "min.insync.replicas", "value": value,
    })  # fmt: skip


def every(value):
    return minimum(4, "", value)


def topic(value):
    return minimum(2, "old", value)


def node(value, name=LEADER):
    return minimum(4, str(name), value)


def controller():
    names = {"metadata.version": (7, 27), ELR[2]["name"]: (0, 1)}
    levels = tuple(
        {"name": name, "minSupportedVersion": low, "maxSupportedVersion": high}
        for name, (low, high) in names.items()
    )
    endpoint = {"name": "C", "host": "h", "port": 1, "securityProtocol": 0}
    return (27, 0, {
        "controllerId": LEADER, "incarnationId": TOPIC, "zkMigrationReady": False,
        "endPoints": (endpoint,), "features": levels,
    })  # fmt: skip


def log(*configs, replicas=(0, 1, 2), features=(ELR,)):
    # From 4.1-IV0 on, no node has a minimum of its own (W3).
    made = OldLog(25, 27, features)
    made.topic(replicas)
    made.add(controller())
    for config in configs:
        made.add(config)
    return made


def lose_the_leader(made):
    """Let broker 0, alone in sync, shut down uncleanly."""
    made.add(made.change(isr=(0,)))
    again = made.register(0, epoch=made.end, **NEW_INCARNATION)
    made.add(made.change(isr=(), leader=-1, lastKnownElr=(0,)), again)


SHRUNK = {"isr": (0, 1), "eligibleLeaderReplicas": (2,)}
ALONE = {"isr": (0,), "eligibleLeaderReplicas": (1, 2)}
BROKEN = {
    "all nodes": (log(every("2")), SHRUNK),
    "the topic, above all nodes": (log(every("3"), topic("2")), SHRUNK),
    "the node that leads, above all nodes": (log(every("3"), node("2")), SHRUNK),
    "the topic, above the node that leads": (log(every("1"), node("3"), topic("2")), SHRUNK),
    "the topic, one alone": (log(every("2"), topic("1")), ALONE),
    "the node that leads, one alone": (log(every("2"), node("1")), ALONE),
    "a value that was removed": (log(every("2"), topic("3"), topic(None)), SHRUNK),
    "another node does not count": (log(every("2"), node("3", 1)), SHRUNK),
}
HELD = {
    "below that of all nodes": (log(every("3")), SHRUNK),
    "below that of the topic": (log(every("1"), topic("3")), SHRUNK),
    "below that of the node that leads": (log(every("1"), node("3")), SHRUNK),
    "the log shows no minimum": (log(), SHRUNK),
    "a minimum beyond all numbers": (log(every("9" * 5000)), SHRUNK),
}


def outcome(made, change, folder, loading):
    made = deepcopy(made)
    offset = made.add(made.change(**change))
    made.write(folder)
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(f.kind, f.offset) for f in found if f.weight is Weight.VIOLATION], offset


@pytest.mark.parametrize("what", BROKEN)
def test_an_isr_that_reaches_the_minimum_with_an_elr_is_refused(tmp_path, loading, what):
    found, offset = outcome(*BROKEN[what], tmp_path, loading)
    assert found[0] == ("P7", offset)


@pytest.mark.parametrize("what", HELD)
def test_an_isr_below_the_minimum_keeps_its_elr(tmp_path, loading, what):
    assert outcome(*HELD[what], tmp_path, loading)[0] == []


def test_an_isr_that_grows_to_the_minimum_clears_the_elr(tmp_path, loading):
    made = log(every("2"))
    made.add(made.change(**ALONE))
    found, offset = outcome(
        made, {"isr": (0, 1), "eligibleLeaderReplicas": (2,)}, tmp_path, loading
    )
    assert found == [("P7", offset)]


def test_a_last_known_leader_is_cleared_as_well(tmp_path, loading):
    made = log(every("1"))
    lose_the_leader(made)
    change = {"isr": (1,), "leader": 1, "leaderRecoveryState": 1}
    found, offset = outcome(made, change, tmp_path, loading)
    assert found[0] == ("P8", offset)


def test_a_last_known_leader_stays_beside_an_isr_that_a_cancellation_forces(tmp_path, loading):
    made = log(every("1"), replicas=(0,))
    gone = {"isr": (), "leader": -1, "eligibleLeaderReplicas": (0,), "lastKnownElr": (0,)}
    made.add(made.change(**gone), made.fence(0))
    made.add(made.change(replicas=(0, 1), addingReplicas=(1,)))
    forced = {"isr": (0,), "leader": -1, "eligibleLeaderReplicas": ()}
    made.add(made.change(replicas=(0,), addingReplicas=(), **forced))
    target = {"replicas": (0, 1), "addingReplicas": (1,)}
    assert outcome(made, target, tmp_path, loading)[0] == []


def test_a_last_known_leader_stays_while_the_feature_is_off_and_goes_once_it_is_on(
    tmp_path, loading
):
    made = log(every("1"))
    lose_the_leader(made)
    made.add(feature(ELR[2]["name"], 0))
    made.add(made.change(isr=(1,), leader=1, leaderRecoveryState=1))
    made.add(ELR)
    change = {"isr": (1, 2), "leaderRecoveryState": 0}
    assert outcome(made, change | {"lastKnownElr": ()}, tmp_path / "goes", loading)[0] == []
    found, offset = outcome(made, change, tmp_path / "stays", loading)
    assert found[0] == ("P8", offset)


WITHOUT = {
    "an ELR": {"isr": (0, 1), "eligibleLeaderReplicas": (2,)},
    "a last known leader": {"isr": (0, 1), "lastKnownElr": (2,)},
    "neither": {"isr": (0, 1)},
}


@pytest.mark.parametrize("what", WITHOUT)
def test_without_the_feature_a_record_sets_neither_elr_nor_last_known_leader(
    tmp_path, loading, what
):
    found, offset = outcome(log(features=()), WITHOUT[what], tmp_path, loading)
    assert found == ([] if what == "neither" else [("P6", offset)])


@pytest.mark.parametrize("cleared", [True, False])
def test_once_the_feature_is_off_the_next_change_empties_the_elr(tmp_path, loading, cleared):
    made = log()
    made.add(made.change(**SHRUNK))
    made.add(feature(ELR[2]["name"], 0))
    change = {"isr": (0,), **({"eligibleLeaderReplicas": ()} if cleared else {})}
    found, offset = outcome(made, change, tmp_path, loading)
    assert found == ([] if cleared else [("P6", offset)])


MOVED = {"directories": (DIRECTORIES[0], DIRECTORIES[1], OTHER)}
AFTER_THE_FEATURE = {
    "a replica moves": (MOVED, True),
    "a replica moves, and the last known leader goes": (MOVED | {"lastKnownElr": ()}, True),
    "a replica moves, and becomes eligible": (MOVED | {"eligibleLeaderReplicas": (2,)}, False),
    "a replica moves, and is last known to lead": (MOVED | {"lastKnownElr": (2,)}, False),
    "the ISR grows": ({"isr": (1, 2)}, False),
}
"""Changes with the feature of a partition with a leader and, from before, a last known leader."""


@pytest.mark.parametrize("what", AFTER_THE_FEATURE)
def test_a_broker_that_moves_its_replica_leaves_the_last_known_leader(tmp_path, loading, what):
    change, held = AFTER_THE_FEATURE[what]
    made = log(every("1"))
    lose_the_leader(made)
    made.add(feature(ELR[2]["name"], 0))
    made.add(made.change(isr=(1,), leader=1, leaderRecoveryState=1))
    made.add(made.change(leaderRecoveryState=0))
    made.add(ELR)
    found, offset = outcome(made, change, tmp_path, loading)
    assert not found if held else ("P8", offset) in found


def test_a_broker_that_moves_its_replica_reaches_no_minimum(tmp_path, loading):
    made = log(every("3"))
    made.add(made.change(**SHRUNK))
    made.add(topic("2"))
    gone = MOVED | {"eligibleLeaderReplicas": ()}
    assert outcome(made, gone, tmp_path / "4.1", loading)[0] == []
    found, offset = outcome(made, MOVED, tmp_path / "kept", loading)
    assert found == [("P7", offset)]


def test_an_election_from_the_elr_leaves_the_others_eligible(tmp_path, loading):
    made = log(every("2"))
    made.add(made.change(isr=(0,), eligibleLeaderReplicas=(1, 2)))
    made.add(topic("1"))
    change = {"isr": (1,), "leader": 1, "eligibleLeaderReplicas": (2, 0)}
    made.add(made.change(**change), made.fence(0))
    made.write(tmp_path)
    assert audit([tmp_path], loading=loading).clusters[0].all_findings() == ()


def test_a_minimum_is_judged_anew_where_it_changes(tmp_path, loading):
    made = log(every("3"))
    made.add(made.change(**SHRUNK))
    made.add(every("1"))
    found, offset = outcome(
        made, {"isr": (0,), "eligibleLeaderReplicas": (2, 1)}, tmp_path, loading
    )
    assert found == [("P7", offset)]


def two_partitions():
    """Return a log of two partitions on two brokers, and two replicas must be in sync."""
    made = log(every("2"), replicas=(0, 1))
    plain = made.batches[-3][1]
    made.batches[-3].append((*plain[:2], {**plain[2], "partitionId": 1}))
    return made


ONE_LEFT = {"isr": (0,), "eligibleLeaderReplicas": (1,)}
ONLY_0 = {"replicas": (0,), "leader": 0}
"""Changes of a partition of brokers 0 and 1: broker 1 leaves the ISR, and the replicas."""


def found_in(made, folder, loading):
    made.write(folder)
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(f.kind, f.offset) for f in found]


@pytest.mark.parametrize("together", [True, False], ids=["one operation", "two operations"])
def test_the_first_partition_counts_as_it_was_before_the_operation(tmp_path, loading, together):
    made = two_partitions()
    made.add(made.change(**ONE_LEFT), made.change(**ONE_LEFT, partitionId=1))
    records = made.change(**ONLY_0), made.change(**ONLY_0, partitionId=1)
    for batch in [records] if together else [records[:1], records[1:]]:
        offset = made.add(*batch)
    assert found_in(made, tmp_path, loading) == ([] if together else [("P7", offset)])


@pytest.mark.parametrize("first", [True, False], ids=["after it", "before it"])
def test_an_operation_in_the_batch_of_another_counts_what_that_left(tmp_path, loading, first):
    made = two_partitions()
    made.add(made.change(**ONE_LEFT))
    fewer, shrunk = made.change(**ONLY_0), made.change(isr=(0,), partitionId=1)
    offset = made.add(*((fewer, shrunk) if first else (shrunk, fewer)))
    assert found_in(made, tmp_path, loading) == ([] if first else [("P7", offset - 1)])


def test_the_minimum_is_at_most_the_replicas_of_the_first_partition():
    image, topic_id = Image(), bytes(range(16))
    image.leader = LEADER
    image.entities.topic_names[topic_id] = "old"
    image.entities.configs[4, "", "min.insync.replicas"] = "3"
    first, second = bytes(4) + topic_id, bytes([0, 0, 0, 1]) + topic_id
    image.partitions.put(first, PartitionState(0, (0, 1), (0, 1)))
    image.partitions.put(second, PartitionState(0, (0, 1, 2), (0, 1, 2)))
    assert [effective_minimum(image, key) for key in (first, second)] == [2, 2]


def test_without_a_known_leader_a_minimum_of_any_node_leaves_the_topic_s_own_only():
    image, topic_id = Image(), bytes(range(16))
    image.entities.topic_names[topic_id] = "old"
    image.entities.configs[4, "", "min.insync.replicas"] = "3"
    assert effective_minimum(image, bytes(4) + topic_id) == 3
    image.entities.configs[4, "1", "min.insync.replicas"] = "2"
    assert effective_minimum(image, bytes(4) + topic_id) is None
    image.entities.configs[2, "old", "min.insync.replicas"] = "3"
    assert effective_minimum(image, bytes(4) + topic_id) == 3
    image.partitions.put(bytes(4) + topic_id, PartitionState(0, (0, 1), (0, 1)))
    assert effective_minimum(image, bytes(4) + topic_id) == 2


LAST_KNOWN = {"another": (1,), "a stranger": (2,), "an unknown broker": (77,), "none": None}


@pytest.mark.parametrize("what", [*LAST_KNOWN, "the leader"])
def test_a_record_that_empties_the_isr_names_the_leader_before(tmp_path, loading, what):
    made = log()
    made.add(made.change(isr=(0,)), made.fence(1), made.fence(2))
    named = LAST_KNOWN.get(what, (0,))
    gone = {"isr": (), "leader": -1, "eligibleLeaderReplicas": (0,), "lastKnownElr": named}
    offset = made.add(made.change(**gone), made.fence(0)) - 1
    made.write(tmp_path)
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    refused = [(f.kind, f.offset) for f in found if f.weight is Weight.VIOLATION]
    assert refused == ([] if what == "the leader" else [("P8", offset)])


@pytest.mark.parametrize("gained", [(), (2,)], ids=["none", "a replica that was neither"])
def test_only_a_replica_that_was_in_sync_becomes_eligible(tmp_path, loading, gained):
    made = log(every("3"))
    made.add(made.change(isr=(0, 1), eligibleLeaderReplicas=(2,)), made.fence(2))
    again = made.register(2, epoch=made.end + 1, **NEW_INCARNATION)
    made.add(made.change(eligibleLeaderReplicas=()), again)
    offset = made.add(made.change(isr=(0,), eligibleLeaderReplicas=(1, *gained)), made.fence(1)) - 1
    made.write(tmp_path)
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    refused = [(f.kind, f.offset) for f in found if f.weight is Weight.VIOLATION]
    assert refused == ([("P6", offset)] if gained else [])
