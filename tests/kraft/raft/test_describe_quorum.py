"""What a leader tells of its quorum."""

from __future__ import annotations

import pytest
from tests.kraft.raft.replicas import (
    EPOCH,
    NOW,
    TIMEOUTS,
    candidate,
    directory,
    key,
    log_of,
    prospective,
    replica,
    resigned,
    unattached,
)
from tests.kraft.raft.replication import Driven, batch, fetch, following, leading

from kraft.errors import ErrorCode
from kraft.raft.configuration import MILLISECOND
from kraft.raft.leader_log import append_batches
from kraft.raft.turn import Turn
from kraft.rpc.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    ReplicaDescription,
)

MS = NOW // MILLISECOND
UNHEARD = (-1, -1, -1)


def described(driven):
    answer = driven.request(DescribeQuorumRequest(), sender=-1)
    assert answer.error_code == ErrorCode.NONE
    return answer


def test_s73_who_does_not_lead_cannot_describe_the_quorum():
    refused = DescribeQuorumResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert following(log_of()).request(DescribeQuorumRequest()) == refused
    for role in (unattached(), prospective(), candidate(), resigned()):
        driven = Driven(replica(role))
        before = driven.state
        assert driven.request(DescribeQuorumRequest()) == refused
        assert driven.state == before


@pytest.mark.parametrize(
    "request_of",
    [DescribeQuorumRequest("another"), DescribeQuorumRequest(partition=1)],
)
@pytest.mark.parametrize("role", [leading, following])
def test_s73_there_is_no_other_topic_and_no_other_partition(role, request_of):
    refused = DescribeQuorumResponse(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert role(log_of()).request(request_of) == refused


def test_s73_a_leader_tells_its_epoch_its_high_watermark_and_itself_as_it_is_now():
    driven = leading(log_of(EPOCH, EPOCH), high_watermark=1)
    assert described(driven) == DescribeQuorumResponse(
        ErrorCode.NONE,
        EPOCH,
        1,
        1,
        (
            ReplicaDescription(key(1), 2, MS, MS),
            ReplicaDescription(key(2), *UNHEARD),
            ReplicaDescription(key(3), *UNHEARD),
        ),
        (),
    )
    assert described(leading(log_of(EPOCH))).high_watermark == -1


def test_s73_voters_and_observers_are_told_with_their_ends_and_times():
    driven = leading(log_of(EPOCH, EPOCH, EPOCH))
    driven.wait(7 * MILLISECOND)
    driven.request(fetch(3))
    driven.request(fetch(1, sender=9), sender=9)
    driven.request(fetch(2, sender=4), sender=4)
    driven.request(fetch(2, sender=3, disk=directory(3, 1)), sender=3)
    answer = described(driven)
    now = MS + 7
    assert answer.voters[1:] == (
        ReplicaDescription(key(2), 3, now, now),
        ReplicaDescription(key(3), *UNHEARD),
    )
    assert answer.observers == (
        ReplicaDescription(key(3, 1), 2, now, -1),
        ReplicaDescription(key(4), 2, now, -1),
        ReplicaDescription(key(9), 1, now, -1),
    )


def test_s73_who_reaches_what_was_the_end_at_its_last_fetch_had_caught_up_then():
    driven = leading(log_of(EPOCH, EPOCH))
    driven.request(fetch(1, sender=4, wait=0), sender=4)
    turn = Turn.begin(driven.state, driven.now, 0)
    append_batches(turn, (batch(2),))
    driven.state = turn.step().state
    driven.settle()
    driven.wait(5 * MILLISECOND)
    driven.request(fetch(2, sender=4, wait=0), sender=4)
    (observer,) = described(driven).observers
    assert observer == ReplicaDescription(key(4), 2, MS + 5, MS)
    driven.wait(5 * MILLISECOND)
    driven.request(fetch(2, sender=4, wait=0), sender=4)
    (observer,) = described(driven).observers
    assert observer == ReplicaDescription(key(4), 2, MS + 10, MS)


def test_s73_an_observer_that_is_silent_for_five_minutes_is_told_of_no_more_but_a_voter_is():
    driven = leading(log_of(EPOCH), check_quorum_deadline=2**62)
    driven.request(fetch(1, sender=4), sender=4)
    driven.request(fetch(1))
    driven.wait(TIMEOUTS.observer_session - 1)
    assert [each.key for each in described(driven).observers] == [key(4)]
    driven.wait(1)
    answer = described(driven)
    assert answer.observers == ()
    assert answer.voters[1].last_fetch_time == MS
    driven.request(fetch(1, sender=4), sender=4)
    assert [each.key for each in described(driven).observers] == [key(4)]


def test_s73_a_leader_that_is_no_voter_is_told_as_an_observer():
    answer = described(leading(log_of(EPOCH), voters=(2, 3)))
    assert [each.key for each in answer.voters] == [key(2), key(3)]
    assert answer.observers == (ReplicaDescription(key(1), 1, MS, MS),)


def test_s73_an_observer_that_is_silent_for_five_minutes_is_forgotten_by_the_next_poll():
    driven = leading(log_of(EPOCH), voters=(1,))
    for node in (5, 4):
        driven.request(fetch(1, sender=node), sender=node)
    driven.wait(1)
    driven.request(fetch(1, sender=6), sender=6)
    driven.now = NOW + TIMEOUTS.fetch_maximum_wait + 1
    driven.settle()
    assert driven.next_deadline() == NOW + TIMEOUTS.observer_session
    driven.now = NOW + TIMEOUTS.observer_session - 1
    assert driven.poll() == ()
    assert sorted(driven.role.progress) == [key(4), key(5), key(6)]
    driven.wait(1)
    assert driven.poll() == ()
    assert sorted(driven.role.progress) == [key(5), key(6)]
    assert driven.poll() == ()
    assert sorted(driven.role.progress) == [key(6)]
    assert driven.next_deadline() == NOW + TIMEOUTS.observer_session + 1


def test_s73_a_voter_that_never_fetched_is_not_forgotten():
    driven = leading(log_of(EPOCH), check_quorum_deadline=2**62)
    driven.wait(TIMEOUTS.observer_session)
    driven.settle()
    assert sorted(driven.role.progress) == [key(2), key(3)]
