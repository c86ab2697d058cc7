"""What a hosted process asks of the world around it, and what that world hands to it.

A simulator implements it over simulated clocks and links, a real node over real ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, get_args

from kraft.rpc.requests import RaftRequest, RaftResponse

if TYPE_CHECKING:
    from kraft.ids import NodeId

RAFT_MESSAGES: Final = frozenset((*get_args(RaftRequest), *get_args(RaftResponse)))
"""The classes of Raft's own messages; all others are for the state machine above Raft."""


class Outside(Protocol):
    """The clock, the chance and the network of one process.

    Its disk is not here: `kraft.hosting.effects.perform` hands each durable effect back, so that a
    runner can wait for its disk in its own way.
    """

    def now(self) -> int:
        """Return the time by the process's clock, in nanoseconds; it never goes back."""

    def chance(self) -> int:
        """Return a random number from 0 to 2**64 - 1, another one at each call."""

    def send(self, destination: NodeId, correlation_id: int, request: Any) -> None:
        """Send a request to a node, which may be the process's own.

        Its response, if one comes, is a Message from that node with this correlation id.
        """

    def reply(self, token: int, response: Any) -> None:
        """Answer the request whose `message_id` is this token."""


class Message(Protocol):
    """A request or a response that has arrived."""

    @property
    def is_request(self) -> bool:
        """Whether it is a request."""

    @property
    def message_id(self) -> int:
        """The id by which a request is answered; no other message of the process has it."""

    @property
    def source(self) -> NodeId:
        """The node that sent it; -1 is a client without a node id."""

    @property
    def correlation_id(self) -> int:
        """The correlation id of the request; a response has that of its request."""

    @property
    def payload(self) -> Any:
        """What it says: a value of `kraft.rpc`."""
