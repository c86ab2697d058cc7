"""Checks of roles, epochs, votes and leaders, as KRaftProperties states them.

Spec: KRaftProperties!ElectionSafetyInv.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.raft.history import QuorumFile, name_of
from kraft.ids import ReplicaKey
from kraft.raft.roles import Candidate, Follower, Leader, Prospective, Resigned, Unattached

if TYPE_CHECKING:
    from krafla.fuzz.raft.history import History, Replica
    from kraft.raft.effects import WriteQuorumState
    from kraft.raft.roles import Role
    from kraft.raft.state import RaftState
    from kraft.raft.voters import VoterSet

__all__ = ["check_matches", "check_resigned", "check_role", "check_start", "check_write", "file_of"]

_SAME_EPOCH: Final = frozenset(
    {
        (Unattached, Unattached), (Unattached, Prospective), (Unattached, Follower),
        (Prospective, Prospective), (Prospective, Unattached), (Prospective, Follower),
        (Candidate, Prospective), (Candidate, Leader), (Candidate, Follower),
        (Candidate, Candidate), (Leader, Leader), (Leader, Resigned), (Follower, Follower),
        (Follower, Prospective), (Resigned, Resigned),
    }
)  # fmt: skip


def file_of(role: Role) -> QuorumFile:
    """Return what the quorum-state file must say while a replica has this role."""
    if isinstance(role, Leader | Resigned):
        return QuorumFile(role.epoch, role.leader_id, None)
    if isinstance(role, Candidate):
        return QuorumFile(role.epoch, None, role.voted)
    return QuorumFile(role.epoch, role.leader_id, role.voted)


def check_write(history: History, replica: Replica, effect: WriteQuorumState) -> None:
    """Check a write of the quorum-state file against its old content and against all votes."""
    old, name = replica.file, name_of(replica.key)
    new = QuorumFile(effect.epoch, effect.leader_id, effect.voted)
    if new.epoch < old.epoch:
        raise Violated("MonotonicEpochProp", f"{name} goes from epoch {old.epoch} to {new.epoch}")
    if new.voted is not None:
        history.elections.votes_for(replica.key, new.epoch, new.voted)
    if new.leader_id is not None:
        history.elections.leads(new.epoch, new.leader_id, name)
        if new.leader_id == replica.key.node_id:
            history.elections.votes_for(replica.key, new.epoch, replica.key)
    if new.epoch == old.epoch:
        _check_same_epoch(replica, old, new)
    replica.file, replica.has_file = new, True


def _check_same_epoch(replica: Replica, old: QuorumFile, new: QuorumFile) -> None:
    name, me = name_of(replica.key), replica.key.node_id
    itself = old.voted is not None and old.voted.node_id == me
    if old.leader_id is not None and new.leader_id != old.leader_id and not itself:
        raise Violated(
            "LeaderRememberedProp",
            f"{name} forgets that node {old.leader_id} leads epoch {old.epoch}",
        )
    if old.voted is None and new.voted is not None and old.leader_id is not None:
        raise Violated(
            "VoteOncePerEpochProp",
            f"{name} votes in epoch {old.epoch}, though it knows that {old.leader_id} leads it",
        )
    if old.voted is not None and new.voted is None and new.leader_id != me:
        raise Violated(
            "VoteOncePerEpochProp",
            f"{name} forgets its vote for {name_of(old.voted)} in epoch {old.epoch}",
        )


def check_role(history: History, replica: Replica, before: RaftState, after: RaftState) -> None:
    """Check a step from one role to another, or within one."""
    role, old = after.role, before.role
    if isinstance(role, Leader) and isinstance(old, Leader) and role.epoch == old.epoch:
        return
    check_matches(replica, after)
    if type(old) is type(role) and old.epoch == role.epoch:
        return
    move = (type(old), type(role))
    voters = after.controls.voters
    key = after.configuration.key
    sole = move[1] is Leader and replica.is_sole_voter(after) and move[0] is not Leader
    allowed = move in _SAME_EPOCH if old.epoch == role.epoch else _rises(move)
    if not (allowed or sole):
        raise Violated(
            "StateTransitionsProp",
            f"{name_of(replica.key)} goes from {move[0].__name__} in epoch {old.epoch} "
            f"to {move[1].__name__} in epoch {role.epoch}",
        )
    if isinstance(role, Prospective | Candidate | Leader) and not _is_voter(voters, key):
        raise Violated(
            "OnlyVotersStandInv", f"{name_of(replica.key)} is {move[1].__name__} but not a voter"
        )
    if isinstance(role, Leader):
        history.elections.becomes_leader(role.epoch, replica.key)


def check_resigned(replica: Replica, before: RaftState, after: RaftState) -> None:
    """Check that a sole voter resigns only on request: no other voter could fetch from it.

    Source: KAFKA-16144.
    """
    if not isinstance(after.role, Resigned) or not isinstance(before.role, Leader):
        return
    asked = before.role.resign_requested or before.shutdown_deadline is not None
    if not asked and replica.is_sole_voter(after):
        raise Violated(
            "StableLeadershipProp", f"{name_of(replica.key)}, the sole voter, resigns by itself"
        )


def _rises(move: tuple[type, type]) -> bool:
    return move[1] in (Unattached, Follower) or move == (Prospective, Candidate)


def check_matches(replica: Replica, after: RaftState) -> None:
    """Check that role and file agree, and that a role keeps only what belongs to it."""
    role, name, me = after.role, name_of(replica.key), replica.key.node_id
    if file_of(role) != replica.file:
        raise Violated(
            "RoleMatchesStateInv",
            f"{name} has {_shown(file_of(role))} in memory and {_shown(replica.file)} in its file",
        )
    if isinstance(role, Leader | Resigned):
        wrong = "names another leader" if role.leader_id != me else ""
    elif isinstance(role, Follower):
        wrong = "follows itself" if role.leader_id == me else ""
    elif isinstance(role, Candidate):
        wrong = "is a candidate and voted for another" if role.voted.node_id != me else ""
    else:
        wrong = ""
    if not wrong and isinstance(role, Prospective | Candidate):
        if me not in role.granted:
            wrong = "asks for votes and has not granted its own"
        elif role.granted & role.rejected:
            wrong = "counts a voter as granting and as rejecting"
    if wrong:
        raise Violated("RoleMatchesStateInv", f"{name} {wrong}")


def check_start(history: History, replica: Replica, after: RaftState) -> None:
    """Check a replica's state after a start against what its file said before.

    A crash may have left the file as it was before or after the interrupted write. Then its content
    must be something that could have been written.
    """
    role, old, name = after.role, replica.file, name_of(replica.key)
    me = replica.key.node_id
    if replica.interrupted and role.epoch == old.epoch and file_of(role) != old:
        new = file_of(role)
        if not (isinstance(role, Candidate) and old.leader_id != me and old.voted == new.voted):
            _check_same_epoch(replica, old, new)
            old = replica.file = new
    if role.epoch < old.epoch:
        raise Violated(
            "MonotonicEpochProp", f"{name} starts in epoch {role.epoch}, it was in {old.epoch}"
        )
    is_certain = not (replica.interrupted or replica.damaged)
    if is_certain and role.epoch > max(old.epoch, after.log.last_epoch):
        raise Violated(
            "RestartProp",
            f"{name} starts in epoch {role.epoch}; its file says {old.epoch}, and its log "
            f"{after.log.last_epoch}",
        )
    if isinstance(role, Leader | Prospective):
        raise Violated("RestartProp", f"{name} starts as {type(role).__name__}")
    new = file_of(role)
    if new.voted is not None:
        history.elections.votes_for(replica.key, new.epoch, new.voted)
    if new.leader_id is not None:
        history.elections.leads(new.epoch, new.leader_id, name)
    if role.epoch == old.epoch:
        _check_start_in_epoch(replica, old, role)
    if isinstance(role, Resigned) and role.leader_id != me:
        raise Violated("RestartProp", f"{name} starts as Resigned of node {role.leader_id}")
    replica.file, replica.has_file = new, True


def _check_start_in_epoch(replica: Replica, old: QuorumFile, role: Role) -> None:
    """Check a start in the epoch of the file: of a leader, of a candidate, of a voter."""
    new, name, me = file_of(role), name_of(replica.key), replica.key.node_id
    if old.leader_id == me and not isinstance(role, Resigned):
        raise Violated(
            "RestartProp", f"{name} led epoch {old.epoch} and does not start as Resigned"
        )
    if old.leader_id != me and old.voted is not None and old.voted.node_id == me:
        if not isinstance(role, Candidate):
            raise Violated(
                "RestartProp", f"{name} voted for itself in epoch {old.epoch} and is no Candidate"
            )
    elif old.leader_id is not None and new.leader_id != old.leader_id:
        raise Violated(
            "LeaderRememberedProp",
            f"{name} starts without knowing that {old.leader_id} leads epoch {old.epoch}",
        )
    if old.voted is not None and old.leader_id != me and new.voted is None:
        raise Violated(
            "VoteOncePerEpochProp",
            f"{name} starts without its vote for {name_of(old.voted)} in epoch {old.epoch}",
        )
    if old.voted is not None and new.voted == ReplicaKey(old.voted.node_id) != old.voted:
        known = replica.log is not None and bool(replica.voters)
        if known:
            raise Violated(
                "VoteOncePerEpochProp", f"{name} starts without knowing which disk it voted for"
            )
    if isinstance(role, Follower) and role.leader_id != old.leader_id:
        raise Violated("RestartProp", f"{name} starts following {role.leader_id}")


def _is_voter(voters: VoterSet, key: ReplicaKey | None) -> bool:
    """Return whether a replica is a voter by the records, without asking the judged code."""
    known = [voter.key for voter in voters.voters]
    return key is not None and (key in known or ReplicaKey(key.node_id) in known)


def _shown(file: QuorumFile) -> str:
    leader = "no leader" if file.leader_id is None else f"leader {file.leader_id}"
    voted = "no vote" if file.voted is None else f"a vote for {file.voted.node_id}"
    return f"epoch {file.epoch}, {leader}, {voted}"
