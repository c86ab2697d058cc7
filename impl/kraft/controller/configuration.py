"""The static configuration of a quorum controller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.controller.operations.defaults import Defaults
from kraft.records.limits import MAX_RECORDS_PER_BATCH, MIB

if TYPE_CHECKING:
    from kraft.records.typed_record import TypedRecord

_DEFAULTS: Final = Defaults()


@dataclass(frozen=True, slots=True)
class Configuration:
    """The static configuration of a quorum controller, with Kafka's defaults.

    `bootstrap` holds the records that the first controller of a cluster writes into its empty log.
    Times are in milliseconds; a period of 0 turns a task off.

    Kafka: QuorumController.Builder, KafkaConfig.
    """

    defaults: Defaults = _DEFAULTS
    bootstrap: tuple[TypedRecord, ...] = ()
    max_records_per_batch: int = MAX_RECORDS_PER_BATCH
    metadata_max_idle_interval_ms: int = 500
    leader_imbalance_check_interval_ms: int = 300_000
    unclean_leader_election_check_interval_ms: int = 300_000
    delegation_token_expiry_check_interval_ms: int = 3_600_000
    max_record_bytes_between_snapshots: int = 20 * MIB
    max_snapshot_interval_ms: int = 3_600_000
