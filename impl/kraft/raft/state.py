"""The state of a replica as one value, and the result of a handler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from immutables import Map

if TYPE_CHECKING:
    from kraft.ids import NodeId
    from kraft.log.image import LogImage
    from kraft.raft.configuration import Configuration
    from kraft.raft.controls import ControlHistory
    from kraft.raft.effects import Effect
    from kraft.raft.roles import Role


@dataclass(frozen=True, slots=True)
class Connection:
    """One other node, as the replica sees it, with at most one request in flight.

    `correlation_id` is that of the request in flight, None if there is none. The request is
    abandoned at `deadline`. After a failure nothing is sent before `backoff_until`.

    Spec: KRaftState!Waiting.
    Kafka: RequestManager.ConnectionState.
    """

    correlation_id: int | None = None
    deadline: int = 0
    backoff_until: int = 0


NO_CONNECTIONS: Final[Map[NodeId, Connection]] = Map()


@dataclass(frozen=True, slots=True)
class ListenerProgress:
    """How far the state machine has been told: its next offset, and the last leader it knows."""

    next_offset: int = -1
    leader_epoch: int = -1
    leader_id: NodeId | None = None


@dataclass(frozen=True, slots=True)
class RaftState:
    """A replica: its disk (`log`, and the epoch, leader and vote in `role`), and its memory.

    `high_watermark` is None until it is known. `controls` are the voters and the kraft.version in
    the records of the log. `next_correlation_id` numbers its requests. `shutdown_deadline` is None
    unless the replica is shutting down.

    Spec: KRaftState!vars.
    Kafka: KafkaRaftClient, QuorumState.
    """

    configuration: Configuration
    role: Role
    log: LogImage
    controls: ControlHistory
    high_watermark: int | None = None
    connections: Map[NodeId, Connection] = NO_CONNECTIONS
    next_correlation_id: int = 0
    listener: ListenerProgress = ListenerProgress()
    shutdown_deadline: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """The result of an event: the state after it, and the effects in order."""

    state: RaftState
    effects: tuple[Effect, ...] = ()
