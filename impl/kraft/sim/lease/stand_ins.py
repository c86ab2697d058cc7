"""Two records that stand for the parts of other protocols that the lease sees.

Neither has bytes of its own: the records they stand for have more fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.records.lease import LeaseRecord

if TYPE_CHECKING:
    from kraft.ids import BrokerId


@dataclass(frozen=True, slots=True)
class LeadershipChange:
    """A broker that led nothing leads a partition; stands for PartitionChangeRecord.

    No record takes a leadership away. In Kafka, such PartitionChangeRecords surround the record
    that causes them, in one write; here, replaying that record does it.
    """

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class LeaderChangeMessage:
    """A controller became active; stands for the control record that opens Raft's epoch."""


Record = LeaseRecord | LeadershipChange | LeaderChangeMessage
