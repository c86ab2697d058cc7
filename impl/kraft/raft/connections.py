"""The connections of a replica to other nodes: one request at a time to each.

A request is abandoned if its response is late, and whenever the role or the epoch changes. A
response to an abandoned request is ignored.

Spec: KRaftState!Waiting.
Kafka: RequestManager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.raft.effects import SendRequest
from kraft.raft.roles import NEVER
from kraft.raft.state import NO_CONNECTIONS, Connection

if TYPE_CHECKING:
    from kraft.ids import NodeId
    from kraft.raft.events import ResponseReceived
    from kraft.raft.state import RaftState
    from kraft.raft.turn import Turn
    from kraft.rpc.requests import RaftRequest

NOT_READY = frozenset(
    {
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.INCONSISTENT_CLUSTER_ID,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.UNKNOWN_SERVER_ERROR,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)
"""Errors after which a node is left alone for a while."""


def can_send(turn: Turn, node: NodeId) -> bool:
    """Return whether a request may be sent to a node now: none is in flight, none has just failed.

    Kafka: RequestManager.isReady.
    """
    connection = turn.connections.get(node)
    if connection is None:
        return True
    return connection.correlation_id is None and turn.now >= connection.backoff_until


def send(turn: Turn, node: NodeId, request: RaftRequest) -> None:
    """Send a request, and wait for its answer as long as the configuration says.

    Kafka: RequestManager.onRequestSent.
    """
    correlation_id = turn.next_correlation_id
    turn.next_correlation_id += 1
    deadline = turn.now + turn.configuration.timeouts.request
    turn.connections = turn.connections.set(node, Connection(correlation_id, deadline))
    turn.do(SendRequest(node, correlation_id, request))


def received(turn: Turn, node: NodeId, correlation_id: int, ok: bool) -> bool:
    """Return whether the replica waits for this response, and stop waiting for it.

    False means that it is late, or that its request was abandoned. After a response that is not
    `ok`, nothing is sent to the node for a while.
    Kafka: RequestManager.isResponseExpected, onResponseResult.
    """
    connection = turn.connections.get(node)
    if connection is None or connection.correlation_id != correlation_id:
        return False
    if ok:
        turn.connections = turn.connections.delete(node)
    else:
        back_off(turn, node)
    return True


def back_off(turn: Turn, node: NodeId) -> None:
    """Wait for no answer of a node, and send it nothing for a while.

    Kafka: RequestManager.ConnectionState.
    """
    until = turn.now + turn.configuration.timeouts.retry_backoff
    turn.connections = turn.connections.set(node, Connection(None, 0, until))


def reset_all(turn: Turn) -> None:
    """Close all connections: late responses will be ignored.

    Spec: KRaftState!Disconnected. Kafka: RequestManager.resetAll.
    """
    turn.connections = NO_CONNECTIONS


def expire_first(turn: Turn) -> bool:
    """Abandon the oldest request whose time is over; return whether there was one.

    Spec: KRaft!RequestTimeout. Kafka: RequestManager.hasRequestTimedOut.
    """
    expired = [
        (connection.deadline, node)
        for node, connection in turn.connections.items()
        if connection.correlation_id is not None and connection.deadline <= turn.now
    ]
    if not expired:
        return False
    back_off(turn, min(expired)[1])
    return True


def next_connection_deadline(state: RaftState) -> int:
    """Return when the first of the requests under way is given up, NEVER without one."""
    deadline = NEVER
    for connection in state.connections.values():
        if connection.correlation_id is not None and connection.deadline < deadline:
            deadline = connection.deadline
    return deadline


def ready_at(state: RaftState, node: NodeId) -> int:
    """Return from when on a request may be sent to a node: NEVER while one is under way to it."""
    connection = state.connections.get(node)
    if connection is None:
        return 0
    return NEVER if connection.correlation_id is not None else connection.backoff_until


def nothing_under_way(turn: Turn) -> bool:
    """Return whether no request of the replica is in flight.

    Kafka: RequestManager.hasAnyInflightRequest.
    """
    return all(connection.correlation_id is None for connection in turn.connections.values())


def accept(turn: Turn, event: ResponseReceived) -> bool:
    """Return whether the replica waits for this response, and stop waiting for it.

    After an error that says the node cannot help now, the replica leaves it alone for a while. So
    it does after a request that failed as a whole, which names no epoch.
    Kafka: KafkaRaftClient.handleResponse, handleTopLevelError.
    """
    response = event.response
    error = response.error_code
    has_failed = error is not ErrorCode.NONE and getattr(response, "epoch", 0) < 0
    ok = error not in NOT_READY and not has_failed
    return received(turn, event.sender, event.correlation_id, ok)
