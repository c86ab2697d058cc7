"""Two records that stand for what the lease protocol sees of other protocols.

Neither has bytes of its own: the records they stand for have more fields than a lease knows.
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

    There is no counterpart that takes a leadership away. In Kafka those PartitionChangeRecords
    surround the record that causes them, in one write; here replaying the cause does it.
    """

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class LeaderChangeMessage:
    """A controller became active; stands for the control record that raft opens its epoch with."""


Record = LeaseRecord | LeadershipChange | LeaderChangeMessage
