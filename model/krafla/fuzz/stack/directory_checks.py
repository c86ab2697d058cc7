"""Checks that a broker's log directories hold the replicas that its metadata says, and no others.

They are compared once a broker has read its disks at its start, and whenever its replicas or its
image change after that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.violation import Violated
from kraft.controller.memory import visible_of
from kraft.image.entries import UNASSIGNED

if TYPE_CHECKING:
    from kraft.broker.partitions import PartitionKey
    from kraft.sim.stack.broker_disk import BrokerDisk
    from kraft.sim.stack.broker_host import BrokerView

__all__ = ["DIRECTORY_PROPERTIES", "DirectoryChecks"]

DIRECTORY_PROPERTIES: Final = ("NoStrayReplicaInv", "OpenedWhereNamedProp")


class DirectoryChecks:
    """The replicas that each disk held when it was looked at last, over all processes of a run."""

    def __init__(self) -> None:
        self._held: dict[BrokerDisk, frozenset[PartitionKey]] = {}

    def check(self, before: BrokerView | None, after: BrokerView) -> None:
        """Check the directories after a step that may have changed them. Raises Violated."""
        if not after.begun:
            return
        if before is not None and before.begun and before.own is after.own:
            image = visible_of(after.memory).image
            if visible_of(before.memory).image.partitions is image.partitions:
                return
        _check_strays(after)
        _check_opened(self._held.get(after.disk, frozenset()), after)
        self._held[after.disk] = frozenset(after.own.replicas)


def _check_strays(view: BrokerView) -> None:
    """Check that each replica is in one directory, its own, and belongs to the broker.

    Source: KAFKA-13127, KAFKA-14616.
    """
    image, broker_id = visible_of(view.memory).image, view.own.broker_id
    on_disk = {(key, directory) for directory, logs in view.disk.logs.items() for key in logs}
    known = {(key, replica.directory) for key, replica in view.own.replicas.items()}
    for key, directory in sorted(on_disk ^ known):
        there = "is on disk, and the broker knows nothing of it"
        if (key, directory) in known:
            there = "is not on disk"
        raise Violated(
            "NoStrayReplicaInv",
            f"partition {key[1]} of topic {key[0]} in directory {directory} of broker {broker_id} "
            f"{there}",
        )
    for key in sorted(view.own.replicas):
        partition = image.partitions.get(key)
        if partition is None or broker_id not in partition.replicas:
            replicas = "is deleted" if partition is None else f"has {list(partition.replicas)}"
            raise Violated(
                "NoStrayReplicaInv",
                f"broker {broker_id} keeps a replica of partition {key[1]} of topic {key[0]}, "
                f"which {replicas}",
            )


def _check_opened(held: frozenset[PartitionKey], view: BrokerView) -> None:
    """Check that a new replica is in the directory that the metadata names, if it can be.

    Where one directory has failed, the replica may be in the one that is named, so that it is
    not created in another.
    """
    image, broker_id = visible_of(view.memory).image, view.own.broker_id
    healthy = view.disk.healthy
    for key, replica in view.own.replicas.items():
        if key in held:
            continue
        partition = image.partitions[key]
        named = partition.directories[partition.replicas.index(broker_id)]
        must = named in healthy or (bool(view.disk.failed) and named != UNASSIGNED)
        if must and replica.directory != named:
            raise Violated(
                "OpenedWhereNamedProp",
                f"broker {broker_id} opens partition {key[1]} of topic {key[0]} in directory "
                f"{replica.directory}; the metadata names {named}",
            )
