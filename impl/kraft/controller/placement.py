"""Where the replicas of new partitions go: over racks and brokers in turn.

Kafka: StripedReplicaPlacer, which draws where to begin and draws again after a round. Here the
caller says where to begin, so that the same request is placed in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from kraft.controller.errors import ControllerError
from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.ids import BrokerId
    from kraft.image.metadata_image import MetadataImage

T = TypeVar("T")


def place(
    image: MetadataImage, partition_count: int, replication_factor: int, start: int
) -> tuple[tuple[BrokerId, ...], ...]:
    """Return the replicas of each new partition, each in as many racks as there are.

    Who is shutting down gets none; who is fenced gets some, but is never the first. `start` is any
    number: it says with which rack and broker to begin.

    Raises ControllerError (INVALID_REPLICATION_FACTOR) if there are too few brokers, or all are
    fenced.
    Kafka: StripedReplicaPlacer.place.
    """
    racks = _racks(image)
    usable = sum(len(unfenced) + len(fenced) for unfenced, fenced in racks)
    reason = f"unable to replicate the partition {replication_factor} time(s): "
    if replication_factor > usable:
        reason += f"only {usable} broker(s) are registered"
    elif not any(unfenced for unfenced, _ in racks):
        reason += "all brokers are fenced"
    else:
        return tuple(
            _place_one(racks, replication_factor, start + partition)
            for partition in range(partition_count)
        )
    raise ControllerError(ErrorCode.INVALID_REPLICATION_FACTOR, reason)


def _racks(image: MetadataImage) -> list[tuple[list[BrokerId], list[BrokerId]]]:
    """Return for each rack, in the order of their names, who is unfenced and who is fenced."""
    by_name: dict[str, tuple[list[BrokerId], list[BrokerId]]] = {}
    for broker_id, registration in sorted(image.brokers.items()):
        if not registration.in_controlled_shutdown:
            rack = by_name.setdefault(registration.rack or "", ([], []))
            rack[registration.fenced].append(broker_id)
    return [by_name[name] for name in sorted(by_name)]


def _place_one(
    racks: list[tuple[list[BrokerId], list[BrokerId]]], replication_factor: int, turn: int
) -> tuple[BrokerId, ...]:
    """Return the replicas of the partition whose turn it is: the first is unfenced."""
    # After a round of the racks each of them begins with its next broker.
    round_of_racks = turn // len(racks)
    in_turn = [
        (_rotated(unfenced, round_of_racks), _rotated(fenced, round_of_racks))
        for unfenced, fenced in _rotated(racks, turn)
    ]
    first = next(index for index, (unfenced, _) in enumerate(in_turn) if unfenced)
    queues = [[*unfenced, *fenced] for unfenced, fenced in in_turn]
    replicas = [queues[first].pop(0)]
    # The rack of the leader comes last in the first round of the others.
    order = [*range(first + 1, len(queues)), *range(first + 1)]
    while len(replicas) < replication_factor:
        for index in order:
            if queues[index] and len(replicas) < replication_factor:
                replicas.append(queues[index].pop(0))
    return tuple(replicas)


def _rotated(items: Sequence[T], by: int) -> list[T]:
    start = by % len(items) if items else 0
    return [*items[start:], *items[:start]]
