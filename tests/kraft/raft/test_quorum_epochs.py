"""The beginning and the end of an epoch (S33 to S40)."""

from __future__ import annotations

import pytest
from tests.kraft.raft.replicas import (
    EPOCH,
    NOW,
    TIMEOUTS,
    Replica,
    begin,
    begin_answer,
    candidate,
    directory,
    end,
    endpoints,
    follower,
    key,
    leader,
    name_of_role,
    prospective,
    replica,
    resigned,
    unattached,
)

from kraft.errors import ErrorCode
from kraft.ids import ReplicaKey
from kraft.raft.configuration import MILLISECOND
from kraft.raft.quorum_epochs import successor_backoff
from kraft.raft.roles import Follower, Prospective
from kraft.rpc.endpoints import Endpoint
from kraft.rpc.fetch import FetchResponse
from kraft.rpc.quorum_epoch import BeginQuorumEpochRequest
from kraft.rpc.vote import VoteRequest


@pytest.mark.parametrize(
    "role", [unattached(voted=key(3)), candidate(), prospective()], ids=name_of_role
)
def test_s33_who_knows_no_leader_follows_the_one_that_begins_the_epoch(role):
    one = Replica(replica(role))
    answer = one.request(begin())
    assert (answer.error_code, answer.epoch, answer.leader_id) == (ErrorCode.NONE, EPOCH, 2)
    assert isinstance(one.role, Follower)
    assert one.order() == ["WriteQuorumState", "SendResponse"]
    assert one.written() == [(EPOCH, 2, one.voted)]
    assert one.role.leader_endpoints == endpoints(2)
    assert one.role.fetch_deadline == NOW + TIMEOUTS.fetch


def test_s33_the_vote_of_the_epoch_stays_with_its_leader():
    one = Replica(replica(unattached(voted=key(3))))
    one.request(begin())
    assert one.voted == key(3)


def test_s33_a_beginning_that_is_heard_again_changes_nothing():
    one = Replica(replica(follower(has_fetched=True)))
    before = one.state
    assert one.request(begin()).error_code == ErrorCode.NONE
    assert one.state == before
    assert one.order() == ["SendResponse"]


def test_s34_a_follower_follows_the_leader_of_a_later_epoch_and_hears_the_old_one_no_more():
    one = Replica(replica(follower(voted=key(2)))).asks(2)
    late = one.state.connections[2].correlation_id
    one.request(begin(EPOCH + 1, leader=3), sender=3)
    assert (one.leader, one.voted) == (3, None)
    assert one.written() == [(EPOCH + 1, 3, None)]
    before = one.state
    one.answer(2, FetchResponse(ErrorCode.NONE, EPOCH, 2, 0, 0), correlation_id=late)
    assert (one.state, one.effects) == (before, ())


@pytest.mark.parametrize("make", [begin, end])
@pytest.mark.parametrize("role", [unattached(), follower(), leader(), candidate(), resigned()])
def test_s35_s40_an_epoch_that_is_over_neither_begins_nor_ends(make, role):
    one = Replica(replica(role))
    before = one.state
    answer = one.request(make(EPOCH - 1, leader=3), sender=3)
    assert (answer.error_code, answer.epoch, answer.leader_id) == (
        ErrorCode.FENCED_LEADER_EPOCH,
        EPOCH,
        one.leader,
    )
    assert one.state == before


@pytest.mark.parametrize("make", [begin, end])
@pytest.mark.parametrize(
    "role",
    [follower(), leader(), resigned(), prospective(leader=2), unattached(leader=2)],
    ids=name_of_role,
)
def test_s35_a_second_leader_of_an_epoch_is_fatal(make, role):
    one = Replica(replica(role))
    before = one.state
    one.request(make(leader=3), sender=3)
    assert one.order() == ["Fatal"]
    assert "leader 3" in one.effects[0].reason
    assert one.state == before


def test_s35_one_who_does_not_lead_is_not_told_that_it_does():
    one = Replica(replica(unattached()))
    one.request(begin(leader=1), sender=2)
    assert one.order() == ["Fatal"]


@pytest.mark.parametrize("make", [begin, end])
def test_s35_a_leader_without_an_id_is_invalid(make):
    one = Replica(replica(unattached()))
    before = one.state
    assert one.request(make(leader=-1)).error_code == ErrorCode.INVALID_REQUEST
    assert one.state == before


@pytest.mark.parametrize(
    "wrong", [{"voter_id": 2}, {"voter_directory_id": directory(1, disk=1)}], ids=["id", "disk"]
)
def test_s35_a_beginning_meant_for_another_is_believed_and_refused(wrong):
    one = Replica(replica(unattached()))
    answer = one.request(begin(**wrong))
    assert (answer.error_code, answer.leader_id) == (ErrorCode.INVALID_VOTER_KEY, 2)
    assert isinstance(one.role, Follower)


