"""Resigning: who is told, how often, and what comes of one that has resigned (S41 to S43)."""

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
    directory,
    end_answer,
    follower,
    key,
    leader,
    log_of,
    replica,
    resigned,
    unattached,
    vote,
)

from kraft.errors import ErrorCode
from kraft.raft.effects import ResignRefused, SendResponse
from kraft.raft.events import ResignRequested
from kraft.raft.roles import Follower, Leader, Prospective, Resigned, Unattached
from kraft.rpc.fetch import FetchRequest
from kraft.rpc.quorum_epoch import EndQuorumEpochRequest

LONG = 60 * TIMEOUTS.election


def a_leader(**fields):
    return Replica(replica(leader(ends={2: 3, 3: 5}, **fields), log=log_of(5, 5, 5, 5, 5)))


def test_s41_a_leader_that_is_told_to_resigns_and_names_the_longest_log_first():
    one = a_leader()
    assert one.event(ResignRequested, epoch=EPOCH) == ()
    one.poll()
    assert isinstance(one.role, Resigned)
    assert one.order() == ["SendRequest", "SendRequest"]
    told = one.sent(EndQuorumEpochRequest)
    assert [node for node, _ in told] == [2, 3]
    assert {request.preferred_candidates for _, request in told} == {(key(3), key(2))}
    assert {(request.epoch, request.leader_id) for _, request in told} == {(EPOCH, 1)}
    timeout = one.role.election_deadline - NOW
    assert TIMEOUTS.election <= timeout < 2 * TIMEOUTS.election


def test_s41_who_has_never_fetched_is_the_last_of_the_successors():
    one = Replica(replica(leader(ends={3: 0})))
    one.event(ResignRequested, epoch=EPOCH)
    one.poll()
    assert one.role.preferred_successors == (key(3), key(2))


def test_s41_a_fetch_that_waits_is_refused_as_soon_as_its_leader_resigns():
    one = Replica(replica(leader(ends={2: 1}), log=log_of(5)))
    fetch = FetchRequest("a-cluster-of-the-tests", 2, directory(2), EPOCH, 1, 5, 500)
    assert one.request(fetch) is None
    one.event(ResignRequested, epoch=EPOCH)
    one.poll()
    (refused,) = [effect.response for effect in one.of(SendResponse)]
    assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (refused.epoch, refused.leader_id) == (EPOCH, 1)


def test_s41_a_resignation_is_told_again_until_it_is_acknowledged_but_not_while_it_is_under_way():
    one = a_leader()
    one.event(ResignRequested, epoch=EPOCH)
    one.poll()
    one.state = replace(one.state, role=replace(one.role, election_deadline=NOW + LONG))
    one.answer(3, end_answer())
    assert one.settle() == ()
    one.answer(2, end_answer(error=ErrorCode.BROKER_NOT_AVAILABLE))
    assert one.settle() == ()
    one.wait(TIMEOUTS.retry_backoff)
    one.settle()
    assert [node for node, _ in one.sent(EndQuorumEpochRequest)] == [2]
    one.wait(TIMEOUTS.request)
    one.settle()
    one.wait(TIMEOUTS.retry_backoff)
    one.settle()
    assert [node for node, _ in one.sent(EndQuorumEpochRequest)] == [2]
    one.answer(2, end_answer())
    one.wait(TIMEOUTS.request)
    assert one.settle() == ()


def test_s41_a_resignation_is_noted_when_it_is_acknowledged():
    one = a_leader()
    one.event(ResignRequested, epoch=EPOCH)
    one.poll()
    one.answer(3, end_answer())
    assert one.role.unacknowledged == {2}
    one.answer(2, end_answer())
    assert one.role.unacknowledged == frozenset()
    assert one.settle() == ()


def test_s42_a_resignation_of_an_older_epoch_is_done_already():
    one = a_leader()
    before = one.state
    assert one.event(ResignRequested, epoch=EPOCH - 1) == ()
    assert one.state == before


@pytest.mark.parametrize(
    ("role", "epoch"),
    [(leader(), EPOCH + 1), (follower(), EPOCH), (unattached(), EPOCH), (candidate(), EPOCH)],
    ids=["later-epoch", "follower", "unattached", "candidate"],
)
def test_s42_a_resignation_that_cannot_be_is_refused(role, epoch):
    one = Replica(replica(role))
    before = one.state
    one.event(ResignRequested, epoch=epoch)
    (refused,) = one.of(ResignRefused)
    assert str(epoch) in refused.reason
    assert one.state == before


def test_s42_who_has_no_id_and_knows_no_leader_does_not_lead():
    state = replica(unattached())
    one = Replica(replace(state, configuration=replace(state.configuration, node_id=None)))
    one.event(ResignRequested, epoch=EPOCH)
    assert len(one.of(ResignRefused)) == 1


def test_s42_who_has_resigned_already_is_not_refused():
    one = Replica(replica(resigned()))
    before = one.state
    assert one.event(ResignRequested, epoch=EPOCH) == ()
    assert one.state == before


def test_s42_a_leader_that_is_no_voter_any_more_may_resign():
    state = replica(leader(voters=(2, 3)), voters=(2, 3))
    one = Replica(state)
    one.event(ResignRequested, epoch=EPOCH)
    one.poll()
    assert isinstance(one.role, Resigned)
    assert [node for node, _ in one.sent(EndQuorumEpochRequest)] == [2, 3]


def test_s43_a_resigned_replica_follows_the_leader_of_a_later_epoch():
    one = Replica(replica(resigned()))
    one.request(begin(EPOCH + 1, leader=3), sender=3)
    assert isinstance(one.role, Follower)
    assert one.written() == [(EPOCH + 1, 3, None)]


@pytest.mark.parametrize("voters", [(1, 2, 3), (2, 3)], ids=["voter", "no-voter"])
def test_s43_a_resigned_replica_goes_on_to_the_next_epoch_when_its_timer_is_over(voters):
    one = Replica(replica(resigned(deadline=NOW), voters=voters))
    one.poll()
    assert isinstance(one.role, Unattached)
    assert one.written() == [(EPOCH + 1, None, None)]
    one.poll()
    assert isinstance(one.role, Prospective if 1 in voters else Unattached)


def test_s43_a_resigned_replica_waits_for_its_timer():
    one = Replica(replica(resigned())).asks(2, 3)
    one.wait(TIMEOUTS.election - 1)
    before = one.state
    one.poll()
    assert one.state == before


def test_s43_a_resigned_sole_voter_leads_the_next_epoch():
    one = Replica(replica(resigned(deadline=NOW), voters=(1,)))
    one.poll()
    assert isinstance(one.role, Leader)
    assert one.role.epoch == EPOCH + 1


def test_a_resigned_replica_gives_a_pre_vote_but_no_vote():
    one = Replica(replica(resigned()))
    assert one.request(vote(pre_vote=True)).vote_granted
    assert not one.request(vote()).vote_granted
