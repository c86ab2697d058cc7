"""Checks of what a replica tells its state machine: facts only, in order and without gaps.

Kafka: RaftClient.Listener, RaftEventSimulationTest.LeaderNeverLoadSnapshot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.raft.history import name_of
from krafla.fuzz.raft.log_checks import batches_between
from kraft.raft.roles import Candidate, Leader, Resigned

if TYPE_CHECKING:
    from krafla.fuzz.raft.history import Replica
    from kraft.raft.effects import HandleCommit, HandleLeaderChange, HandleLoadSnapshot
    from kraft.raft.state import RaftState

__all__ = ["check_commit", "check_leader_change", "check_load", "check_told", "forget"]


def forget(replica: Replica) -> None:
    """Note that a process starts: its state machine has been told nothing."""
    replica.next_commit = -1
    replica.told = (-1, None)


def check_commit(replica: Replica, effect: HandleCommit, after: RaftState | None) -> None:
    """Check that commits come in order and without a gap, below the high watermark."""
    name = name_of(replica.key)
    for batch in effect.batches:
        expected = replica.next_commit
        if expected < 0:
            expected = replica.start
            if expected > 0:
                raise Violated(
                    "ListenerInOrderInv",
                    f"{name} begins with commits from {batch.base_offset}, without the snapshot "
                    f"of all before {expected}",
                )
        if batch.base_offset != expected:
            raise Violated(
                "ListenerInOrderInv",
                f"{name} is told of commits from {batch.base_offset}, expected {expected}",
            )
        replica.next_commit = batch.end_offset
    known = None if after is None else after.high_watermark
    if known is not None and replica.next_commit > known:
        raise Violated(
            "ListenerInOrderInv",
            f"{name} is told of commits up to {replica.next_commit}, its high watermark is {known}",
        )


def check_load(replica: Replica, effect: HandleLoadSnapshot, after: RaftState | None) -> None:
    """Check that a snapshot goes further than earlier commits, and that no leader loads one."""
    name, end = name_of(replica.key), effect.snapshot_id.end_offset
    if replica.told[1] == replica.key.node_id and replica.told[0] == replica.file.epoch:
        raise Violated(
            "LeaderNeverLoadsSnapshotProp",
            f"{name} was told that it leads, and loads snapshot {end}",
        )
    if end < replica.next_commit:
        raise Violated(
            "ListenerInOrderInv",
            f"{name} loads a snapshot up to {end} after commits up to {replica.next_commit}",
        )
    if after is not None and after.log.snapshot(effect.snapshot_id) is None:
        raise Violated("ListenerInOrderInv", f"{name} loads snapshot {end}, which it does not have")
    replica.next_commit = end


def check_leader_change(
    replica: Replica, effect: HandleLeaderChange, after: RaftState | None
) -> None:
    """Check that leaders come once, with rising epochs, and the node itself when caught up."""
    name, now = name_of(replica.key), (effect.epoch, effect.leader_id)
    epoch, leader = replica.told
    if effect.epoch < epoch or now == replica.told:
        raise Violated(
            "ListenerLeaderProp", f"{name} is told of epoch {effect.epoch} after epoch {epoch}"
        )
    if effect.epoch == epoch and leader is not None and effect.leader_id is not None:
        raise Violated(
            "ListenerLeaderProp",
            f"{name} is told that {effect.leader_id} leads epoch {epoch}, "
            f"and before that {leader} did",
        )
    replica.told = now
    if after is None or effect.leader_id != replica.key.node_id:
        return
    role = after.role
    if isinstance(role, Resigned):
        raise Violated("ListenerLeaderProp", f"{name} is told that it leads after it resigned")
    if isinstance(role, Leader) and replica.next_commit <= role.epoch_start:
        raise Violated(
            "ListenerLeaderProp",
            f"{name} is told that it leads epoch {role.epoch}, which begins at {role.epoch_start}, "
            f"after commits only up to {replica.next_commit}",
        )


def check_told(replica: Replica, after: RaftState) -> None:
    """Check that a step leaves nothing untold: neither what is committed nor which node leads.

    A leader hears of its leadership once it has read what was committed before.
    """
    name, log, known, role = name_of(replica.key), after.log, after.high_watermark, after.role
    start = max(replica.next_commit, 0)
    if known is not None and start < known:
        left = batches_between(log, max(start, log.start_offset), known)
        if start < log.start_offset or (left and left[0].end_offset <= known):
            raise Violated(
                "ListenerInOrderInv",
                f"{name} was told of commits up to {start}, its high watermark is {known}",
            )
    if isinstance(role, Resigned):
        return
    if isinstance(role, Leader) and replica.next_commit <= role.epoch_start:
        return
    leader = None if isinstance(role, Candidate) else role.leader_id
    epoch, last = max(replica.told[0], 0), replica.told[1]
    if role.epoch > epoch or (role.epoch == epoch and last is None and leader is not None):
        raise Violated(
            "ListenerLeaderProp",
            f"{name} was not told that {leader} leads epoch {role.epoch}",
        )
