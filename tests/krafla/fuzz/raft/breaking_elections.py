"""Histories that break properties of elections, votes, starts and requests."""

from __future__ import annotations

from dataclasses import replace

from tests.krafla.fuzz.raft.breaking import breaks
from tests.krafla.fuzz.raft.by_hand import (
    A,
    B,
    C,
    D,
    Hand,
    candidate,
    change,
    committed,
    file,
    follower,
    leader,
    prospective,
    unattached,
)

from kraft.errors import ErrorCode
from kraft.ids import DirectoryId
from kraft.raft.effects import AppendLog, Fatal, SendRequest, SendResponse
from kraft.raft.events import RequestReceived, ResponseReceived, Source
from kraft.raft.roles import Resigned
from kraft.rpc.fetch import FetchRequest
from kraft.rpc.quorum_epoch import BeginQuorumEpochRequest
from kraft.rpc.vote import VoteRequest, VoteResponse


def vote_request(by, epoch, end=(0, 0), pre_vote=False):
    return VoteRequest("c", B.node_id, None, epoch, by.node_id, None, end[1], end[0], pre_vote)


def asked(request):
    return RequestReceived(0, 0, Source(A.node_id, 0), request)


@breaks("ElectionSafetyInv")
def two_replicas_know_different_leaders_of_one_epoch():
    hand = committed()
    hand.event(D, file(1, B), role=follower(1, B))
    return hand


@breaks("OneLeaderPerEpochInv")
def a_leader_becomes_leader_of_its_epoch_again():
    hand = committed()
    hand.states[A] = replace(hand.states[A], role=candidate(1, A))
    hand.event(A, file(1, A), role=leader(1, A))
    return hand


@breaks("OneLeaderPerEpochInv")
def an_epoch_begins_twice():
    hand = committed()
    batch = change(2, 1, A)
    hand.event(A, AppendLog((batch,)), role=replace(leader(1, A), must_flush=True))
    return hand


@breaks("VoteOncePerEpochProp")
def a_voter_votes_for_two():
    hand = Hand()
    hand.event(B, file(1, None, A), role=unattached(1, A))
    hand.event(B, file(1, None, C), role=unattached(1, C))
    return hand


@breaks("VoteOncePerEpochProp")
def a_voter_votes_for_two_with_an_epoch_in_between():
    hand = Hand()
    hand.event(B, file(1, None, A), role=unattached(1, A))
    hand.checks.history.replica(B).file = hand.checks.history.replica(C).file
    hand.event(B, file(1, None, C), role=unattached(1, C))
    return hand


@breaks("VoteOncePerEpochProp")
def a_voter_votes_in_an_epoch_whose_leader_it_knows():
    hand = Hand()
    hand.event(B, file(1, A), role=follower(1, A))
    hand.event(B, file(1, A, C), role=follower(1, A, C))
    return hand


@breaks("VoteOncePerEpochProp")
def a_prospective_voter_drops_its_vote():
    hand = Hand()
    hand.event(B, file(1, None, A), role=unattached(1, A))
    hand.event(B, file(1), role=unattached(1))
    return hand


@breaks("VoteOncePerEpochProp")
def a_start_forgets_a_vote():
    hand = Hand()
    hand.event(B, file(1, None, A), role=unattached(1, A))
    hand.start(B, unattached(1))
    return hand


@breaks("VoteWrittenBeforeAnsweredInv")
def a_vote_is_sent_before_it_is_written():
    hand = Hand()
    answer = SendResponse(Source(A.node_id, 0), VoteResponse(ErrorCode.NONE, 1, None, True))
    written = file(1, None, A)
    event = asked(vote_request(A, 1))
    hand.event(B, answer, written, event=event, role=unattached(1, A))
    return hand


@breaks("VoteWrittenBeforeAnsweredInv")
def a_vote_is_sent_and_another_is_written():
    hand = Hand()
    answer = SendResponse(Source(A.node_id, 0), VoteResponse(ErrorCode.NONE, 1, None, True))
    event = asked(vote_request(A, 1))
    hand.event(B, file(1, None, C), answer, event=event, role=unattached(1, C))
    return hand


@breaks("VoteWrittenBeforeAnsweredInv")
def an_epoch_is_sent_before_it_is_written():
    hand = Hand()
    answer = SendResponse(Source(A.node_id, 0), VoteResponse(ErrorCode.NONE, 1, None, False))
    hand.event(B, answer, file(1), event=asked(vote_request(A, 1)), role=unattached(1))
    return hand


@breaks("VoteWrittenBeforeAnsweredInv")
def a_candidate_asks_for_votes_before_its_own_is_written():
    hand = Hand()
    hand.event(B, role=prospective(0, B))
    asks = SendRequest(A.node_id, 0, vote_request(B, 1))
    hand.event(B, asks, file(1, None, B), role=candidate(1, B))
    return hand


@breaks("VoteWrittenBeforeAnsweredInv")
def a_leader_says_so_before_it_is_written():
    hand = Hand()
    hand.event(A, role=prospective(0, A))
    hand.event(A, file(1, None, A), role=candidate(1, A))
    says = SendRequest(
        B.node_id, 0, BeginQuorumEpochRequest("c", B.node_id, None, 1, A.node_id, ())
    )
    hand.event(A, says, file(1, A), role=leader(1, A))
    return hand


