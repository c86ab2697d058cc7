"""Candidates, and what their answers decide (S12 to S17, S30 to S32)."""

from __future__ import annotations

import pytest
from tests.kraft.raft.replicas import (
    CLUSTER_ID,
    EPOCH,
    NOW,
    TIMEOUTS,
    Replica,
    begin,
    candidate,
    directory,
    end,
    follower,
    key,
    leader,
    log_of,
    replica,
    resigned,
    unattached,
    vote,
    voted_answer,
)

from kraft.errors import ErrorCode
from kraft.raft.roles import Candidate, Follower, Leader, Prospective, Unattached
from kraft.rpc.fetch import FetchRequest
from kraft.rpc.quorum_epoch import BeginQuorumEpochRequest
from kraft.rpc.vote import VoteRequest


def a_candidate(*asked, role=None, **fields):
    return Replica(replica(role or candidate(), **fields)).asks(*asked)


def test_s12_an_unattached_voter_draws_its_timeout_between_one_and_two():
    drawn = set()
    for chance in range(50):
        one = Replica(replica(follower()))
        one.now = NOW + chance
        one.request(vote(EPOCH + 1))
        drawn.add(one.role.election_deadline - one.now)
    assert len(drawn) == 1, "the same chance draws the same"
    (timeout,) = drawn
    assert TIMEOUTS.election <= timeout < 2 * TIMEOUTS.election


def test_s12_an_unattached_voter_does_not_stand_before_its_timer():
    one = Replica(replica(unattached()))
    one.now = one.role.election_deadline - 1
    one.poll()
    assert isinstance(one.role, Unattached)


def test_s12_a_voter_writes_its_own_vote_before_it_asks_for_any():
    one = Replica(replica(unattached(deadline=NOW)))
    one.poll()
    assert isinstance(one.role, Prospective)
    assert one.written() == []
    one.answer(2, voted_answer())
    assert isinstance(one.role, Candidate)
    assert one.order() == ["WriteQuorumState", "SendRequest", "SendRequest"]
    assert one.written() == [(EPOCH + 1, None, key(1))]
    requests = [request for _, request in one.sent(VoteRequest)]
    assert [(r.epoch, r.pre_vote) for r in requests] == [(EPOCH + 1, False)] * 2
    assert [(r.voter_id, r.voter_directory_id) for r in requests] == [
        (2, directory(2)),
        (3, directory(3)),
    ]


def test_s12_a_vote_request_tells_the_end_of_the_log():
    one = Replica(replica(unattached(deadline=NOW), log=log_of(1, 1, 4)))
    one.poll()
    ends = [(r.last_epoch, r.last_offset) for _, r in one.sent(VoteRequest)]
    assert ends == [(4, 3), (4, 3)]


def test_s13_a_candidate_of_three_leads_with_one_grant():
    one = a_candidate(2, 3, log=log_of(1, 4))
    one.answer(2, voted_answer())
    assert isinstance(one.role, Leader)
    assert (one.role.epoch, one.role.epoch_start) == (EPOCH, 2)
    assert one.order()[:2] == ["WriteQuorumState", "AppendLog"]
    assert one.written() == [(EPOCH, 1, None)]
    assert [node for node, _ in one.sent(BeginQuorumEpochRequest)] == [2, 3]
    assert one.order().index("SendRequest") > one.order().index("AppendLog")


def test_s13_a_candidate_of_two_leads_with_the_grant_of_the_other():
    one = a_candidate(2, voters=(1, 2))
    one.answer(2, voted_answer())
    assert isinstance(one.role, Leader)


def test_s13_a_candidate_of_five_does_not_lead_with_one_grant():
    one = a_candidate(2, 3, 4, 5, voters=(1, 2, 3, 4, 5))
    one.answer(2, voted_answer())
    assert isinstance(one.role, Candidate)
    assert one.effects == ()
    one.answer(3, voted_answer())
    assert isinstance(one.role, Leader)


def test_s13_a_grant_that_comes_twice_counts_once():
    one = a_candidate(2, 3, 4, 5, voters=(1, 2, 3, 4, 5))
    one.answer(2, voted_answer())
    once = one.state
    one.asks(2)
    one.answer(2, voted_answer())
    assert one.role == once.role


def test_s13_a_new_leader_has_forgotten_its_high_watermark():
    one = a_candidate(2, 3, log=log_of(1, 4), high_watermark=2)
    one.answer(2, voted_answer())
    assert one.state.high_watermark is None


