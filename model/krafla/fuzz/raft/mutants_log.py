"""Seeded bugs of logs and high watermarks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from krafla.fuzz.engine.mutant import Mutant, Probe, seed_bug
from kraft.ids import OffsetAndEpoch
from kraft.log.batches import controls_batch
from kraft.raft import high_watermark, pending_changes
from kraft.raft.effects import FlushLog
from kraft.raft.roles import Leader
from kraft.raft.state import Step
from kraft.raft.turn import Turn

__all__ = ["LOG"]

LOG: Final[list[Mutant]] = []
_LEADER_CHANGE: Final = 2


@seed_bug(
    LOG,
    "leader-never-flushes",
    "KAFKA-10533",
    "kraft.raft.leader:poll_leader",
    "A leader serves and commits records that it has not flushed.",
)
def _leader_never_flushes(right: Any, probe: Probe) -> Any:
    def poll_leader(turn: Any) -> Any:
        count = len(turn.effects)
        done = right(turn)
        new = [one for one in turn.effects[count:] if not isinstance(one, FlushLog)]
        probe.trigger(different=len(new) < len(turn.effects) - count)
        turn.effects[count:] = new
        return done

    return poll_leader


@seed_bug(
    LOG,
    "follower-never-flushes",
    "KAFKA-10533",
    "kraft.raft.follower:_append",
    "A follower fetches on without flushing what it has.",
)
def _follower_never_flushes(right: Any, probe: Probe) -> Any:
    def append(turn: Any, role: Any, leader: Any, response: Any) -> None:
        right(turn, role, leader, response)
        kept = [one for one in turn.effects if not isinstance(one, FlushLog)]
        probe.trigger(different=len(kept) < len(turn.effects))
        turn.effects[:] = kept

    return append


@seed_bug(
    LOG,
    "observer-never-flushes",
    "KAFKA-17332",
    "kraft.raft.follower:_append",
    "An observer does not flush, and may become a voter.",
)
def _observer_never_flushes(right: Any, probe: Probe) -> Any:
    def append(turn: Any, role: Any, leader: Any, response: Any) -> None:
        right(turn, role, leader, response)
        if not turn.is_voter:
            kept = [one for one in turn.effects if not isinstance(one, FlushLog)]
            probe.trigger(different=len(kept) < len(turn.effects))
            turn.effects[:] = kept

    return append


@seed_bug(
    LOG,
    "epoch-start-counts",
    "KAFKA-12619",
    "kraft.raft.high_watermark:update_leader_high_watermark",
    "A leader commits up to the first record of its epoch, not beyond it.",
)
def _epoch_start_counts(right: Any, probe: Probe) -> Any:
    def update_leader_high_watermark(turn: Any) -> None:
        role = turn.role
        if isinstance(role, Leader):
            offset = high_watermark.majority_offset(turn, role)
            known = -1 if turn.high_watermark is None else turn.high_watermark
            early = offset == role.epoch_start and offset > max(known, 0)
            probe.trigger(different=early)
            if early:
                turn.high_watermark = offset
                pending_changes.high_watermark_advanced(turn)
                return
        right(turn)

    return update_leader_high_watermark


@seed_bug(
    LOG,
    "diverging-fetch-counts",
    "KAFKA-13141",
    "kraft.raft.fetch_requests:on_fetch_request",
    "A leader notes the position of a fetch before it compares the logs.",
)
def _diverging_fetch_counts(right: Any, probe: Probe) -> Any:
    def on_fetch_request(state: Any, event: Any, request: Any) -> Any:
        step = right(state, event, request)
        role = step.state.role
        if not isinstance(role, Leader) or request.current_leader_epoch != role.epoch:
            return step
        turn = Turn.begin(step.state, event.now, event.chance)
        changed = None
        for key, progress in sorted(role.progress.items()):
            if key.node_id == request.replica_id and progress.end_offset != request.fetch_offset:
                changed = replace(progress, end_offset=request.fetch_offset)
                turn.role = replace(role, progress=role.progress.set(key, changed))
        probe.trigger(different=changed is not None)
        high_watermark.update_leader_high_watermark(turn)
        new = turn.step()
        return Step(new.state, step.effects + new.effects)

    return on_fetch_request


@seed_bug(
    LOG,
    "sent-is-received",
    "KAFKA-13141",
    "kraft.raft.fetch_requests:_note_position",
    "A leader counts records that it sends as if the follower had them.",
)
def _sent_is_received(right: Any, probe: Probe) -> Any:
    def note_position(turn: Any, role: Any, request: Any) -> None:
        end = turn.log.end_offset
        probe.trigger(different=end != request.fetch_offset)
        right(turn, role, replace(request, fetch_offset=end))

    return note_position


@seed_bug(
    LOG,
    "absent-leader-counts",
    "KAFKA-16530",
    "kraft.raft.high_watermark:majority_offset",
    "A leader that is no longer a voter counts its own log.",
)
def _absent_leader_counts(right: Any, probe: Probe) -> Any:
    def majority_offset(turn: Any, leader: Any) -> Any:
        answer = right(turn, leader)
        if turn.is_voter or not turn.voters.voters:
            return probe.choose(answer, answer)
        ends = [turn.log.end_offset]
        for voter in turn.voters.voters:
            known = leader.progress.get(voter.key)
            ends.append(-1 if known is None or known.end_offset is None else known.end_offset)
        ends.sort(reverse=True)
        return probe.choose(answer, ends[len(turn.voters.voters) // 2])

    return majority_offset


@seed_bug(
    LOG,
    "half-commits",
    "any Raft",
    "kraft.raft.high_watermark:majority_offset",
    "Half of the voters are enough to commit.",
)
def _half_commits(right: Any, probe: Probe) -> Any:
    def majority_offset(turn: Any, leader: Any) -> Any:
        answer = right(turn, leader)
        ends = []
        for voter in turn.voters.voters:
            known = leader.progress.get(voter.key)
            own = voter.key.node_id == turn.configuration.node_id
            end = turn.log.end_offset if own else known and known.end_offset
            ends.append(-1 if end is None else end)
        ends.sort(reverse=True)
        return probe.choose(answer, ends[(len(ends) - 1) // 2] if ends else answer)

    return majority_offset


@seed_bug(
    LOG,
    "observers-commit",
    "KAFKA-16530",
    "kraft.raft.high_watermark:majority_offset",
    "Observers are counted where voters should be.",
)
def _observers_commit(right: Any, probe: Probe) -> Any:
    def majority_offset(turn: Any, leader: Any) -> Any:
        answer = right(turn, leader)
        ends = [each.end_offset or -1 for _, each in sorted(leader.progress.items())]
        ends.append(turn.log.end_offset)
        ends.sort(reverse=True)
        return probe.choose(answer, ends[len(turn.voters.voters) // 2])

    return majority_offset


@seed_bug(
    LOG,
    "leader-keeps-high-watermark",
    "any Raft",
    "kraft.raft.quorum:_lead",
    "A new leader keeps the high watermark that it knew as a follower.",
)
def _leader_keeps_high_watermark(right: Any, probe: Probe) -> Any:
    def lead(turn: Any, epoch: int, granting: Any) -> None:
        known = turn.high_watermark
        right(turn, epoch, granting)
        different = turn.high_watermark is None and known is not None
        probe.trigger(different=different)
        if different:
            turn.high_watermark = known

    return lead


@seed_bug(
    LOG,
    "high-watermark-goes-back",
    "KAFKA-14825",
    "kraft.raft.high_watermark:update_follower_high_watermark",
    "A follower adopts a lower high watermark.",
)
def _high_watermark_goes_back(right: Any, probe: Probe) -> Any:
    def update_follower_high_watermark(turn: Any, value: int) -> None:
        known = turn.high_watermark
        lower = known is not None and value < known
        probe.trigger(different=lower)
        right(turn, value)
        if lower:
            turn.high_watermark = max(value, turn.log.start_offset)

    return update_follower_high_watermark


@seed_bug(
    LOG,
    "high-watermark-beyond-log",
    "KAFKA-14825",
    "kraft.raft.high_watermark:update_follower_high_watermark",
    "A follower adopts a high watermark that its log does not reach.",
)
def _high_watermark_beyond_log(right: Any, probe: Probe) -> Any:
    def update_follower_high_watermark(turn: Any, value: int) -> None:
        beyond = value > turn.log.end_offset
        probe.trigger(different=beyond)
        right(turn, value)
        if beyond:
            turn.high_watermark = value

    return update_follower_high_watermark


@seed_bug(
    LOG,
    "truncates-by-offset",
    "any Raft",
    "kraft.raft.follower:_truncate",
    "A diverging follower looks only at the offset, not at the epoch.",
    # This needs a leader that no replica copies, and the return of a leader of an earlier epoch.
    (("isolation", 700),),
)
def _truncates_by_offset(right: Any, probe: Probe) -> Any:
    def truncate(turn: Any, role: Any, diverging: Any) -> None:
        own = turn.log.end_offset_for_epoch(diverging.epoch)
        end = min(diverging.end_offset, turn.log.end_offset)
        probe.trigger(different=diverging.epoch > 0 and own.end_offset < end)
        right(turn, role, OffsetAndEpoch(diverging.end_offset, 0))

    return truncate


@seed_bug(
    LOG,
    "nobody-diverges",
    "any Raft",
    "kraft.raft.fetch_answers:divergence",
    "A leader compares no logs.",
)
def _nobody_diverges(right: Any, probe: Probe) -> Any:
    def divergence(log: Any, offset: int, last_epoch: int) -> Any:
        return probe.choose(right(log, offset, last_epoch), None)

    return divergence


@seed_bug(
    LOG,
    "diverges-by-length",
    "KAFKA-10511",
    "kraft.raft.fetch_answers:divergence",
    "A log diverges only if it is longer than the leader's.",
)
def _diverges_by_length(right: Any, probe: Probe) -> Any:
    def divergence(log: Any, offset: int, last_epoch: int) -> Any:
        answer = right(log, offset, last_epoch)
        return probe.choose(answer, answer if offset > log.end_offset else None)

    return divergence


@seed_bug(
    LOG,
    "first-batch-at-zero",
    "KAFKA-12331",
    "kraft.raft.leader_log:append_batches",
    "The first batch of an epoch is written as if the log were empty.",
)
def _first_batch_at_zero(right: Any, probe: Probe) -> Any:
    def append_batches(turn: Any, batches: Any) -> None:
        firsts = [
            batch.base_offset > 0 and any(kind == _LEADER_CHANGE for kind, _ in batch.controls)
            for batch in batches
        ]
        probe.trigger(different=any(firsts))
        wrong = (
            controls_batch(0, batch.epoch, 0, batch.controls) if first else batch
            for batch, first in zip(batches, firsts, strict=True)
        )
        right(turn, tuple(wrong))

    return append_batches


@seed_bug(
    LOG,
    "late-answer-is-taken",
    "S16 S84",
    "kraft.raft.connections:received",
    "An answer is accepted that is no longer awaited.",
)
def _late_answer_is_taken(right: Any, probe: Probe) -> Any:
    def received(turn: Any, node: Any, correlation_id: int, ok: bool) -> Any:
        return probe.choose(right(turn, node, correlation_id, ok), True)

    return received
