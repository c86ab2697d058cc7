"""KIP-631 on reassignments, topics, and what the fields of their records mean."""

from __future__ import annotations

from dataclasses import fields, replace

from immutables import Map
from tests.kips.sentences import sentence
from tests.kraft.controller.partitions import (
    DEFAULTS,
    KEY,
    TOPIC,
    TOPIC_ID,
    after,
    epoch_of,
    image_of,
)

from kraft.broker.partition_leader import on_alter_partition_response, send_alter_partition, view_of
from kraft.controller.operations.alter_partition import alter_partition
from kraft.controller.operations.elections import elect_leaders
from kraft.controller.operations.leadership import fence_broker, unfence_broker
from kraft.controller.operations.reassignments import (
    alter_partition_reassignments,
    list_partition_reassignments,
)
from kraft.controller.operations.topics import create_topics, delete_topics
from kraft.errors import ErrorCode
from kraft.ids import PartitionId, TopicId
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.image.snapshot import snapshot_records
from kraft.profile import KIP_631
from kraft.records.cluster import ClientQuotaRecord, QuotaEntity
from kraft.records.topics import (
    NO_LEADER,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
)
from kraft.rpc.alter_partition import AlterPartitionRequest
from kraft.rpc.elect_leaders import PREFERRED_ELECTION, ElectLeadersRequest
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
    ReassignablePartition,
)
from kraft.rpc.topics import CreatableTopic, CreateTopicsRequest

AS_PUBLISHED = replace(DEFAULTS, profile=KIP_631)
THREE = (1, 2, 3)


def reassigned(image, target, defaults=DEFAULTS):
    """Return the records of a reassignment that is accepted."""
    asked = ReassignablePartition(TOPIC, PartitionId(0), target)
    request = AlterPartitionReassignmentsRequest((asked,))
    result = alter_partition_reassignments(image, defaults, request)
    assert [one.error_code for one in result.response.responses] == [ErrorCode.NONE]
    return result.records


def moving(image, target, defaults=DEFAULTS):
    """Return the image after a reassignment that is accepted."""
    return replay(image, reassigned(image, target, defaults))


def asked_for(image, isr, defaults=DEFAULTS):
    """Return the leader's view as it asks for an ISR, the answer, and the image after it."""
    partition = image.partitions[KEY]
    view = view_of(partition.leader, partition)
    epochs = {one: epoch_of(one) for one in isr}
    view, asked = send_alter_partition(*KEY, view, isr, epochs)
    request = AlterPartitionRequest(partition.leader, epoch_of(partition.leader), (asked,))
    result = alter_partition(image, defaults, request)
    return view, result.response.partitions[0], replay(image, result.records)


def under_way(image):
    """Return the reassignments that are under way."""
    return list_partition_reassignments(image, ListPartitionReassignmentsRequest()).topics


# "Partition Reassignment".


@sentence("631-160")
def test_reassignments_are_altered_and_listed():
    image = moving(image_of(THREE), (1, 2, 4))
    (listed,) = under_way(image)
    assert (listed.name, listed.adding_replicas, listed.removing_replicas) == (TOPIC, (4,), (3,))
    assert under_way(moving(image, None)) == ()


@sentence("631-161")
def test_an_alteration_names_a_partition_and_its_target():
    named = [field.name for field in fields(ReassignablePartition)]
    assert named == ["name", "partition_index", "replicas"]


@sentence("631-162")
def test_differs_a_smaller_target_waits_for_all_who_stay():
    image = image_of(THREE, (1, 3))
    waits = moving(image, (1, 2)).partitions[KEY]
    assert (waits.replicas, waits.removing_replicas) == (THREE, (3,))
    at_once = moving(image, (1, 2), AS_PUBLISHED).partitions[KEY]
    assert (at_once.replicas, at_once.isr, at_once.removing_replicas) == ((1, 2), (1,), ())


