"""Histories that break properties of staying leader and of late answers."""

from __future__ import annotations

from dataclasses import replace

from immutables import Map
from tests.krafla.fuzz.raft.breaking import breaks
from tests.krafla.fuzz.raft.breaking_elections import asked, vote_request
from tests.krafla.fuzz.raft.by_hand import (
    KEYS,
    A,
    B,
    C,
    Hand,
    committed,
    file,
    follower,
    unattached,
)

from kraft.errors import ErrorCode
from kraft.ids import NodeId, OffsetAndEpoch
from kraft.raft.effects import HandleCommit, SendRequest, SendResponse
from kraft.raft.events import Poll, RequestReceived, ResponseReceived, Source
from kraft.raft.pending_requests import PendingVoterChange
from kraft.raft.state import Connection
from kraft.raft.voters import Voter
from kraft.rpc.fetch import FetchRequest, FetchResponse
from kraft.rpc.raft_voters import AddRaftVoterResponse
from kraft.rpc.vote import VoteResponse

CLIENT = Source(NodeId(-1), 7)
YES = VoteResponse(ErrorCode.NONE, 1, A.node_id, vote_granted=True)


def poll(hand: Hand, now: int, times: int = 1, **changes) -> None:
    """Poll the leader several times at one time of its clock."""
    for _ in range(times):
        hand.event(A, event=Poll(now, 0), **changes)


def fetch(hand: Hand, by, now: int, **answered) -> None:
    """Deliver a replica's fetch to the leader, which parks it or answers it with this."""
    source = Source(by.node_id, 0)
    request = FetchRequest("c", by.node_id, by.directory_id, 1, 2, 1)
    answer = replace(FetchResponse(ErrorCode.NONE, 1, A.node_id), **answered)
    effects = [SendResponse(source, answer)] if answered else []
    hand.event(A, *effects, event=RequestReceived(now, 0, source, request))


def check_quorum(hand: Hand) -> int:
    """Return the period, in nanoseconds, within which a majority must fetch."""
    return hand.states[A].configuration.timeouts.check_quorum


def answered(hand: Hand, by, response, *effects, **changes) -> Hand:
    """Deliver an awaited answer of A to a replica, with these effects."""
    hand.states[by] = replace(hand.states[by], connections=Map({A.node_id: Connection(5, 10**9)}))
    free = Map({A.node_id: Connection()})
    event = ResponseReceived(0, 0, A.node_id, 5, response)
    hand.event(by, *effects, event=event, connections=free, **changes)
    return hand


def with_pending(hand: Hand) -> Hand:
    """Return the history after a client has asked the leader for another voter."""
    pending = PendingVoterChange("add", CLIENT, Voter(C), 10**9)
    hand.states[A] = replace(
        hand.states[A], role=replace(hand.states[A].role, pending_change=pending)
    )
    return hand


@breaks("CheckQuorumProp")
def a_leader_without_fetches_stays():
    hand = committed()
    poll(hand, 2 * check_quorum(hand), times=15)
    return hand


@breaks("CheckQuorumProp")
def a_leader_stays_by_fetches_that_it_refuses():
    hand = committed()
    for time in range(1, 40):
        fetch(hand, B, time * check_quorum(hand), error_code=ErrorCode.FENCED_LEADER_EPOCH)
        poll(hand, time * check_quorum(hand))
    return hand


@breaks("CheckQuorumProp")
def a_leader_stays_by_fetches_of_diverging_logs():
    hand = committed()
    for time in range(1, 40):
        fetch(hand, B, time * check_quorum(hand), diverging=OffsetAndEpoch(1, 1))
        poll(hand, time * check_quorum(hand))
    return hand


@breaks("CheckQuorumProp")
def a_leader_stays_by_fetches_of_other_disks_of_its_voters():
    hand = committed()
    for time in range(1, 40):
        fetch(hand, B._replace(directory_id=C.directory_id), time * check_quorum(hand))
        poll(hand, time * check_quorum(hand))
    return hand


@breaks("CheckQuorumProp")
def a_leader_of_five_stays_by_the_fetches_of_one_voter():
    hand = Hand(*KEYS)
    hand.elect(A, 1, B, C)
    fetch(hand, C, 0)
    for time in range(1, 40):
        fetch(hand, B, time * check_quorum(hand))
        poll(hand, time * check_quorum(hand))
    return hand


