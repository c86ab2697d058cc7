"""Ending: who waits for a successor, and who need not (S44 to S48)."""

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
    end_answer,
    follower,
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
from kraft.raft.effects import AppendRefused, SendResponse, ShutdownCompleted
from kraft.raft.events import PrepareAppend, ScheduleAppend, ShutdownRequested
from kraft.raft.machine import is_busy
from kraft.raft.roles import NEVER, Candidate, Follower, Leader, Prospective, Resigned, Unattached
from kraft.rpc.fetch import FetchRequest
from kraft.rpc.quorum_epoch import EndQuorumEpochRequest
from kraft.rpc.vote import VoteRequest

LONG = 60 * TIMEOUTS.election


def shutting_down(role, timeout=LONG, **fields):
    one = Replica(replica(role, **fields))
    one.event(ShutdownRequested, timeout=timeout)
    assert one.effects == ()
    one.settle()
    return one


def fetch(node, offset, last_epoch, *, disk=None, wait=0):
    return FetchRequest(CLUSTER_ID, node, disk or directory(node), EPOCH, offset, last_epoch, wait)


def test_s44_a_leader_that_shuts_down_resigns_and_waits_for_another():
    one = shutting_down(leader())
    assert isinstance(one.role, Resigned)
    assert [node for node, _ in one.sent(EndQuorumEpochRequest)] == [2, 3]
    assert not one.of(ShutdownCompleted)
    one.wait(10 * TIMEOUTS.election)
    one.settle()
    assert isinstance(one.role, Resigned)


def test_s44_who_shuts_down_still_votes():
    one = shutting_down(leader())
    assert one.request(vote(EPOCH + 1, sender=3), sender=3).vote_granted
    one.settle()
    assert isinstance(one.role, Unattached)
    assert not one.of(ShutdownCompleted)


def test_s44_who_shuts_down_has_ended_once_another_leads():
    one = shutting_down(leader())
    one.request(begin(EPOCH + 1, leader=3), sender=3)
    one.settle()
    assert one.effects == (ShutdownCompleted(graceful=True),)


def test_s44_who_waits_for_too_long_ends_all_the_same():
    one = shutting_down(leader(), timeout=TIMEOUTS.fetch)
    one.wait(TIMEOUTS.fetch - 1)
    one.settle()
    assert not one.of(ShutdownCompleted)
    one.wait(1)
    one.settle()
    assert one.of(ShutdownCompleted) == [ShutdownCompleted(graceful=False)]


def test_s44_nothing_is_due_after_the_end():
    one = shutting_down(follower())
    assert one.next_deadline() == NEVER
    before = one.state
    assert one.poll() == () or one.state != before


@pytest.mark.parametrize(
    ("role", "fields"),
    [
        (follower(), {}),
        (leader(voters=(1,)), {"voters": (1,)}),
        (unattached(), {"node": 9}),
        (follower(leader=2), {"node": 9}),
    ],
    ids=["follower", "sole-voter", "observer", "observer-that-follows"],
)
def test_s45_who_is_not_needed_ends_at_once(role, fields):
    one = shutting_down(role, **fields)
    assert one.effects == (ShutdownCompleted(graceful=True),)
    assert type(one.role) is type(role)


def test_an_unattached_voter_that_shuts_down_waits_and_neither_asks_nor_stands():
    one = shutting_down(unattached(deadline=NOW))
    assert one.effects == ()
    one.wait(10 * TIMEOUTS.election)
    one.settle()
    assert isinstance(one.role, Unattached)
    assert one.sent() == []


@pytest.mark.parametrize(("role", "kind"), [(candidate(), Candidate), (prospective(), Prospective)])
def test_who_stands_and_shuts_down_goes_on_with_this_election_only(role, kind):
    one = shutting_down(role)
    assert [node for node, _ in one.sent(VoteRequest)] == [2, 3]
    one.wait(TIMEOUTS.election)
    one.settle()
    assert isinstance(one.role, kind)


def test_a_candidate_that_wins_while_it_shuts_down_resigns():
    one = shutting_down(candidate())
    one.answer(2, voted_answer())
    assert isinstance(one.role, Leader)
    one.settle()
    assert isinstance(one.role, Resigned)
    assert one.order().index("FlushLog") < one.order().index("SendRequest")


def test_a_second_request_to_shut_down_changes_nothing():
    one = shutting_down(leader())
    before = one.state
    one.wait(1)
    one.event(ShutdownRequested, timeout=1)
    assert one.state == before


def test_s46_a_leader_that_no_majority_fetches_from_resigns():
    one = Replica(replica(leader()))
    one.wait(TIMEOUTS.check_quorum - 1)
    one.settle()
    assert isinstance(one.role, Leader)
    one.wait(1)
    one.settle()
    assert isinstance(one.role, Resigned)


