"""Heartbeats, silent brokers and their partitions: scenarios 28 to 50 of Kafka's controller."""

from __future__ import annotations

import pytest
from tests.kraft.controller.cluster_driver import SESSION_TIMEOUT_MS, ClusterDriver
from tests.kraft.controller.partitions import DEFAULTS, TOPIC_ID, directory

from kraft.controller.operations.broker_heartbeats import (
    heartbeats_after,
    maybe_fence_stale_broker,
    replay_with_heartbeats,
)
from kraft.controller.operations.lease_view import WrittenLease
from kraft.errors import ErrorCode
from kraft.ids import NO_OFFSET, PartitionId
from kraft.records.lease import (
    FENCE,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    NoOpRecord,
    UnfenceBrokerRecord,
)
from kraft.records.topics import NO_LEADER, PartitionChangeRecord
from kraft.rpc import BrokerHeartbeatResponse


def registered(broker=1):
    """Return a driver with one broker, registered and fenced."""
    driver = ClusterDriver()
    driver.register(broker)
    return driver


def with_topic(*partitions, **fields):
    """Return a driver with the brokers 1, 2 and 3 unfenced, and a topic."""
    driver = ClusterDriver(**fields).unfenced(1, 2, 3)
    driver.create(*partitions)
    return driver


def answer(*, caught_up=True, fenced=False, shut_down=False):
    """Return an answer without an error."""
    return BrokerHeartbeatResponse(ErrorCode.NONE, caught_up, fenced, shut_down)


def fencing(driver, broker=1):
    """Return the record that fences a broker."""
    return BrokerRegistrationChangeRecord(broker, driver.registration(broker).epoch, fenced=FENCE)


def test_a_broker_that_replayed_its_registration_is_unfenced():
    driver = registered()
    offset = driver.written.registration_offsets[1]
    assert driver.heartbeat(current_metadata_offset=offset - 1) == answer(
        caught_up=False, fenced=True
    )
    assert driver.appended == ()
    assert driver.heartbeat(current_metadata_offset=offset) == answer()
    epoch = driver.registration().epoch
    assert driver.appended == (BrokerRegistrationChangeRecord(1, epoch, fenced=UNFENCE),)
    assert not driver.registration().fenced


def test_the_registrations_offset_counts_and_not_its_epoch():
    driver = with_topic((1, 2))
    driver.now_ms += SESSION_TIMEOUT_MS + 1
    driver.register(1, 2)
    epoch, offset = driver.registration().epoch, driver.written.registration_offsets[1]
    assert epoch < offset
    assert driver.heartbeat(current_metadata_offset=epoch).is_fenced
    assert not driver.heartbeat(current_metadata_offset=offset).is_fenced


def test_a_broker_that_wants_to_stay_fenced_stays_fenced():
    driver = registered()
    assert driver.heartbeat(want_fence=True) == answer(fenced=True)
    assert driver.appended == ()


def test_a_fenced_broker_may_shut_down_and_is_fenced_once_more():
    driver = registered()
    assert driver.heartbeat(want_shut_down=True) == answer(fenced=True, shut_down=True)
    assert driver.appended == (fencing(driver),)


@pytest.mark.parametrize("and_shut_down", [False, True])
def test_a_broker_that_wants_to_be_fenced_loses_what_it_led_first(and_shut_down):
    driver = with_topic((1, 2, 3), (2, 3), (3, 1))
    fence = fencing(driver)
    response = driver.heartbeat(want_fence=True, want_shut_down=and_shut_down)
    assert response == answer(fenced=True, shut_down=and_shut_down)
    first, second, last = driver.appended
    assert (first.partition_id, first.leader, first.isr) == (0, 2, (2, 3))
    assert (second.partition_id, second.isr) == (2, (3,))
    assert last == fence


def test_an_unfenced_broker_that_leads_nothing_may_shut_down_at_once():
    driver = with_topic((2, 1))
    assert driver.heartbeat(want_shut_down=True) == answer(fenced=True, shut_down=True)
    change, fence = driver.appended
    assert (change.isr, fence) == ((2,), fencing(driver))


def test_the_record_of_a_controlled_shutdown_comes_before_the_new_leaders():
    driver = with_topic((1, 2))
    assert driver.heartbeat(want_shut_down=True) == answer()
    first, second = driver.appended
    assert first.in_controlled_shutdown == 1
    assert (second.leader, second.isr) == (2, (2,))
    assert driver.soft().controlled_shutdown_offset == driver.written.end - 1