@breaks("VoteWrittenBeforeAnsweredInv")
def a_follower_fetches_in_an_epoch_that_it_has_not_written():
    hand = Hand()
    asks = SendRequest(A.node_id, 0, FetchRequest("c", B.node_id, None, 1, 0, 0))
    hand.event(B, asks, file(1, A), role=follower(1, A))
    return hand


@breaks("LeaderCompletenessInv")
def a_candidate_claims_a_longer_log():
    hand = Hand()
    hand.event(B, role=prospective(0, B))
    asks = SendRequest(A.node_id, 0, vote_request(B, 1, (5, 0)))
    hand.event(B, file(1, None, B), asks, role=candidate(1, B))
    return hand


@breaks("RoleMatchesStateInv")
def a_role_is_not_what_the_file_says():
    hand = Hand()
    hand.event(B, role=unattached(1))
    return hand


@breaks("RoleMatchesStateInv")
def a_follower_follows_itself():
    hand = Hand()
    hand.event(B, file(1, B), role=follower(1, B))
    return hand


@breaks("OnlyVotersStandInv")
def an_observer_becomes_a_candidate():
    hand = Hand()
    hand.event(D, role=prospective(0, D))
    return hand


@breaks("MonotonicEpochProp")
def an_epoch_goes_back():
    hand = Hand()
    hand.event(B, file(2), role=unattached(2))
    hand.event(B, file(1), role=unattached(1))
    return hand


@breaks("MonotonicEpochProp")
def a_start_forgets_the_epoch():
    hand = Hand()
    hand.event(B, file(2), role=unattached(2))
    hand.start(B, unattached(0))
    return hand


@breaks("LeaderRememberedProp")
def a_leader_is_forgotten():
    hand = Hand()
    hand.event(B, file(1, A), role=follower(1, A))
    hand.event(B, file(1), role=unattached(1))
    return hand


@breaks("LeaderRememberedProp")
def a_start_forgets_the_leader():
    hand = Hand()
    hand.event(B, file(1, A), role=follower(1, A))
    hand.start(B, unattached(1))
    return hand


@breaks("StateTransitionsProp")
def a_follower_becomes_a_candidate_without_asking():
    hand = Hand()
    hand.event(B, file(1, A), role=follower(1, A))
    hand.event(B, file(2, None, B), role=candidate(2, B))
    return hand


@breaks("RestartProp")
def a_leader_starts_as_a_leader():
    hand = committed()
    hand.start(A, leader(1, A), hand.states[A].log)
    return hand


@breaks("RestartProp")
def a_leader_starts_unattached():
    hand = committed()
    hand.start(A, unattached(1, leader_id=A.node_id), hand.states[A].log)
    return hand


@breaks("RestartProp")
def a_candidate_does_not_start_as_a_candidate():
    hand = Hand()
    hand.event(B, role=prospective(0, B))
    hand.event(B, file(1, None, B), role=candidate(1, B))
    hand.start(B, unattached(1, B))
    return hand


@breaks("RestartProp")
def a_replica_starts_in_a_later_epoch_than_it_was_in():
    hand = committed()
    hand.start(B, unattached(5), hand.states[B].log)
    return hand


@breaks("NoIllegalStateInv")
def a_node_with_a_new_disk_ends_though_not_told_that_it_leads():
    hand = committed()
    hand.start(B._replace(directory_id=DirectoryId("another")), unattached(0))
    hand.event(B, Fatal("another disk"))
    return hand


@breaks("NoIllegalStateInv")
def a_replica_must_end():
    hand = committed()
    hand.event(B, Fatal("two leaders"))
    return hand


@breaks("NoIllegalStateInv")
def a_replica_must_end_where_another_node_has_two_disks():
    hand = committed()
    hand.start(A._replace(directory_id=DirectoryId("another")), unattached(0))
    hand.event(B, Fatal("two leaders"))
    return hand


@breaks("OneRequestPerConnectionInv")
def a_correlation_id_is_used_twice():
    hand = committed()
    asks = SendRequest(A.node_id, 3, FetchRequest("c", B.node_id, None, 1, 2, 1))
    hand.event(B, asks)
    hand.event(B, asks)
    return hand


@breaks("OneRequestPerConnectionInv")
def an_answer_is_taken_that_is_not_awaited():
    hand = Hand()
    answer = ResponseReceived(0, 0, A.node_id, 7, VoteResponse(ErrorCode.NONE, 1, None))
    hand.event(B, file(1), event=answer, role=unattached(1))
    return hand


@breaks("OneRequestPerConnectionInv")
def an_answer_that_is_not_awaited_changes_the_state():
    hand = committed()
    answer = ResponseReceived(0, 0, A.node_id, 7, VoteResponse(ErrorCode.NONE, 1, None))
    hand.event(B, event=answer, high_watermark=2)
    return hand


@breaks("RestartProp")
def a_start_is_resigned_from_another_nodes_epoch():
    hand = committed()
    hand.start(C, Resigned(1, A.node_id, frozenset(), (), 0), hand.states[C].log)
    return hand


@breaks("RestartProp")
def a_start_follows_a_leader_that_the_file_does_not_name():
    hand = Hand()
    hand.elect(A, 1, B)
    hand.event(C, file(1), role=unattached(1))
    hand.start(C, follower(1, A))
    return hand
