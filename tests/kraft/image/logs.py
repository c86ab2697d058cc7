"""Records for tests of images."""

from __future__ import annotations

from typing import Any

from kraft.records.lease import RegisterBrokerRecord
from kraft.records.topics import PartitionRecord, TopicRecord

TOPIC_A = "a" + "A" * 21
TOPIC_B = "b" + "A" * 21


def register(broker_id: int, epoch: int, **more: Any) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(broker_id, "I" * 22, epoch, **more)


def topic(name: str, topic_id: str = TOPIC_A) -> TopicRecord:
    return TopicRecord(name, topic_id)


def partition(partition_id: int, topic_id: str = TOPIC_A, **more: Any) -> PartitionRecord:
    """Return a partition of brokers 1, 2 and 3, which broker 1 leads."""
    given = {"isr": (1, 2, 3), "leader": 1, "leader_epoch": 0, "partition_epoch": 0, **more}
    return PartitionRecord(partition_id, topic_id, (1, 2, 3), **given)
