"""Leaders change as brokers come and go: scenarios 67 to 94 of Kafka's controller."""

from __future__ import annotations

import pytest
from tests.kraft.controller.partitions import DEFAULTS, KEY, TOPIC, after, epoch_of, image_of

from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.elections import (
    balance_partition_leaders,
    elect_leaders,
    elect_unclean_leaders,
)
from kraft.controller.operations.leadership import (
    begin_controlled_shutdown,
    fence_broker,
    register_broker,
    take_out_of_isr,
    unfence_broker,
    unregister_broker,
)
from kraft.errors import ErrorCode
from kraft.ids import BrokerEpoch, IncarnationId, PartitionId
from kraft.image.replay import replay
from kraft.records.lease import (
    FENCE,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from kraft.records.topics import (
    BROKER_RESOURCE,
    NO_LEADER,
    RECOVERED,
    RECOVERING,
    ConfigRecord,
    PartitionChangeRecord,
)
from kraft.rpc.elect_leaders import PREFERRED_ELECTION, UNCLEAN_ELECTION, ElectLeadersRequest

THREE = (1, 2, 3)
UNCLEAN = {"unclean.leader.election.enable": "true"}


def moved(image, operation, *arguments):
    """Return the image after an operation on brokers."""
    return replay(image, operation(image, DEFAULTS, *arguments))


def state(image):
    """Return leader, ISR and leader epoch of the partition."""
    partition = image.partitions[KEY]
    return partition.leader, partition.isr, partition.leader_epoch


def elected(image, election_type, *, everything=False):
    """Return the error codes of an election of the only partition, and the image after it."""
    asked = None if everything else ((TOPIC, PartitionId(0)),)
    result = elect_leaders(image, DEFAULTS, ElectLeadersRequest(election_type, asked))
    codes = [one.error_code for one in result.response.replica_election_results]
    return codes, replay(image, result.records)


def test_fencing_a_leader_elects_another_one_under_a_new_epoch():
    assert state(moved(image_of(THREE), fence_broker, 1)) == (2, (2, 3), 1)


def test_fencing_a_follower_shrinks_the_isr_under_the_same_leader_epoch():
    assert state(moved(image_of(THREE), fence_broker, 2)) == (1, (1, 3), 0)


def test_the_isr_changes_before_the_broker_is_fenced():
    first, last = fence_broker(image_of(THREE), DEFAULTS, 1)
    assert isinstance(first, PartitionChangeRecord)
    assert last == BrokerRegistrationChangeRecord(1, epoch_of(1), fenced=FENCE)


def test_the_last_in_sync_replica_stays_in_the_isr_without_a_leader():
    image = image_of(THREE)
    for broker_id in (1, 2, 3):
        image = moved(image, fence_broker, broker_id)
    leader, isr, _ = state(image)
    assert (leader, isr) == (NO_LEADER, (3,))
    outsider = moved(image, unfence_broker, 1)
    assert state(outsider)[:2] == (NO_LEADER, (3,))
    epoch = image.partitions[KEY].leader_epoch
    assert state(moved(image, unfence_broker, 3)) == (3, (3,), epoch + 1)


def test_the_unfencing_comes_before_what_it_elects():
    image = image_of((1,), leader=NO_LEADER, fenced=(1,))
    first, second = unfence_broker(image, DEFAULTS, 1)
    assert first == BrokerRegistrationChangeRecord(1, epoch_of(1), fenced=UNFENCE)
    assert second.leader == 1


def test_an_unclean_election_takes_any_live_replica_and_marks_the_partition():
    image = moved(image_of((1, 2), (1,), configs=UNCLEAN), fence_broker, 1)
    partition = image.partitions[KEY]
    assert (partition.leader, partition.isr) == (2, (2,))
    assert partition.leader_recovery_state == RECOVERING


def test_an_operator_can_request_an_unclean_election_whatever_the_topic_allows():
    image = image_of((1, 2), (1,), leader=NO_LEADER, fenced=(1,))
    codes, image = elected(image, UNCLEAN_ELECTION)
    assert codes == [ErrorCode.NONE]
    assert image.partitions[KEY].isr == (2,)
    assert image.partitions[KEY].leader_recovery_state == RECOVERING
    dead = image_of((1, 2), (1,), leader=NO_LEADER, fenced=(1, 2))
    assert elected(dead, UNCLEAN_ELECTION)[0] == [ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE]


def test_a_partition_with_a_leader_needs_no_unclean_election():
    assert elected(image_of(THREE), UNCLEAN_ELECTION)[0] == [ErrorCode.ELECTION_NOT_NEEDED]


def test_the_preferred_leader_is_elected_only_from_the_isr():
    assert elected(image_of(THREE), PREFERRED_ELECTION)[0] == [ErrorCode.ELECTION_NOT_NEEDED]
    second = image_of(THREE, leader=2)
    codes, image = elected(second, PREFERRED_ELECTION)
    assert (codes, state(image)) == ([ErrorCode.NONE], (1, THREE, 1))
    outside = image_of(THREE, (2, 3), leader=2, configs=UNCLEAN)
    codes, image = elected(outside, PREFERRED_ELECTION)
    assert codes == [ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE]
    assert state(image) == (2, (2, 3), 0)


def test_the_preferred_leader_is_never_unclean():
    image = image_of(THREE, (1,), leader=NO_LEADER, fenced=(1,), configs=UNCLEAN)
    codes, image = elected(image, PREFERRED_ELECTION)
    assert codes == [ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE]
    assert image.partitions[KEY].leader == NO_LEADER


def test_an_election_of_all_partitions_skips_those_that_need_none():
    assert elected(image_of(THREE), PREFERRED_ELECTION, everything=True)[0] == []
    assert elected(image_of(THREE, leader=2), PREFERRED_ELECTION, everything=True)[0] == [
        ErrorCode.NONE
    ]


def test_elections_of_unknown_partitions_or_kinds_have_their_errors():
    image = image_of(THREE)
    request = ElectLeadersRequest(0, (("bar", PartitionId(0)), (TOPIC, PartitionId(9))))
    results = elect_leaders(image, DEFAULTS, request).response.replica_election_results
    assert {one.error_code for one in results} == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    unknown = elect_leaders(image, DEFAULTS, ElectLeadersRequest(7))
    assert unknown.response.error_code is ErrorCode.INVALID_REQUEST


def test_balancing_moves_leaders_up_to_a_limit_and_reports_whether_more_may_remain():
    image = image_of(THREE, leader=2)
    result = balance_partition_leaders(image, DEFAULTS)
    assert [one.leader for one in result.records] == [1]
    assert not result.response
    as_many = balance_partition_leaders(image, DEFAULTS, most=1)
    assert (as_many.records, as_many.response) == (result.records, True)
    none_yet = balance_partition_leaders(image, DEFAULTS, most=0)
    assert (none_yet.records, none_yet.response) == ((), True)
    stuck = balance_partition_leaders(image_of(THREE, (2, 3), leader=2), DEFAULTS)
    assert (stuck.records, stuck.response) == ((), False)


@pytest.mark.parametrize(
    ("configs", "resource", "static", "elects"),
    [
        (UNCLEAN, None, False, True),
        ({}, "0", False, True),
        ({}, "", False, True),
        ({}, None, True, True),
        ({}, None, False, False),
        ({"unclean.leader.election.enable": "false"}, "", True, False),
    ],
    ids=["topic", "node", "cluster", "static", "none", "the topic's word counts"],
)
def test_the_unclean_sweep_reads_topic_node_cluster_and_static_settings(
    configs, resource, static, elects
):
    image = image_of((1, 2), (1,), leader=NO_LEADER, fenced=(1,), configs=configs)
    if resource is not None:
        record = ConfigRecord(BROKER_RESOURCE, resource, "unclean.leader.election.enable", "true")
        image = replay(image, [record])
    defaults = Defaults(unclean_leader_election_enable=static)
    assert bool(elect_unclean_leaders(image, defaults).records) is elects


def test_a_controlled_shutdown_is_written_before_the_leaders_change():
    first, second = begin_controlled_shutdown(image_of(THREE), DEFAULTS, 1)
    assert first.in_controlled_shutdown == 1
    assert (second.leader, second.isr) == (2, (2, 3))
    again = begin_controlled_shutdown(image_of(THREE, shutting_down=(1,)), DEFAULTS, 1)
    assert all(isinstance(one, PartitionChangeRecord) for one in again)
    old = begin_controlled_shutdown(image_of(THREE, metadata_version=6), DEFAULTS, 1)
    assert all(isinstance(one, PartitionChangeRecord) for one in old)


def test_the_only_replica_leads_nothing_once_it_shuts_down():
    image = moved(image_of((1,)), begin_controlled_shutdown, 1)
    assert state(image)[:2] == (NO_LEADER, (1,))


def test_fencing_a_broker_in_no_isr_is_one_record():
    assert len(fence_broker(image_of(THREE), DEFAULTS, 5)) == 1
    assert take_out_of_isr(image_of(THREE), DEFAULTS, 5) == ()


def test_before_3_3_fencing_and_unfencing_have_separate_records():
    old = image_of(THREE, metadata_version=5)
    assert fence_broker(old, DEFAULTS, 5) == (FenceBrokerRecord(5, epoch_of(5)),)
    assert unfence_broker(old, DEFAULTS, 5) == (UnfenceBrokerRecord(5, epoch_of(5)),)


def test_an_unregistered_broker_leads_nothing_and_stays_a_replica():
    image = image_of(THREE)
    records = unregister_broker(image, DEFAULTS, 1)
    assert records[-1] == UnregisterBrokerRecord(1, epoch_of(1))
    after_it = replay(image, records)
    assert state(after_it) == (2, (2, 3), 1)
    assert after_it.partitions[KEY].replicas == THREE


def test_a_replica_that_leaves_a_small_isr_is_eligible():
    image = moved(image_of(THREE, (1, 2), min_isr=2), fence_broker, 2)
    partition = image.partitions[KEY]
    assert (partition.isr, partition.eligible_leader_replicas) == ((1,), (2,))


def test_an_isr_may_be_empty_and_the_last_leader_is_recorded():
    gone = image_of(THREE, (1,), min_isr=2, eligible_leader_replicas=(2,), fenced=(2, 3))
    image = moved(gone, fence_broker, 1)
    partition = image.partitions[KEY]
    assert (partition.leader, partition.isr) == (NO_LEADER, ())
    assert (partition.eligible_leader_replicas, partition.last_known_elr) == ((1, 2), (1,))


def test_an_eligible_replica_is_elected_cleanly_and_leads_alone():
    image = image_of(
        THREE, (), leader=NO_LEADER, fenced=(1, 2, 3), min_isr=2, eligible_leader_replicas=(1, 2)
    )
    partition = moved(image, unfence_broker, 2).partitions[KEY]
    assert (partition.leader, partition.isr) == (2, (2,))
    assert partition.eligible_leader_replicas == (1,)
    assert partition.leader_recovery_state == RECOVERED


def test_the_last_known_leader_is_elected_if_it_is_alive_and_no_replica_is_eligible():
    gone = {"leader": NO_LEADER, "min_isr": 2, "last_known_elr": (1,)}
    dead = image_of(THREE, (), fenced=THREE, **gone)
    assert moved(dead, unfence_broker, 2).partitions[KEY].leader == NO_LEADER
    partition = moved(dead, unfence_broker, 1).partitions[KEY]
    assert (partition.leader, partition.leader_recovery_state) == (1, RECOVERING)
    assert partition.last_known_elr == ()


def test_a_new_process_is_not_eligible_and_that_record_comes_before_its_registration():
    image = image_of(THREE, (1,), min_isr=2, eligible_leader_replicas=(2, 3), fenced=(2,))
    record = RegisterBrokerRecord(2, IncarnationId("N" * 21 + "A"), BrokerEpoch(200))
    records = register_broker(image, DEFAULTS, record)
    assert records[-1] == record
    assert after(image, records).eligible_leader_replicas == (3,)


def test_a_new_process_leaves_the_isr_of_its_predecessor_first():
    image = image_of(THREE)
    record = RegisterBrokerRecord(2, IncarnationId("N" * 21 + "A"), BrokerEpoch(200))
    change, registration = register_broker(image, DEFAULTS, record)
    assert (change.isr, registration) == ((1, 3), record)
    fenced = image_of(THREE, (1, 3), fenced=(2,))
    assert register_broker(fenced, DEFAULTS, record) == (record,)


def test_a_minimum_isr_above_the_number_of_replicas_means_all_replicas():
    image = moved(image_of((1, 2), min_isr=5), fence_broker, 2)
    assert image.partitions[KEY].eligible_leader_replicas == (2,)
    full = image_of((1, 2), min_isr=5)
    assert take_out_of_isr(full, DEFAULTS, 5) == ()


def test_without_the_feature_a_replica_left_eligible_may_be_elected_once_more():
    image = image_of(THREE, (), leader=NO_LEADER, fenced=THREE, eligible_leader_replicas=(2, 3))
    partition = moved(image, unfence_broker, 2).partitions[KEY]
    assert (partition.leader, partition.isr, partition.eligible_leader_replicas) == (2, (2,), ())
    assert partition.leader_recovery_state == RECOVERED


def test_without_the_feature_a_change_clears_the_eligible_replicas_but_no_last_known_leader():
    image = image_of(THREE, eligible_leader_replicas=(4,), last_known_elr=(4,))
    partition = moved(image, fence_broker, 2).partitions[KEY]
    assert (partition.eligible_leader_replicas, partition.last_known_elr) == ((), (4,))
