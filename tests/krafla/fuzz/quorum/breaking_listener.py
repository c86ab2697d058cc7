"""Histories that break what the state machine above a replica is told."""

from __future__ import annotations

from tests.krafla.fuzz.quorum.breaking import breaks
from tests.krafla.fuzz.quorum.by_hand import A, B, C, committed

from kraft.ids import OffsetAndEpoch
from kraft.raft.effects import HandleLeaderChange, HandleLoadSnapshot
from kraft.raft.roles import Resigned


@breaks("ListenerInOrderInv")
def a_snapshot_is_loaded_that_is_not_there():
    hand = committed()
    hand.event(B, HandleLoadSnapshot(OffsetAndEpoch(5, 1)))
    return hand


@breaks("ListenerLeaderProp")
def two_leaders_of_one_epoch_are_told_of():
    hand = committed()
    hand.event(B, HandleLeaderChange(1, A.node_id))
    hand.event(B, HandleLeaderChange(1, C.node_id))
    return hand


@breaks("ListenerLeaderProp")
def it_is_told_that_it_leads_after_it_resigned():
    hand = committed()
    resigned = Resigned(1, A.node_id, frozenset(), (), 0)
    hand.event(A, HandleLeaderChange(1, A.node_id), role=resigned)
    return hand
