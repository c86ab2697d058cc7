"""Checks of a leader over time: voters fetch from it, and it answers requests for a change.

Neither is in the specs, which have no time: there any leader may resign at any moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.raft.history import Fetches, name_of
from kraft.errors import ErrorCode
from kraft.ids import ReplicaKey
from kraft.raft.effects import SendResponse
from kraft.raft.events import Poll, RequestReceived
from kraft.raft.roles import Leader
from kraft.rpc.fetch import FetchRequest, FetchResponse
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest

if TYPE_CHECKING:
    from krafla.fuzz.raft.history import Replica
    from kraft.raft.state import RaftState
    from kraft.sim.raft.steps import SimStep

__all__ = ["check_fetches", "check_pending", "restart_fetches"]

# Other work may be due before the check of the quorum, one Poll each: a flush, again when more
# requests arrive, an unanswered request of each voter, and each parked fetch.
_POLLS_MAXIMUM: Final = 8


def restart_fetches(replica: Replica, now: int) -> None:
    """Forget all fetches: the replica begins to lead, or its voters have changed."""
    replica.fetches = Fetches(since=now, quorum=now)


def check_fetches(replica: Replica, step: SimStep, before: RaftState, after: RaftState) -> None:
    """Check that a leader from which no majority fetches resigns.

    The timer restarts with each majority. So a voter that fetched just before may be silent for two
    periods. Kafka: LeaderState.timeUntilCheckQuorumExpires. KIP-595, section "Leader".
    """
    event = step.event
    assert event is not None, "a leader takes events only"
    if after.controls is not before.controls:
        restart_fetches(replica, event.now)
    if type(event) is RequestReceived:
        _note_fetch(replica.fetches, event, step)
        return
    fetches = replica.fetches
    limit = event.now - 2 * after.configuration.timeouts.check_quorum
    if type(event) is not Poll or not isinstance(after.role, Leader) or fetches.quorum > limit:
        return
    fetches.quorum = _quorum_time(replica, after, event.now)
    if fetches.quorum > limit:
        fetches.polls_left = None
        return
    if fetches.polls_left is None:
        parked = len(before.role.parked) if isinstance(before.role, Leader) else 0
        fetches.polls_left = _POLLS_MAXIMUM + 2 * len(after.controls.voters) + parked
    fetches.polls_left -= 1
    if fetches.polls_left < 0:
        raise Violated(
            "CheckQuorumProp",
            f"{name_of(replica.key)} still leads epoch {after.role.epoch}, though no majority has "
            f"fetched from it for {(event.now - fetches.quorum) / 10**9:.1f} s",
        )


def _note_fetch(fetches: Fetches, event: RequestReceived, step: SimStep) -> None:
    """Note a fetch, unless it is refused or redirected: that is no sign of following."""
    request = event.request
    if not isinstance(request, FetchRequest | FetchSnapshotRequest):
        return
    for effect in step.effects:
        if type(effect) is SendResponse and effect.source == event.source:
            answer = effect.response
            if getattr(answer, "error_code", None) != ErrorCode.NONE or (
                isinstance(answer, FetchResponse)
                and (answer.diverging is not None or answer.snapshot_id is not None)
            ):
                return
    fetches.fetched[ReplicaKey(request.replica_id, request.replica_directory_id)] = event.now


def _quorum_time(replica: Replica, after: RaftState, now: int) -> int:
    """Return the time since which a majority has fetched; a voting leader counts itself."""
    voters = [voter.key for voter in after.controls.voters.voters]
    if len(voters) <= 1:
        return now
    fetches = replica.fetches
    times = [
        now if key.node_id == replica.key.node_id else _fetched(fetches, key) for key in voters
    ]
    return sorted(times)[-(len(voters) // 2 + 1)]


def _fetched(fetches: Fetches, voter: ReplicaKey) -> int:
    """Return when a voter last fetched; if its directory is unknown, any of its node may have."""
    known = [
        time
        for key, time in fetches.fetched.items()
        if key.node_id == voter.node_id and voter.directory_id in (None, key.directory_id)
    ]
    return max(known, default=fetches.since)


def check_pending(replica: Replica, step: SimStep, before: RaftState, after: RaftState) -> None:
    """Check that a request to change the voters is answered before the leader forgets it.

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
            f"{name_of(replica.key)} forgets, without an answer, that "
            f"node {pending.source.node_id} "
            f"asked it to {pending.kind} voter {pending.voter.key.node_id}",
        )