def test_a_broker_stops_once_all_staying_brokers_have_replayed_its_shutdown():
    driver = with_topic((1, 2))
    driver.heartbeat(want_shut_down=True)
    offset = driver.soft().controlled_shutdown_offset
    driver.write(NoOpRecord())
    assert driver.heartbeat(want_shut_down=True) == answer()
    driver.heartbeat(2)
    driver.heartbeat(3, current_metadata_offset=offset - 1)
    assert driver.heartbeat(want_shut_down=True) == answer()
    assert driver.soft().controlled_shutdown_offset == offset
    assert driver.appended == ()
    driver.heartbeat(3, current_metadata_offset=offset)
    assert driver.heartbeat(want_shut_down=True) == answer(fenced=True, shut_down=True)
    assert driver.appended == (fencing(driver),)
    assert driver.soft().controlled_shutdown_offset == NO_OFFSET


def test_a_lagging_broker_delays_no_shutdown_once_it_is_fenced():
    driver = with_topic((1, 2))
    driver.heartbeat(want_shut_down=True)
    driver.heartbeat(2)
    assert not driver.heartbeat(want_shut_down=True).should_shut_down
    driver.heartbeat(3, want_fence=True)
    driver.heartbeat(2)
    assert driver.heartbeat(want_shut_down=True).should_shut_down


def test_the_only_broker_leads_nothing_in_its_shutdown_and_may_stop():
    driver = ClusterDriver().unfenced(1)
    driver.create((1,))
    driver.heartbeat(want_shut_down=True)
    assert (driver.partition().leader, driver.partition().isr) == (NO_LEADER, (1,))
    assert driver.heartbeat(want_shut_down=True).should_shut_down


def test_a_session_that_ends_ends_a_controlled_shutdown():
    driver = with_topic((1, 2))
    driver.heartbeat(want_shut_down=True)
    driver.now_ms += SESSION_TIMEOUT_MS
    driver.heartbeat(2)
    driver.heartbeat(3)
    driver.now_ms += 1
    assert driver.fence_stale()
    assert driver.registration().fenced
    assert driver.heartbeat(want_shut_down=True) == answer(fenced=True, shut_down=True)


@pytest.mark.parametrize("difference", [-1, 1])
@pytest.mark.parametrize("expired", [False, True])
def test_a_heartbeat_of_another_epoch_is_refused(difference, expired):
    driver = ClusterDriver().unfenced(1)
    before = driver.written, driver.heartbeats
    driver.now_ms += 1
    epoch = driver.registration().epoch + difference
    response = driver.heartbeat(broker_epoch=epoch, expired=expired)
    assert response.error_code is ErrorCode.STALE_BROKER_EPOCH
    assert (driver.written, driver.heartbeats) == before


@pytest.mark.parametrize("expired", [False, True])
def test_a_heartbeat_before_any_registration_is_refused(expired):
    driver = ClusterDriver()
    response = driver.heartbeat(expired=expired)
    assert response.error_code is ErrorCode.STALE_BROKER_EPOCH
    assert len(driver.heartbeats.brokers) == 0


def test_silent_brokers_are_fenced_one_by_one_after_the_changes_of_the_last():
    driver = with_topic((1, 2, 3), (3, 2, 1))
    for broker in (3, 1, 2):
        driver.now_ms += 1
        driver.heartbeat(broker)
    driver.now_ms += SESSION_TIMEOUT_MS + 1
    fenced = []
    while driver.fence_stale():
        fenced.append(driver.appended[-1].broker_id)
    assert fenced == [3, 1, 2]
    assert driver.appended == ()
    for index in (0, 1):
        assert (driver.partition(index).leader, driver.partition(index).isr) == (NO_LEADER, (2,))


def test_of_two_brokers_silent_equally_long_the_lower_id_is_fenced_first():
    driver = ClusterDriver().unfenced(2, 1)
    driver.now_ms += SESSION_TIMEOUT_MS + 1
    assert driver.fence_stale()
    assert driver.appended[-1].broker_id == 1


