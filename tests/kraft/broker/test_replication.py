"""Replicas with data: leaders append and commit, followers fetch and truncate."""

from __future__ import annotations

from dataclasses import replace as changed

import pytest
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from kraft.broker import produce_purgatory, replication
from kraft.broker.partition_leader import PartitionLeader
from kraft.broker.replica_log import (
    EMPTY_LOG,
    ReplicaLog,
    append,
    diverging_epoch,
    end_of_epoch,
    extend,
    holds,
    records_from,
    truncate,
    truncate_to_leader,
)
from kraft.broker.replication import (
    FollowerState,
    Following,
    Replica,
    advance_high_watermark,
    append_to_leader,
    become_follower,
    become_leader,
    is_follower_in_sync,
    is_isr_eligible,
    on_fetch,
    on_fetched,
    wanted_isr,
)
from kraft.errors import ErrorCode
from kraft.image.entries import BrokerRegistration
from kraft.image.metadata_image import MetadataImage
from kraft.rpc.produce import ProduceRequest
from kraft.rpc.replica_fetch import EpochEnd, FetchPartition

DIRECTORY = "first-directory-of-one"
TOPIC = "a-topic-of-some-name-A"
KEY = (TOPIC, 0)
LAG_MS = 1_000
VIEW = PartitionLeader(4, 7, (1, 2, 3), (1, 2))
LOG = ReplicaLog(((1, 3), (2, 5)))


def no_follower(_one, _known):
    return False


def anybody(_one, _known):
    return True


def leader(view=VIEW, log=LOG, now_ms=0):
    return become_leader(Replica(DIRECTORY, log), view, now_ms)


def ask(replica, epoch=4):
    return FetchPartition(*KEY, epoch, replica.log.end_offset, replica.log.last_epoch)


def fetch(leads, end, last_epoch=2, *, by=2, under=9, now_ms=10, epoch=4):
    return on_fetch(leads, FetchPartition(*KEY, epoch, end, last_epoch), by, under, now_ms, 100)


@st.composite
def histories(draw):
    """Logs that leaders of one partition may leave: each begins with a part of an earlier one."""
    found = [EMPTY_LOG]
    for epoch in range(draw(st.integers(0, 5))):
        earlier = draw(st.sampled_from(found))
        kept = truncate(earlier, draw(st.integers(0, earlier.end_offset)))
        found.append(append(kept, epoch, draw(st.integers(1, 3))))
    return found


def test_a_log_identifies_records_by_epoch_and_offset():
    log = append(append(EMPTY_LOG, 1, 3), 2, 2)
    assert log == LOG
    assert (log.end_offset, log.last_epoch) == (5, 2)
    assert records_from(log, 2, 2) == ((1, 3), (2, 4))
    assert truncate(log, 3) == ReplicaLog(((1, 3),))
    assert append(log, 2, 1) == ReplicaLog(((1, 3), (2, 6)))


def test_a_leader_has_no_records_of_a_later_epoch():
    with pytest.raises(ValueError, match="epoch 1 has records of epoch 2"):
        append(LOG, 1, 1)


@pytest.mark.parametrize(
    ("epoch", "end"),
    [(0, EpochEnd(-1, 0)), (1, EpochEnd(1, 3)), (2, EpochEnd(2, 5)), (9, EpochEnd(2, 5))],
)
def test_an_epoch_ends_where_the_next_one_begins(epoch, end):
    assert end_of_epoch(LOG, epoch) == end


@given(histories(), st.data())
def test_a_follower_that_truncates_ends_with_the_leaders_log(found, data):
    leading = append(data.draw(st.sampled_from(found)), 9, 1)
    following = data.draw(st.sampled_from(found))
    while diverging := diverging_epoch(leading, following.end_offset, following.last_epoch):
        cut = truncate_to_leader(following, diverging)
        assert cut.end_offset < following.end_offset
        following = cut
    following = extend(following, records_from(leading, following.end_offset, 100))
    assert following == leading


@given(histories(), st.data())
def test_a_log_holds_its_prefixes_and_nothing_more(found, data):
    log = data.draw(st.sampled_from(found))
    part = truncate(log, data.draw(st.integers(0, log.end_offset)))
    assert holds(log, part)
    assert holds(part, log) == (part == log)


def test_a_follower_gets_its_missing_records_up_to_the_maximum():
    leads, answer = fetch(leader(), 1, 1)
    assert answer.records == ((1, 3), (2, 5))
    assert leads.role.followers[2].end_offset == 1
    _, few = on_fetch(leads, FetchPartition(*KEY, 4, 1, 1), 2, 9, 10, 1)
    assert few.records == ((1, 2),)


