"""Histories that break properties of committed records and high watermarks."""

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
    committed,
    data,
    file,
    follower,
    leader,
    unattached,
)

from kraft.errors import ErrorCode
from kraft.raft.effects import AppendLog, FlushLog, SendResponse, TruncateLog
from kraft.raft.events import Source
from kraft.rpc.fetch import FetchResponse


@breaks("StateMachineSafetyInv")
def a_follower_takes_an_uncommitted_record_for_committed():
    hand = committed()
    hand.elect(C, 2, B)
    hand.event(C, AppendLog((data(3, 2),)), role=replace(leader(2, C, 2), must_flush=True))
    hand.event(C, FlushLog(), role=leader(2, C, 2))
    hand.follow(B, C, 2)
    hand.copy(B, C, 4)
    return hand


@breaks("StateMachineSafetyInv")
def a_replica_commits_another_record():
    hand = Hand()
    hand.elect(A, 1, B)
    hand.append(A, b"lost")
    hand.elect(B, 2, C)
    hand.append(B, b"kept")
    hand.follow(C, B, 2)
    hand.copy(C, B)
    hand.note(B, 2, c=2)
    hand.event(A, file(2), role=unattached(2))
    hand.event(A, high_watermark=2)
    return hand


@breaks("StateMachineSafetyInv")
def an_answer_has_a_higher_high_watermark_than_the_leader():
    hand = committed()
    answer = FetchResponse(ErrorCode.NONE, 1, A.node_id, 3)
    hand.event(A, SendResponse(Source(B.node_id, 0), answer))
    return hand


@breaks("LeaderCompletenessInv")
def a_leader_lacks_what_is_committed():
    hand = Hand()
    hand.elect(A, 1, B)
    hand.follow(B, A, 1)
    hand.append(A)
    hand.copy(B, A)
    hand.note(A, 2, b=2)
    hand.elect(C, 2, B)
    return hand


@breaks("LeaderCompletenessInv")
def a_leader_has_another_record_where_one_is_committed():
    hand = Hand()
    hand.elect(C, 1, B)
    hand.append(C, b"lost")
    hand.append(C, b"lost, too")
    hand.elect(A, 2, B)
    hand.append(A)
    hand.follow(B, A, 2)
    hand.copy(B, A)
    hand.note(A, 2, b=2)
    hand.event(C, file(2), role=unattached(2))
    hand.elect(C, 3)
    return hand


@breaks("CommittedOnMajorityInv")
def a_leader_commits_what_only_it_has():
    hand = committed()
    hand.append(A)
    hand.note(A, 3, b=2, c=2)
    return hand


@breaks("CommittedOnMajorityInv")
def a_leader_counts_an_observer():
    hand = committed()
    hand.append(A)
    hand.follow(D, A, 1)
    hand.copy(D, A)
    hand.note(A, 3, d=3)
    return hand


@breaks("CommittedOnlyGrowsProp")
def a_leader_commits_behind_a_gap():
    hand = committed()
    hand.append(A)
    hand.append(A)
    hand.copy(B, A)
    hand.checks.history.replica(A).verified = 3
    hand.note(A, 4, b=4)
    return hand


@breaks("HighWatermarkWithinLogInv")
def a_high_watermark_is_beyond_the_log():
    hand = committed()
    hand.event(B, high_watermark=7)
    return hand


@breaks("NoTruncationBelowHighWatermarkProp")
def a_follower_truncates_what_it_knows_to_be_committed():
    hand = committed()
    hand.event(B, high_watermark=2)
    hand.event(B, TruncateLog(1))
    return hand


@breaks("HighWatermarkMonotonicProp")
def a_high_watermark_goes_back():
    hand = committed()
    hand.event(B, high_watermark=2)
    hand.event(B, high_watermark=1)
    return hand


@breaks("NewLeaderForgetsHighWatermarkProp")
def a_new_leader_keeps_its_high_watermark():
    hand = committed()
    hand.event(B, high_watermark=2)
    hand.ask(B)
    hand.event(B, file(2, None, B), role=candidate(2, B))
    hand.event(B, file(2, B), role=leader(2, B, 2))
    return hand


@breaks("NeverCommitOldEpochDirectlyProp")
def a_leader_commits_records_of_an_old_epoch():
    hand = Hand()
    hand.elect(A, 1, B)
    hand.follow(B, A, 1)
    hand.copy(B, A)
    hand.elect(A, 3, C)
    hand.follow(B, A, 3)
    hand.note(A, 1, b=1)
    return hand


@breaks("CommittedOnMajorityInv")
def a_leader_counts_itself_though_it_has_not_flushed():
    hand = committed()
    role = replace(leader(1, A), must_flush=True)
    hand.event(A, AppendLog((data(2, 1, b"two"),)), role=role)
    hand.copy(B, A)
    hand.event(A, role=replace(leader(1, A, b=3), must_flush=True), high_watermark=3)
    return hand


@breaks("HighWatermarkWithinLogInv")
def a_start_knows_a_high_watermark_beyond_its_log():
    hand = committed()
    started = hand.state(B, follower(1, A, A), hand.states[B].log)
    hand.step("start", B, after=replace(started, high_watermark=7))
    return hand
