"""What an active controller keeps of brokers in memory only, as its records change them.

Kafka: BrokerHeartbeatManager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.controller.operations.broker_heartbeats import OF_BROKERS, replay_with_heartbeats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.controller.operations.heartbeats import Heartbeats
    from kraft.controller.operations.written import Written
    from kraft.ids import Offset
    from kraft.records.typed_record import TypedRecord


def after_records(
    heartbeats: Heartbeats, before: Written, records: Sequence[TypedRecord], base_offset: Offset
) -> Heartbeats:
    """Return what is kept of brokers once these records are replayed.

    Raises RefusedRecordError if a record is ruled out by those before it.
    Kafka: BrokerHeartbeatManager.register, BrokerHeartbeatManager.remove.
    """
    if not any(isinstance(record, OF_BROKERS) for record in records):
        return heartbeats
    return replay_with_heartbeats(before, heartbeats, records, base_offset)[1]
