"""The checks that a history asks of the invariants: all of them, or none.

Without them a history leads to the same state, as long as all its records are legal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from krafla.audit.history_checks import (
    checkpoint_findings,
    creation_violations,
    feature_violations,
    new_partition_violations,
    operation_violations,
    record_violations,
    version_violations,
    written_violations,
)
from krafla.audit.transactions import stranger_in_bootstrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krafla.audit.history_state import HistoryState
    from krafla.audit.image import Image
    from krafla.audit.result import Finding
    from kraft.records.batch import RecordBatch
    from kraft.records.record import MetadataRecord

    Found = Callable[..., Iterable[Finding]]


class Checks(NamedTuple):
    """The checks of a batch, of its records, of the operation that it ends, of a checkpoint."""

    written: Found
    stranger: Callable[
        [Image, RecordBatch, dict[tuple[int, int], int]], tuple[MetadataRecord, str] | None
    ]
    versions: Found
    created: Found
    features: Found
    record: Found
    new_partition: Found
    operation: Found
    checkpoint: Found


def _nothing(*_: Any, **__: Any) -> tuple[Finding, ...]:
    return ()


def _no_stranger(*_: Any) -> None:
    return None


def _features_settled(state: HistoryState) -> tuple[Finding, ...]:
    """Forget the features that a batch changed, where `feature_violations` does."""
    if state.image.before_transaction() is None:
        state.features = {}
    return ()


def _operation_settled(state: HistoryState, _: RecordBatch) -> tuple[Finding, ...]:
    """Forget the partitions that an operation touched, as `operation_violations` does."""
    state.image.partitions.settle()
    state.brokers_changed = False
    return ()


JUDGED: Final = Checks(
    written_violations,
    stranger_in_bootstrap,
    version_violations,
    creation_violations,
    feature_violations,
    record_violations,
    new_partition_violations,
    operation_violations,
    checkpoint_findings,
)
UNJUDGED: Final = Checks(
    _nothing,
    _no_stranger,
    _nothing,
    _nothing,
    _features_settled,
    _nothing,
    _nothing,
    _operation_settled,
    _nothing,
)
