"""The 83 invariants that a committed metadata log alone can break, by their ids.

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
from krafla.audit.invariants_migration import MIGRATION_FLAGS
from krafla.audit.invariants_others import OTHER_INVARIANTS
from krafla.audit.invariants_topics import TOPIC_INVARIANTS
from krafla.audit.invariants_values import VALUE_INVARIANTS
from krafla.audit.invariants_written import WRITTEN_INVARIANTS
from krafla.audit.statements import STATEMENTS
from krafla.audit.transactions import BEGUN, MINIMUM_BOOTSTRAPPED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.audit.check_counts import CheckCounts

_ALL: Final = (
    *LOG_INVARIANTS, *FEATURE_INVARIANTS, *BROKER_INVARIANTS, *TOPIC_INVARIANTS, *OTHER_INVARIANTS,
    *WRITTEN_INVARIANTS, BEGUN, MINIMUM_BOOTSTRAPPED, MIGRATION_FLAGS,
    *VALUE_INVARIANTS,
)  # fmt: skip
RECORD_INVARIANTS: Final[dict[int, tuple[RecordInvariant, ...]]] = {
    key: tuple(one for one in _ALL if key in one.api_keys)
    for key in sorted({key for one in _ALL for key in one.api_keys})
}
"""The invariants of single records, by api key, in the order in which they are checked."""


_LEASE: Final = "UntimedLease!"


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """An invariant of the log.

    `checked_on` names counters of `CheckCounts`, or types of records by api key. `actions` report
    it in UntimedLease.tla, if it is a conjunct there.
    """

    id: str
    granularity: str
    checked_on: tuple[str | int, ...]
    actions: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of findings that report it: actions and properties of the spec, or its id."""
        return tuple(_LEASE + one for one in self.actions) or (self.id,)

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