def test_fetched_records_are_appended_to_the_followers_log():
    follower = become_follower(Replica(DIRECTORY, ReplicaLog(((1, 2),))), 1, 4)
    asked = ask(follower)
    leads, answer = on_fetch(leader(), asked, 2, 9, 10, 100)
    follower = on_fetched(follower, asked, answer)
    assert follower.log == leads.log
    assert on_fetched(follower, asked, answer) is follower


def test_a_diverging_follower_is_told_where_and_its_fetch_does_not_count():
    follower = become_follower(Replica(DIRECTORY, ReplicaLog(((1, 4), (3, 7))), 7), 1, 4)
    asked = ask(follower)
    leads, answer = on_fetch(leader(), asked, 2, 9, 10, 100)
    assert answer.diverging_epoch == EpochEnd(2, 5)
    assert leads.role.followers[2].end_offset == replication.UNKNOWN
    follower = on_fetched(follower, asked, answer)
    assert follower.log == ReplicaLog(((1, 4),))
    assert follower.high_watermark == 4


def test_an_answer_of_another_leader_epoch_changes_nothing():
    follower = become_follower(Replica(DIRECTORY), 1, 4)
    asked = ask(follower)
    _, answer = on_fetch(leader(), asked, 2, 9, 10, 100)
    later = become_follower(follower, 1, 5)
    assert on_fetched(later, asked, answer) is later


