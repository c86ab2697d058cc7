"""The log, Raft's leadership, and the controllers and brokers that read the log, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec
from immutables import Map

from kraft.controller import configuration as of_controller
from kraft.controller.memory import Memory
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.written import Written
from kraft.controller.state import NO_EPOCH, ControllerState, first_state, is_active
from kraft.ids import NodeId, Offset, OffsetAndEpoch
from kraft.image.metadata_image import EMPTY_IMAGE, METADATA_VERSION
from kraft.image.replay import replay
from kraft.records.cluster import FeatureLevelRecord
from kraft.sim.metadata.values import SetValue  # noqa: TC001 - msgspec reads the types

if TYPE_CHECKING:
    from kraft.records.typed_record import TypedRecord

_LATEST: Final = 27
_VERSION: Final = FeatureLevelRecord(METADATA_VERSION, _LATEST)
INITIAL: Final = Memory(Written(replay(EMPTY_IMAGE, (_VERSION,))))
"""The state of the empty log: this simulation skips the first records of a real log."""


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The nodes, the requests, each made once, and what may happen.

    The scheduler writes no more batches once the log has `longest_log` of them.
    """

    controllers: tuple[NodeId, ...]
    brokers: tuple[NodeId, ...]
    requests: tuple[SetValue, ...]
    transactions: bool = False
    snapshots: bool = False
    restarts: bool = False
    longest_log: int = 40

    @property
    def nodes(self) -> tuple[NodeId, ...]:
        """All nodes. Spec: MetadataLog!Node."""
        return (*self.controllers, *self.brokers)


@dataclass(frozen=True, slots=True)
class Entry:
    """A batch of the log; a batch without records begins the epoch of `leader`.

    Spec: MetadataLog!IsEntry.
    """

    base_offset: Offset
    epoch: int
    leader: NodeId
    records: tuple[TypedRecord, ...] = ()
    request: SetValue | None = None

    @property
    def count(self) -> int:
        """The number of its offsets."""
        return len(self.records) or 1

    @property
    def end(self) -> Offset:
        """The first offset after it."""
        return Offset(self.base_offset + self.count)


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """A snapshot on the disk of a node."""

    snapshot_id: OffsetAndEpoch
    records: tuple[TypedRecord, ...]


@dataclass(frozen=True, slots=True)
class Cluster:
    """The whole state at one moment. A broker is a standby that never becomes the leader.

    `answers` are names of error codes.

    Spec: MetadataLog!vars.
    """

    configuration: Configuration
    committed: tuple[Entry, ...]
    uncommitted: tuple[Entry, ...]
    leader_epoch: Map[NodeId, int]
    nodes: Map[NodeId, ControllerState]
    answers: Map[SetValue, str]
    snapshots: Map[NodeId, SnapshotFile]
    next_message_id: int = 0


def fresh_node(node: NodeId) -> ControllerState:
    """Return a process that has read nothing yet."""
    # Choices create snapshots, not time.
    return first_state(
        of_controller.Configuration(Defaults(node), max_snapshot_interval_ms=0), 0, INITIAL
    )


def first_cluster(configuration: Configuration) -> Cluster:
    """Return the cluster before the first step: an empty log without a leader.

    Spec: MetadataLog!Init.
    """
    empty = SnapshotFile(OffsetAndEpoch(0, 0), (_VERSION,))
    return Cluster(
        configuration,
        (),
        (),
        Map(dict.fromkeys(configuration.controllers, NO_EPOCH)),
        Map({node: fresh_node(node) for node in configuration.nodes}),
        Map(),
        Map(dict.fromkeys(configuration.nodes, empty)),
    )


def newest_epoch(cluster: Cluster) -> int:
    """Return the epoch that began last. Spec: MetadataLog!NewestEpoch."""
    return cluster.committed[-1].epoch if cluster.committed else 0


def log_end(entries: tuple[Entry, ...]) -> Offset:
    """Return the first offset after the entries."""
    return entries[-1].end if entries else Offset(0)


def count_before(entries: tuple[Entry, ...], end: int) -> int:
    """Return how many entries end at or before an offset: MetadataLog counts entries."""
    low, high = 0, len(entries)
    while low < high:
        middle = (low + high) // 2
        if entries[middle].end <= end:
            low = middle + 1
        else:
            high = middle
    return low


def believed_epoch(cluster: Cluster, node: NodeId) -> int:
    """Return the epoch in which Raft at a node believes to lead; it hands over no later one.

    Spec: MetadataLog!BelievedEpoch.
    """
    state = cluster.nodes[node]
    return state.claim_epoch if is_active(state) else cluster.leader_epoch.get(node, NO_EPOCH)


def is_asked(cluster: Cluster, request: SetValue) -> bool:
    """Return whether a request was answered or awaits its answer. Spec: MetadataLog!Asked."""
    return request in cluster.answers or any(
        parked.token == request for state in cluster.nodes.values() for parked in state.deferred
    )