def test_a_session_is_valid_at_its_last_millisecond():
    driver = ClusterDriver().unfenced(1)
    driver.now_ms = SESSION_TIMEOUT_MS
    assert not driver.fence_stale()
    driver.now_ms = SESSION_TIMEOUT_MS + 1
    assert driver.fence_stale()


def test_a_heartbeat_that_waited_too_long_only_renews_the_session():
    driver = registered()
    driver.now_ms = 7
    response = driver.heartbeat(expired=True)
    assert response.error_code is ErrorCode.REQUEST_TIMED_OUT
    assert driver.appended == ()
    assert driver.registration().fenced
    assert driver.soft().contact_time_ms == 7
    driver.heartbeat()
    driver.now_ms = 8
    driver.heartbeat(expired=True, want_fence=True)
    assert (driver.appended, driver.registration().fenced) == ((), False)


def test_a_failover_gives_each_unfenced_broker_a_whole_session():
    driver = ClusterDriver().unfenced(1)
    driver.register(2)
    driver.now_ms = SESSION_TIMEOUT_MS
    driver.fail_over()
    assert sorted(driver.heartbeats.brokers) == [1, 2]
    assert [driver.soft(broker).contact_time_ms for broker in (1, 2)] == [driver.now_ms, None]
    driver.now_ms += SESSION_TIMEOUT_MS
    assert not driver.fence_stale()
    driver.now_ms += 1
    assert driver.fence_stale()
    assert driver.registration().fenced


@pytest.mark.parametrize("from_snapshot", [False, True])
def test_a_new_controller_does_not_know_which_brokers_were_shutting_down(from_snapshot):
    driver = with_topic((1, 2))
    driver.heartbeat(want_shut_down=True)
    driver.fail_over(from_snapshot=from_snapshot)
    assert driver.registration().in_controlled_shutdown
    assert driver.heartbeat(want_shut_down=True) == answer(fenced=True, shut_down=True)


def test_after_a_snapshot_its_last_offset_counts_for_all_registrations():
    driver = ClusterDriver()
    driver.register(1)
    driver.create((1,))
    driver.fail_over(from_snapshot=True)
    last = driver.written.end - 1
    assert driver.heartbeat(current_metadata_offset=last - 1).is_fenced
    assert not driver.heartbeat(current_metadata_offset=last).is_fenced


def test_before_3_3_iv2_fencing_and_unfencing_have_separate_records():
    driver = ClusterDriver(metadata_version=5)
    driver.register(1)
    driver.heartbeat()
    epoch = driver.registration().epoch
    assert driver.appended == (UnfenceBrokerRecord(1, epoch),)
    driver.now_ms += SESSION_TIMEOUT_MS + 1
    assert driver.fence_stale()
    assert driver.appended == (FenceBrokerRecord(1, epoch),)


def test_before_3_3_iv3_a_controlled_shutdown_moves_leaders_without_a_record_of_its_own():
    driver = with_topic((1, 2), metadata_version=6)
    assert driver.heartbeat(want_shut_down=True) == answer()
    (change,) = driver.appended
    assert (change.leader, change.isr) == (2, (2,))
    assert driver.soft().controlled_shutdown_offset == driver.written.end - 1


def test_an_unfenced_broker_leads_leaderless_partitions_and_joins_no_isr():
    driver = with_topic((1, 2), (2, 1), (3,))
    for broker in (1, 2):
        driver.heartbeat(broker, want_fence=True)
    assert [driver.partition(index).leader for index in range(3)] == [NO_LEADER, NO_LEADER, 3]
    driver.heartbeat(1)
    assert len(driver.appended) == 1
    driver.heartbeat(2)
    unfence, *elections = driver.appended
    assert unfence.fenced == UNFENCE
    assert [(one.partition_id, one.leader) for one in elections] == [(0, 2), (1, 2)]
    assert driver.partition().isr == (2,)


def test_an_unclean_election_marks_its_partition():
    driver = with_topic((1, 2), unclean_leader_election_enable=True)
    driver.write(PartitionChangeRecord(PartitionId(0), TOPIC_ID, isr=(1,)))
    driver.heartbeat(1, want_fence=True)
    change, _ = driver.appended
    assert (change.leader, change.isr, change.leader_recovery_state) == (2, (2,), 1)


