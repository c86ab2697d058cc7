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
    """Become active in an epoch, and write what must come first, before any request is heard.

    Raises FaultError if a transaction is open that the metadata version does not know.
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
    """Return what a new active controller writes first.

    Into an empty log, the bootstrap records; if a transaction is open, its abort. A log is empty as
    long as it says no metadata version outside of an open transaction. Kafka 4.1 looks into that,
    too, so it aborts a half bootstrap and leaves it at that.

    Raises FaultError if a transaction is open that the metadata version does not know.
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
    """Return the level that the bootstrap records give a feature, 0 if none."""
    levels = [
        record.feature_level
        for record in configuration.bootstrap
        if isinstance(record, FeatureLevelRecord) and record.name == feature
    ]
    return levels[-1] if levels else 0


def _min_isr(configuration: Configuration) -> tuple[TypedRecord, ...]:
    """Return what all must agree on where there are eligible leader replicas (KIP-966)."""
    if not _level(configuration, ELIGIBLE_LEADER_REPLICAS):
        return ()
    value = str(configuration.defaults.min_insync_replicas)
    return (ConfigRecord(BROKER_RESOURCE, "", MIN_INSYNC_REPLICAS, value),)
