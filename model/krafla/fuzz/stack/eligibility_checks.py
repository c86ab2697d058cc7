"""Checks of the replicas that are eligible to lead beside the ISR (KIP-966).

Each is of what one step of an active controller writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.permissions import is_elr_enabled
from kraft.records.topics import TOPIC_RESOURCE

if TYPE_CHECKING:
    from kraft.records.topics import ConfigRecord, PartitionChangeRecord
    from kraft.sim.raft.steps import ListenerStep

__all__ = ["MINIMUM", "check_cleared", "check_eligible", "check_not_eligible"]

MINIMUM: Final = "min.insync.replicas"
"""The configuration below which replicas outside the ISR are eligible."""


def check_eligible(listener: ListenerStep, record: PartitionChangeRecord) -> None:
    """Check that replicas are eligible only while the ISR is smaller than the node's minimum.

    Raises Violated.
    """
    image, defaults = listener.before.written.image, listener.before.configuration.defaults
    topic = image.topics.get(record.topic_id)
    key = record.topic_id, record.partition_id
    partition = listener.after.written.image.partitions.get(key)
    if topic is None or partition is None or not partition.eligible_leader_replicas:
        return
    least = str(defaults.min_insync_replicas)
    for resource in ((4, ""), (4, str(defaults.node_id)), (2, topic.name)):
        least = image.configurations.get(resource, {}).get(MINIMUM, least)
    first = image.partitions[record.topic_id, topic.partition_ids[0]]
    if partition.isr == (partition.leader,) and partition.leader not in image.partitions[key].isr:
        # As built: eligibility is settled before one of the eligible replicas is elected, with an
        # empty ISR. It may have become empty by the same change.
        return
    if len(partition.isr) >= min(int(least), len(first.replicas)):
        raise Violated(
            "EligibleBelowMinimumProp",
            f"partition {record.partition_id} of topic {topic.name} has ISR {list(partition.isr)}, "
            f"the minimum is {least}, and {list(partition.eligible_leader_replicas)} are eligible",
        )


def check_cleared(listener: ListenerStep, record: ConfigRecord) -> None:
    """Check that no replica stays eligible by another minimum than the configured one.

    Raises Violated.
    """
    image = listener.after.written.image
    if not is_elr_enabled(listener.before.written.image):
        # As built: replicas that were eligible when the feature was disabled stay so until the next
        # change.
        return
    for (topic_id, index), partition in image.partitions.items():
        of_topic = image.topics[topic_id].name == record.resource_name
        if partition.eligible_leader_replicas and (
            of_topic or record.resource_type != TOPIC_RESOURCE
        ):
            raise Violated(
                "EligibleBelowMinimumProp",
                f"{MINIMUM} becomes {record.value}, yet in partition {index} of topic {topic_id} "
                f"{list(partition.eligible_leader_replicas)} stay eligible",
            )


def check_not_eligible(listener: ListenerStep, broker_id: int) -> None:
    """Check that a broker that may have lost data is not eligible to lead anything (KIP-966).

    Raises Violated.
    """
    for key, partition in listener.after.written.image.partitions.items():
        if broker_id in partition.eligible_leader_replicas:
            raise Violated(
                "UncleanIsNotEligibleProp",
                f"broker {broker_id} comes back from a crash and is eligible to lead partition "
                f"{key[1]} of topic {key[0]}",
            )
