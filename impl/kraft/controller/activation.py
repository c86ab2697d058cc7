"""A standby becomes the active controller.

Kafka: QuorumController.claim, QuorumController.CompleteActivationEvent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.controller.memory import FaultError, in_transaction, visible_of
from kraft.controller.operations.broker_heartbeats import heartbeats_on_activation
from kraft.controller.operations.defaults import MIN_INSYNC_REPLICAS
from kraft.controller.operations.leader_eligibility import ELIGIBLE_LEADER_REPLICAS
from kraft.controller.operations.result import Result
from kraft.controller.tasks import schedule_all
from kraft.controller.write_path import write
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.versions import IBP_3_6_IV1
from kraft.records.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
)
from kraft.records.topics import BROKER_RESOURCE, ConfigRecord

if TYPE_CHECKING:
    from kraft.controller.configuration import Configuration
    from kraft.controller.memory import Memory
    from kraft.controller.operation_table import Operations
    from kraft.controller.state import Turn
    from kraft.records.typed_record import TypedRecord

_ABORT: Final = AbortTransactionRecord("Controller failover")
_BEGIN: Final = BeginTransactionRecord("Bootstrap records")


def claim(turn: Turn, epoch: int, operations: Operations) -> None:
    """Become active in an epoch and write the first records of the epoch, before any request.

    Raises FaultError if a transaction is open and the metadata version has no transactions.
    Spec: MetadataLog!Claim, MetadataLog!ClaimWithOpenTransaction.
    Kafka: QuorumController.claim, QuorumController.CompleteActivationEvent.
    """
    state = turn.state
    configuration = state.configuration
    result = activation_records(state.written, configuration)
    heartbeats = heartbeats_on_activation(
        state.written.written, configuration.defaults, turn.now_ms
    )
    turn.change(claim_epoch=epoch, heartbeats=heartbeats)
    schedule_all(turn, operations)
    write(turn, lambda _: result, None)


def activation_records(memory: Memory, configuration: Configuration) -> Result[None]:
    """Return the first records that a new active controller writes.

    They are the bootstrap records if the log is empty, and an abort if a transaction is open. A log
    counts as empty while it has no metadata version outside an open transaction. Kafka 4.1 also
    looks inside the open transaction: it aborts a half-written bootstrap and does not write it
    again.

    Raises FaultError if a transaction is open and the metadata version has no transactions.
    Kafka: ActivationRecordsGenerator.generate.
    """
    version = visible_of(memory).image.metadata_version
    if version is not None:
        _check_transaction(memory, version)
        return Result((_ABORT,) if in_transaction(memory) else (), None)
    if not configuration.bootstrap:
        return Result((_ABORT,) if in_transaction(memory) else (), None)
    version = _level(configuration, METADATA_VERSION)
    _check_transaction(memory, version)
    records = (*configuration.bootstrap, *_min_isr(configuration))
    if version < IBP_3_6_IV1:
        return Result(records, None)
    aborted = (_ABORT,) if in_transaction(memory) else ()
    return Result((*aborted, _BEGIN, *records, EndTransactionRecord()), None, is_atomic=False)


def _check_transaction(memory: Memory, version: int) -> None:
    if in_transaction(memory) and version < IBP_3_6_IV1:
        raise FaultError(
            f"a transaction is open at offset {memory.transaction_start}, but metadata version "
            f"{version} has none"
        )


def _level(configuration: Configuration, feature: str) -> int:
    """Return the level of a feature in the bootstrap records, 0 if they do not set it."""
    levels = [
        record.feature_level
        for record in configuration.bootstrap
        if isinstance(record, FeatureLevelRecord) and record.name == feature
    ]
    return levels[-1] if levels else 0


def _min_isr(configuration: Configuration) -> tuple[TypedRecord, ...]:
    """Return the cluster-wide min.insync.replicas that eligible leader replicas need (KIP-966)."""
    if not _level(configuration, ELIGIBLE_LEADER_REPLICAS):
        return ()
    value = str(configuration.defaults.min_insync_replicas)
    return (ConfigRecord(BROKER_RESOURCE, "", MIN_INSYNC_REPLICAS, value),)
