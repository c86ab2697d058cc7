"""The replicas of a broker lead, follow, open and drop as the metadata says."""

from __future__ import annotations

from dataclasses import replace as changed

from immutables import Map
from msgspec.structs import replace

from kraft.broker.partitions import (
    DROPPED,
    LEADS,
    OPENED,
    BrokerPartitions,
    fetches,
    learn,
    load,
    lose_directory,
    unassigned,
)
from kraft.broker.replica_log import ReplicaLog
from kraft.broker.replication import Following, Leading
from kraft.image.entries import LOST, MIGRATING, UNASSIGNED, Partition
from kraft.image.metadata_image import METADATA_VERSION, MetadataImage
from kraft.records.topics import NO_LEADER
from kraft.rpc.replica_fetch import FetchPartition

ONE, OTHER, GONE = "first-directory-of-one", "other-directory-of-one", "lost--directory-of-one"
BOTH = (ONE, OTHER)
TOPIC, AGAIN = "a-topic-of-some-name-A", "the-same-topic-again-A"
KEY, SECOND = (TOPIC, 0), (TOPIC, 1)
LOG = ReplicaLog(((0, 3),))
LED = Partition((1, 2), (ONE, OTHER), (1, 2), leader=1, leader_epoch=2, partition_epoch=5)
FOLLOWED = replace(LED, leader=2, leader_epoch=3, partition_epoch=6)


def image_of(partitions, version=27):
    return MetadataImage(features=Map({METADATA_VERSION: version}), partitions=Map(partitions))


def begun(partitions, logs=None, directories=BOTH, failed=()):
    image = image_of(partitions)
    own, _ = load(1, image, {} if logs is None else logs)
    own, changes = learn(own, None, image, directories, failed, 0)
    return own, image, changes


def after(own, before, partitions, directories=BOTH, failed=()):
    image = image_of(partitions)
    return *learn(own, before, image, directories, failed, 10), image


def said(changes):
    return [(change.what, change.key) for change in changes]


def test_a_broker_leads_and_follows_as_the_metadata_says():
    own, _, changes = begun({KEY: LED, SECOND: FOLLOWED})
    assert own.replicas[KEY].role.view.leader_epoch == 2
    assert own.replicas[SECOND].role == Following(2, 3)
    assert said(changes) == [(OPENED, KEY), (LEADS, KEY), (OPENED, SECOND)]


def test_a_starting_broker_continues_with_the_logs_on_its_disks():
    own, _, changes = begun({KEY: LED}, {ONE: {KEY: LOG}})
    assert own.replicas[KEY].log == LOG
    assert [change.log for change in changes] == [LOG, LOG]
    assert own.replicas[KEY].role.epoch_start == 3


def test_a_log_that_is_no_longer_a_replica_is_stray():
    moved = replace(LED, replicas=(2,), directories=(OTHER,), isr=(2,), leader=2)
    for partitions in ({}, {KEY: moved}, {(AGAIN, 0): LED}):
        own, stray = load(1, image_of(partitions), {ONE: {KEY: LOG}})
        assert stray == ((ONE, KEY),)
        assert not own.replicas


def test_of_two_copies_the_one_in_the_assigned_directory_counts():
    for named, other in ((ONE, OTHER), (OTHER, ONE)):
        partition = replace(LED, directories=(named, OTHER))
        own, stray = load(1, image_of({KEY: partition}), {ONE: {KEY: LOG}, OTHER: {KEY: LOG}})
        assert own.replicas[KEY].directory == named
        assert stray == ((other, KEY),)


def test_a_leader_that_is_told_to_follow_follows():
    own, image, _ = begun({KEY: LED})
    own, changes, _ = after(own, image, {KEY: FOLLOWED})
    assert own.replicas[KEY].role == Following(2, 3)
    assert changes == ()


def test_without_a_leader_nothing_is_fetched():
    own, image, _ = begun({KEY: FOLLOWED})
    assert fetches(own) == {2: (FetchPartition(*KEY, 3, 0, -1),)}
    own, _, _ = after(own, image, {KEY: replace(FOLLOWED, leader=NO_LEADER, leader_epoch=4)})
    assert fetches(own) == {}