@sentence("631-163")
def test_what_completes_at_once_is_one_record_with_replicas_and_isr():
    (record,) = reassigned(image_of(THREE), (1, 2))
    assert isinstance(record, PartitionChangeRecord)
    assert (record.replicas, record.isr) == ((1, 2), (1, 2))


@sentence("631-164")
def test_a_smaller_target_that_nobody_in_sync_is_of_waits():
    for defaults in (DEFAULTS, AS_PUBLISHED):
        waits = moving(image_of(THREE, (1,)), (2, 3), defaults).partitions[KEY]
        assert (waits.isr, waits.removing_replicas) == ((1,), (1,))


@sentence("631-165")
def test_new_replicas_are_added_and_waited_for():
    image = moving(image_of(THREE), (3, 4, 5))
    partition = image.partitions[KEY]
    assert (partition.replicas, partition.isr) == ((3, 4, 5, 1, 2), THREE)
    assert (partition.adding_replicas, partition.removing_replicas) == ((4, 5), (1, 2))
    _, _, image = asked_for(image, (1, 2, 3, 4))
    assert under_way(image)
    _, _, image = asked_for(image, (1, 2, 3, 4, 5))
    assert image.partitions[KEY].replicas == (3, 4, 5)
    assert not under_way(image)


@sentence("631-166")
def test_a_reassignment_goes_on_in_an_image_made_of_the_log_alone():
    image = image_of(THREE)
    records = reassigned(image, (1, 2, 4))
    anew = replay(replay(EMPTY_IMAGE, snapshot_records(image)), records)
    _, _, done = asked_for(anew, (1, 2, 3, 4))
    assert done.partitions[KEY].replicas == (1, 2, 4)


@sentence("631-167")
def test_a_snapshot_has_the_adding_and_the_removing_replicas():
    snapshot = snapshot_records(moving(image_of(THREE), (1, 2, 4)))
    (partition,) = [one for one in snapshot if isinstance(one, PartitionRecord)]
    assert (partition.adding_replicas, partition.removing_replicas) == ((4,), (3,))


@sentence("631-168")
def test_a_topic_whose_partition_moves_may_be_deleted():
    image = moving(image_of(THREE), (1, 2, 4))
    assert delete_topics(image, (TOPIC_ID,)).response == {TOPIC_ID: ErrorCode.NONE}


@sentence("631-169")
def test_a_deletion_ends_what_moves():
    image = moving(image_of(THREE), (1, 2, 4))
    assert under_way(image)
    assert not under_way(replay(image, delete_topics(image, (TOPIC_ID,)).records))


@sentence("631-170")
def test_a_leader_that_puts_the_new_replica_into_the_isr_completes_the_move():
    image = moving(image_of(THREE), (1, 2, 4))
    _, answer, image = asked_for(image, (1, 2, 3, 4))
    assert answer.error_code is ErrorCode.NONE
    assert not under_way(image)


@sentence("631-171")
def test_differs_unfencing_puts_nobody_into_an_isr():
    image = moving(image_of(THREE, fenced=(4,)), (1, 2, 4))
    unfenced = replay(image, unfence_broker(image, DEFAULTS, 4))
    assert unfenced.partitions[KEY] == image.partitions[KEY]
    assert under_way(unfenced)


@sentence("631-172")
def test_the_isr_that_results_leaves_out_who_is_removed():
    image = moving(image_of(THREE), (1, 2, 4))
    _, _, image = asked_for(image, (1, 2, 3, 4))
    assert image.partitions[KEY].isr == (1, 2, 4)


@sentence("631-173")
def test_the_leader_applies_the_isr_of_the_answer():
    view, answer, _ = asked_for(moving(image_of(THREE), (1, 2, 4)), (1, 2, 3, 4))
    assert answer.isr == (1, 2, 4)
    applied = on_alter_partition_response(view, ErrorCode.NONE, answer)
    assert (applied.isr, applied.pending) == ((1, 2, 4), ())


