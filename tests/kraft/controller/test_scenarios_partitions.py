"""The scenarios of Kafka's controller about partitions that no other file has."""

from __future__ import annotations

from tests.kraft.controller.cluster_driver import ClusterDriver
from tests.kraft.controller.controller_runs import ME, Player
from tests.kraft.controller.partitions import DEFAULTS, KEY, TOPIC_ID, image_of
from tests.kraft.controller.test_reassignments import joined, listed, moving

from kraft.controller import events
from kraft.controller.operations.elections import balance_partition_leaders
from kraft.controller.operations.leadership import fence_broker, unfence_broker
from kraft.controller.state import is_active
from kraft.errors import ErrorCode
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.image.snapshot import snapshot_records
from kraft.records.topics import NO_LEADER, RemoveTopicRecord

THREE = (1, 2, 3)


def test_balancing_skips_partitions_with_an_inactive_preferred_leader():
    dead = image_of(THREE, leader=2, fenced=(1,))
    assert balance_partition_leaders(dead, DEFAULTS).records == ()
    alive = image_of(THREE, leader=2)
    assert [one.leader for one in balance_partition_leaders(alive, DEFAULTS).records] == [1]


def test_an_isr_that_reaches_the_minimum_again_clears_the_eligible_replicas():
    image = image_of(
        THREE, (1,), min_isr=2, eligible_leader_replicas=(2,), last_known_elr=(3,)
    )  # fmt: skip
    code, image = joined(image, (1, 2))
    partition = image.partitions[KEY]
    assert (code, partition.isr) == (ErrorCode.NONE, (1, 2))
    assert (partition.eligible_leader_replicas, partition.last_known_elr) == ((), ())


def test_a_replica_that_joins_an_isr_below_the_minimum_leaves_the_others_eligible():
    image = image_of((1, 2, 3, 4), (1,), min_isr=3, eligible_leader_replicas=(2, 3))
    _, image = joined(image, (1, 4))
    partition = image.partitions[KEY]
    assert (partition.isr, partition.eligible_leader_replicas) == ((1, 4), (2, 3))


def test_a_deleted_topic_has_no_eligible_replicas():
    driver = ClusterDriver(min_isr=2).unfenced(1, 2)
    driver.create((1, 2))
    driver.heartbeat(1, want_fence=True)
    assert list(driver.written.index.elr[1]) == [KEY]
    driver.write(RemoveTopicRecord(TOPIC_ID))
    assert not driver.written.index.elr.get(1)


def test_a_removed_leader_leads_no_more_even_if_no_staying_replica_can_lead():
    partition = moving(image_of(THREE, fenced=(2, 3)), (2, 3)).partitions[KEY]
    assert (partition.replicas, partition.isr) == ((2, 3), (2, 3))
    assert (partition.leader, partition.leader_epoch) == (NO_LEADER, 1)


def test_a_reassignment_goes_on_under_the_next_controller():
    image = moving(image_of(THREE), (1, 2, 4))
    changed = image.partitions[KEY]
    assert changed.adding_replicas == (4,)
    player = Player()
    player.load(40, *snapshot_records(image))
    player.handle(events.LeaderChanged(0, 2, ME))
    assert is_active(player.state)
    assert player.image.partitions[KEY] == changed
    assert listed(player.image) == [("foo", 0)]
    code, done = joined(player.image, (1, 2, 3, 4))
    assert (code, done.partitions[KEY].replicas) == (ErrorCode.NONE, (1, 2, 4))
    assert listed(replay(EMPTY_IMAGE, snapshot_records(done))) == []


def test_an_added_replica_may_be_fenced_meanwhile_and_completes_the_reassignment_when_it_joins():
    image = moving(image_of((1, 2)), (1, 4))
    image = replay(image, fence_broker(image, DEFAULTS, 4))
    assert image.partitions[KEY].adding_replicas == (4,)
    assert joined(image, (1, 2, 4))[0] is ErrorCode.INELIGIBLE_REPLICA
    image = replay(image, unfence_broker(image, DEFAULTS, 4))
    assert listed(image) == [("foo", 0)]
    code, image = joined(image, (1, 2, 4))
    assert (code, image.partitions[KEY].replicas) == (ErrorCode.NONE, (1, 4))
    assert listed(image) == []
