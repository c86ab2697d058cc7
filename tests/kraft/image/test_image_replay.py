"""Replay: what each record does to an image, and which records are ruled out by those before."""

from __future__ import annotations

import pytest
from immutables import Map
from tests.kraft.image.logs import TOPIC_A, TOPIC_B, partition, register, topic

from kraft.image.entries import MIGRATING, UNASSIGNED
from kraft.image.errors import RefusedRecordError
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.records.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    ClientQuotaRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    ProducerIdsRecord,
    QuotaEntity,
    RegisterControllerRecord,
    ZkMigrationStateRecord,
)
from kraft.records.lease import (
    BrokerRegistrationChangeRecord,
    Endpoint,
    FeatureRange,
    FenceBrokerRecord,
    NoOpRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from kraft.records.metadata_records import RECORD_CLASSES
from kraft.records.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from kraft.records.topics import (
    NO_LEADER,
    RECOVERING,
    TOPIC_RESOURCE,
    ClearElrRecord,
    ConfigRecord,
    PartitionChangeRecord,
    RemoveTopicRecord,
)

ENTRY = AccessControlEntryRecord("B" * 22, 2, "topic", 3, "User:one", "*", 3, 3)
TOKEN = DelegationTokenRecord("owner", "requester", ("r1", "r2"), 1, 3, 2, "token")
SCRAM = UserScramCredentialRecord("one", 1, b"salt", b"stored", b"server", 4096)


def image(*records):
    return replay(EMPTY_IMAGE, records)


def the_partition(*records):
    return image(*records).partitions[TOPIC_A, 0]


def test_a_broker_registers_changes_and_is_gone():
    brokers = image(register(1, 5)).brokers
    assert (brokers[1].epoch, brokers[1].fenced, brokers[1].in_controlled_shutdown) == (
        5,
        True,
        False,
    )
    unfenced = image(register(1, 5), BrokerRegistrationChangeRecord(1, 5, fenced=-1)).brokers[1]
    assert not unfenced.fenced
    leaving = BrokerRegistrationChangeRecord(1, 5, in_controlled_shutdown=1)
    fenced = BrokerRegistrationChangeRecord(1, 5, fenced=1)
    both = image(register(1, 5), BrokerRegistrationChangeRecord(1, 5, -1), leaving, fenced).brokers[
        1
    ]
    assert both.fenced
    assert both.in_controlled_shutdown
    assert not image(register(1, 5), UnregisterBrokerRecord(1, 5)).brokers


def test_records_of_before_metadata_version_3_3_fence_and_unfence_too():
    assert not image(register(1, 5), UnfenceBrokerRecord(1, 5)).brokers[1].fenced
    again = image(register(1, 5), UnfenceBrokerRecord(1, 5), FenceBrokerRecord(1, 5))
    assert again.brokers[1].fenced


def test_a_new_registration_takes_the_place_of_the_old_one_and_its_order_means_nothing():
    endpoints = (Endpoint("B", "b", 2), Endpoint("A", "a", 1), Endpoint("A", "other", 3))
    features = (FeatureRange("x", 0, 1), FeatureRange("metadata.version", 7, 27))
    broker = image(
        register(1, 5), register(1, 9, endpoints=endpoints, features=features, log_dirs=("C", "B"))
    ).brokers[1]
    assert broker.epoch == 9
    assert [one.host for one in broker.endpoints] == ["other", "b"]
    assert [one.name for one in broker.features] == ["metadata.version", "x"]
    assert broker.directories == ("B", "C")


def test_directories_change_only_if_a_change_names_some():
    first = register(1, 5, log_dirs=("A", "B"))
    kept = image(first, BrokerRegistrationChangeRecord(1, 5, fenced=-1)).brokers[1]
    assert kept.directories == ("A", "B")
    lost = image(first, BrokerRegistrationChangeRecord(1, 5, log_dirs=("B",))).brokers[1]
    assert lost.directories == ("B",)
    assert lost.fenced


def test_the_last_registration_of_a_controller_counts():
    one = RegisterControllerRecord(3000, "A" * 22, False, (Endpoint("C", "h", 1),), ())
    other = RegisterControllerRecord(3000, "B" * 22, False, (), (FeatureRange("f", 0, 1),))
    assert image(one, other).controllers[3000].incarnation_id == "B" * 22
    assert image(one, other).controllers[3000].features == (FeatureRange("f", 0, 1),)


def test_a_topic_has_partitions_until_it_is_deleted_with_its_configuration():
    config = ConfigRecord(TOPIC_RESOURCE, "a", "retention.ms", "1")
    other = ConfigRecord(TOPIC_RESOURCE, "b", "retention.ms", "2")
    there = image(topic("a"), partition(0), partition(1), config, other)
    assert there.topics[TOPIC_A].partition_ids == (0, 1)
    assert dict(there.topic_ids) == {"a": TOPIC_A}
    gone = replay(there, [RemoveTopicRecord(TOPIC_A)])
    assert not gone.topics
    assert not gone.topic_ids
    assert not gone.partitions
    assert list(gone.configurations) == [(TOPIC_RESOURCE, "b")]
    assert replay(gone, [topic("a", TOPIC_B)]).topic_ids == Map(a=TOPIC_B)


def test_a_partition_record_says_all_of_a_partition():
    first = the_partition(topic("a"), partition(0))
    assert first.directories == (MIGRATING,) * 3
    assert (first.leader_epoch, first.partition_epoch) == (0, 0)
    again = partition(0, isr=(2,), leader=2, leader_epoch=7, partition_epoch=9, directories=())
    second = image(topic("a"), partition(0), again)
    assert second.partitions[TOPIC_A, 0].partition_epoch == 9
    assert second.topics[TOPIC_A].partition_ids == (0,)


def change(**changes):
    return PartitionChangeRecord(0, TOPIC_A, **changes)


def test_every_change_takes_a_partition_epoch_and_one_that_names_a_leader_a_leader_epoch():
    start = (topic("a"), partition(0))
    assert the_partition(*start, change(isr=(1, 2))).isr == (1, 2)
    shrunk = the_partition(*start, change(isr=(1, 2)))
    assert (shrunk.leader, shrunk.leader_epoch, shrunk.partition_epoch) == (1, 0, 1)
    same = the_partition(*start, change(leader=1))
    assert (same.leader, same.leader_epoch, same.partition_epoch) == (1, 1, 1)
    none = the_partition(*start, change(leader=NO_LEADER), change(leader_recovery_state=RECOVERING))
    assert (none.leader, none.leader_epoch, none.partition_epoch) == (NO_LEADER, 1, 2)
    assert none.leader_recovery_state == RECOVERING


def test_what_a_change_does_not_name_stays_and_empty_is_named():
    start = (
        topic("a"),
        partition(
            0,
            removing_replicas=(3,),
            adding_replicas=(2,),
            eligible_leader_replicas=(2,),
            last_known_elr=(3,),
        ),
    )
    kept = the_partition(*start, change(leader=2))
    assert (kept.removing_replicas, kept.adding_replicas) == ((3,), (2,))
    assert (kept.eligible_leader_replicas, kept.last_known_elr) == ((2,), (3,))
    ended = the_partition(*start, change(removing_replicas=(), adding_replicas=()))
    assert (ended.removing_replicas, ended.adding_replicas) == ((), ())
    cleared = the_partition(*start, change(eligible_leader_replicas=(), last_known_elr=()))
    assert (cleared.eligible_leader_replicas, cleared.last_known_elr) == ((), ())
    moved = change(replicas=(1, 2), directories=("D1", UNASSIGNED))
    assert the_partition(*start, moved).replicas == (1, 2)
    assert the_partition(*start, moved).directories == ("D1", UNASSIGNED)


def test_directories_of_which_none_are_told_are_migrating():
    start = (topic("a"), partition(0, directories=("D1", "D2", "D3")))
    assert the_partition(*start, change(leader=2)).directories == ("D1", "D2", "D3")
    assert the_partition(*start, change(directories=())).directories == (MIGRATING,) * 3


def test_eligible_leaders_are_forgotten_of_one_topic_or_of_all():
    known = {"eligible_leader_replicas": (2,), "last_known_elr": (3,)}
    both = image(
        topic("a"), partition(0, **known), topic("b", TOPIC_B), partition(0, TOPIC_B, **known)
    )
    one = replay(both, [ClearElrRecord("a")])
    assert one.partitions[TOPIC_A, 0].eligible_leader_replicas == ()
    assert one.partitions[TOPIC_A, 0].last_known_elr == ()
    assert one.partitions[TOPIC_A, 0].partition_epoch == 1
    assert replay(one, [ClearElrRecord("a")]) == one
    assert one.partitions[TOPIC_B, 0] == both.partitions[TOPIC_B, 0]
    assert replay(both, [ClearElrRecord()]).partitions[TOPIC_B, 0].last_known_elr == ()


def test_a_feature_of_level_0_is_gone():
    level = FeatureLevelRecord("group.version", 1)
    metadata = FeatureLevelRecord("metadata.version", 27)
    there = image(metadata, level)
    assert dict(there.features) == {"metadata.version": 27, "group.version": 1}
    assert there.metadata_version == 27
    assert EMPTY_IMAGE.metadata_version is None
    lowered = replay(there, [FeatureLevelRecord("group.version", 0)])
    assert dict(lowered.features) == {"metadata.version": 27}


def test_configurations_and_quotas_without_a_value_are_gone():
    one, other = ConfigRecord(4, "1", "a", "x"), ConfigRecord(4, "1", "b", "y")
    there = image(one, other)
    assert there.configurations == Map({(4, "1"): Map(a="x", b="y")})
    some = replay(there, [ConfigRecord(4, "1", "a", None)])
    assert some.configurations == Map({(4, "1"): Map(b="y")})
    assert not replay(some, [ConfigRecord(4, "1", "b", None)]).configurations
    assert not image(ConfigRecord(4, "1", "b", None)).configurations

    who = (QuotaEntity("user", "one"), QuotaEntity("client-id", None))
    limited = image(ClientQuotaRecord(who, "rate", 5.0, remove=False))
    key = (("client-id", None), ("user", "one"))
    assert limited.client_quotas == Map({key: Map(rate=5.0)})
    backwards = ClientQuotaRecord(who[::-1], "rate", 0.0, remove=True)
    assert not replay(limited, [backwards]).client_quotas


def test_a_quota_that_names_a_type_twice_is_for_the_last():
    who = (QuotaEntity("user", None), QuotaEntity("user", "one"))
    limited = image(ClientQuotaRecord(who, "rate", 5.0, remove=False))
    assert list(limited.client_quotas) == [(("user", "one"),)]


def test_entries_credentials_and_tokens_come_and_go():
    there = image(ENTRY, SCRAM, TOKEN)
    assert there.access_control_entries["B" * 22].principal == "User:one"
    assert there.scram_credentials[1, "one"].iterations == 4096
    assert there.delegation_tokens["token"].renewers == ("r1", "r2")
    gone = replay(
        there,
        [
            RemoveAccessControlEntryRecord("B" * 22),
            RemoveUserScramCredentialRecord("one", 1),
            RemoveDelegationTokenRecord("token"),
        ],
    )
    assert gone == EMPTY_IMAGE
    assert image(RemoveDelegationTokenRecord("token")) == EMPTY_IMAGE


@pytest.mark.parametrize(
    "record",
    [
        NoOpRecord(),
        ZkMigrationStateRecord(1),
        BeginTransactionRecord("name"),
        EndTransactionRecord(),
        AbortTransactionRecord("reason"),
    ],
    ids=lambda record: type(record).__name__,
)
def test_some_records_say_nothing_of_the_cluster(record):
    there = image(register(1, 5))
    assert replay(there, [record]) == there


RULED_OUT = [
    ([UnregisterBrokerRecord(1, 5)], "broker 1 is not registered"),
    ([register(1, 5), FenceBrokerRecord(1, 6)], "registered with epoch 5, not 6"),
    ([register(1, 5), UnfenceBrokerRecord(1, 4)], "registered with epoch 5, not 4"),
    ([register(1, 5), UnregisterBrokerRecord(1, 6)], "registered with epoch 5, not 6"),
    ([register(1, 5), BrokerRegistrationChangeRecord(1, 6)], "registered with epoch 5, not 6"),
    ([register(1, 5), BrokerRegistrationChangeRecord(1, 5, 2)], "no meaning for fenced 2"),
    (
        [register(1, 5), BrokerRegistrationChangeRecord(1, 5, 0, -1)],
        "no meaning for in_controlled_shutdown -1",
    ),
    ([topic("a"), topic("b")], f"topic {TOPIC_A} exists"),
    ([topic("a"), topic("a", TOPIC_B)], "a topic of the name 'a' exists"),
    ([partition(0)], f"there is no topic {TOPIC_A}"),
    ([PartitionChangeRecord(0, TOPIC_A)], f"there is no topic {TOPIC_A}"),
    ([topic("a"), PartitionChangeRecord(1, TOPIC_A)], "has no partition 1"),
    ([RemoveTopicRecord(TOPIC_A)], f"there is no topic {TOPIC_A}"),
    ([topic("a"), partition(0, directories=("D",))], "1 directories for 3 replicas"),
    ([topic("a"), partition(0), change(directories=("D",))], "1 directories for 3 replicas"),
    (
        [topic("a"), partition(0, directories=("D", "E", "F")), change(replicas=(1, 2))],
        "3 directories for 2 replicas",
    ),
    ([topic("a"), partition(0, partition_epoch=2**31 - 1), change()], "no epoch comes after 2147"),
    (
        [topic("a"), partition(0, leader_epoch=2**31 - 1), change(leader=1)],
        "no epoch comes after 21474",
    ),
    ([topic("a"), partition(0, leader_recovery_state=2)], "no meaning for leader_recovery_state 2"),
    (
        [topic("a"), partition(0), change(leader_recovery_state=-2)],
        "no meaning for leader_recovery_state -2",
    ),
    ([ClearElrRecord("a")], "no topic has the name 'a'"),
    ([FeatureLevelRecord("f", -1)], "level -1 of f"),
    ([ProducerIdsRecord(1, 5, 1000)] * 2, "the next producer id is 1000 already"),
    ([ENTRY, ENTRY], "entry B+ exists"),
    ([RemoveAccessControlEntryRecord("B" * 22)], "there is no entry B+"),
    ([RemoveUserScramCredentialRecord("one", 2)], "'one' has no credential of mechanism 2"),
]


@pytest.mark.parametrize(("records", "reason"), RULED_OUT, ids=[each[1] for each in RULED_OUT])
def test_a_record_that_those_before_rule_out_is_refused_with_the_reason(records, reason):
    before = image(*records[:-1])
    with pytest.raises(RefusedRecordError, match=reason) as refused:
        replay(before, records[-1:])
    assert refused.value.record is records[-1]
    assert str(refused.value).startswith(f"{type(records[-1]).__name__}: ")


def test_every_type_of_record_is_replayed_here():
    seen = {type(one) for records, _ in RULED_OUT for one in records} | {type(TOKEN), type(SCRAM)}
    others = {"RegisterControllerRecord", "ClientQuotaRecord", "ConfigRecord", "NoOpRecord"} | {
        "BeginTransactionRecord",
        "EndTransactionRecord",
        "AbortTransactionRecord",
        "ZkMigrationStateRecord",
        "RemoveDelegationTokenRecord",
    }
    assert {one.__name__ for one in RECORD_CLASSES} - {one.__name__ for one in seen} == others
