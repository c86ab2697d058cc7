"""The messages in flight, as a tuple in the order of sending; any of them may be delivered next.

A response exists only while a process awaits it: without that, it would find a closed connection.

Spec: Network!InFlight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.rpc import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)

if TYPE_CHECKING:
    from kraft.ids import IncarnationId

Request = BrokerRegistrationRequest | BrokerHeartbeatRequest
Response = BrokerRegistrationResponse | BrokerHeartbeatResponse


@dataclass(frozen=True, slots=True)
class Envelope:
    """One message in flight, between a process and the controller.

    `incarnation_id` is the process that sent it or receives it. `is_awaited` says that this process
    still awaits the response; it is true of every response.

    Spec: BrokerLease!Message.
    """

    message_id: int
    incarnation_id: IncarnationId
    correlation_id: int
    payload: Request | Response
    is_awaited: bool


Network = tuple[Envelope, ...]


def is_request(envelope: Envelope) -> bool:
    """Return whether a message is for the controller.

    Spec: BrokerLease!IsRequest.
    """
    return isinstance(envelope.payload, Request)


def find(network: Network, message_id: int) -> Envelope | None:
    """Return the message in flight with this id, or None."""
    for envelope in network:
        if envelope.message_id == message_id:
            return envelope
    return None


def take(network: Network, message_id: int) -> Network:
    """Return the network without one message.

    Spec: Network!Take.
    """
    return tuple(envelope for envelope in network if envelope.message_id != message_id)


def overtaken(network: Network, incarnation_id: IncarnationId) -> Network:
    """Return the network without earlier requests of a process, for a network that keeps order.

    Spec: BrokerLease!Overtaken.
    """
    return tuple(
        envelope
        for envelope in network
        if envelope.incarnation_id != incarnation_id or not is_request(envelope)
    )


def unawaited(network: Network, incarnation_id: IncarnationId) -> Network:
    """Return the network after a process closed its connection.

    Its requests may still arrive; responses to it are gone.

    Spec: BrokerLease!Unawaited.
    """
    left = []
    for envelope in network:
        if envelope.incarnation_id != incarnation_id:
            left.append(envelope)
        elif is_request(envelope):
            left.append(copy_of(envelope, envelope.message_id))
    return tuple(left)


def copy_of(envelope: Envelope, message_id: int) -> Envelope:
    """Return the same message under another id, with no process awaiting the response."""
    return Envelope(
        message_id,
        envelope.incarnation_id,
        envelope.correlation_id,
        envelope.payload,
        is_awaited=False,
    )