@breaks("HeardLeaderStaysProp")
def a_follower_that_hears_its_leader_grants_a_pre_vote():
    hand = committed()
    hand.event(B, role=replace(follower(1, A, A), has_fetched=True))
    event = asked(vote_request(C, 1, (2, 1), pre_vote=True))
    hand.event(B, SendResponse(Source(C.node_id, 0), YES), event=event)
    return hand


@breaks("HeardLeaderStaysProp")
def a_leader_grants_a_pre_vote():
    hand = committed()
    event = asked(replace(vote_request(C, 1, (2, 1), pre_vote=True), voter_id=A.node_id))
    hand.event(A, SendResponse(Source(C.node_id, 0), YES), event=event)
    return hand


@breaks("OwnVoteProp")
def a_vote_is_granted_that_another_disk_of_the_node_was_asked_for():
    hand = Hand()
    request = replace(vote_request(A, 1), voter_id=B.node_id, voter_directory_id=C.directory_id)
    effects = (file(1, None, A), SendResponse(Source(A.node_id, 0), YES))
    hand.event(B, *effects, event=asked(request), role=unattached(1, A))
    return hand


@breaks("OwnVoteProp")
def a_pre_vote_is_granted_that_another_node_was_asked_for():
    hand = Hand()
    request = replace(vote_request(A, 0, pre_vote=True), voter_id=C.node_id)
    hand.event(B, SendResponse(Source(A.node_id, 0), replace(YES, epoch=0)), event=asked(request))
    return hand


@breaks("OldAnswerProp")
def an_answer_of_an_old_epoch_names_the_leader_of_a_new_one():
    hand = Hand()
    hand.event(B, file(2), role=unattached(2))
    answer = FetchResponse(ErrorCode.UNKNOWN_LEADER_EPOCH, 1, A.node_id)
    return answered(hand, B, answer, role=follower(2, A))


@breaks("OldAnswerProp")
def an_answer_of_an_old_epoch_causes_another_request():
    hand = Hand()
    hand.event(B, file(2), role=unattached(2))
    request = FetchRequest("c", B.node_id, B.directory_id, 2, 0, 0)
    answer = FetchResponse(ErrorCode.UNKNOWN_LEADER_EPOCH, 1, A.node_id)
    return answered(hand, B, answer, SendRequest(C.node_id, 6, request))


@breaks("OldAnswerProp")
def an_answer_of_an_old_epoch_raises_the_high_watermark():
    hand = committed()
    hand.event(B, file(2), role=unattached(2))
    answer = FetchResponse(ErrorCode.NONE, 1, A.node_id, high_watermark=2)
    return answered(hand, B, answer, HandleCommit(()), high_watermark=2)


@breaks("OldAnswerProp")
def an_answer_of_an_old_epoch_closes_another_connection():
    hand = Hand()
    hand.event(B, file(2), role=unattached(2))
    hand.states[B] = replace(
        hand.states[B], connections=Map({A.node_id: Connection(5, 10**9), C.node_id: Connection(6)})
    )
    answer = FetchResponse(ErrorCode.UNKNOWN_LEADER_EPOCH, 1, A.node_id)
    event = ResponseReceived(0, 0, A.node_id, 5, answer)
    hand.event(B, event=event, connections=Map({A.node_id: Connection()}))
    return hand


@breaks("ChangeAnsweredProp")
def a_request_for_a_voter_is_forgotten():
    hand = with_pending(committed())
    hand.event(A, role=replace(hand.states[A].role, pending_change=None))
    return hand


@breaks("ChangeAnsweredProp")
def a_request_for_a_voter_is_replaced_by_another():
    hand = with_pending(committed())
    role = hand.states[A].role
    other = replace(role.pending_change, source=Source(NodeId(-1), 8))
    answer = SendResponse(other.source, AddRaftVoterResponse(ErrorCode.NONE, ""))
    hand.event(A, answer, role=replace(role, pending_change=other))
    return hand


@breaks("ChangeAnsweredProp")
def a_deposed_leader_leaves_a_request_for_a_voter_without_an_answer():
    hand = with_pending(committed())
    hand.event(A, file(2), role=unattached(2))
    return hand