def test_with_an_elr_the_isr_may_become_empty_and_eligible_replicas_lead_when_they_return():
    driver = ClusterDriver(min_isr=2).unfenced(1, 2)
    driver.create((1, 2))
    driver.heartbeat(2, want_fence=True)
    assert driver.partition().eligible_leader_replicas == (2,)
    driver.heartbeat(1, want_fence=True)
    partition = driver.partition()
    assert (partition.leader, partition.isr, partition.last_known_elr) == (NO_LEADER, (), (1,))
    driver.heartbeat(2)
    partition = driver.partition()
    assert (partition.leader, partition.isr) == (2, (2,))
    assert partition.eligible_leader_replicas == (1,)


def on_disks():
    """Return a driver whose broker 1 leads a partition in the first of its two directories."""
    driver = ClusterDriver()
    driver.register(1, log_dirs=(directory(1), directory(8)))
    driver.heartbeat(1)
    driver.unfenced(2)
    driver.create((1, 2))
    places = (directory(1), directory(2))
    driver.write(PartitionChangeRecord(PartitionId(0), TOPIC_ID, directories=places))
    return driver


def test_partitions_on_a_failed_directory_get_other_leaders():
    driver = on_disks()
    driver.heartbeat(offline_log_dirs=(directory(1), directory(5)))
    change, registration = driver.appended
    assert (change.leader, change.isr) == (2, (2,))
    assert registration.log_dirs == (directory(8),)
    driver.heartbeat(offline_log_dirs=(directory(1), directory(5)))
    assert driver.appended == ()


def test_a_failed_directory_of_a_broker_being_fenced_changes_a_partition_once():
    driver = on_disks()
    driver.heartbeat(offline_log_dirs=(directory(1),), want_fence=True)
    change, fence, registration = driver.appended
    assert (change.leader, change.isr, fence) == (2, (2,), fencing(driver))
    assert registration.log_dirs == (directory(8),)


def test_an_unfenced_broker_leads_nothing_in_a_directory_that_it_reports_as_failed():
    driver = on_disks()
    driver.heartbeat(want_fence=True)
    driver.heartbeat(2, want_fence=True)
    driver.heartbeat(offline_log_dirs=(directory(1),))
    assert driver.partition().leader == -1


def test_before_3_7_iv2_failed_directories_are_ignored():
    driver = with_topic((1, 2), metadata_version=16)
    driver.heartbeat(offline_log_dirs=(directory(1),))
    assert driver.appended == ()


def test_the_lease_view_shows_what_the_metadata_has():
    driver = with_topic((1, 2))
    driver.register(4)
    lease = WrittenLease(driver.written)
    assert list(lease.registrations) == [1, 2, 3, 4]
    assert len(lease.registrations) == 4
    assert [broker in lease.leads for broker in (1, 2, 9)] == [True, False, False]
    assert 9 not in lease.registrations
    assert lease.log_end == driver.written.end


def test_the_soft_state_after_a_batch_equals_that_after_its_single_records():
    driver = with_topic((1, 2))
    driver.heartbeat(1, want_shut_down=True)
    epochs = {broker: driver.registration(broker).epoch for broker in (1, 2)}
    records = (
        PartitionChangeRecord(PartitionId(0), TOPIC_ID, isr=(1, 2)),
        BrokerRegistrationChangeRecord(1, epochs[1], fenced=FENCE),
        PartitionChangeRecord(PartitionId(0), TOPIC_ID, isr=(2,)),
        BrokerRegistrationChangeRecord(2, epochs[2], log_dirs=(directory(7),)),
        PartitionChangeRecord(PartitionId(0), TOPIC_ID, leader=NO_LEADER),
    )
    one_by_one = driver.written, driver.heartbeats
    for record in records:
        one_by_one = replay_with_heartbeats(*one_by_one, (record,), one_by_one[0].end)
    batch = replay_with_heartbeats(driver.written, driver.heartbeats, records, driver.written.end)
    assert batch == one_by_one
    written, heartbeats = driver.written, driver.heartbeats
    assert heartbeats_after(heartbeats, written, records, written.end) == batch[1]
    assert batch[1] != heartbeats


def test_without_brokers_no_broker_is_fenced():
    driver = ClusterDriver()
    generated = maybe_fence_stale_broker(driver.written, driver.heartbeats, DEFAULTS, 10**9)
    assert (generated.result.records, generated.result.response) == ((), False)
