"""The 69 invariants that a committed metadata log alone can break, by their ids.

Each says where it holds (after a record, a batch or an operation, or at a checkpoint), which kinds
of finding reject it, and what it is asked about. Some are conjuncts of UntimedLease.tla: then the
finding names the action. `docs/audit-invariants.md` has them with what breaks each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.audit import invariants as named
from krafla.audit.epoch_files import EPOCH_STARTS, QUORUM_EPOCH
from krafla.audit.invariants import BROKER_INVARIANTS, RecordInvariant
from krafla.audit.invariants_log import (
    EPOCH_BEGINS,
    EPOCHS_STAY,
    LOG_INVARIANTS,
    VERSION_FIRST,
    VERSIONS_DICTATED,
)
from krafla.audit.invariants_others import OTHER_INVARIANTS
from krafla.audit.invariants_partitions import CHANGE_INVARIANTS, STATE_INVARIANTS
from krafla.audit.invariants_reassignment import REASSIGNMENT_INVARIANTS
from krafla.audit.invariants_topics import BATCH_INVARIANTS, TOPIC_INVARIANTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.audit.check_counts import CheckCounts
    from krafla.audit.result import Invariant

_ALL: Final = (*LOG_INVARIANTS, *BROKER_INVARIANTS, *TOPIC_INVARIANTS, *OTHER_INVARIANTS)
RECORD_INVARIANTS: Final[dict[int, tuple[RecordInvariant, ...]]] = {
    key: tuple(one for one in _ALL if key in one.api_keys)
    for key in sorted({key for one in _ALL for key in one.api_keys})
}
"""The invariants of single records, by api key, in the order in which they are asked."""
EVERY_INVARIANT: Final[tuple[Invariant, ...]] = (
    *_ALL, *STATE_INVARIANTS, *CHANGE_INVARIANTS, *REASSIGNMENT_INVARIANTS, *BATCH_INVARIANTS,
    *named.PARTITION_INVARIANTS, VERSION_FIRST, VERSIONS_DICTATED, named.REPLICAS_REGISTERED,
    named.PARTITION_EXISTS, named.CHECKPOINT_FOLDED, named.CHECKPOINT_ALIGNED,
    named.CHECKPOINT_CONTINUED, named.CHECKPOINTS_EQUAL, named.REGISTERED_ONCE,
    named.PARTITION_EPOCH, named.LEADER_EPOCH, named.ONE_LEADER_AN_EPOCH, named.PARTITIONS_STAY,
    named.LOGS_MATCH, named.LEADER_OF_EPOCH, QUORUM_EPOCH, EPOCH_STARTS, EPOCHS_STAY, EPOCH_BEGINS,
)  # fmt: skip
"""What the audit asks by itself, beside the spec; several may speak for one invariant."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An invariant of the log: `kinds` are the findings that reject it.

    `asked_of` names counters of `CheckCounts` or, by their api keys, types of records.
    """

    id: str
    statement: str
    granularity: str
    kinds: tuple[str, ...]
    asked_of: tuple[str | int, ...]

    def asked(self, counts: CheckCounts) -> int:
        """Return how often it was asked in a history."""
        return sum(
            counts.records.get(one, 0) if isinstance(one, int) else counts.of(one)
            for one in self.asked_of
        )


_LEASE: Final = "UntimedLease!"
_CHANGES: Final = (
    "FenceBroker", "UnfenceBroker", "BeginControlledShutdown", "ChangeDirectories",
    "UnregisterBroker",
)  # fmt: skip
_ENTRIES: Final = (
    Entry(
        "L1", "every record has the type and version that the metadata version dictates",
        "record", ("L1",), ("every",),
    ),
    Entry(
        "L2", "a log, and a checkpoint, begins with a metadata version",
        "batch", ("L2",), ("batches",),
    ),
    Entry(
        "L3", "transactions do not nest, and one that ends has begun; a checkpoint has none",
        "record", ("L3",), ("batches",),
    ),
    Entry(
        "L4", "a checkpoint is the fold of the log up to its end offset",
        "checkpoint", ("L4",), ("checkpoints",),
    ),
    Entry(
        "L5", "a checkpoint ends where a batch ends, and not in a transaction",
        "checkpoint", ("L5",), ("checkpoints",),
    ),
    Entry(
        "L6", "at one offset every node has folded the same",
        "checkpoint", ("L6",), ("checkpoints",),
    ),
    Entry(
        "L7", "a checkpoint is the one before it, and the log between them on top",
        "checkpoint", ("L7",), ("checkpoints",),
    ),
    Entry(
        "L8", "epochs never fall from one batch to the next",
        "batch", ("L8",), ("batches",),
    ),
    Entry(
        "L9", "what is removed was there: a topic, a delegation token",
        "record", ("L9",), (9, 26,),
    ),
    Entry(
        "L11", "a topic and its partitions are created in one batch",
        "batch", ("L11",), (2,),
    ),
    Entry(
        "L12", "what a transaction did that was aborted is gone",
        "batch", ("L12",), (3, 9, "changes",),
    ),
    Entry(
        "B1", "a broker has one registration",
        "record", ("B1",), ("checkpoints",),
    ),
    Entry(
        "B2", "a new incarnation has a new epoch, above all before it, up to its offset",
        "record", (_LEASE + "RegisterBroker",), (0,),
    ),
    Entry(
        "B3", "no two brokers have the same epoch",
        "record", (_LEASE + "RegisterBroker", _LEASE + "EpochUniqueInv",), (0,),
    ),
    Entry(
        "B4", "an incarnation that registers again stays as it was",
        "record", (_LEASE + "AmendRegistration",), (0,),
    ),
    Entry(
        "B5", "a new incarnation is fenced and not in controlled shutdown",
        "record", (_LEASE + "RegisterBroker", _LEASE + "NewRegistrationIsFencedProp",), (0,),
    ),
    Entry(
        "B6", "a change of a broker names its current epoch",
        "record", tuple(_LEASE + name for name in _CHANGES), (1, 7, 8, 17,),
    ),
    Entry(
        "B7", "no incarnation takes its controlled shutdown back",
        "record", (_LEASE + "Next", _LEASE + "AmendRegistration",), (0, 17,),
    ),
    Entry(
        "B8", "every registered broker supports every feature at its finalized level",
        "record", ("B8",), (0, 12,),
    ),
    Entry(
        "B9", "directory ids are not reserved, and each belongs to one broker once",
        "record", ("B9",), (0, 17,),
    ),
    Entry(
        "B10", "a change record only takes directories away",
        "record", ("B10",), (17,),
    ),
    Entry(
        "B15", "a broker has endpoints, each with a port",
        "record", ("B15",), (0,),
    ),
    Entry(
        "T1", "a topic's name and id are its own, and no id comes back",
        "record", ("T1",), (2,),
    ),
    Entry(
        "T2", "a topic's name is valid and collides with no other",
        "record", ("T2",), (2,),
    ),
    Entry(
        "T3", "the partitions of a topic are numbered from 0 without a gap",
        "batch", ("T3",), (3,),
    ),
    Entry(
        "T4", "a topic never loses a partition",
        "checkpoint", ("T4",), ("checkpoints",),
    ),
    Entry(
        "T5", "a partition is of a topic that lives, and a change of one that exists",
        "record", ("T5",), (3, "changes",),
    ),
    Entry(
        "T6", "no record names a topic that was removed",
        "record", ("T6",), (3, 9, "changes",),
    ),
    Entry(
        "T7", "a new partition is led by the first of its ISR, all else as it begins",
        "record", ("T7",), (3,),
    ),
    Entry(
        "T8", "replicas are there, distinct, and registered when they are assigned",
        "record", ("T8",), (3, "changes",),
    ),
    Entry(
        "T9", "every replica has a directory",
        "record", ("T9",), (3, "changes",),
    ),
    Entry(
        "T10", "a new partition has as many replicas as one of its topic",
        "record", ("T10",), (3,),
    ),
    Entry(
        "P1", "the ISR is some of the replicas, each once",
        "record", ("P1",), (3, "changes",),
    ),
    Entry(
        "P2", "a leader is in the ISR",
        "record", ("P2",), (3, "changes",),
    ),
    Entry(
        "P3", "a leader is a replica",
        "record", ("P3",), (3, "changes",),
    ),
    Entry(
        "P4", "without eligible leader replicas an ISR is never emptied",
        "record", ("P4",), (3, "changes",),
    ),
    Entry(
        "P5", "a partition with an empty ISR has no leader",
        "record", ("P5",), (3, "changes",),
    ),
    Entry(
        "P6", "no replica is in ISR and ELR; who is newly in the ELR is a replica",
        "record", ("P6",), (3, "changes",),
    ),
    Entry(
        "P8", "there is at most one last known leader, and only without a leader",
        "record", ("P8",), (3, "changes",),
    ),
    Entry(
        "P9", "a leader that recovers is alone in the ISR",
        "record", ("P9",), (3, "changes",),
    ),
    Entry(
        "P10", "a recovery begins with a leader from outside ISR and ELR",
        "record", ("P10",), ("changes",),
    ),
    Entry(
        "P11", "a leader is registered, unfenced and not in controlled shutdown",
        "operation", ("P11",), ("operations",),
    ),
    Entry(
        "P12", "of two or more in-sync replicas, none is fenced or in controlled shutdown",
        "operation", ("P12",), ("operations",),
    ),
    Entry(
        "P13", "a partition whose only in-sync replica is not active has no leader",
        "operation", ("P13",), ("operations",),
    ),
    Entry(
        "P14", "the directory of a leader is online",
        "operation", ("P14",), ("operations",),
    ),
    Entry(
        "P15", "a leader that needs no recovery was in the ISR or eligible",
        "record", ("P15",), ("changes",),
    ),
    Entry(
        "E1", "a partition epoch counts the changes, and nothing else moves it",
        "record", ("E1",), (3, "checkpoints",),
    ),
    Entry(
        "E2", "a leader epoch counts the changes with a leader field",
        "checkpoint", ("E2",), ("checkpoints",),
    ),
    Entry(
        "E3", "a leader epoch is at most the partition epoch",
        "record", ("E3",), (3,),
    ),
    Entry(
        "E4", "another leader comes with another leader epoch",
        "record", ("E4",), (3,),
    ),
    Entry(
        "E5", "dropping a replica raises the leader epoch",
        "record", ("E5",), ("changes",),
    ),
    Entry(
        "E6", "an ISR that changes alone leaves the leader epoch (raises it before 3.6-IV0)",
        "record", ("E6",), ("changes",),
    ),
    Entry(
        "E7", "a change record changes something",
        "record", ("E7",), ("changes",),
    ),
    Entry(
        "E8", "a leader epoch of a partition has one leader",
        "checkpoint", ("E8",), ("checkpoints",),
    ),
    Entry(
        "X1", "what is added or removed is a replica",
        "record", ("X1",), (3, "changes",),
    ),
    Entry(
        "X2", "no replica is both added and removed, unless it was being added before",
        "record", ("X2",), ("changes",),
    ),
    Entry(
        "X3", "a reassignment leaves a replica",
        "record", ("X3",), (3, "changes",),
    ),
    Entry(
        "X4", "a completed reassignment leaves the target in its order",
        "record", ("X4",), ("changes",),
    ),
    Entry(
        "X5", "a reassignment completes with every target replica in sync",
        "record", ("X5",), ("changes",),
    ),
    Entry(
        "X6", "a reassignment that can be complete is",
        "record", ("X6",), ("changes",),
    ),
    Entry(
        "X7", "a record that drops a replica ends the reassignment",
        "record", ("X7",), ("changes",),
    ),
    Entry(
        "X8", "a cancelled reassignment leaves the replicas from before",
        "record", ("X8",), ("changes",),
    ),
    Entry(
        "X9", "after a reassignment the leader is a replica",
        "record", ("X9",), ("changes",),
    ),
    Entry(
        "O1", "a block of producer ids begins where the last one ended",
        "record", ("O1",), (15,),
    ),
    Entry(
        "O2", "producer ids are given to a broker under its current epoch",
        "record", ("O2",), (15,),
    ),
    Entry(
        "O3", "every registered controller supports every feature at its finalized level",
        "record", ("O3",), (12, 27,),
    ),
    Entry(
        "O4", "no two ACLs are equal, and one that is removed was there",
        "record", ("O4",), (18, 19,),
    ),
    Entry(
        "O5", "what is configured, a topic or a node, is there",
        "record", ("O5",), (4,),
    ),
    Entry(
        "O6", "a credential that is removed was there",
        "record", ("O6",), (22,),
    ),
)  # fmt: skip
REGISTRY: Final[dict[str, Entry]] = {entry.id: entry for entry in _ENTRIES}


def asked_in(histories: Iterable[CheckCounts]) -> dict[str, int]:
    """Return how often each invariant was asked in all of some histories."""
    every = tuple(histories)
    return {entry.id: sum(entry.asked(counts) for counts in every) for entry in _ENTRIES}
