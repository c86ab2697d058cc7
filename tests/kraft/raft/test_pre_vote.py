"""Pre-votes: asking whether one could win before one disturbs anybody (S104 to S110)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.kraft.raft.replicas import (
    EPOCH,
    NOW,
    TIMEOUTS,
    Replica,
    begin,
    candidate,
    endpoints,
    follower,
    key,
    leader,
    log_of,
    prospective,
    replica,
    resigned,
    unattached,
    vote,
    voted_answer,
)

from kraft.errors import ErrorCode
from kraft.raft.roles import Candidate, Follower, Leader, Prospective, Unattached
from kraft.rpc.endpoints import Endpoint
from kraft.rpc.vote import VoteRequest


@pytest.mark.parametrize(("has_fetched", "granted"), [(True, False), (False, True)])
def test_s104_a_follower_refuses_a_pre_vote_once_its_leader_has_answered(has_fetched, granted):
    one = Replica(replica(follower(has_fetched=has_fetched)))
    before = one.state
    answer = one.request(vote(sender=3, pre_vote=True), sender=3)
    assert (answer.error_code, answer.epoch, answer.leader_id) == (ErrorCode.NONE, EPOCH, 2)
    assert answer.vote_granted is granted
    assert one.order() == ["SendResponse"]
    assert one.state == before


@pytest.mark.parametrize(
    ("role", "granted"),
    [
        (unattached(), True),
        (unattached(voted=key(3)), True),
        (unattached(leader=9), True),
        (prospective(), True),
        (prospective(leader=3), True),
        (candidate(), True),
        (resigned(), True),
        (leader(), False),
    ],
    ids=["unattached", "voted", "knows-leader", "prospective", "left-leader", "candidate",
         "resigned", "leader"],
)  # fmt: skip
def test_s105_a_pre_vote_binds_nobody_and_only_a_leader_refuses_it(role, granted):
    one = Replica(replica(role))
    before = one.state
    for _ in range(2):
        assert one.request(vote(pre_vote=True)).vote_granted is granted
        assert one.order() == ["SendResponse"]
        assert one.state == before


@pytest.mark.parametrize("role", [unattached(), prospective(), candidate(), resigned(), follower()])
def test_s105_a_pre_vote_needs_a_log_no_worse(role):
    one = Replica(replica(role, log=log_of(1, 4)))
    assert not one.request(vote(end=(1, 4), pre_vote=True)).vote_granted
    assert one.request(vote(end=(2, 4), pre_vote=True)).vote_granted


@pytest.mark.parametrize("role", [leader(), follower(has_fetched=True), unattached(voted=key(3))])
def test_s106_a_pre_vote_of_a_later_epoch_ends_this_one(role):
    one = Replica(replica(role))
    answer = one.request(vote(EPOCH + 1, pre_vote=True))
    assert (answer.epoch, answer.leader_id, answer.vote_granted) == (EPOCH + 1, None, True)
    assert one.written() == [(EPOCH + 1, None, None)]
    assert isinstance(one.role, Unattached)


def test_s106_a_pre_vote_of_a_later_epoch_and_a_worse_log_ends_this_one_too():
    one = Replica(replica(leader(), log=log_of(1, 4)))
    answer = one.request(vote(EPOCH + 1, end=(9, 3), pre_vote=True))
    assert (answer.epoch, answer.vote_granted) == (EPOCH + 1, False)


def test_s106_a_pre_vote_of_an_epoch_that_is_over_is_fenced():
    one = Replica(replica(follower()))
    answer = one.request(vote(EPOCH - 1, pre_vote=True))
    assert (answer.error_code, answer.vote_granted) == (ErrorCode.FENCED_LEADER_EPOCH, False)


def test_s106_a_replica_without_an_id_may_answer_a_pre_vote():
    one = Replica(replica(unattached(), node=None))
    assert one.request(vote(EPOCH + 1, voter_id=-1, pre_vote=True)).vote_granted


def test_s107_a_follower_that_misses_its_leader_asks_in_the_same_epoch_and_writes_nothing():
    one = Replica(replica(follower(voted=key(2), fetch_deadline=NOW))).asks(2)
    one.poll()
    assert isinstance(one.role, Prospective)
    assert (one.role.epoch, one.leader, one.voted) == (EPOCH, 2, key(2))
    assert one.written() == []
    asked = one.sent(VoteRequest)
    assert [(node, r.epoch, r.pre_vote) for node, r in asked] == [
        (2, EPOCH, True),
        (3, EPOCH, True),
    ]


def test_s107_who_goes_back_to_its_leader_knows_where_it_listens():
    elsewhere = (Endpoint("CONTROLLER", "elsewhere", 1),)
    role = replace(follower(fetch_deadline=NOW), leader_endpoints=elsewhere)
    one = Replica(replica(role))
    one.poll()
    assert one.role.leader_endpoints == elsewhere
    lose(one)
    assert isinstance(one.role, Follower)
    assert one.role.leader_endpoints == elsewhere


def test_s107_a_majority_of_pre_votes_makes_a_candidate_of_the_next_epoch():
    one = Replica(replica(prospective(leader=2, voted=key(2)))).asks(2, 3)
    one.answer(3, voted_answer(leader=2))
    assert isinstance(one.role, Candidate)
    assert one.written() == [(EPOCH + 1, None, key(1))]
    assert one.order() == ["WriteQuorumState", "SendRequest", "SendRequest"]
    assert [(r.epoch, r.pre_vote) for _, r in one.sent(VoteRequest)] == [(EPOCH + 1, False)] * 2


def lose(one):
    """Let all refuse; the loss is taken in the next poll."""
    for node in (2, 3):
        one.answer(node, voted_answer(granted=False, leader=one.leader))
        assert one.effects == ()
    one.poll()


def test_s107_who_loses_goes_back_to_the_leader_it_knew():
    one = Replica(replica(prospective(leader=2, voted=key(3)))).asks(2, 3)
    lose(one)
    assert isinstance(one.role, Follower)
    assert (one.leader, one.role.leader_endpoints, one.voted) == (2, endpoints(2), key(3))
    assert (one.role.epoch, one.role.fetch_deadline) == (EPOCH, NOW + TIMEOUTS.fetch)
    assert not one.role.has_fetched
    assert one.written() == []


def test_s107_who_loses_and_knows_only_the_leaders_name_keeps_that_and_asks_where_it_is():
    nameless = replace(prospective(leader=9, voted=key(3)), leader_endpoints=())
    one = Replica(replica(nameless)).asks(2, 3)
    lose(one)
    assert isinstance(one.role, Unattached)
    assert (one.role.epoch, one.leader, one.voted) == (EPOCH, 9, key(3))
    assert one.written() == []


def test_s107_who_loses_and_knows_no_leader_waits_anew_and_keeps_its_vote():
    one = Replica(replica(prospective(voted=key(3)))).asks(2, 3)
    lose(one)
    assert isinstance(one.role, Unattached)
    assert (one.role.epoch, one.voted) == (EPOCH, key(3))
    assert one.role.election_deadline > NOW + TIMEOUTS.election
    assert one.written() == []


@pytest.mark.parametrize(("leader_id", "role"), [(2, Follower), (None, Unattached)])
def test_s107_who_hears_too_little_in_time_gives_up_as_one_who_lost(leader_id, role):
    one = Replica(replica(prospective(leader=leader_id, voted=key(3)))).asks(2, 3)
    one.wait(TIMEOUTS.election)
    one.poll()
    assert isinstance(one.role, role)
    assert one.voted == key(3)
    assert one.effects == ()


@pytest.mark.parametrize("voted", [None, key(3)], ids=["unvoted", "voted"])
def test_s107_who_gave_up_without_a_leader_asks_again_at_once(voted):
    one = Replica(replica(prospective(voted=voted)))
    one.wait(TIMEOUTS.election)
    one.poll()
    one.poll()
    assert isinstance(one.role, Prospective)
    assert one.role.election_deadline >= one.now + TIMEOUTS.election


def test_s107_one_refusal_of_three_decides_nothing():
    one = Replica(replica(prospective(leader=2))).asks(2, 3)
    one.answer(2, voted_answer(granted=False, leader=2))
    assert one.settle() == ()
    assert isinstance(one.role, Prospective)


def test_s108_who_asks_follows_the_leader_it_is_told_of_and_its_vote_stays():
    one = Replica(replica(prospective(voted=key(3))))
    one.request(begin())
    assert isinstance(one.role, Follower)
    assert one.written() == [(EPOCH, 2, key(3))]


@pytest.mark.parametrize("granted", [True, False])
def test_s108_who_asks_follows_the_leader_that_an_answer_names(granted):
    one = Replica(replica(prospective(voted=key(3)))).asks(2, 3)
    one.answer(3, voted_answer(granted=granted, leader=2))
    assert isinstance(one.role, Follower)
    assert one.written() == [(EPOCH, 2, key(3))]


def test_s108_who_asks_although_it_knows_the_leader_goes_on_when_it_hears_of_it():
    one = Replica(replica(prospective(leader=2)))
    before = one.state
    one.request(begin())
    assert one.state == before


def test_s109_a_voter_that_knows_no_pre_votes_makes_a_candidate_at_once():
    one = Replica(replica(prospective())).asks(2, 3)
    one.answer(2, voted_answer(granted=False, error=ErrorCode.UNSUPPORTED_VERSION))
    assert isinstance(one.role, Candidate)
    assert one.written() == [(EPOCH + 1, None, key(1))]


def test_s109_a_candidate_leaves_a_voter_alone_that_cannot_read_its_request():
    one = Replica(replica(candidate())).asks(2, 3)
    one.answer(2, voted_answer(granted=False, error=ErrorCode.UNSUPPORTED_VERSION))
    assert isinstance(one.role, Candidate)
    assert one.role.rejected == frozenset()
    assert one.settle() == ()
    one.wait(TIMEOUTS.retry_backoff)
    one.settle()
    assert [node for node, _ in one.sent(VoteRequest)] == [2]


def test_s109_a_pre_vote_that_comes_late_counts_in_no_election():
    one = Replica(replica(prospective())).asks(2, 3)
    late = one.state.connections[3].correlation_id
    one.answer(2, voted_answer())
    before = one.state
    assert isinstance(one.role, Candidate)
    one.answer(3, voted_answer(), correlation_id=late)
    assert (one.state, one.effects) == (before, ())


def test_s109_an_answer_of_the_epoch_before_does_not_elect():
    one = Replica(replica(candidate(EPOCH + 1))).asks(2, 3)
    one.answer(2, voted_answer(EPOCH))
    assert isinstance(one.role, Candidate)
    assert one.role.granted == {1}


def test_s110_who_lost_the_leader_while_others_hear_it_disturbs_nobody():
    """Of five voters, node 1 does not hear the leader 2; those it hears do: they refuse it."""
    voters = (1, 2, 3, 4, 5)
    one = Replica(replica(follower(leader=2, fetch_deadline=NOW), voters=voters))
    for _ in range(5):
        one.now = max(one.now, one.next_deadline())
        one.settle()
        assert isinstance(one.role, Prospective)
        asked = dict(one.sent(VoteRequest))
        assert sorted(asked) == [2, 3, 4, 5]
        for node in (3, 4, 5):
            other = Replica(replica(follower(leader=2, has_fetched=True), voters=voters, node=node))
            request = asked[node]
            answer = other.request(request, sender=1)
            assert other.role.epoch == EPOCH
            one.answer(node, answer)
        one.settle()
        assert isinstance(one.role, Follower)
        assert one.role.epoch == EPOCH
        one.now = one.role.fetch_deadline


def test_s110_a_majority_that_lost_the_leader_elects_another():
    voters = (1, 2, 3, 4, 5)
    one = Replica(replica(prospective(leader=2), voters=voters)).asks(3, 4)
    one.answer(3, voted_answer(leader=2))
    assert isinstance(one.role, Prospective)
    one.answer(4, voted_answer(leader=2))
    assert isinstance(one.role, Candidate)
    one.answer(3, voted_answer(EPOCH + 1))
    one.answer(4, voted_answer(EPOCH + 1))
    assert isinstance(one.role, Leader)
