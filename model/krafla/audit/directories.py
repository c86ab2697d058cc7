"""The directories of replicas: whose they are, and which are online, as far as a log shows.

Kafka: DirectoryId, BrokerRegistration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.ids import ZERO_UUID, uuid_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from krafla.audit.broker_registrations import BrokerRegistration
    from krafla.audit.partition_state import PartitionState

_UNASSIGNED: Final = uuid_text((1).to_bytes(16, "big"))
MIGRATING: Final = ZERO_UUID
NOT_NAMED_YET: Final = frozenset({MIGRATING, _UNASSIGNED})
"""Directory ids of replicas whose directory is not assigned yet: MIGRATING, UNASSIGNED.

Kafka: DirectoryId.
"""


def directory_online(
    state: PartitionState, replica: int, registrations: Mapping[int, BrokerRegistration]
) -> bool:
    """Return whether the directory of a replica is online, as far as the log shows.

    A list of another length than that of the replicas shows nothing; T9 refuses it.

    Kafka: ClusterControlManager.brokerRegistrations, BrokerRegistration.hasOnlineDir.
    """
    if len(state.directories) != len(state.replicas) or replica not in state.replicas:
        return True
    directory = state.directories[state.replicas.index(replica)]
    registered = registrations.get(replica)
    known = () if registered is None else registered.directories
    return directory in NOT_NAMED_YET or not known or directory in known


def offline_leader(state: PartitionState) -> str:
    """Return the sentence that the directory of a partition's leader is not online."""
    directory = state.directories[state.replicas.index(state.leader)]
    return f"the directory {directory} of its leader {state.leader} is not online"


def led_in_lost_directories(
    states: Iterable[PartitionState], registrations: Mapping[int, BrokerRegistration]
) -> set[PartitionState]:
    """Return the states of partitions whose leader is in a directory that is not online."""
    different = {id(state): state for state in states}.values()
    return {s for s in different if not directory_online(s, s.leader, registrations)}


def foreign_directory(
    registrations: Mapping[int, BrokerRegistration],
    replicas: tuple[int, ...],
    directories: tuple[str, ...],
) -> str | None:
    """Return a sentence about the first of some new replicas in a directory that Kafka never gives.

    A replica begins in the directory of its broker. If that has several, or named none when it
    registered, it begins in none yet. Its broker may move it later.

    Kafka: ClusterControlManager.defaultDir.
    """
    for replica, directory in zip(replicas, directories, strict=False):
        registered = registrations.get(replica)
        if registered is None:
            continue
        named = registered.directories
        expected = named[0] if len(named) == 1 else _UNASSIGNED if named else MIGRATING
        if directory != expected:
            return f"replica {replica} begins in directory {directory}, not in {expected}"
    return None