def test_s36_more_endpoints_of_the_same_leader_are_noted_without_a_transition():
    more = (*endpoints(2), Endpoint("EXTERNAL", "elsewhere", 1))
    one = Replica(replica(follower(has_fetched=True))).asks(2)
    connections = one.state.connections
    one.request(begin(leader_endpoints=more))
    assert one.role.leader_endpoints == more
    assert one.role.has_fetched
    assert one.state.connections == connections
    assert one.order() == ["SendResponse"]


@pytest.mark.parametrize("fewer", [(), (Endpoint("OTHER", "elsewhere", 1),)])
def test_s36_as_many_or_fewer_endpoints_are_not(fewer):
    one = Replica(replica(follower()))
    before = one.state
    one.request(begin(leader_endpoints=fewer))
    assert one.state == before


def test_s36_a_leader_that_does_not_say_where_it_listens_is_looked_up():
    one = Replica(replica(unattached()))
    one.request(begin(leader_endpoints=()))
    assert one.role.leader_endpoints == endpoints(2)


def test_s37_a_leader_tells_every_other_voter_again_that_it_leads():
    one = Replica(replica(leader(check_quorum_deadline=NOW + 10 * TIMEOUTS.fetch)))
    assert one.settle() == ()
    one.wait(TIMEOUTS.begin_quorum_epoch)
    one.settle()
    assert [node for node, _ in one.sent(BeginQuorumEpochRequest)] == [2, 3]
    for node in (2, 3):
        one.answer(node, begin_answer())
    one.wait(TIMEOUTS.begin_quorum_epoch)
    one.settle()
    assert [node for node, _ in one.sent(BeginQuorumEpochRequest)] == [2, 3]


def test_s37_a_voter_that_answers_from_a_later_epoch_deposes_its_leader():
    one = Replica(replica(leader())).asks(2)
    fenced = begin_answer(EPOCH + 1, leader=3, error=ErrorCode.FENCED_LEADER_EPOCH)
    one.answer(2, fenced)
    assert isinstance(one.role, Follower)
    assert one.written() == [(EPOCH + 1, 3, None)]


@pytest.mark.parametrize(
    ("successors", "milliseconds"),
    [
        ((key(1), key(3)), 0),
        ((key(3), key(1)), 500),
        ((key(3), key(1), key(4), key(5)), 125),
        ((key(3), key(4), key(1), key(5)), 250),
        ((key(3), key(4), key(5), key(1)), 500),
        ((key(3), key(4)), 1000),
        ((), 0),
        ((key(1, disk=1), key(3)), 1000),
        ((ReplicaKey(1), key(3)), 0),
    ],
    ids=[
        "first",
        "second-of-2",
        "2-of-4",
        "3-of-4",
        "4-of-4",
        "absent",
        "none",
        "disk",
        "any-disk",
    ],
)
def test_s38_a_follower_waits_by_its_place_among_the_successors(successors, milliseconds):
    one = Replica(replica(follower()))
    answer = one.request(end(successors=successors))
    assert answer.error_code == ErrorCode.NONE
    assert one.role.fetch_deadline == NOW + milliseconds * MILLISECOND
    assert one.order() == ["SendResponse"]


def test_s38_nobody_waits_longer_than_the_maximum():
    many = tuple(key(node) for node in range(2, 20))
    longest = max(
        successor_backoff(many, one, TIMEOUTS.election_backoff_maximum) for one in (*many, key(1))
    )
    assert longest == TIMEOUTS.election_backoff_maximum


def test_s38_the_first_successor_asks_at_once_whether_it_could_win():
    one = Replica(replica(follower())).asks(2)
    one.request(end(successors=(key(1), key(3))))
    one.poll()
    assert isinstance(one.role, Prospective)
    assert [node for node, _ in one.sent(VoteRequest)] == [2, 3]


def test_s39_an_unattached_voter_learns_the_leader_from_its_resignation_and_stands_in_its_turn():
    one = Replica(replica(unattached()))
    one.request(end(successors=(key(1), key(3))))
    assert one.written() == [(EPOCH, 2, None)]
    assert isinstance(one.role, Follower)
    assert one.role.fetch_deadline == NOW
    one.poll()
    assert isinstance(one.role, Prospective)
    assert one.role.epoch == EPOCH


def test_s40_what_ends_elsewhere_does_not_hasten_another_election():
    one = Replica(replica(prospective(leader=2)))
    before = one.state
    one.request(end(successors=(key(1),)))
    assert one.state == before
