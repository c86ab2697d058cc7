"""The change of the voters that a leader was asked for: how it ends, and that it is answered.

Kafka: AddVoterHandlerState, RemoveVoterHandlerState, LeaderState.maybeExpirePendingOperation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.raft.effects import SendResponse
from kraft.raft.roles import NEVER, Leader
from kraft.rpc.raft_voters import AddRaftVoterResponse, RemoveRaftVoterResponse

if TYPE_CHECKING:
    from kraft.raft.state import RaftState
    from kraft.raft.turn import Turn


def high_watermark_advanced(turn: Turn) -> None:
    """Answer the pending change whose record is now committed.

    A leader that has removed itself this way asks itself to resign.

    Spec: KRaftVoters!ResignRemoved.
    Kafka: AddVoterHandler.highWatermarkUpdated, RemoveVoterHandler.highWatermarkUpdated.
    """
    leader = turn.role
    if not isinstance(leader, Leader) or leader.pending_change is None:
        return
    pending = leader.pending_change
    if pending.offset is None or (turn.high_watermark or 0) <= pending.offset:
        return
    if pending.kind == "remove" and not turn.is_voter:
        turn.role = replace(leader, resign_requested=True)
    end_pending(turn, ErrorCode.NONE)


def expire_pending(turn: Turn) -> bool:
    """Answer the pending change that takes too long; True: there was one.

    A record that is appended stays, and may be committed later. The request to a new voter that
    has not answered is given up before that, in a step of its own, since its time ends when that
    of the change does.

    Kafka: LeaderState.maybeExpirePendingOperation.
    """
    leader = turn.role
    pending = leader.pending_change if isinstance(leader, Leader) else None
    if pending is None or pending.deadline > turn.now:
        return False
    end_pending(turn, ErrorCode.REQUEST_TIMED_OUT)
    return True


def pending_deadline(state: RaftState) -> int:
    """Return when the pending change is given up, in ns of the replica's clock; NEVER without one.

    Kafka: LeaderState.maybeExpirePendingOperation.
    """
    leader = state.role
    pending = leader.pending_change if isinstance(leader, Leader) else None
    return NEVER if pending is None else pending.deadline


def end_pending(turn: Turn, error: ErrorCode, message: str | None = None) -> None:
    """Answer the request for the pending change, if there is one, and end the change.

    Kafka: LeaderState.resetAddVoterHandlerState, resetRemoveVoterHandlerState.
    """
    leader = turn.role
    if not isinstance(leader, Leader) or leader.pending_change is None:
        return
    pending = leader.pending_change
    turn.role = replace(leader, pending_change=None)
    if pending.kind == "add":
        turn.do(SendResponse(pending.source, AddRaftVoterResponse(error, message)))
    else:
        turn.do(SendResponse(pending.source, RemoveRaftVoterResponse(error, message)))
