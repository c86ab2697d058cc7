"""Controllers, broker processes, the committed log and the network, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec
from immutables import Map

from kraft.broker.lease import BrokerLifecycle, is_live
from kraft.controller import configuration as of_controller
from kraft.controller.events import LeaderChanged
from kraft.controller.machine import on_event
from kraft.controller.memory import Memory
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.written import Written
from kraft.controller.state import first_state, is_active
from kraft.ids import (
    BrokerId,
    ControllerId,
    DirectoryId,
    IncarnationId,
    NodeId,
    Offset,
    PartitionId,
    TopicId,
)
from kraft.image.metadata_image import EMPTY_IMAGE, METADATA_VERSION
from kraft.image.replay import replay
from kraft.records.cluster import FeatureLevelRecord
from kraft.records.topics import NO_LEADER, PartitionRecord, TopicRecord
from kraft.sim.cluster.operations import OPERATIONS
from kraft.sim.common.clock import START_MS
from kraft.sim.lease.configuration import ProcessIdentity  # noqa: TC001 - msgspec reads the types

if TYPE_CHECKING:
    from kraft.broker.partition_leader import PartitionLeader
    from kraft.controller.state import ControllerState
    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.typed_record import TypedRecord
    from kraft.rpc import (
        BrokerHeartbeatRequest,
        BrokerHeartbeatResponse,
        BrokerRegistrationRequest,
        BrokerRegistrationResponse,
    )
    from kraft.rpc.alter_partition import AlterPartitionRequest, AlterPartitionResponse

    Request = BrokerRegistrationRequest | BrokerHeartbeatRequest | AlterPartitionRequest
    Response = BrokerRegistrationResponse | BrokerHeartbeatResponse | AlterPartitionResponse

TOPIC: Final = "topic"
TOPIC_ID: Final = TopicId("T" * 21 + "Q")
PARTITION_ID: Final = PartitionId(0)
SESSION_TIMEOUT_MS: Final = 1_000_000
"""Much longer than the time between two heartbeats: only a choice lets a session run out."""
_FIRST_EPOCH: Final = 1


class ControllerProcess(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A controller process: its controller id, and the newest metadata version it supports."""

    incarnation_id: IncarnationId
    controller_id: ControllerId
    highest_level: int


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The processes of a cluster, and what may happen.

    The first of `controllers` is the first leader. Of a controller's `controller_processes`, the
    last one runs and supports all levels. `levels` are metadata versions in ascending order. The
    first is that of the empty log, and controllers register from `gate_level` on. The scheduler
    writes no more while `longest_tail` batches await their commit.
    """

    controllers: tuple[NodeId, ...]
    processes: tuple[ProcessIdentity, ...]
    controller_processes: tuple[ControllerProcess, ...]
    replicas: tuple[BrokerId, ...]
    levels: tuple[int, ...]
    gate_level: int
    longest_tail: int = 4

    @property
    def brokers(self) -> tuple[BrokerId, ...]:
        """The broker ids that have a process, sorted."""
        return tuple(sorted({identity.broker_id for identity in self.processes}))

    def running(self, controller: NodeId) -> ControllerProcess:
        """Return the process of a controller that runs. Spec: Cluster!RunningProcess."""
        its = [one for one in self.controller_processes if int(one.controller_id) == controller]
        return its[-1]


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message in flight: a request to a controller, or with its `response` the way back.

    `request_id` is the message id of the request. `correlation_id` is that of the lease.
    """

    message_id: int
    request_id: int
    incarnation_id: IncarnationId
    correlation_id: int
    request: Request
    response: Response | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of a controller's log; a batch without records begins its epoch.

    `request_id` is the message id of the request that caused it, if one did.

    Spec: Cluster!IsBatch.
    """

    base_offset: Offset
    epoch: int
    records: tuple[TypedRecord, ...] = ()
    request_id: int | None = None

    @property
    def count(self) -> int:
        """The number of its offsets."""
        return len(self.records) or 1

    @property
    def end(self) -> Offset:
        """The first offset after it."""
        return Offset(self.base_offset + self.count)


@dataclass(frozen=True, slots=True)
class Controller:
    """A controller, its clock, and its batches that it does not know to be committed.

    Deferred answers are in the state of the controller.
    """

    state: ControllerState
    tail: tuple[Batch, ...] = ()
    now_ms: int = START_MS


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker process: its lease, its replayed state, and its view of the partition if it leads.

    `awaited` is the message id of the request whose response it awaits; there is one at a time, of
    any kind. Only the simulation knows `crashed`.
    """

    lifecycle: BrokerLifecycle
    crashed: bool = False
    applied: Memory | None = None
    view: PartitionLeader | None = None
    awaited: int | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """The whole state at one moment. `committed` is the state after the batches of the `log`.

    Spec: Cluster!vars.
    """

    configuration: Configuration
    leader: NodeId
    epoch: int
    log: tuple[Batch, ...]
    committed: Memory
    controllers: Map[NodeId, Controller]
    brokers: Map[IncarnationId, Broker]
    network: tuple[Envelope, ...] = ()
    next_message_id: int = 0


