"""What a leader may do without breaking a property: the counterpart of its histories."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.krafla.fuzz.raft.breaking_elections import asked, vote_request
from tests.krafla.fuzz.raft.breaking_leading import (
    CLIENT,
    YES,
    answered,
    check_quorum,
    fetch,
    poll,
    with_pending,
)
from tests.krafla.fuzz.raft.by_hand import A, B, C, Hand, committed, file, follower, unattached

from kraft.errors import ErrorCode
from kraft.raft.effects import HandleLeaderChange, SendResponse
from kraft.raft.events import RequestReceived, Source
from kraft.raft.pending_requests import ParkedFetch
from kraft.rpc.fetch import FetchRequest, FetchResponse
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest
from kraft.rpc.raft_voters import AddRaftVoterResponse


def test_a_leader_may_stay_without_a_fetch_for_less_than_two_periods():
    hand = committed()
    poll(hand, 2 * check_quorum(hand) - 1, times=40)
    assert hand.broken is None


def test_a_leader_may_have_other_things_to_do_first():
    hand = committed()
    poll(hand, 2 * check_quorum(hand), times=14)
    assert hand.broken is None
    poll(hand, 2 * check_quorum(hand))
    assert hand.broken == "CheckQuorumProp"


def test_a_leader_may_first_answer_each_fetch_that_is_parked():
    hand = committed()
    request = FetchRequest("c", B.node_id, B.directory_id, 1, 2, 1)
    parked = (ParkedFetch(Source(B.node_id, 0), request, 0),) * 3
    hand.states[A] = replace(hand.states[A], role=replace(hand.states[A].role, parked=parked))
    poll(hand, 2 * check_quorum(hand), times=17)
    assert hand.broken is None
    poll(hand, 2 * check_quorum(hand))
    assert hand.broken == "CheckQuorumProp"


@pytest.mark.parametrize("by_snapshot", [False, True])
def test_a_leader_of_three_stays_if_one_other_voter_fetches(by_snapshot):
    hand = committed()
    for time in range(1, 40):
        now = time * check_quorum(hand)
        if by_snapshot:
            request = FetchSnapshotRequest("c", B.node_id, B.directory_id, 1, (2, 1), 0, 1)
            hand.event(A, event=RequestReceived(now, 0, Source(B.node_id, 0), request))
        else:
            fetch(hand, B, now)
        poll(hand, now)
    assert hand.broken is None


def test_overdue_polls_are_forgotten_with_the_next_fetch():
    hand = committed()
    poll(hand, 2 * check_quorum(hand), times=14)
    fetch(hand, C, 2 * check_quorum(hand))
    poll(hand, 2 * check_quorum(hand))
    poll(hand, 4 * check_quorum(hand), times=14)
    assert hand.broken is None


def test_a_sole_voter_stays_leader_without_a_fetch():
    hand = Hand(A)
    hand.elect(A, 1)
    poll(hand, 9 * check_quorum(hand), times=40)
    assert hand.broken is None


def test_the_period_restarts_when_the_voters_change():
    hand = committed()
    now = 2 * check_quorum(hand) - 1
    poll(hand, now, controls=replace(hand.states[A].controls))
    poll(hand, now + check_quorum(hand), times=40)
    assert hand.broken is None
    poll(hand, now + 2 * check_quorum(hand), times=15)
    assert hand.broken == "CheckQuorumProp"


def test_the_period_restarts_with_a_new_election():
    hand = committed()
    poll(hand, 2 * check_quorum(hand), times=14)
    hand.event(A, file(2), role=unattached(2))
    hand.elect(A, 3, B)
    poll(hand, check_quorum(hand), times=15)
    assert hand.broken is None


@pytest.mark.parametrize("epoch", [1, 2])
def test_a_replica_that_hears_no_leader_may_grant_a_pre_vote(epoch):
    hand = committed()
    event = asked(vote_request(C, epoch, (2, 1), pre_vote=True))
    if epoch == 2:
        # A higher epoch has no leader yet.
        hand.event(B, role=replace(follower(1, A, A), has_fetched=True))
        effects = (file(2), SendResponse(Source(C.node_id, 0), replace(YES, epoch=2)))
        hand.event(B, *effects, event=event, role=unattached(2))
    else:
        hand.event(B, SendResponse(Source(C.node_id, 0), YES), event=event)
    assert hand.broken is None


@pytest.mark.parametrize(
    "asks",
    [
        {"voter_id": -1, "voter_directory_id": C.directory_id},
        {"voter_id": B.node_id, "voter_directory_id": None},
        {"voter_id": B.node_id, "voter_directory_id": B.directory_id},
    ],
)
def test_a_replica_may_vote_if_the_request_names_it_or_no_replica(asks):
    hand = Hand()
    effects = (file(1, None, A), SendResponse(Source(A.node_id, 0), YES))
    event = asked(replace(vote_request(A, 1), **asks))
    hand.event(B, *effects, event=event, role=unattached(1, A))
    assert hand.broken is None


def test_an_old_answer_may_free_its_connection():
    hand = Hand()
    hand.event(B, file(2), role=unattached(2))
    answered(hand, B, FetchResponse(ErrorCode.UNKNOWN_LEADER_EPOCH, 1, A.node_id))
    assert hand.broken is None


def test_a_step_that_takes_an_old_answer_may_notify_the_listener():
    hand = Hand()
    hand.event(B, file(2), role=unattached(2))
    answer = FetchResponse(ErrorCode.UNKNOWN_LEADER_EPOCH, 1, A.node_id)
    answered(hand, B, answer, HandleLeaderChange(2, None))
    assert hand.broken is None


def test_an_answer_of_this_epoch_may_name_its_leader():
    hand = Hand()
    hand.event(B, file(2), role=unattached(2))
    hand.event(A, file(2, None, A), role=unattached(2, A))
    answer = FetchResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER, 2, C.node_id)
    answered(hand, B, answer)
    assert hand.broken is None


def test_a_pending_change_ends_with_its_answer():
    hand = with_pending(committed())
    poll(hand, 0)
    answer = SendResponse(CLIENT, AddRaftVoterResponse(ErrorCode.REQUEST_TIMED_OUT, "too late"))
    hand.event(A, answer, role=replace(hand.states[A].role, pending_change=None))
    assert hand.broken is None
