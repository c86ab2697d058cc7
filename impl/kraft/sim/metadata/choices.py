"""The choices an environment can make: one class for each thing that Raft or a client can do."""

from __future__ import annotations

from typing import TypeAlias

from kraft.ids import NodeId  # noqa: TC001 - msgspec reads the types
from kraft.sim.common.choice import BaseChoice
from kraft.sim.metadata.values import SetValue  # noqa: TC001 - msgspec reads the types


class Elect(BaseChoice, frozen=True, tag=True):
    """Let the record that begins a controller's epoch be committed.

    With it `survivors` of the earlier leader's batches are, and the first records of epochs that
    passed, each with its leader.

    Spec: MetadataLog!Elect.
    """

    controller: NodeId
    epoch: int
    survivors: int
    passed: tuple[tuple[int, NodeId], ...] = ()


class LoseLeadership(BaseChoice, frozen=True, tag=True):
    """Let a controller's Raft lead no longer; the controller is not told yet.

    Spec: MetadataLog!LoseLeadership.
    """

    controller: NodeId


class Commit(BaseChoice, frozen=True, tag=True):
    """Let the next batches be committed. Spec: MetadataLog!Commit."""

    count: int


class LoseTail(BaseChoice, frozen=True, tag=True):
    """Let the last batches be lost. Spec: MetadataLog!LoseTail."""

    count: int


class TellLeader(BaseChoice, frozen=True, tag=True):
    """Let Raft tell a controller that it leads.

    Spec: MetadataLog!Claim, MetadataLog!ClaimWithOpenTransaction.
    """

    controller: NodeId


class TellOther(BaseChoice, frozen=True, tag=True):
    """Let Raft tell an active controller that it leads no longer. Spec: MetadataLog!Renounce."""

    controller: NodeId


class MakeMistake(BaseChoice, frozen=True, tag=True):
    """Let an operation of the active controller go wrong. Spec: MetadataLog!Renounce."""

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
    """Let a node begin anew with the snapshot of another. Spec: MetadataLog!LoadSnapshot."""

    node: NodeId
    source: NodeId


class Restart(BaseChoice, frozen=True, tag=True):
    """Let a process end, and start again with what is on its disk. Spec: MetadataLog!Restart."""

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
