"""The 82 invariants that a committed metadata log alone can break, by their ids.

An entry says where its invariant is checked (after a record, a batch or an operation, or at a
checkpoint), which kinds of finding report it, and on what it is checked. Some are conjuncts of
UntimedLease.tla: then the finding names the action. `docs/audit-invariants.md` lists them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.audit.invariants import BROKER_INVARIANTS, RecordInvariant
from krafla.audit.invariants_features import FEATURE_INVARIANTS
from krafla.audit.invariants_log import LOG_INVARIANTS
from krafla.audit.invariants_others import OTHER_INVARIANTS
from krafla.audit.invariants_topics import TOPIC_INVARIANTS
from krafla.audit.invariants_values import VALUE_INVARIANTS
from krafla.audit.invariants_written import WRITTEN_INVARIANTS
from krafla.audit.statements import STATEMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.audit.check_counts import CheckCounts

_ALL: Final = (
    *LOG_INVARIANTS, *FEATURE_INVARIANTS, *BROKER_INVARIANTS, *TOPIC_INVARIANTS, *OTHER_INVARIANTS,
    *WRITTEN_INVARIANTS, *VALUE_INVARIANTS,
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
    granularity: str
    kinds: tuple[str, ...]
    checked_on: tuple[str | int, ...]

    @property
    def statement(self) -> str:
        """The sentence that reports and pages print."""
        return STATEMENTS[self.id]

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
    RegistryEntry("L1", "record", ("L1",), ("every",)),
    RegistryEntry("L2", "batch", ("L2",), ("batches",)),
    RegistryEntry("L3", "record", ("L3",), ("batches",)),
    RegistryEntry("L4", "checkpoint", ("L4",), ("checkpoints",)),
    RegistryEntry("L5", "checkpoint", ("L5",), ("checkpoints",)),
    RegistryEntry("L6", "checkpoint", ("L6",), ("checkpoints",)),
    RegistryEntry("L7", "checkpoint", ("L7",), ("checkpoints",)),
    RegistryEntry("L8", "batch", ("L8",), ("batches",)),
    RegistryEntry("L9", "record", ("L9",), (4, 9, 14, 26,)),
    RegistryEntry("L11", "batch", ("L11",), (2,)),
    RegistryEntry("L12", "batch", ("L12",), (3, 9, "changes",)),
    RegistryEntry("L13", "batch", ("L13",), ("batches",)),
    RegistryEntry("S1", "checkpoint", ("S1",), ("checkpoints",)),
    RegistryEntry("S2", "checkpoint", ("S2",), ("checkpoints",)),
    RegistryEntry("S3", "checkpoint", ("S3",), ("checkpoints",)),
    RegistryEntry("F1", "batch", ("F1",), (12,)),
    RegistryEntry("F2", "record", ("F2",), (12,)),
    RegistryEntry("F3", "record", ("F3",), (12,)),
    RegistryEntry("B1", "record", ("B1",), ("checkpoints",)),
    RegistryEntry("B2", "record", (_LEASE + "RegisterBroker",), (0,)),
    RegistryEntry("B3", "record", (_LEASE + "RegisterBroker", _LEASE + "EpochUniqueInv",), (0,)),
    RegistryEntry("B4", "record", (_LEASE + "AmendRegistration",), (0,)),
    RegistryEntry(
        "B5", "record", (_LEASE + "RegisterBroker", _LEASE + "NewRegistrationIsFencedProp"), (0,)
    ),
    RegistryEntry("B6", "record", tuple(_LEASE + name for name in _CHANGES), (1, 7, 8, 17,)),
    RegistryEntry("B7", "record", (_LEASE + "Next", _LEASE + "AmendRegistration",), (0, 17,)),
    RegistryEntry("B8", "record", ("B8",), (0, 12,)),
    RegistryEntry("B9", "record", ("B9",), (0, 17,)),
    RegistryEntry("B10", "record", ("B10",), (17,)),
    RegistryEntry("B15", "record", ("B15",), (0,)),
    RegistryEntry("T1", "record", ("T1",), (2,)),
    RegistryEntry("T2", "record", ("T2",), (2,)),
    RegistryEntry("T3", "batch", ("T3",), (3,)),
    RegistryEntry("T4", "checkpoint", ("T4",), ("checkpoints",)),
    RegistryEntry("T5", "record", ("T5",), (3, "changes",)),
    RegistryEntry("T6", "record", ("T6",), (3, 9, "changes",)),
    RegistryEntry("T7", "record", ("T7",), (3,)),
    RegistryEntry("T8", "record", ("T8",), (3, "changes",)),
    RegistryEntry("T9", "record", ("T9",), (3, "changes",)),
    RegistryEntry("T10", "record", ("T10",), (3,)),
    RegistryEntry("P1", "record", ("P1",), (3, "changes",)),
    RegistryEntry("P2", "record", ("P2",), (3, "changes",)),
    RegistryEntry("P3", "record", ("P3",), (3, "changes",)),
    RegistryEntry("P4", "record", ("P4",), (3, "changes",)),
    RegistryEntry("P5", "record", ("P5",), (3, "changes",)),
    RegistryEntry("P6", "record", ("P6",), (3, "changes",)),
    RegistryEntry("P7", "record", ("P7",), ("changes",)),
    RegistryEntry("P8", "record", ("P8",), (3, "changes",)),
    RegistryEntry("P9", "record", ("P9",), (3, "changes",)),
    RegistryEntry("P10", "record", ("P10",), ("changes",)),
    RegistryEntry("P11", "operation", ("P11",), ("operations",)),
    RegistryEntry("P12", "operation", ("P12",), ("operations",)),
    RegistryEntry("P13", "operation", ("P13",), ("operations",)),
    RegistryEntry("P14", "operation", ("P14",), ("operations",)),
    RegistryEntry("P15", "record", ("P15",), ("changes",)),
    RegistryEntry("E1", "record", ("E1",), (3, "checkpoints",)),
    RegistryEntry("E2", "checkpoint", ("E2",), ("checkpoints",)),
    RegistryEntry("E3", "record", ("E3",), (3,)),
    RegistryEntry("E4", "record", ("E4",), (3,)),
    RegistryEntry("E5", "record", ("E5",), ("changes",)),
    RegistryEntry("E6", "record", ("E6",), ("changes",)),
    RegistryEntry("E7", "record", ("E7",), ("changes",)),
    RegistryEntry("E8", "checkpoint", ("E8",), ("checkpoints",)),
    RegistryEntry("X1", "record", ("X1",), (3, "changes",)),
    RegistryEntry("X2", "record", ("X2",), ("changes",)),
    RegistryEntry("X3", "record", ("X3",), (3, "changes",)),
    RegistryEntry("X4", "record", ("X4",), ("changes",)),
    RegistryEntry("X5", "record", ("X5",), ("changes",)),
    RegistryEntry("X6", "record", ("X6",), ("changes",)),
    RegistryEntry("X7", "record", ("X7",), ("changes",)),
    RegistryEntry("X8", "record", ("X8",), ("changes",)),
    RegistryEntry("X9", "record", ("X9",), ("changes",)),
    RegistryEntry("O1", "record", ("O1",), (15,)),
    RegistryEntry("O2", "record", ("O2",), (15,)),
    RegistryEntry("O3", "record", ("O3",), (12, 27,)),
    RegistryEntry("O4", "record", ("O4",), (18, 19,)),
    RegistryEntry("O5", "record", ("O5",), (4,)),
    RegistryEntry("O6", "record", ("O6",), (22,)),
)  # fmt: skip
_WRITTEN: Final = (
    RegistryEntry("W1", "batch", ("W1",), ("batches",)),
    RegistryEntry("W2", "record", ("W2",), ("every",)),
    RegistryEntry("W3", "record", ("W3",), (0, 3, 4, 10, 11, 14, 18, 22, 23, 25, 27,)),
    RegistryEntry("W4", "record", ("W4",), (4, 14, "changes",)),
    RegistryEntry("W5", "record", ("W5",), (0, 12, 21, 27,)),
)  # fmt: skip
REGISTRY: Final[dict[str, RegistryEntry]] = {entry.id: entry for entry in (*_ENTRIES, *_WRITTEN)}


def check_totals(histories: Iterable[CheckCounts]) -> dict[str, int]:
    """Return, by invariant, how often histories checked it."""
    every = tuple(histories)
    return {entry.id: sum(entry.checks(counts) for counts in every) for entry in REGISTRY.values()}
