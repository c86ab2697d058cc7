"""Checks of a leader over time: that it is fetched from, and answers who asked for a change.

Neither is in the specs, which know no time: there any leader may resign at any moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.quorum.ghosts import name_of
from krafla.fuzz.quorum.violation import Violated
from kraft.raft.effects import SendResponse
from kraft.raft.events import Poll, RequestReceived
from kraft.raft.roles import Leader
from kraft.rpc.fetch import FetchRequest
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest

if TYPE_CHECKING:
    from krafla.fuzz.quorum.ghosts import Replica
    from kraft.raft.state import RaftState
    from kraft.sim.quorum.steps import SimStep

__all__ = ["begin_lead", "check_heard", "check_pending"]

# What may be due before the check of the quorum, and is done in a Poll each: a flush, perhaps anew
# when more requests come; besides, of each node a parked fetch and a request without an answer.
_POLLS_MAXIMUM: Final = 8


def begin_lead(replica: Replica, now: int) -> None:
    """Note that a replica begins to lead, or that its voters are others now."""
    replica.fetched_at.clear()
    replica.quorum_heard, replica.overdue = now, 0


def check_heard(replica: Replica, step: SimStep, before: RaftState, after: RaftState) -> None:
    """Check that a leader from which no majority fetches resigns.

    The timer begins anew with each majority. So who fetched just before it did may be silent for
    two of its times. Kafka: LeaderState.timeUntilCheckQuorumExpires. KIP-595, section "Leader".
    """
    event = step.event
    assert event is not None, "a leader takes events only"
    if after.controls is not before.controls:
        begin_lead(replica, event.now)
    if type(event) is RequestReceived:
        if isinstance(event.request, FetchRequest | FetchSnapshotRequest):
            replica.fetched_at[event.request.replica_id] = event.now
        return
    if type(event) is not Poll or not isinstance(after.role, Leader):
        return
    limit = event.now - 2 * after.configuration.timeouts.check_quorum
    if replica.quorum_heard > limit:
        return
    replica.quorum_heard = _quorum_heard(replica, after, event.now)
    if replica.quorum_heard > limit:
        replica.overdue = 0
        return
    replica.overdue += 1
    if replica.overdue > _POLLS_MAXIMUM + 2 * len(after.connections):
        raise Violated(
            "CheckQuorumProp",
            f"{name_of(replica.key)} leads epoch {after.role.epoch} on, though no majority has "
            f"fetched from it for {event.now - replica.quorum_heard} ns",
        )


def _quorum_heard(replica: Replica, after: RaftState, now: int) -> int:
    """Return since when a majority of the voters has fetched; a leader that votes counts itself."""
    voters = [voter.key for voter in after.controls.voters.voters]
    if len(voters) <= 1:
        return now
    own = replica.key.node_id
    times = [
        now if key.node_id == own else replica.fetched_at.get(key.node_id, -1) for key in voters
    ]
    return max(sorted(times)[-(len(voters) // 2 + 1)], 0)


def check_pending(replica: Replica, step: SimStep, before: RaftState, after: RaftState) -> None:
    """Check that who asked for a change of the voters is answered before that is forgotten.

    Kafka: LeaderState.resetAddVoterHandlerState, resetRemoveVoterHandlerState.
    """
    pending = before.role.pending_change if isinstance(before.role, Leader) else None
    if pending is None:
        return
    left = after.role.pending_change if isinstance(after.role, Leader) else None
    if left is not None and left.source == pending.source:
        return
    answered = [each.source for each in step.effects if isinstance(each, SendResponse)]
    if pending.source not in answered:
        raise Violated(
            "ChangeAnsweredProp",
            f"{name_of(replica.key)} forgets that node {pending.source.node_id} asked it to "
            f"{pending.kind} voter {pending.voter.key.node_id}, and does not answer",
        )
