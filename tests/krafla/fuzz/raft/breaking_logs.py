"""Histories that break properties of logs and of what is flushed."""

from __future__ import annotations

from dataclasses import replace

from immutables import Map
from tests.krafla.fuzz.raft.breaking import breaks
from tests.krafla.fuzz.raft.by_hand import (
    A,
    B,
    C,
    Hand,
    change,
    committed,
    data,
    file,
    follower,
    snapshot,
    unattached,
)

from kraft.errors import ErrorCode
from kraft.ids import OffsetAndEpoch
from kraft.log.image import LogImage
from kraft.raft.effects import (
    AppendLog,
    CleanLog,
    FlushLog,
    SendRequest,
    TruncateLog,
    TruncateToSnapshot,
)
from kraft.raft.events import ResponseReceived
from kraft.raft.state import Connection
from kraft.rpc.fetch import FetchRequest, FetchResponse


@breaks("LogMatchingInv")
def one_epoch_has_two_batches_at_one_offset():
    hand = committed()
    hand.append(A, b"two")
    hand.event(B, AppendLog((data(2, 1, b"another"),)), FlushLog())
    return hand


@breaks("EpochsAscendInv")
def an_older_epoch_follows_a_newer_one():
    hand = Hand()
    hand.elect(A, 2, B)
    hand.event(A, file(3, None, A), log=hand.states[A].log, role=unattached(3, A))
    hand.event(A, AppendLog((data(1, 1),)), log=hand.states[A].log)
    return hand


@breaks("EpochsAscendInv")
def a_record_is_newer_than_its_replicas_epoch():
    hand = Hand()
    hand.elect(A, 2, B)
    hand.event(C, file(1, B), role=follower(1, B))
    hand.event(C, AppendLog((change(0, 2, A),)), FlushLog())
    return hand


@breaks("PermittedLogChangesProp")
def a_batch_leaves_a_gap():
    hand = committed()
    hand.event(A, AppendLog((data(5, 1),)), log=hand.states[A].log)
    return hand


@breaks("PermittedLogChangesProp")
def a_follower_writes_what_no_leader_wrote():
    hand = committed()
    hand.event(B, AppendLog((data(2, 1),)), FlushLog())
    return hand


@breaks("PermittedLogChangesProp")
def a_leader_appends_to_an_old_epoch():
    hand = committed()
    hand.elect(A, 3, C)
    batch = data(3, 1)
    hand.checks.history.replica(A).last_epoch = 1
    hand.event(A, AppendLog((batch,)), log=hand.states[A].log)
    return hand


def told(diverging):
    """A, which leads epoch 4, answers C that their logs diverge."""
    answer = FetchResponse(ErrorCode.NONE, 4, A.node_id, diverging=diverging)
    return ResponseReceived(0, 0, A.node_id, 5, answer)


def told_to_diverge():
    """C has a record of epoch 1 and two of epoch 3, follows A in epoch 4, and awaits its answer."""
    hand = Hand()
    hand.elect(C, 1, B)
    hand.elect(C, 3, B)
    hand.append(C)
    hand.event(C, file(4, A), role=follower(4, A))
    connections = Map({A.node_id: Connection(5, 10**9)})
    hand.states[C] = replace(hand.states[C], connections=connections)
    return hand


def diverging(end, epoch, leaves):
    """C is told where A's log ends this epoch, and truncates its own to what is left."""
    hand = told_to_diverge()
    effects = [] if leaves == hand.states[C].log.end_offset else [TruncateLog(leaves)]
    hand.event(C, *effects, event=told(OffsetAndEpoch(end, epoch)), connections=Map())
    return hand


@breaks("PermittedLogChangesProp")
def a_diverging_follower_keeps_a_record_of_a_later_epoch():
    return diverging(end=2, epoch=1, leaves=2)


@breaks("PermittedLogChangesProp")
def a_diverging_follower_keeps_all():
    return diverging(end=3, epoch=1, leaves=3)


@breaks("PermittedLogChangesProp")
def a_diverging_follower_keeps_a_record_behind_the_end_it_is_told():
    return diverging(end=1, epoch=3, leaves=2)


@breaks("PermittedLogChangesProp")
def a_start_finds_records_that_were_never_written():
    hand = committed()
    log = hand.states[B].log
    hand.start(B, follower(1, A), log.append((data(log.end_offset, 1, b"from nowhere"),)))
    return hand


@breaks("PermittedLogChangesProp")
def memory_and_disk_have_different_logs():
    hand = committed()
    hand.event(B, log=LogImage())
    return hand


@breaks("OnlyLeaderOwesFlushInv")
def a_follower_does_not_flush():
    hand = committed()
    hand.append(A, b"two")
    hand.event(B, AppendLog(hand.states[A].log.read(2, 2**20)))
    return hand


@breaks("OnlyLeaderOwesFlushInv")
def a_fetch_acknowledges_what_is_not_flushed():
    hand = committed()
    hand.append(A, b"two")
    asks = SendRequest(A.node_id, 0, FetchRequest("c", B.node_id, None, 1, 3, 1))
    hand.event(B, AppendLog(hand.states[A].log.read(2, 2**20)), asks, FlushLog())
    return hand


@breaks("NotedIsDurableInv")
def a_leader_notes_more_than_the_other_has():
    hand = committed()
    hand.append(A, b"two")
    hand.note(A, 2, b=3)
    return hand


@breaks("NotedIsDurableInv")
def a_leader_notes_a_log_that_is_not_its_own():
    hand = Hand()
    hand.elect(A, 1, B)
    hand.append(A, b"lost")
    hand.elect(B, 2, C)
    hand.append(B, b"kept")
    hand.follow(A, B, 2)
    hand.note(B, None, a=2)
    return hand


@breaks("LeaderAppendOnlyProp")
def a_leader_truncates_its_log():
    hand = committed()
    hand.event(A, TruncateLog(1))
    return hand


@breaks("NoTruncationBelowHighWatermarkProp")
def a_snapshot_replaces_more_than_it_has():
    hand = committed()
    hand.event(B, high_watermark=2)
    older = OffsetAndEpoch(1, 1)
    hand.snapshots[older] = snapshot(1, 1)
    hand.event(B, TruncateToSnapshot(older))
    return hand


@breaks("PermittedLogChangesProp")
def a_replica_without_a_leader_writes():
    hand = Hand()
    hand.elect(A, 1, B)
    hand.event(B, AppendLog(hand.states[A].log.read(0, 2**20)), FlushLog())
    return hand


@breaks("PermittedLogChangesProp")
def a_log_is_truncated_where_it_does_not_reach():
    hand = committed()
    hand.event(B, TruncateLog(9), log=hand.states[B].log)
    return hand


@breaks("SnapshotAtLogStartInv")
def a_log_is_cleaned_up_to_where_it_does_not_reach():
    hand = committed()
    hand.event(B, CleanLog(OffsetAndEpoch(9, 1)), log=hand.states[B].log)
    return hand