_CHANGES: Final = (
    "FenceBroker", "UnfenceBroker", "BeginControlledShutdown", "ChangeDirectories",
    "UnregisterBroker",
)  # fmt: skip
_ENTRIES: Final = (
    RegistryEntry("L1", "record", ("every",)),
    RegistryEntry("L2", "batch", ("batches",)),
    RegistryEntry("L3", "record", ("batches",)),
    RegistryEntry("L4", "checkpoint", ("checkpoints",)),
    RegistryEntry("L5", "checkpoint", ("checkpoints",)),
    RegistryEntry("L6", "checkpoint", ("checkpoints",)),
    RegistryEntry("L7", "checkpoint", ("checkpoints",)),
    RegistryEntry("L8", "batch", ("batches",)),
    RegistryEntry("L9", "record", (4, 9, 14, 26,)),
    RegistryEntry("L11", "batch", (2,)),
    RegistryEntry("L12", "batch", (3, 9, "changes",)),
    RegistryEntry("L13", "batch", ("batches",)),
    RegistryEntry("S1", "checkpoint", ("checkpoints",)),
    RegistryEntry("S2", "checkpoint", ("checkpoints",)),
    RegistryEntry("S3", "checkpoint", ("checkpoints",)),
    RegistryEntry("F1", "batch", (12,)),
    RegistryEntry("F2", "record", (12,)),
    RegistryEntry("F3", "record", (12,)),
    RegistryEntry("B1", "record", ("checkpoints",)),
    RegistryEntry("B2", "record", (0,), ("RegisterBroker",)),
    RegistryEntry("B3", "record", (0,), ("RegisterBroker", "EpochUniqueInv")),
    RegistryEntry("B4", "record", (0,), ("AmendRegistration",)),
    RegistryEntry("B5", "record", (0,), ("RegisterBroker", "NewRegistrationIsFencedProp")),
    RegistryEntry("B6", "record", (1, 7, 8, 17,), _CHANGES),
    RegistryEntry("B7", "record", (0, 17,), ("Next", "AmendRegistration")),
    RegistryEntry("B8", "record", (0, 12,)),
    RegistryEntry("B9", "record", (0, 17,)),
    RegistryEntry("B10", "record", (17,)),
    RegistryEntry("B15", "record", (0,)),
    RegistryEntry("T1", "record", (2,)),
    RegistryEntry("T2", "record", (2,)),
    RegistryEntry("T3", "batch", (3,)),
    RegistryEntry("T4", "checkpoint", ("checkpoints",)),
    RegistryEntry("T5", "record", (3, 28, "changes",)),
    RegistryEntry("T6", "record", (3, 9, "changes",)),
    RegistryEntry("T7", "record", (3,)),
    RegistryEntry("T8", "record", (3, "changes",)),
    RegistryEntry("T9", "record", (3, "changes",)),
    RegistryEntry("T10", "record", (3,)),
    RegistryEntry("P1", "record", (3, "changes",)),
    RegistryEntry("P2", "record", (3, "changes",)),
    RegistryEntry("P3", "record", (3, "changes",)),
    RegistryEntry("P4", "record", (3, "changes",)),
    RegistryEntry("P5", "record", (3, "changes",)),
    RegistryEntry("P6", "record", (3, "changes",)),
    RegistryEntry("P7", "record", ("changes",)),
    RegistryEntry("P8", "record", (3, "changes",)),
    RegistryEntry("P9", "record", (3, "changes",)),
    RegistryEntry("P10", "record", ("changes",)),
    RegistryEntry("P11", "operation", ("operations",)),
    RegistryEntry("P12", "operation", ("operations",)),
    RegistryEntry("P13", "operation", ("operations",)),
    RegistryEntry("P14", "operation", ("operations",)),
    RegistryEntry("P15", "record", ("changes",)),
    RegistryEntry("P16", "operation", ("changes",)),
    RegistryEntry("E1", "record", (3, "checkpoints",)),
    RegistryEntry("E2", "checkpoint", ("checkpoints",)),
    RegistryEntry("E3", "record", (3,)),
    RegistryEntry("E4", "record", (3,)),
    RegistryEntry("E5", "record", ("changes",)),
    RegistryEntry("E6", "record", ("changes",)),
    RegistryEntry("E7", "record", ("changes",)),
    RegistryEntry("E8", "checkpoint", ("checkpoints",)),
    RegistryEntry("X1", "record", (3, "changes",)),
    RegistryEntry("X2", "record", ("changes",)),
    RegistryEntry("X3", "record", (3, "changes",)),
    RegistryEntry("X4", "record", ("changes",)),
    RegistryEntry("X5", "record", ("changes",)),
    RegistryEntry("X6", "record", ("changes",)),
    RegistryEntry("X7", "record", ("changes",)),
    RegistryEntry("X8", "record", ("changes",)),
    RegistryEntry("X9", "record", ("changes",)),
    RegistryEntry("O1", "record", (15,)),
    RegistryEntry("O2", "record", (15,)),
    RegistryEntry("O3", "record", (12, 27,)),
    RegistryEntry("O4", "record", (18, 19,)),
    RegistryEntry("O5", "record", (4,)),
    RegistryEntry("O6", "record", (22,)),
)  # fmt: skip
_WRITTEN: Final = (
    RegistryEntry("W1", "batch", ("batches",)),
    RegistryEntry("W2", "record", ("every",)),
    RegistryEntry("W3", "record", (0, 3, 4, 10, 11, 12, 14, 18, 22, 23, 25, 27,)),
    RegistryEntry("W4", "record", (4, 14, 28, "changes",)),
    RegistryEntry("W5", "record", (0, 12, 21, 27,)),
)  # fmt: skip
REGISTRY: Final[dict[str, RegistryEntry]] = {entry.id: entry for entry in (*_ENTRIES, *_WRITTEN)}


def check_totals(histories: Iterable[CheckCounts]) -> dict[str, int]:
    """Return, by invariant, how often histories checked it."""
    every = tuple(histories)
    return {entry.id: sum(entry.checks(counts) for counts in every) for entry in REGISTRY.values()}
