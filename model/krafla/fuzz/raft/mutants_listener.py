"""Seeded bugs of snapshots, of what a state machine is told, and of what a follower keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from krafla.fuzz.engine.mutant import Mutant, Probe, seed_bug
from kraft.ids import OffsetAndEpoch
from kraft.raft.effects import HandleLeaderChange
from kraft.raft.roles import Follower, Leader
from kraft.raft.state import ListenerProgress

__all__ = ["LISTENER"]

LISTENER: Final[list[Mutant]] = []


@seed_bug(
    LISTENER,
    "snapshot-id-inclusive",
    "KAFKA-14618",
    "kraft.raft.snapshots:on_snapshot_created",
    "A snapshot is named after its last offset instead of its end.",
)
def _snapshot_id_inclusive(right: Any, probe: Probe) -> Any:
    def on_snapshot_created(state: Any, event: Any) -> Any:
        end = event.snapshot_id.end_offset - 1
        if state.log.start_offset < end <= (state.high_watermark or 0):
            probe.trigger()
            epoch = state.log.epoch_before(end)
            event = replace(event, snapshot_id=OffsetAndEpoch(end, epoch))
        return right(state, event)

    return on_snapshot_created


@seed_bug(
    LISTENER,
    "leader-loads-snapshot",
    "KAFKA-12958",
    "kraft.raft.listener:_tell_commits",
    "A state machine that has read exactly to the start of its log loads the snapshot again.",
    (("resign", 3_000),),
)
def _leader_loads_snapshot(right: Any, probe: Probe) -> Any:
    def tell_commits(turn: Any, known: int) -> None:
        told = turn.listener
        cleaned = 0 < told.next_offset == turn.log.start_offset
        probe.trigger(different=cleaned)
        if cleaned:
            # For the correct function, a state machine that was told nothing is behind the log.
            turn.listener = ListenerProgress(-1, told.leader_epoch, told.leader_id)
        right(turn, known)

    return tell_commits


@seed_bug(
    LISTENER,
    "leader-told-early",
    "KAFKA-15345",
    "kraft.raft.listener:_tell_leader",
    "A state machine is told that it leads before it has read up to its epoch.",
)
def _leader_told_early(right: Any, probe: Probe) -> Any:
    def tell_leader(turn: Any, epoch: int, leader_id: Any) -> None:
        role = turn.role
        early = isinstance(role, Leader) and turn.listener.next_offset <= role.epoch_start
        early = early and epoch > turn.listener.leader_epoch
        probe.trigger(different=early)
        if not early:
            right(turn, epoch, leader_id)
            return
        turn.do(HandleLeaderChange(epoch, leader_id))
        turn.listener = ListenerProgress(turn.listener.next_offset, epoch, leader_id)

    return tell_leader


@seed_bug(
    LISTENER,
    "commit-is-missed",
    "S70",
    "kraft.raft.listener:_committed",
    "A state machine misses the first of several batches that are committed at once.",
)
def _commit_is_missed(right: Any, probe: Probe) -> Any:
    def committed(batches: Any, turn: Any) -> Any:
        answer = right(batches, turn)
        return probe.choose(answer, answer[1:] if len(answer) > 1 else answer)

    return committed


@seed_bug(
    LISTENER,
    "needs-no-snapshot",
    "S76 KAFKA-15078",
    "kraft.raft.fetch_answers:needed_snapshot",
    "A follower whose log starts over gets records where it needs a snapshot.",
)
def _needs_no_snapshot(right: Any, probe: Probe) -> Any:
    def needed_snapshot(log: Any, offset: int, last_epoch: int) -> Any:
        answer = right(log, offset, last_epoch)
        return probe.choose(answer, None)

    return needed_snapshot


@seed_bug(
    LISTENER,
    "vote-lost-on-fetch",
    "camunda 5356",
    "kraft.raft.contact:heard_leader",
    "A follower forgets the vote of its epoch once its leader has answered.",
)
def _forgets_vote_on_fetch(right: Any, probe: Probe) -> Any:
    def heard_leader(turn: Any, role: Any, snapshot: Any) -> None:
        assert isinstance(role, Follower)
        probe.trigger(different=role.voted is not None)
        right(turn, replace(role, voted=None), snapshot)

    return heard_leader