@pytest.mark.parametrize(
    ("epoch", "by", "code"),
    [
        (3, 2, ErrorCode.FENCED_LEADER_EPOCH),
        (5, 2, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (4, 8, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_a_fetch_under_another_epoch_or_from_a_non_replica_is_refused(epoch, by, code):
    leads, answer = fetch(leader(), 0, -1, by=by, epoch=epoch)
    assert answer.error_code is code
    assert leads.role.followers == leader().role.followers


def test_a_replica_that_does_not_lead_refuses_fetches_and_appends():
    follower = become_follower(Replica(DIRECTORY), 1, 4)
    assert fetch(follower, 0)[1].error_code is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert append_to_leader(follower, 1, 1) == (follower, ErrorCode.NOT_LEADER_OR_FOLLOWER)


def test_a_fetch_of_an_earlier_process_of_a_follower_is_refused():
    leads, _ = fetch(leader(), 5, under=9)
    assert fetch(leads, 0, under=8)[1].error_code is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_the_high_watermark_is_the_lowest_end_of_the_in_sync_replicas():
    leads, _ = fetch(leader(), 3)
    leads = advance_high_watermark(1, leads, 1, no_follower)
    assert leads.high_watermark == 3


def test_a_leader_commits_nothing_before_all_in_sync_replicas_have_fetched():
    assert advance_high_watermark(1, leader(), 1, no_follower).high_watermark == 0


def test_a_replica_in_the_pending_isr_counts_for_the_high_watermark():
    view = changed(VIEW, pending=(1, 2, 3))
    leads, _ = fetch(leader(view), 5)
    assert advance_high_watermark(1, leads, 1, no_follower).high_watermark == 0
    leads, _ = fetch(leads, 4, by=3)
    assert advance_high_watermark(1, leads, 1, no_follower).high_watermark == 4


def test_a_replica_that_a_pending_isr_removes_still_counts():
    view = changed(VIEW, pending=(1,))
    leads, _ = fetch(leader(view), 3)
    assert advance_high_watermark(1, leads, 1, no_follower).high_watermark == 3


def test_the_high_watermark_waits_for_a_replica_about_to_join():
    leads, _ = fetch(leader(), 5)
    leads, _ = fetch(leads, 4, by=3)
    assert advance_high_watermark(1, leads, 1, anybody).high_watermark == 4


def test_nothing_is_appended_or_committed_with_too_few_in_sync():
    leads, _ = fetch(leader(), 5)
    assert append_to_leader(leads, 1, 3)[1] is ErrorCode.NOT_ENOUGH_REPLICAS
    assert advance_high_watermark(1, leads, 3, no_follower).high_watermark == 0


def test_a_partition_of_few_replicas_needs_all_of_them_and_no_more():
    view = changed(VIEW, replicas=(1, 2))
    assert append_to_leader(leader(view), 1, 3)[1] is ErrorCode.NONE


def test_a_new_leader_epoch_begins_at_the_end_of_the_log_and_resets_the_followers():
    leads, _ = fetch(leader(), 5)
    again = become_leader(leads, changed(VIEW, partition_epoch=8), 50)
    assert again.role.followers == leads.role.followers
    later = become_leader(leads, changed(VIEW, leader_epoch=5, partition_epoch=8), 50)
    assert later.role.epoch_start == 5
    assert later.role.followers[2] == FollowerState(caught_up_ms=50)


def test_a_follower_behind_the_start_of_the_leader_epoch_is_not_in_sync():
    leads, _ = fetch(leader(), 4, by=3)
    assert not is_follower_in_sync(leads, leads.role.followers[3])
    leads, _ = fetch(leads, 5, by=3)
    assert is_follower_in_sync(leads, leads.role.followers[3])


def test_an_eligible_follower_that_has_caught_up_joins_the_isr():
    leads, _ = fetch(leader(), 5, by=3)
    assert wanted_isr(1, leads, 10, LAG_MS, anybody) == (1, 2, 3)
    assert wanted_isr(1, leads, 10, LAG_MS, no_follower) is None


def test_a_follower_silent_for_the_lag_time_leaves_the_isr():
    leads = leader()
    assert wanted_isr(1, leads, LAG_MS, LAG_MS, no_follower) is None
    assert wanted_isr(1, leads, LAG_MS + 1, LAG_MS, no_follower) == (1,)


def test_a_follower_that_reaches_the_leaders_earlier_end_was_caught_up_then():
    leads, _ = fetch(leader(), 3, now_ms=100)
    leads, _ = append_to_leader(leads, 4, 1)
    leads, _ = fetch(leads, 5, now_ms=900)
    assert leads.role.followers[2].caught_up_ms == 100
    leads, _ = fetch(leads, 6, 4, now_ms=1_500)
    assert leads.role.followers[2].caught_up_ms == 100
    leads, _ = fetch(leads, 9, 4, now_ms=1_600)
    assert leads.role.followers[2].caught_up_ms == 1_600


def test_a_follower_with_the_whole_log_stays_in_sync_without_fetching():
    leads, _ = fetch(leader(), 5)
    assert wanted_isr(1, leads, 10 * LAG_MS, LAG_MS, no_follower) is None


@pytest.mark.parametrize(
    ("registration", "heard", "eligible"),
    [
        (BrokerRegistration(9, "i", fenced=False), 9, True),
        (BrokerRegistration(9, "i", fenced=False), -1, True),
        (BrokerRegistration(12, "i", fenced=False), 9, False),
        (BrokerRegistration(9, "i", fenced=True), 9, False),
        (BrokerRegistration(9, "i", fenced=False, in_controlled_shutdown=True), 9, False),
        (None, 9, False),
    ],
)
def test_only_the_unfenced_process_that_fetched_can_join_the_isr(registration, heard, eligible):
    brokers = Map() if registration is None else Map({2: registration})
    image = MetadataImage(brokers=brokers)
    assert is_isr_eligible(image, 2, FollowerState(5, 5, 0, 0, heard)) is eligible


def test_a_follower_that_never_fetched_is_not_eligible():
    image = MetadataImage(brokers=Map({2: BrokerRegistration(9, "i", fenced=False)}))
    assert not is_isr_eligible(image, 2, FollowerState(caught_up_ms=0))


def appended(min_isr=1):
    request = ProduceRequest(500, ((TOPIC, 0, 2), (TOPIC, 1, 1)))
    return produce_purgatory.produce(Map({KEY: leader()}), request, 7, lambda _key: min_isr, 100)


def test_a_producer_gets_its_response_once_all_records_are_committed():
    replicas, delayed = appended()
    assert not delayed.is_done
    leads, _ = fetch(replicas[KEY], 7, 4)
    leads = advance_high_watermark(1, leads, 1, no_follower)
    delayed = produce_purgatory.look_again(delayed, Map({KEY: leads}), lambda _key: 1)
    assert delayed.is_done
    first, second = delayed.response.partitions
    assert (first.error_code, first.end_offset) == (ErrorCode.NONE, 7)
    assert second.error_code is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_producer_hears_that_its_records_were_not_committed_in_time():
    replicas, delayed = appended()
    assert produce_purgatory.look_again(delayed, replicas, lambda _key: 1) is delayed
    assert delayed.response.partitions[0].error_code is ErrorCode.REQUEST_TIMED_OUT


def test_a_producer_hears_that_its_leader_no_longer_leads():
    replicas, delayed = appended()
    follows = Map({KEY: become_follower(replicas[KEY], 2, 5)})
    assert isinstance(follows[KEY].role, Following)
    after = produce_purgatory.look_again(delayed, follows, lambda _key: 1)
    assert after.response.partitions[0].error_code is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_producer_hears_that_too_few_were_in_sync_when_its_records_were_committed():
    replicas, delayed = appended()
    leads, _ = fetch(replicas[KEY], 7, 4)
    leads = advance_high_watermark(1, leads, 1, no_follower)
    after = produce_purgatory.look_again(delayed, Map({KEY: leads}), lambda _key: 3)
    code = after.response.partitions[0].error_code
    assert code is ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
