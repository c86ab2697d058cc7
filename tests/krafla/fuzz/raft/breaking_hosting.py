"""Histories of processes that do not do what is due first, or send what they should not."""

from __future__ import annotations

from tests.krafla.fuzz.raft.breaking import breaks
from tests.krafla.fuzz.raft.by_hand import A, B, Hand, unattached

from kraft.errors import ErrorCode
from kraft.raft.effects import FlushLog, SendResponse
from kraft.raft.events import RequestReceived, Source
from kraft.rpc.vote import VoteResponse
from kraft.sim.raft.steps import Envelope

ANSWER = VoteResponse(ErrorCode.NONE, 0, None)
SENT = Envelope(1, A.node_id, B.node_id, 1, ANSWER, is_request=False, incarnation=1)


@breaks("DueFirstProp")
def a_message_is_taken_while_an_election_is_due():
    hand = Hand(hosted=True)
    hand.event(A, event=RequestReceived(10**9, 0, Source(B.node_id, 1), None))
    return hand


@breaks("SentInOrderProp")
def an_answer_leaves_though_its_process_crashed_before_the_flush():
    hand = Hand(hosted=True)
    hand.crash(A, unfinished=(FlushLog(), SendResponse(Source(B.node_id, 1), ANSWER)), sent=(SENT,))
    return hand


@breaks("SentInOrderProp")
def an_answer_never_leaves():
    hand = Hand(hosted=True)
    hand.event(A, SendResponse(Source(B.node_id, 1), ANSWER), role=unattached(0))
    return hand
