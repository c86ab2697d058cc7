"""What a crash in the middle of a step left of it, judged by what the next start finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.ids import ReplicaKey
from kraft.raft.effects import (
    AppendLog,
    CleanLog,
    FlushLog,
    FreezeSnapshot,
    TruncateLog,
    TruncateToSnapshot,
    WriteQuorumState,
    WriteSnapshot,
)
from kraft.raft.roles import Follower, leader_of, voted_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.raft.effects import Effect
    from kraft.raft.state import RaftState, Step
    from kraft.sim.raft.steps import SimStep

__all__ = ["crash_in", "happened"]

_LASTING: Final = (
    WriteQuorumState, TruncateLog, WriteSnapshot, FreezeSnapshot, TruncateToSnapshot, CleanLog,
    FlushLog,
)  # fmt: skip


def crash_in(step: SimStep, whole: Step, found: RaftState) -> str | None:
    """Return the action by which a follower crashed while it changed its log; None if it did not.

    Either it had written records without flushing them, and the next start finds all that was there
    before: of a broker, more may be gone. Or it was truncating its log, and the next start finds
    more than should stay and less than there was.
    """
    if _writes_records(whole, step.effects):
        left, log = _before(step).log, found.log
        keeps = log.start_offset == left.start_offset and log.end_offset >= left.end_offset
        return "CrashAppending" if keeps else None
    done = len(step.effects)
    cut = whole.effects[done] if done < len(whole.effects) else None
    if not isinstance(cut, TruncateLog):
        return None
    is_half_cut = cut.end_offset < found.log.end_offset < _before(step).log.end_offset
    return "CrashTruncating" if is_half_cut else None


def _writes_records(whole: Step, performed: Sequence[Effect]) -> bool:
    first = whole.effects[0] if whole.effects else None
    if not isinstance(first, AppendLog) or not isinstance(whole.state.role, Follower):
        return False
    return not any(isinstance(effect, FlushLog) for effect in performed)


def happened(step: SimStep, whole: Step, found: RaftState) -> bool:
    """Return whether a step that was cut short was taken, as far as the disk shows.

    It was taken if a lasting effect was performed. The effect that was next may have been performed
    as well: then what the next start finds decides.
    """
    if any(isinstance(effect, _LASTING) for effect in step.effects):
        return True
    if any(isinstance(effect, AppendLog) for effect in step.effects):
        return found.log.end_offset > _before(step).log.end_offset
    done = len(step.effects)
    if done >= len(whole.effects):
        return False
    match whole.effects[done]:
        case WriteQuorumState(epoch, leader_id, voted, version):
            left, role = _before(step).role, found.role
            old = (left.epoch, leader_of(left), _as_written(voted_of(left), version))
            new = (role.epoch, leader_of(role), _as_written(voted_of(role), version))
            return new == (epoch, leader_id, _as_written(voted, version)) != old
        case AppendLog():
            return found.log.end_offset > _before(step).log.end_offset
        case TruncateLog(end_offset):
            return found.log.end_offset == end_offset
        case WriteSnapshot(snapshot_id, _):
            return found.log.snapshot(snapshot_id) is not None
        case FreezeSnapshot(snapshot_id) | CleanLog(snapshot_id):
            return found.log.start_offset == snapshot_id.end_offset
    return False


def _as_written(voted: ReplicaKey | None, version: int) -> ReplicaKey | None:
    """Return the vote that a quorum-state file records: before version 1, without the disk."""
    return ReplicaKey(voted.node_id) if voted is not None and not version else voted


def _before(step: SimStep) -> RaftState:
    assert step.before is not None, "an event happens to a process"
    return step.before