def first_image(configuration: Configuration) -> MetadataImage:
    """Return the image of the empty log: a partition without a leader.

    Spec: Cluster!FirstImage.
    """
    replicas = configuration.replicas
    return replay(
        EMPTY_IMAGE,
        (
            FeatureLevelRecord(METADATA_VERSION, configuration.levels[0]),
            TopicRecord(TOPIC, TOPIC_ID),
            PartitionRecord(
                PARTITION_ID,
                TOPIC_ID,
                replicas,
                replicas[:1],
                leader=NO_LEADER,
                leader_epoch=0,
                partition_epoch=0,
            ),
        ),
    )


def first_cluster(configuration: Configuration) -> Cluster:
    """Return the first cluster: an empty log, and the first leader elected.

    Spec: Cluster!Init.
    """
    memory = Memory(Written(first_image(configuration)))
    leader = configuration.controllers[0]
    nodes = configuration.controllers
    states = {node: _first_state(node, nodes, memory) for node in nodes}
    elected = on_event(states[leader], LeaderChanged(0, _FIRST_EPOCH, leader), OPERATIONS)
    states[leader] = elected.state
    brokers = {
        one.incarnation_id: Broker(BrokerLifecycle(one.broker_id, one.incarnation_id))
        for one in configuration.processes
    }
    controllers = Map({node: Controller(state) for node, state in states.items()})
    return Cluster(configuration, leader, _FIRST_EPOCH, (), memory, controllers, Map(brokers))


def _first_state(node: NodeId, nodes: tuple[NodeId, ...], memory: Memory) -> ControllerState:
    defaults = Defaults(node, broker_session_timeout_ms=SESSION_TIMEOUT_MS, quorum_node_ids=nodes)
    # Cluster has no snapshots, so none is ever due.
    configuration = of_controller.Configuration(defaults, max_snapshot_interval_ms=0)
    return first_state(configuration, START_MS, memory)


def partition_of(memory: Memory) -> Partition:
    """Return the partition."""
    return memory.image.partitions[TOPIC_ID, PARTITION_ID]


def directory_of(broker_id: BrokerId) -> DirectoryId:
    """Return the directory that all processes of a broker have."""
    return DirectoryId(f"{broker_id:04}".rjust(21, "D") + "A")


def is_running(broker: Broker) -> bool:
    """Return whether a broker process exists and runs. Spec: Cluster!Live."""
    return not broker.crashed and is_live(broker.lifecycle)


def status(broker: Broker) -> str:
    """Return the state of a broker process by name, or CRASHED. Spec: Cluster!Status."""
    return "CRASHED" if broker.crashed else broker.lifecycle.state.name


def is_awaited(cluster: Cluster, envelope: Envelope) -> bool:
    """Return whether a process awaits the response to a request, or this response."""
    return cluster.brokers[envelope.incarnation_id].awaited == envelope.request_id


def active_controllers(cluster: Cluster) -> tuple[NodeId, ...]:
    """Return the controllers that believe that they are active. Spec: Cluster!active."""
    return tuple(
        node
        for node in cluster.configuration.controllers
        if is_active(cluster.controllers[node].state)
    )


def find(cluster: Cluster, message_id: int) -> Envelope | None:
    """Return the message in flight with this id, or None."""
    return next((one for one in cluster.network if one.message_id == message_id), None)