def test_metadata_older_than_the_controllers_answer_is_ignored():
    own, image, _ = begun({KEY: LED})
    replica = own.replicas[KEY]
    view = changed(replica.role.view, isr=(1,), partition_epoch=7, pending=(1, 2))
    answered = replace(replica, role=replace(replica.role, view=view))
    own = BrokerPartitions(1, own.replicas.set(KEY, answered))
    own, _, image = after(own, image, {KEY: replace(LED, partition_epoch=6)})
    assert own.replicas[KEY].role.view == view
    own, _, image = after(own, image, {KEY: replace(LED, isr=(1,), partition_epoch=7)})
    assert own.replicas[KEY].role.view == view
    own, _, _ = after(own, image, {KEY: replace(LED, partition_epoch=8)})
    assert own.replicas[KEY].role.view.isr == (1, 2)


def test_a_deleted_topic_and_a_replica_that_has_moved_are_dropped():
    own, image, _ = begun({KEY: LED, SECOND: LED}, {ONE: {KEY: LOG}})
    moved = replace(LED, replicas=(2,), directories=(OTHER,), isr=(2,), leader=2, partition_epoch=6)
    own, changes, _ = after(own, image, {SECOND: moved})
    assert said(changes) == [(DROPPED, KEY), (DROPPED, SECOND)]
    assert not own.replicas


def test_a_topic_that_was_created_again_starts_empty():
    own, image, _ = begun({KEY: LED}, {ONE: {KEY: LOG}})
    own, changes, _ = after(own, image, {(AGAIN, 0): LED})
    assert said(changes) == [(DROPPED, KEY), (OPENED, (AGAIN, 0)), (LEADS, (AGAIN, 0))]
    assert own.replicas[AGAIN, 0].log.end_offset == 0


def test_a_new_replica_is_in_its_assigned_directory_or_in_the_emptiest():
    elsewhere = replace(LED, directories=(UNASSIGNED, ONE))
    own, _, _ = begun({KEY: LED, SECOND: elsewhere})
    assert own.replicas[KEY].directory == ONE
    assert own.replicas[SECOND].directory == OTHER


def test_the_replicas_of_a_failed_directory_neither_lead_nor_follow():
    own, image, _ = begun({KEY: LED})
    own = lose_directory(own, ONE)
    assert not own.replicas
    own, changes, _ = after(own, image, {KEY: replace(LED, partition_epoch=6)}, (OTHER,), (ONE,))
    assert own.offline == Map({KEY: ONE})
    assert changes == ()


def test_a_starting_broker_does_not_recreate_replicas_of_a_failed_directory():
    own, _, changes = begun({KEY: LED}, directories=(OTHER,), failed=(ONE,))
    assert own.offline == Map({KEY: ONE})
    assert changes == ()


def test_a_replica_that_may_be_in_a_failed_directory_is_not_created_elsewhere():
    migrating = replace(LED, directories=(MIGRATING, OTHER))
    own, _, _ = begun({KEY: migrating}, directories=(OTHER,), failed=(ONE,))
    assert not own.replicas
    never_placed = replace(LED, directories=(UNASSIGNED, OTHER))
    own, _, _ = begun({KEY: never_placed}, directories=(OTHER,), failed=(ONE,))
    assert own.replicas[KEY].directory == OTHER


def test_a_replica_of_a_missing_directory_starts_anew():
    own, _, _ = begun({KEY: replace(LED, directories=(GONE, OTHER))})
    assert own.replicas[KEY].directory == ONE


def test_a_broker_reports_replicas_whose_directory_differs_from_the_metadata():
    own, image, _ = begun({KEY: replace(LED, directories=(UNASSIGNED, OTHER)), SECOND: LED})
    assert unassigned(own, image) == ((own.replicas[KEY].directory, *KEY),)
    assert unassigned(own, image_of({})) == ()


def test_before_metadata_has_directories_nothing_is_reported():
    own, image, _ = begun({KEY: replace(LED, directories=(MIGRATING, MIGRATING))})
    assert unassigned(own, image)
    assert unassigned(own, image_of(image.partitions, 16)) == ()


def test_a_replica_that_failed_before_its_directory_was_recorded_is_lost():
    own, image, _ = begun({KEY: replace(LED, directories=(UNASSIGNED, OTHER))})
    own = lose_directory(own, own.replicas[KEY].directory)
    assert unassigned(own, image) == ((LOST, *KEY),)
    own, _, image = after(own, image, {KEY: replace(LED, directories=(LOST, OTHER))})
    assert unassigned(own, image) == ()


def test_nothing_changes_if_no_partition_does():
    own, image, _ = begun({KEY: LED})
    same = replace(image, next_producer_id=1_000)
    assert learn(own, image, same, BOTH, (), 10) == (own, ())
    assert isinstance(own.replicas[KEY].role, Leading)
