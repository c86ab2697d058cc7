"""Directories by hand that hold what the metadata does not say, or hold it elsewhere."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from immutables import Map

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.directory_checks import DirectoryChecks
from kraft.broker.partitions import BrokerPartitions
from kraft.broker.replication import Replica
from kraft.controller.memory import Memory
from kraft.controller.operations.written import Written
from kraft.image.entries import UNASSIGNED, Partition, Topic
from kraft.image.metadata_image import MetadataImage
from kraft.sim.stack.broker_disk import BrokerDisk

TOPIC = "A" * 21 + "g"
KEY, OTHER = (TOPIC, 0), (TOPIC, 1)


def view(disk, named, where, key=KEY, on_disk=(KEY,)):
    """Return the view of broker 1 with one replica; the metadata names a directory for KEY."""
    partition = Partition((1, 2), (named, UNASSIGNED), (1,), leader=1)
    topic = Topic("t", TOPIC, (0,))
    image = MetadataImage(topics=Map({TOPIC: topic}), partitions=Map({KEY: partition}))
    replica = Replica(where)
    disk.logs[where] = dict.fromkeys(on_disk, replica.log)
    own = BrokerPartitions(1, Map({key: replica}))
    return SimpleNamespace(begun=True, memory=Memory(Written(image)), own=own, disk=disk)


def found(seen):
    checks = DirectoryChecks()
    try:
        for one in seen:
            checks.check(None, one)
    except Violated as broken:
        return broken.name
    return None


@pytest.fixture
def disk():
    return BrokerDisk(1, 1, "D" * 21 + "A", 3)


def test_a_replica_where_the_metadata_names_it_or_names_nothing_is_held(disk):
    first, second, _ = disk.directories
    assert found([view(disk, second, second)]) is None
    assert found([view(disk, UNASSIGNED, first, on_disk=(KEY,))]) == "NoStrayReplicaInv"
    disk.logs[second].clear()
    assert found([view(disk, UNASSIGNED, first)]) is None


def test_a_new_replica_elsewhere_than_named_is_found_but_not_one_that_was_there(disk):
    first, second, _ = disk.directories
    assert found([view(disk, second, first)]) == "OpenedWhereNamedProp"
    assert found([view(disk, first, first), view(disk, second, first)]) is None


def test_where_the_named_directory_has_failed_no_other_takes_its_replica(disk):
    first, second, _ = disk.directories
    disk.fail(second)
    assert found([view(disk, second, first)]) == "OpenedWhereNamedProp"
    assert found([view(disk, UNASSIGNED, first)]) is None


def test_a_replica_that_is_on_no_disk_or_of_a_deleted_partition_is_found(disk):
    first = disk.directories[0]
    assert found([view(disk, first, first, on_disk=())]) == "NoStrayReplicaInv"
    assert found([view(disk, first, first, on_disk=(KEY, OTHER))]) == "NoStrayReplicaInv"
    assert found([view(disk, first, first, OTHER, (OTHER,))]) == "NoStrayReplicaInv"
