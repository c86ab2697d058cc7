"""The choices of the environment: one class for each thing that Raft or a client can do."""

from __future__ import annotations

from typing import TypeAlias

from kraft.ids import NodeId  # noqa: TC001 - msgspec reads the types
from kraft.sim.common.recording import BaseChoice
from kraft.sim.metadata.values import SetValue  # noqa: TC001 - msgspec reads the types


class Elect(BaseChoice, frozen=True, tag=True):
    """Elect a controller: commit the record that begins its epoch.

    That also commits `survivors` of the earlier leader's batches, and the first records of the
    skipped epochs in `passed`, each with its leader.

    Spec: MetadataLog!Elect.
    """

    controller: NodeId
    epoch: int
    survivors: int
    passed: tuple[tuple[int, NodeId], ...] = ()


class LoseLeadership(BaseChoice, frozen=True, tag=True):
    """Let a controller's Raft lose its leadership; the controller does not know it yet.

    Spec: MetadataLog!LoseLeadership.
    """

    controller: NodeId


class Commit(BaseChoice, frozen=True, tag=True):
    """Commit the next batches. Spec: MetadataLog!Commit."""

    count: int


class LoseTail(BaseChoice, frozen=True, tag=True):
    """Lose the last uncommitted batches. Spec: MetadataLog!LoseTail."""

    count: int


class TellLeader(BaseChoice, frozen=True, tag=True):
    """Let Raft tell a controller that it leads.

    Spec: MetadataLog!Claim, MetadataLog!ClaimWithOpenTransaction.
    """

    controller: NodeId


class TellOther(BaseChoice, frozen=True, tag=True):
    """Let Raft tell an active controller that it no longer leads. Spec: MetadataLog!Renounce."""

    controller: NodeId


class MakeMistake(BaseChoice, frozen=True, tag=True):
    """Let an operation of the active controller fail. Spec: MetadataLog!Renounce."""

    controller: NodeId


class Ask(BaseChoice, frozen=True, tag=True):
    """Let a client ask the active controller for a change.

    Spec: MetadataLog!HandleWrite, MetadataLog!AnswerUnchanged, MetadataLog!DelayUnchanged,
    MetadataLog!RefuseAppend.
    """

    controller: NodeId
    request: SetValue


class BeginTransaction(BaseChoice, frozen=True, tag=True):
    """Let the active controller begin a transaction. Spec: MetadataLog!BeginTransaction."""

    controller: NodeId


class EndTransaction(BaseChoice, frozen=True, tag=True):
    """Let the active controller end its transaction. Spec: MetadataLog!EndTransaction."""

    controller: NodeId


class HandOver(BaseChoice, frozen=True, tag=True):
    """Let Raft hand over the next committed batches.

    Spec: MetadataLog!HandleCommit, MetadataLog!ReplayCommitted.
    """

    node: NodeId
    count: int


class CreateSnapshot(BaseChoice, frozen=True, tag=True):
    """Let a node write a snapshot. Spec: MetadataLog!CreateSnapshot."""

    node: NodeId


class LoadSnapshot(BaseChoice, frozen=True, tag=True):
    """Let a node load the snapshot of another one. Spec: MetadataLog!LoadSnapshot."""

    node: NodeId
    source: NodeId


class Restart(BaseChoice, frozen=True, tag=True):
    """Restart a process with what is on its disk. Spec: MetadataLog!Restart."""

    node: NodeId


Choice: TypeAlias = (
    Elect
    | LoseLeadership
    | Commit
    | LoseTail
    | TellLeader
    | TellOther
    | MakeMistake
    | Ask
    | BeginTransaction
    | EndTransaction
    | HandOver
    | CreateSnapshot
    | LoadSnapshot
    | Restart
)