def test_s46_the_fetch_of_one_of_two_others_keeps_a_leader():
    one = Replica(replica(leader()))
    one.wait(TIMEOUTS.check_quorum // 2)
    one.request(fetch(3, 0, 0), sender=3)
    one.wait(TIMEOUTS.check_quorum // 2 + 1)
    one.settle()
    assert isinstance(one.role, Leader)


@pytest.mark.parametrize("disk", [directory(9), directory(2, disk=1)], ids=["node", "disk"])
def test_s46_the_fetch_of_one_who_is_no_voter_does_not_keep_a_leader(disk):
    one = Replica(replica(leader()))
    one.wait(TIMEOUTS.check_quorum // 2)
    node = 9 if disk == directory(9) else 2
    one.request(fetch(node, 0, 0, disk=disk), sender=node)
    one.wait(TIMEOUTS.check_quorum // 2 + 1)
    one.settle()
    assert isinstance(one.role, Resigned)


def test_s47_a_sole_voter_never_resigns():
    one = Replica(replica(leader(voters=(1,)), voters=(1,)))
    for _ in range(5):
        one.wait(TIMEOUTS.check_quorum)
        one.settle()
    assert isinstance(one.role, Leader)


def test_s47_a_leader_that_is_no_voter_needs_a_majority_of_the_others():
    one = Replica(replica(leader(voters=(2, 3)), voters=(2, 3)))
    one.request(fetch(3, 0, 0), sender=3)
    one.wait(TIMEOUTS.check_quorum)
    one.settle()
    assert isinstance(one.role, Resigned)
    one = Replica(replica(leader(voters=(2, 3)), voters=(2, 3)))
    one.wait(1)
    one.request(fetch(3, 0, 0), sender=3)
    one.request(fetch(2, 0, 0), sender=2)
    one.wait(TIMEOUTS.check_quorum - 1)
    one.settle()
    assert isinstance(one.role, Leader)


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        (begin(EPOCH + 1, leader=3), Follower),
        (vote(EPOCH + 1, sender=3, end=(9, EPOCH)), Unattached),
        (vote(EPOCH + 1, sender=3), Unattached),
    ],
    ids=["follower", "voted", "unattached"],
)
def test_s48_what_a_leader_had_not_appended_is_dropped_when_it_leads_no_more(request_, kind):
    one = Replica(replica(leader(), log=log_of(EPOCH)))
    one.event(PrepareAppend, epoch=EPOCH, values=(b"never",))
    one.event(ScheduleAppend)
    assert not one.of(AppendRefused)
    one.request(request_, sender=3)
    assert isinstance(one.role, kind)
    one.wait(TIMEOUTS.append_linger)
    one.settle()
    assert one.state.log.end_offset == 1
    one.event(PrepareAppend, epoch=EPOCH, values=(b"refused",))
    assert one.of(AppendRefused)


def test_a_fetch_that_waits_is_answered_from_the_epoch_that_ended_its_wait():
    one = Replica(replica(leader(ends={2: 1}), log=log_of(EPOCH)))
    assert one.request(fetch(2, 1, EPOCH, wait=500)) is None
    one.request(begin(EPOCH + 1, leader=3), sender=3)
    refused = one.of(SendResponse)[0].response
    assert refused.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (refused.epoch, refused.leader_id) == (EPOCH + 1, 3)
    assert one.order()[0] == "WriteQuorumState"


def test_who_has_resigned_and_shuts_down_tells_the_others_and_waits():
    one = shutting_down(resigned())
    assert [node for node, _ in one.sent(EndQuorumEpochRequest)] == [2, 3]
    assert one.next_deadline() == NOW + TIMEOUTS.request
    for node in (2, 3):
        one.answer(node, end_answer())
    assert one.next_deadline() == NOW + LONG


def test_a_leader_is_busy_until_it_has_flushed_what_it_appended():
    one = Replica(replica(candidate())).asks(2, 3)
    assert not is_busy(one.state)
    one.answer(2, voted_answer())
    assert is_busy(one.state)
    assert one.next_deadline() <= one.now
    one.poll()
    assert one.order() == ["FlushLog"]
    assert not is_busy(one.state)


def test_a_leader_flushes_before_it_gives_up_a_request_or_resigns():
    one = Replica(replica(candidate())).asks(2, 3)
    one.answer(2, voted_answer())
    one.event(ShutdownRequested, timeout=LONG)
    one.wait(TIMEOUTS.request)
    one.poll()
    assert one.order() == ["FlushLog"]
    one.poll()
    assert isinstance(one.role, Leader)
    assert one.state.connections[2].correlation_id is None


@pytest.mark.parametrize("role", [unattached(), candidate(), prospective(), resigned()])
def test_no_timer_moves_who_shuts_down_even_if_it_is_polled(role):
    one = shutting_down(role)
    one.wait(2 * TIMEOUTS.election)
    for _ in range(5):
        one.poll()
    assert type(one.role) is type(role)
    assert one.role.epoch == EPOCH
