"""Checks of a leader over time: voters fetch from it, and it answers requests for a change.

Neither is in the specs, which have no time: there any leader may resign at any moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.raft.history import Heard, name_of
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

__all__ = ["begin_to_hear", "check_heard", "check_pending"]

# Other work may be due before the check of the quorum, one Poll each: a flush, again when more
# requests arrive, an unanswered request of each voter, and each parked fetch.
_POLLS_MAXIMUM: Final = 8


def begin_to_hear(replica: Replica, now: int) -> None:
    """Note that a replica begins to lead, or that its voters have changed."""
    replica.heard = Heard(since=now, quorum=now)


def check_heard(replica: Replica, step: SimStep, before: RaftState, after: RaftState) -> None:
    """Check that a leader from which no majority fetches resigns.

    The timer restarts with each majority. So a voter that fetched just before may be silent for two
    periods. Kafka: LeaderState.timeUntilCheckQuorumExpires. KIP-595, section "Leader".
    """
    event = step.event
    assert event is not None, "a leader takes events only"
    if after.controls is not before.controls:
        begin_to_hear(replica, event.now)
    if type(event) is RequestReceived:
        _note_fetch(replica.heard, event, step)
        return
    heard = replica.heard
    limit = event.now - 2 * after.configuration.timeouts.check_quorum
    if type(event) is not Poll or not isinstance(after.role, Leader) or heard.quorum > limit:
        return
    heard.quorum = _quorum_heard(replica, after, event.now)
    if heard.quorum > limit:
        heard.polls_left = None
        return
    if heard.polls_left is None:
        parked = len(before.role.parked) if isinstance(before.role, Leader) else 0
        heard.polls_left = _POLLS_MAXIMUM + 2 * len(after.controls.voters) + parked
    heard.polls_left -= 1
    if heard.polls_left < 0:
        raise Violated(
            "CheckQuorumProp",
            f"{name_of(replica.key)} still leads epoch {after.role.epoch}, though no majority has "
            f"fetched from it for {(event.now - heard.quorum) / 10**9:.1f} s",
        )


def _note_fetch(heard: Heard, event: RequestReceived, step: SimStep) -> None:
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
    heard.fetched[ReplicaKey(request.replica_id, request.replica_directory_id)] = event.now


def _quorum_heard(replica: Replica, after: RaftState, now: int) -> int:
    """Return the time since which a majority has fetched; a voting leader counts itself."""
    voters = [voter.key for voter in after.controls.voters.voters]
    if len(voters) <= 1:
        return now
    heard = replica.heard
    times = [now if key.node_id == replica.key.node_id else _fetched(heard, key) for key in voters]
    return sorted(times)[-(len(voters) // 2 + 1)]


def _fetched(heard: Heard, voter: ReplicaKey) -> int:
    """Return when a voter last fetched; if its directory is unknown, any of its node may have."""
    known = [
        time
        for key, time in heard.fetched.items()
        if key.node_id == voter.node_id and voter.directory_id in (None, key.directory_id)
    ]
    return max(known, default=heard.since)


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
