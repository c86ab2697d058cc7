"""Histories that break properties of what a replica tells its state machine."""

from __future__ import annotations

from tests.krafla.fuzz.raft.breaking import breaks
from tests.krafla.fuzz.raft.by_hand import A, B, C, committed, file, snapshot, unattached

from kraft.ids import OffsetAndEpoch
from kraft.raft.effects import CleanLog, HandleCommit, HandleLeaderChange, HandleLoadSnapshot
from kraft.raft.roles import Resigned


@breaks("ListenerInOrderInv")
def a_snapshot_is_loaded_that_does_not_exist():
    hand = committed()
    hand.event(B, HandleLoadSnapshot(OffsetAndEpoch(5, 1)))
    return hand


@breaks("ListenerLeaderProp")
def a_listener_is_told_of_two_leaders_of_one_epoch():
    hand = committed()
    hand.event(B, HandleLeaderChange(1, A.node_id))
    hand.event(B, HandleLeaderChange(1, C.node_id))
    return hand


@breaks("ListenerLeaderProp")
def a_listener_is_told_that_it_leads_after_it_resigned():
    hand = committed()
    resigned = Resigned(1, A.node_id, frozenset(), (), 0)
    hand.event(A, HandleLeaderChange(1, A.node_id), role=resigned)
    return hand


@breaks("ListenerInOrderInv")
def commits_begin_behind_a_snapshot_that_was_not_loaded():
    hand = committed()
    known = OffsetAndEpoch(2, 1)
    hand.snapshots[known] = snapshot(2, 1)
    hand.event(B, CleanLog(known))
    hand.append(A, b"two")
    hand.copy(B, A)
    hand.event(B, HandleCommit(hand.states[B].log.read(2, 2**20)))
    return hand


@breaks("ListenerInOrderInv")
def a_snapshot_is_loaded_after_later_commits():
    hand = committed()
    hand.event(B, HandleCommit(hand.states[B].log.read(0, 2**20)), high_watermark=2)
    hand.event(B, HandleLoadSnapshot(OffsetAndEpoch(1, 1)))
    return hand


@breaks("ListenerInOrderInv")
def a_follower_is_not_told_what_is_committed():
    hand = committed()
    for key in (A, B, C):
        hand.checks.history.replica(key).told = (1, A.node_id)
    hand.checks.hears = True
    hand.event(B, high_watermark=2)
    return hand


@breaks("ListenerLeaderProp")
def a_follower_is_not_told_that_a_leader_is_gone():
    hand = committed()
    hand.checks.history.replica(B).told = (1, A.node_id)
    hand.checks.hears = True
    hand.event(B, file(2), role=unattached(2))
    return hand
