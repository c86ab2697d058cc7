"""The 81 invariants that a committed metadata log alone can break, by their ids.

An entry says where its invariant is checked (after a record, a batch or an operation, or at a
checkpoint), which kinds of finding report it, and on what it is checked. Some are conjuncts of
UntimedLease.tla: then the finding names the action. `docs/audit-invariants.md` lists them, each
with the test that breaks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.audit.invariants import BROKER_INVARIANTS, RecordInvariant
from krafla.audit.invariants_features import FEATURE_INVARIANTS
from krafla.audit.invariants_log import LOG_INVARIANTS
from krafla.audit.invariants_others import OTHER_INVARIANTS
from krafla.audit.invariants_topics import TOPIC_INVARIANTS
from krafla.audit.invariants_written import WRITTEN_INVARIANTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.audit.check_counts import CheckCounts

_ALL: Final = (
    *LOG_INVARIANTS, *FEATURE_INVARIANTS, *BROKER_INVARIANTS, *TOPIC_INVARIANTS, *OTHER_INVARIANTS,
    *WRITTEN_INVARIANTS,
)  # fmt: skip
RECORD_INVARIANTS: Final[dict[int, tuple[RecordInvariant, ...]]] = {
    key: tuple(one for one in _ALL if key in one.api_keys)
    for key in sorted({key for one in _ALL for key in one.api_keys})
}
"""The invariants of single records, by api key, in the order in which they are checked."""


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """An invariant of the log: `kinds` are the kinds of findings that report it.

    `checked_on` names counters of `CheckCounts`, or types of records by api key.
    """

    id: str
    statement: str
    granularity: str
    kinds: tuple[str, ...]
    checked_on: tuple[str | int, ...]

    def checks(self, counts: CheckCounts) -> int:
        """Return how often a history checked it."""
        return sum(
            counts.records.get(one, 0) if isinstance(one, int) else counts.of(one)
            for one in self.checked_on
        )


_LEASE: Final = "UntimedLease!"
_CHANGES: Final = (
    "FenceBroker", "UnfenceBroker", "BeginControlledShutdown", "ChangeDirectories",
    "UnregisterBroker",
)  # fmt: skip
_ENTRIES: Final = (
    RegistryEntry(
        "L1", "every record has the type and version that the metadata version dictates",
        "record", ("L1",), ("every",),
    ),
    RegistryEntry(
        "L2", "a log, and a checkpoint, begins with a metadata version",
        "batch", ("L2",), ("batches",),
    ),
    RegistryEntry(
        "L3", "transactions do not nest, and one that ends has begun; a checkpoint has none",
        "record", ("L3",), ("batches",),
    ),
    RegistryEntry(
        "L4", "a checkpoint is the fold of the log up to its end offset",
        "checkpoint", ("L4",), ("checkpoints",),
    ),
    RegistryEntry(
        "L5", "a checkpoint ends where a batch ends, and not in a transaction",
        "checkpoint", ("L5",), ("checkpoints",),
    ),
    RegistryEntry(
        "L6", "at one offset every node has folded the same",
        "checkpoint", ("L6",), ("checkpoints",),
    ),
    RegistryEntry(
        "L7", "a checkpoint is the one before it, and the log between them on top",
        "checkpoint", ("L7",), ("checkpoints",),
    ),
    RegistryEntry(
        "L8", "epochs never fall from one batch to the next",
        "batch", ("L8",), ("batches",),
    ),
    RegistryEntry(
        "L9", "what is removed was there: a topic, a delegation token",
        "record", ("L9",), (9, 26,),
    ),
    RegistryEntry(
        "L11", "a topic and its partitions are created in one batch",
        "batch", ("L11",), (2,),
    ),
    RegistryEntry(
        "L12", "what a transaction did that was aborted is gone",
        "batch", ("L12",), (3, 9, "changes",),
    ),
    RegistryEntry(
        "S1", "a checkpoint's id has the epoch of the last record that it stands for",
        "checkpoint", ("S1",), ("checkpoints",),
    ),
    RegistryEntry(
        "S2", "a log that does not begin at offset 0 continues a checkpoint of its node",
        "checkpoint", ("S2",), ("checkpoints",),
    ),
    RegistryEntry(
        "S3", "a checkpoint has records of a state only, none that changes or removes",
        "checkpoint", ("S3",), ("checkpoints",),
    ),
    RegistryEntry(
        "F1", "a feature has a level only with the levels of other features that it needs",
        "batch", ("F1",), (12,),
    ),
    RegistryEntry(
        "F2", "metadata.version falls only to a level with the same records, and is never removed",
        "record", ("F2",), (12,),
    ),
    RegistryEntry(
        "F3", "a feature record has a level of 0 or more, and kraft.version is none",
        "record", ("F3",), (12,),
    ),
    RegistryEntry(
        "B1", "a broker has one registration",
        "record", ("B1",), ("checkpoints",),
    ),
    RegistryEntry(
        "B2", "a new incarnation has a new epoch, above all before it, up to its offset",
        "record", (_LEASE + "RegisterBroker",), (0,),
    ),
    RegistryEntry(
        "B3", "no two brokers have the same epoch",
        "record", (_LEASE + "RegisterBroker", _LEASE + "EpochUniqueInv",), (0,),
    ),
    RegistryEntry(
        "B4", "an incarnation that registers again stays as it was",
        "record", (_LEASE + "AmendRegistration",), (0,),
    ),
    RegistryEntry(
        "B5", "a new incarnation is fenced and not in controlled shutdown",
        "record", (_LEASE + "RegisterBroker", _LEASE + "NewRegistrationIsFencedProp",), (0,),
    ),
    RegistryEntry(
        "B6", "a change of a broker names its current epoch",
        "record", tuple(_LEASE + name for name in _CHANGES), (1, 7, 8, 17,),
    ),
    RegistryEntry(
        "B7", "no incarnation takes its controlled shutdown back",
        "record", (_LEASE + "Next", _LEASE + "AmendRegistration",), (0, 17,),
    ),
    RegistryEntry(
        "B8", "every registered broker supports every feature at its finalized level",
        "record", ("B8",), (0, 12,),
    ),
    RegistryEntry(
        "B9", "directory ids are not reserved, and each belongs to one broker once",
        "record", ("B9",), (0, 17,),
    ),
    RegistryEntry(
        "B10", "a change record only takes directories away",
        "record", ("B10",), (17,),
    ),
    RegistryEntry(
        "B15", "a broker has endpoints, each with a port",
        "record", ("B15",), (0,),
    ),
    RegistryEntry(
        "T1", "a topic's name and id are its own, and no id comes back",
        "record", ("T1",), (2,),
    ),
    RegistryEntry(
        "T2", "a topic's name is valid and collides with no other",
        "record", ("T2",), (2,),
    ),
    RegistryEntry(
        "T3", "the partitions of a topic are numbered from 0 without a gap",
        "batch", ("T3",), (3,),
    ),
    RegistryEntry(
        "T4", "a topic never loses a partition",
        "checkpoint", ("T4",), ("checkpoints",),
    ),
    RegistryEntry(
        "T5", "a partition is of a topic that lives, and a change of one that exists",
        "record", ("T5",), (3, "changes",),
    ),
    RegistryEntry(
        "T6", "no record names a topic that was removed",
        "record", ("T6",), (3, 9, "changes",),
    ),
    RegistryEntry(
        "T7", "a new partition is led by the first of its ISR, all else as it begins",
        "record", ("T7",), (3,),
    ),
    RegistryEntry(
        "T8", "replicas are there, distinct, and registered when they are assigned",
        "record", ("T8",), (3, "changes",),
    ),
    RegistryEntry(
        "T9", "every replica has a directory",
        "record", ("T9",), (3, "changes",),
    ),
    RegistryEntry(
        "T10", "a new partition has as many replicas as one of its topic",
        "record", ("T10",), (3,),
    ),
    RegistryEntry(
        "P1", "the ISR is some of the replicas, each once",
        "record", ("P1",), (3, "changes",),
    ),
    RegistryEntry(
        "P2", "a leader is in the ISR",
        "record", ("P2",), (3, "changes",),
    ),
    RegistryEntry(
        "P3", "a leader is a replica",
        "record", ("P3",), (3, "changes",),
    ),
    RegistryEntry(
        "P4", "without eligible leader replicas an ISR is never emptied",
        "record", ("P4",), (3, "changes",),
    ),
    RegistryEntry(
        "P5", "a partition with an empty ISR has no leader",
        "record", ("P5",), (3, "changes",),
    ),
    RegistryEntry(
        "P6", "no replica is in ISR and ELR; who is newly in the ELR is a replica",
        "record", ("P6",), (3, "changes",),
    ),
    RegistryEntry(
        "P7", "an ISR that reaches the effective min.insync.replicas clears both ELR fields",
        "record", ("P7",), ("changes",),
    ),
    RegistryEntry(
        "P8", "there is at most one last known leader, and only without a leader",
        "record", ("P8",), (3, "changes",),
    ),
    RegistryEntry(
        "P9", "a leader that recovers is alone in the ISR",
        "record", ("P9",), (3, "changes",),
    ),
    RegistryEntry(
        "P10", "a recovery begins with a leader from outside ISR and ELR",
        "record", ("P10",), ("changes",),
    ),
    RegistryEntry(
        "P11", "a leader is registered, unfenced and not in controlled shutdown",
        "operation", ("P11",), ("operations",),
    ),
    RegistryEntry(
        "P12", "of two or more in-sync replicas, none is fenced or in controlled shutdown",
        "operation", ("P12",), ("operations",),
    ),
    RegistryEntry(
        "P13", "a partition whose only in-sync replica is not active has no leader",
        "operation", ("P13",), ("operations",),
    ),
    RegistryEntry(
        "P14", "the directory of a leader is online",
        "operation", ("P14",), ("operations",),
    ),
    RegistryEntry(
        "P15", "a leader that needs no recovery was in the ISR or eligible",
        "record", ("P15",), ("changes",),
    ),
    RegistryEntry(
        "E1", "a partition epoch counts the changes, and nothing else moves it",
        "record", ("E1",), (3, "checkpoints",),
    ),
    RegistryEntry(
        "E2", "a leader epoch counts the changes with a leader field",
        "checkpoint", ("E2",), ("checkpoints",),
    ),
    RegistryEntry(
        "E3", "a leader epoch is at most the partition epoch",
        "record", ("E3",), (3,),
    ),
    RegistryEntry(
        "E4", "another leader comes with another leader epoch",
        "record", ("E4",), (3,),
    ),
    RegistryEntry(
        "E5", "dropping a replica raises the leader epoch",
        "record", ("E5",), ("changes",),
    ),
    RegistryEntry(
        "E6", "an ISR that changes alone leaves the leader epoch (raises it before 3.6-IV0)",
        "record", ("E6",), ("changes",),
    ),
    RegistryEntry(
        "E7", "a change record changes something",
        "record", ("E7",), ("changes",),
    ),
    RegistryEntry(
        "E8", "a leader epoch of a partition has one leader",
        "checkpoint", ("E8",), ("checkpoints",),
    ),
    RegistryEntry(
        "X1", "what is added or removed is a replica",
        "record", ("X1",), (3, "changes",),
    ),
    RegistryEntry(
        "X2", "no replica is both added and removed, unless it was being added before",
        "record", ("X2",), ("changes",),
    ),
    RegistryEntry(
        "X3", "a reassignment leaves a replica",
        "record", ("X3",), (3, "changes",),
    ),
    RegistryEntry(
        "X4", "a completed reassignment leaves the target in its order",
        "record", ("X4",), ("changes",),
    ),
    RegistryEntry(
        "X5", "a reassignment completes with every target replica in sync",
        "record", ("X5",), ("changes",),
    ),
    RegistryEntry(
        "X6", "a reassignment that can be complete is",
        "record", ("X6",), ("changes",),
    ),
    RegistryEntry(
        "X7", "a record that drops a replica ends the reassignment",
        "record", ("X7",), ("changes",),
    ),
    RegistryEntry(
        "X8", "a cancelled reassignment leaves the replicas from before",
        "record", ("X8",), ("changes",),
    ),
    RegistryEntry(
        "X9", "after a reassignment the leader is a replica",
        "record", ("X9",), ("changes",),
    ),
    RegistryEntry(
        "O1", "a block of producer ids begins where the last one ended",
        "record", ("O1",), (15,),
    ),
    RegistryEntry(
        "O2", "producer ids are given to a broker under its current epoch",
        "record", ("O2",), (15,),
    ),
    RegistryEntry(
        "O3", "every registered controller supports every feature at its finalized level",
        "record", ("O3",), (12, 27,),
    ),
    RegistryEntry(
        "O4", "no two ACLs are equal, and one that is removed was there",
        "record", ("O4",), (18, 19,),
    ),
    RegistryEntry(
        "O5", "what is configured, a topic or a node, is there",
        "record", ("O5",), (4,),
    ),
    RegistryEntry(
        "O6", "a credential that is removed was there",
        "record", ("O6",), (22,),
    ),
)  # fmt: skip
_WRITTEN: Final = (
    RegistryEntry(
        "W1", "a batch is uncompressed, without a producer, and has one timestamp",
        "batch", ("W1",), ("batches",),
    ),
    RegistryEntry(
        "W2", "a record has no attributes, and the timestamp of its batch",
        "record", ("W2",), ("every",),
    ),
    RegistryEntry(
        "W3", "fields have values that Kafka writes",
        "record", ("W3",), (0, 3, 4, 10, 11, 14, 18, 22, 23, 25, 27,),
    ),
    RegistryEntry(
        "W4", "a partition change names only fields that it changes",
        "record", ("W4",), ("changes",),
    ),
    RegistryEntry(
        "W5", "flags of the migration from ZooKeeper are set while it is in progress",
        "record", ("W5",), (0, 21, 27,),
    ),
)  # fmt: skip
REGISTRY: Final[dict[str, RegistryEntry]] = {entry.id: entry for entry in (*_ENTRIES, *_WRITTEN)}


def check_totals(histories: Iterable[CheckCounts]) -> dict[str, int]:
    """Return, by invariant, how often histories checked it."""
    every = tuple(histories)
    return {entry.id: sum(entry.checks(counts) for counts in every) for entry in REGISTRY.values()}
