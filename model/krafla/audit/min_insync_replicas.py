"""The effective min.insync.replicas of a topic, and what it means for eligible leader replicas.

A value of the topic comes first, then one of the node that leads, then the cluster-wide default.
Without these the static configuration counts, which no log shows.

Kafka: ReplicationControlManager.getTopicEffectiveMinIsr, KafkaConfigSchema. KIP-966.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.entities import (
    BROKER_RESOURCE,
    MIN_INSYNC_REPLICAS,
    TOPIC_RESOURCE,
    number_of,
)
from krafla.audit.result import Invariant

if TYPE_CHECKING:
    from krafla.audit.image import Image
    from krafla.audit.partitions import Objections

_EVERY_NODE: Final = ""
_FIRST_PARTITION: Final = bytes(4)
ELR_CLEARED: Final = Invariant(
    "P7",
    "KIP-966; Kafka: PartitionChangeBuilder.maybePopulateTargetElr",
)


def effective_minimum(image: Image, key: bytes, *, least: bool = True) -> int | None:
    """Return the least ISR of a partition's topic, None if the log does not show it.

    It is at most the number of replicas of the topic's first partition, before an operation that
    changes it. Where operations share a batch, the log does not show which one did: the minimum is
    the `least` that it may be, or the greatest.
    """
    minimum = _configured(image, image.entities.topic_names.get(key[4:]))
    counts = image.partitions.replica_counts(_FIRST_PARTITION + key[4:])
    if minimum is None or not counts:
        return minimum
    return min(minimum, min(counts) if least else max(counts))


def _configured(image: Image, name: str | None) -> int | None:
    configs = image.entities.configs
    levels = [] if name is None else [(TOPIC_RESOURCE, name)]
    if image.leader is not None:
        levels.append((BROKER_RESOURCE, str(image.leader)))
    elif any(r == BROKER_RESOURCE and n and c == MIN_INSYNC_REPLICAS for r, n, c in configs):
        return number_of(configs.get((*levels[0], MIN_INSYNC_REPLICAS))) if levels else None
    levels.append((BROKER_RESOURCE, _EVERY_NODE))
    values = (configs.get((kind, resource, MIN_INSYNC_REPLICAS)) for kind, resource in levels)
    return number_of(next((value for value in values if value is not None), None))


def uncleared(image: Image, key: bytes, in_sync: int) -> Objections:
    """Return what is wrong with an ELR beside an ISR of this size."""
    minimum = effective_minimum(image, key, least=False) if image.elr_enabled else None
    if minimum is None or in_sync < minimum:
        return ()
    said = f"the ISR has {in_sync} replicas, of the {minimum} it needs, yet replicas are eligible"
    return ((ELR_CLEARED, f"{said} or last known leaders"),)
