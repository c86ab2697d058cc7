"""The outside of a real process: a clock, the chance of the system, and its connections."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.ids import NodeId
    from kraft.node.clock import Clock

_CHANCE_BITS = 64


class NodeOutside:
    """A `kraft.hosting.outside.Outside`. `send_request` sends, and later delivers the response."""

    __slots__ = ("_clock", "_next_token", "_waiting", "send_request")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._next_token = 1
        self._waiting: dict[int, Callable[[Any], None]] = {}
        self.send_request: Callable[[NodeId, int, Any], None] = lambda *_: None

    def now(self) -> int:
        """Return the time by the node's clock, in nanoseconds."""
        return self._clock.now()

    def chance(self) -> int:
        """Return a random number of 64 bits."""
        return secrets.randbits(_CHANCE_BITS)

    def send(self, destination: NodeId, correlation_id: int, request: Any) -> None:
        """Send a request to a node, which may be this one."""
        self.send_request(destination, correlation_id, request)

    def expect(self, answer: Callable[[Any], None]) -> int:
        """Return the token of a new request; `answer` gets its response, if one comes."""
        token = self._next_token
        self._next_token += 1
        self._waiting[token] = answer
        return token

    def forget(self, token: int) -> None:
        """Give a request up: it is not answered."""
        self._waiting.pop(token, None)

    def reply(self, token: int, response: Any) -> None:
        """Answer a request, once."""
        answer = self._waiting.pop(token, None)
        if answer is not None:
            answer(response)