@sentence("631-174")
def test_differs_a_leader_that_leaves_the_isr_is_told_of_its_successor():
    image = moving(image_of((3, 2, 1)), (4, 2, 1))
    _, answer, _ = asked_for(image, (3, 2, 1, 4))
    assert answer.error_code is ErrorCode.NEW_LEADER_ELECTED
    _, answer, _ = asked_for(image, (3, 2, 1, 4), AS_PUBLISHED)
    assert answer.error_code is ErrorCode.FENCED_LEADER_EPOCH


@sentence("631-175")
def test_that_leader_waits_and_the_log_makes_it_no_leader():
    image = moving(image_of((3, 2, 1)), (4, 2, 1))
    view, answer, image = asked_for(image, (3, 2, 1, 4))
    assert on_alter_partition_response(view, ErrorCode.NONE, answer) == view
    assert view_of(3, image.partitions[KEY]) is None
    assert image.partitions[KEY].leader == 4


# "Topic Identifiers".


@sentence("631-280")
def test_topics_of_one_name_at_different_times_have_different_ids():
    new = TopicId("N" * 21 + "A")
    image = image_of(THREE)
    gone = replay(image, delete_topics(image, (TOPIC_ID,)).records)
    request = CreateTopicsRequest((CreatableTopic(TOPIC, 1, 3),))
    again = replay(gone, create_topics(gone, DEFAULTS, request, (new,)).records)
    assert again.topic_ids[TOPIC] == new != TOPIC_ID


@sentence("631-281")
def test_a_deletion_is_one_record():
    image = image_of(THREE, configs={"retention.ms": "5"})
    assert delete_topics(image, (TOPIC_ID,)).records == (RemoveTopicRecord(TOPIC_ID),)


@sentence("631-282")
def test_who_replays_a_deletion_has_no_such_topic():
    image = replay(image_of(THREE), [RemoveTopicRecord(TOPIC_ID)])
    assert (image.topics, image.topic_ids) == (Map(), Map())


# "Record Formats": what the fields mean.


@sentence("631-345")
def test_the_first_of_the_replicas_is_preferred():
    image = image_of((2, 1, 3), leader=1)
    request = ElectLeadersRequest(PREFERRED_ELECTION, ((TOPIC, PartitionId(0)),))
    result = elect_leaders(image, DEFAULTS, request)
    assert after(image, result.records).leader == 2


@sentence("631-346")
def test_the_leader_is_minus_one_when_nobody_can_lead():
    image = image_of((1,))
    partition = after(image, fence_broker(image, DEFAULTS, 1))
    assert partition.leader == NO_LEADER == -1


@sentence("631-347")
def test_another_leader_has_a_greater_leader_epoch():
    image = image_of(THREE)
    partition = after(image, fence_broker(image, DEFAULTS, 1))
    assert (partition.leader, partition.leader_epoch) == (2, 1)


@sentence("631-348")
def test_a_change_that_says_nothing_leaves_all_but_the_partition_epoch():
    image = image_of(THREE)
    changed = after(image, [PartitionChangeRecord(PartitionId(0), TOPIC_ID)])
    before = image.partitions[KEY]
    for name in ("isr", "leader", "leader_epoch", "replicas"):
        assert getattr(changed, name) == getattr(before, name)
    nobody = after(image, [PartitionChangeRecord(PartitionId(0), TOPIC_ID, leader=NO_LEADER)])
    assert nobody.leader == NO_LEADER


@sentence("631-349")
def test_who_is_fenced_is_in_no_isr_beside_others():
    image = image_of(THREE)
    partition = after(image, fence_broker(image, DEFAULTS, 2))
    assert partition.isr == (1, 3)


@sentence("631-351")
def test_a_quota_of_nobody_by_name_is_the_default_and_can_be_removed():
    entity = (QuotaEntity("user", None),)
    image = replay(EMPTY_IMAGE, [ClientQuotaRecord(entity, "k", 5.0, remove=False)])
    assert image.client_quotas == Map({(("user", None),): Map({"k": 5.0})})
    assert replay(image, [ClientQuotaRecord(entity, "k", 0.0, remove=True)]) == EMPTY_IMAGE
