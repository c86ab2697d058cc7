"""Checks of voter sets and their changes.

Spec: KRaftVotersProperties!VoterSetInv.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.raft.history import name_of, order_of
from krafla.fuzz.raft.log_checks import keys_in
from kraft.raft.roles import Leader
from kraft.raft.snapshot_file import read_snapshot
from kraft.records.control_schemas import KRAFT_VOTERS

if TYPE_CHECKING:
    from krafla.fuzz.raft.history import History, Replica
    from kraft.ids import ReplicaKey
    from kraft.raft.effects import WriteSnapshot
    from kraft.raft.state import RaftState
    from kraft.raft.voters import VoterSet

__all__ = ["adopt_voters", "check_adopted", "check_snapshot_voters", "check_voters"]


def _keys(voters: VoterSet) -> frozenset[ReplicaKey]:
    return frozenset(voter.key for voter in voters.voters)


def adopt_voters(replica: Replica, state: RaftState) -> None:
    """Take over the voter sets in the snapshot that a replica's log begins with, and in that log.

    They are read here from the bytes: what the replica made of them is judged by this.
    """
    log, latest = state.log, state.log.latest_snapshot
    is_ahead = latest is not None and latest.snapshot_id.end_offset > log.end_offset
    at_start = (one for one in log.snapshots if one.snapshot_id.end_offset == log.start_offset)
    first = latest if is_ahead else next(at_start, None)
    replica.voters.clear()
    content = None if first is None else read_snapshot(first.data)
    if first is not None and content is not None and content.voters is not None:
        replica.voters.append((first.snapshot_id.end_offset - 1, _keys(content.voters)))
    for batch in () if is_ahead else log.batches():
        for offset, (kind, fields) in enumerate(batch.controls, batch.base_offset):
            if kind == KRAFT_VOTERS.api_key:
                replica.voters.append((offset, keys_in(fields["voters"])))


def check_adopted(replica: Replica, after: RaftState) -> None:
    """Check that a replica goes by the voters that stand in its snapshot and its log."""
    known = [(at.offset, _keys(at.voters)) for at in after.controls.voter_sets]
    if replica.voters != known:
        raise Violated(
            "LatestVotersCountInv",
            f"{name_of(replica.key)} knows voters {_listed(known)}, its snapshot and log have "
            f"{_listed(replica.voters)}",
        )


def check_snapshot_voters(replica: Replica, snapshot: WriteSnapshot) -> None:
    """Check that a replica writes the voters that its log has there into a snapshot."""
    named, end = read_snapshot(snapshot.data).voters, snapshot.snapshot_id.end_offset
    before = [keys for offset, keys in replica.voters if offset < end]
    if before and (named is None or _keys(named) != before[-1]):
        told = "no voters" if named is None else f"voters {_shown(_keys(named))}"
        raise Violated(
            "SnapshotCommittedInv",
            f"{name_of(replica.key)} writes {told} into snapshot {end}; its log has "
            f"{_shown(before[-1])} there",
        )


def check_voters(
    history: History,
    replica: Replica,
    before: RaftState | None,
    after: RaftState,
    *,
    loaded: bool = False,
) -> None:
    """Check the voters that a replica goes by, after they or those in its log have changed.

    ``loaded``: a snapshot replaces its log and names the voters.
    """
    name, sets = name_of(replica.key), replica.voters
    if loaded and not sets:
        adopt_voters(replica, after)
        check_adopted(replica, after)
    elif sets and sets[-1][1] != _keys(after.controls.voters):
        raise Violated(
            "LatestVotersCountInv",
            f"{name} goes by voters {_shown(_keys(after.controls.voters))}, its log says "
            f"{_shown(sets[-1][1])}",
        )
    elif not sets and after.controls.voter_sets:
        raise Violated(
            "LatestVotersCountInv",
            f"{name} goes by voters {_shown(_keys(after.controls.voters))}, its log has no voters",
        )
    if not after.controls.voters.voters and sets:
        raise Violated("VoterSetInv", f"{name} has no voters left")
    for old, new in pairwise(sets):
        if not _majorities_meet(old[1], new[1]):
            raise Violated(
                "OverlappingMajoritiesInv",
                f"{name} has voters {_shown(old[1])} and next {_shown(new[1])}: majorities need "
                "not meet",
            )
    if not history.suspended:
        _check_uncommitted(history, replica, name)
    if before is not None and isinstance(before.role, Leader) and isinstance(after.role, Leader):
        _check_change(history, replica, before)


def _check_uncommitted(history: History, replica: Replica, name: str) -> None:
    end = max(history.committed.end, replica.verified)
    uncommitted: list[int] = []
    latest: frozenset[ReplicaKey] | None = None
    for offset, voters in replica.voters:
        # A leader that has moved begins its epoch with the same voters again, even while a change
        # is uncommitted.
        again = offset in history.begun_with_voters and latest in (None, voters)
        if offset >= end and not again:
            uncommitted.append(offset)
        latest = voters
    if len(uncommitted) > 1:
        raise Violated(
            "OneUncommittedChangeInv",
            f"{name} has changes of the voters at offsets {', '.join(map(str, uncommitted))},"
            f" committed is {end}",
        )


def _check_change(history: History, replica: Replica, before: RaftState) -> None:
    """Check a record of voters that a leader appends after it began to lead."""
    role, name = before.role, name_of(replica.key)
    assert isinstance(role, Leader)
    offset = replica.voters[-1][0] if replica.voters else -1
    if offset < before.log.end_offset or role.epoch_start >= before.log.end_offset:
        return
    if not history.suspended and not history.committed.has_epoch(role.epoch):
        raise Violated(
            "ChangeOnlyAfterOwnEpochCommitProp",
            f"{name} changes the voters in epoch {role.epoch}, of which nothing is committed",
        )
    for key in sorted(replica.voters[-1][1] - _keys(before.controls.voters), key=order_of):
        progress = role.progress.get(key)
        if key != before.configuration.key and (progress is None or progress.end_offset is None):
            raise Violated(
                "AddedHasFetchedProp",
                f"{name} adds {name_of(key)}, which has never fetched from it",
            )


def _majorities_meet(voters: frozenset[ReplicaKey], others: frozenset[ReplicaKey]) -> bool:
    """Return whether every majority of one set meets every majority of the other.

    Spec: KRaftVotersProperties!MajoritiesMeetCounted.
    """
    both = len(voters & others)

    def needed(some: frozenset[ReplicaKey], rest: frozenset[ReplicaKey]) -> int:
        return max(0, len(some) // 2 + 1 - len(some - rest))

    return needed(voters, others) + needed(others, voters) > both


def _listed(sets: list[tuple[int, frozenset[ReplicaKey]]]) -> str:
    return ", ".join(f"{_shown(keys)} at {offset}" for offset, keys in sets) or "none"


def _shown(keys: frozenset[ReplicaKey]) -> str:
    return "{" + ", ".join(str(key.node_id) for key in sorted(keys, key=order_of)) + "}"