def test_s14_a_candidate_that_cannot_win_waits_out_its_timer_and_asks_nobody():
    one = a_candidate(2, 3)
    one.answer(2, voted_answer(granted=False))
    one.answer(3, voted_answer(granted=False))
    assert isinstance(one.role, Candidate)
    one.wait(TIMEOUTS.election // 2)
    assert one.settle() == ()
    assert one.next_deadline() == NOW + TIMEOUTS.election


def test_s14_a_candidate_that_lost_asks_again_in_the_same_epoch_whether_it_could_win():
    one = a_candidate(2, 3)
    one.answer(2, voted_answer(granted=False))
    one.answer(3, voted_answer(granted=False))
    one.now = one.role.election_deadline
    one.poll()
    assert isinstance(one.role, Prospective)
    assert (one.role.epoch, one.voted) == (EPOCH, key(1))
    assert one.written() == []
    assert [request.pre_vote for _, request in one.sent(VoteRequest)] == [True, True]


def test_s15_a_candidate_that_hears_nothing_becomes_prospective_when_its_timer_is_over():
    one = a_candidate(2, 3)
    one.wait(TIMEOUTS.election)
    one.poll()
    assert isinstance(one.role, Prospective)
    timeout = one.role.election_deadline - one.now
    assert TIMEOUTS.election <= timeout < 2 * TIMEOUTS.election


def test_s16_a_vote_request_that_nobody_answers_is_sent_again():
    role = candidate(deadline=NOW + 10 * TIMEOUTS.election)
    one = a_candidate(2, 3, role=role)
    late = one.state.connections[2].correlation_id
    one.wait(TIMEOUTS.request)
    one.settle()
    one.wait(TIMEOUTS.retry_backoff)
    one.settle()
    assert [node for node, _ in one.sent(VoteRequest)] == [2, 3]
    before = one.state
    one.answer(2, voted_answer(), correlation_id=late)
    assert (one.state, one.effects) == (before, ())
    one.answer(2, voted_answer())
    assert isinstance(one.role, Leader)


def test_s16_only_one_request_is_given_up_or_sent_in_a_poll():
    role = candidate(deadline=NOW + 10 * TIMEOUTS.election)
    one = a_candidate(2, 3, role=role)
    one.wait(TIMEOUTS.request)
    one.poll()
    waiting = [c.correlation_id is not None for _, c in sorted(one.state.connections.items())]
    assert waiting == [False, True]
    assert one.effects == ()
    one.poll()
    one.wait(TIMEOUTS.retry_backoff)
    one.poll()
    assert [node for node, _ in one.sent(VoteRequest)] == [2]


@pytest.mark.parametrize("granted", [True, False])
def test_s17_a_voter_that_answers_twice_and_differently_is_an_error(granted):
    role = candidate(granted=(1,) if granted else (1, 2), rejected=(2,) if granted else ())
    one = a_candidate(2, role=role, voters=(1, 2, 3, 4, 5))
    before = one.state
    one.answer(2, voted_answer(granted=granted))
    assert one.order() == ["Fatal"]
    assert one.state == before


def test_s17_an_answer_of_one_who_is_no_voter_is_an_error():
    one = a_candidate(9)
    one.answer(9, voted_answer())
    assert one.order() == ["Fatal"]


@pytest.mark.parametrize("role", [leader(), follower(), unattached(), resigned()])
@pytest.mark.parametrize("granted", [True, False])
def test_s30_an_answer_that_comes_after_the_election_is_ignored(role, granted):
    one = Replica(replica(role)).asks(2)
    before = one.role
    one.answer(2, voted_answer(granted=granted))
    assert one.role == before
    assert one.effects == ()


def test_s30_the_rest_of_the_answers_finds_closed_connections():
    one = a_candidate(2, 3)
    late = one.state.connections[3].correlation_id
    one.answer(2, voted_answer())
    before = one.state
    one.answer(3, voted_answer(granted=False), correlation_id=late)
    assert (one.state, one.effects) == (before, ())


@pytest.mark.parametrize(
    "role",
    [unattached(deadline=NOW), follower(leader=2, fetch_deadline=NOW)],
    ids=["unattached", "follower"],
)
def test_s31_an_observer_never_stands(role):
    one = Replica(replica(role, node=9))
    one.wait(10 * TIMEOUTS.election)
    one.settle()
    assert one.sent(VoteRequest) == []
    assert one.sent(FetchRequest) != []
    assert isinstance(one.role, Unattached | Follower)


@pytest.mark.parametrize("wrong", ["", "another-cluster"])
@pytest.mark.parametrize("make", [vote, begin, end])
def test_s32_a_request_of_another_cluster_changes_nothing(make, wrong):
    one = Replica(replica(unattached()))
    before = one.state
    answer = one.request(make(EPOCH + 1, cluster_id=wrong))
    assert answer.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID
    assert one.state == before


@pytest.mark.parametrize("right", [None, CLUSTER_ID])
@pytest.mark.parametrize("make", [vote, begin, end])
def test_s32_a_request_that_names_no_cluster_is_taken(make, right):
    one = Replica(replica(unattached()))
    answer = one.request(make(EPOCH + 1, cluster_id=right))
    assert answer.error_code == ErrorCode.NONE
    assert one.role.epoch == EPOCH + 1


def test_an_answer_of_a_later_epoch_ends_an_election():
    one = a_candidate(2, 3)
    one.answer(2, voted_answer(EPOCH + 1, granted=False))
    assert isinstance(one.role, Unattached)
    assert one.written() == [(EPOCH + 1, None, None)]


def test_an_answer_that_names_the_leader_ends_an_election_and_the_vote_stays():
    one = a_candidate(2, 3)
    one.answer(2, voted_answer(granted=False, leader=3))
    assert isinstance(one.role, Follower)
    assert one.written() == [(EPOCH, 3, key(1))]


def test_an_answer_that_names_another_leader_than_this_one_is_fatal():
    one = Replica(replica(leader())).asks(2)
    before = one.state
    one.answer(2, voted_answer(leader=3))
    assert one.order() == ["Fatal"]
    assert one.state == before


def test_s14_who_cannot_win_asks_nobody_that_is_left():
    role = candidate(rejected=(2, 3, 4))
    one = Replica(replica(role, voters=(1, 2, 3, 4, 5)))
    one.poll()
    assert one.effects == ()
