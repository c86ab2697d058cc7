"""Checks of what the state machine above a replica is told: in order, without a gap, only facts.

Kafka: RaftClient.Listener, RaftEventSimulationTest.LeaderNeverLoadSnapshot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.raft.history import name_of
from kraft.raft.roles import Leader, Resigned

if TYPE_CHECKING:
    from krafla.fuzz.raft.history import Replica
    from kraft.raft.effects import HandleCommit, HandleLeaderChange, HandleLoadSnapshot
    from kraft.raft.state import RaftState

__all__ = ["check_commit", "check_leader_change", "check_load", "forget"]


def forget(replica: Replica) -> None:
    """Begin anew: a process that starts has a state machine that was told nothing."""
    replica.next_commit = -1
    replica.told = (-1, None)


def check_commit(replica: Replica, effect: HandleCommit, after: RaftState | None) -> None:
    """Check that commits come in order and without a gap, and that they are committed."""
    who = name_of(replica.key)
    for batch in effect.batches:
        expected = replica.next_commit
        if expected < 0:
            expected = replica.start
            if expected > 0:
                raise Violated(
                    "ListenerInOrderInv",
                    f"{who} begins with commits from {batch.base_offset}, without the snapshot "
                    f"of all before {expected}",
                )
        if batch.base_offset != expected:
            raise Violated(
                "ListenerInOrderInv",
                f"{who} is told of commits from {batch.base_offset}, next is {expected}",
            )
        replica.next_commit = batch.end_offset
    known = None if after is None else after.high_watermark
    if known is not None and replica.next_commit > known:
        raise Violated(
            "ListenerInOrderInv",
            f"{who} is told of commits up to {replica.next_commit}, its high watermark is {known}",
        )


def check_load(replica: Replica, effect: HandleLoadSnapshot, after: RaftState | None) -> None:
    """Check that a snapshot goes further than what was told, and that no leader loads one."""
    who, end = name_of(replica.key), effect.snapshot_id.end_offset
    if replica.told[1] == replica.key.node_id and replica.told[0] == replica.file.epoch:
        raise Violated(
            "LeaderNeverLoadsSnapshotProp",
            f"{who} was told that it leads, and loads snapshot {end}",
        )
    if end < replica.next_commit:
        raise Violated(
            "ListenerInOrderInv",
            f"{who} loads a snapshot up to {end} after commits up to {replica.next_commit}",
        )
    if after is not None and after.log.snapshot(effect.snapshot_id) is None:
        raise Violated("ListenerInOrderInv", f"{who} loads snapshot {end}, which it does not have")
    replica.next_commit = end


def check_leader_change(
    replica: Replica, effect: HandleLeaderChange, after: RaftState | None
) -> None:
    """Check that leaders come with rising epochs, each once, and oneself only when caught up."""
    who, now = name_of(replica.key), (effect.epoch, effect.leader_id)
    epoch, leader = replica.told
    if effect.epoch < epoch or now == replica.told:
        raise Violated(
            "ListenerLeaderProp", f"{who} is told of epoch {effect.epoch} after epoch {epoch}"
        )
    if effect.epoch == epoch and leader is not None and effect.leader_id is not None:
        raise Violated(
            "ListenerLeaderProp",
            f"{who} is told that {effect.leader_id} leads epoch {epoch}, before that {leader} does",
        )
    replica.told = now
    if after is None or effect.leader_id != replica.key.node_id:
        return
    role = after.role
    if isinstance(role, Resigned):
        raise Violated("ListenerLeaderProp", f"{who} is told that it leads after it resigned")
    if isinstance(role, Leader) and replica.next_commit <= role.epoch_start:
        raise Violated(
            "ListenerLeaderProp",
            f"{who} is told that it leads epoch {role.epoch}, which begins at {role.epoch_start}, "
            f"when it was told of commits up to {replica.next_commit}",
        )
