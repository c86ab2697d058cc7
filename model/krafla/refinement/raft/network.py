"""What is in flight, as the spec sees it: a bag with one message for each awaited request.

The spec has no loss. Until the sender gives up, its request, or the answer to it, is still in
flight. So a message that the simulated network lost stays in the bag until its sender's connection
ends. A request that is no longer awaited stays as long as it can still arrive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krafla.refinement.raft.terms import Message, Terms
    from kraft.ids import NodeId

__all__ = ["Exchange", "Exchanges"]

CARRIED = -1
"""The correlation id of a snapshot fetched in pieces, between two of its requests."""


class Exchange:
    """A request whose answer a process awaits.

    `message` is what the spec has in flight: first the request, then the answer; None if it has
    neither. `is_present` says whether the request can still arrive.
    """

    __slots__ = (
        "asker",
        "correlation_id",
        "incarnation",
        "is_present",
        "message",
        "node",
        "request_id",
    )

    def __init__(
        self, asker: str, incarnation: int, node: NodeId, correlation_id: int, request_id: int,
        message: Message | None,
    ) -> None:  # fmt: skip
        self.asker = asker
        self.incarnation = incarnation
        self.node = node
        self.correlation_id = correlation_id
        self.request_id = request_id
        self.message = message
        self.is_present = True


class Exchanges:
    """All exchanges between the processes of a run, and the bag of their messages."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self.bag: dict[Message, int] = {}
        self.has_changed = False
        self.by_request: dict[int, Exchange] = {}
        self.late: dict[int, Message] = {}
        self._awaited: dict[int, dict[int, Exchange]] = {}
        self._parked: dict[int, set[int]] = {}

    def java(self) -> Any:
        """Return the bag as a value of TLC."""
        self.has_changed = False
        return self._terms.bag(self.bag)

    def put(self, message: Message) -> None:
        """Add a copy of a message."""
        self.bag[message] = self.bag.get(message, 0) + 1
        self.has_changed = True

    def take(self, message: Message) -> None:
        """Remove a copy of a message."""
        count = self.bag.get(message, 0)
        if count > 1:
            self.bag[message] = count - 1
        elif count:
            del self.bag[message]
        self.has_changed = True

    def send(self, exchange: Exchange, is_new: bool = True) -> None:
        """Begin an exchange; unless it `is_new`, its message is in flight already."""
        self.by_request[exchange.request_id] = exchange
        self._awaited.setdefault(exchange.incarnation, {})[exchange.correlation_id] = exchange
        if exchange.message is not None and is_new:
            self.put(exchange.message)

    def awaited(self, incarnation: int, correlation_id: int) -> Exchange | None:
        """Return the exchange that a process awaits under a correlation id."""
        return self._awaited.get(incarnation, {}).get(correlation_id)

    def open_of(self, incarnation: int) -> Iterable[Exchange]:
        """Return all exchanges that a process awaits."""
        return tuple(self._awaited.get(incarnation, {}).values())

    def request(self, message_id: int) -> Message | None:
        """Return the request that a message delivers, if the spec has it in flight."""
        late = self.late.get(message_id)
        if late is not None:
            return late
        exchange = self.by_request.get(message_id)
        message = None if exchange is None else exchange.message
        return message if message is not None and message.is_request else None

    def replace(self, message_id: int, message: Message | None) -> None:
        """Replace a request by its answer, by another request, or by nothing."""
        late = self.late.pop(message_id, None)
        if late is not None:
            self.take(late)
            if message is not None and message.is_request:
                self.late[message_id] = message
                self.put(message)
            return
        exchange = self.by_request.get(message_id)
        if exchange is None:
            return
        if exchange.message is not None:
            self.take(exchange.message)
        exchange.message = message
        if message is not None:
            self.put(message)

    def end(self, exchange: Exchange) -> Message | None:
        """End an exchange; return its request if that is no longer awaited and cannot arrive."""
        self.forget(exchange)
        message = exchange.message
        if message is None:
            return None
        self.take(message)
        if not message.is_request:
            return None
        late = self._terms.unawaited(message)
        if not exchange.is_present or message.type == "FetchSnapshotRequest":
            return late
        self.put(late)
        self.late[exchange.request_id] = late
        return None

    def forget(self, exchange: Exchange) -> None:
        """Stop awaiting an answer; the messages in flight stay there."""
        awaited = self._awaited.get(exchange.incarnation, {})
        awaited.pop(exchange.correlation_id, None)
        if not awaited:
            self._awaited.pop(exchange.incarnation, None)
        self.by_request.pop(exchange.request_id, None)

    def carry(self, exchange: Exchange) -> None:
        """Keep the request for a snapshot in flight until the next piece is requested."""
        message = exchange.message
        self.forget(exchange)
        kept = Exchange(
            exchange.asker, exchange.incarnation, exchange.node, CARRIED, -exchange.incarnation,
            message,
        )  # fmt: skip
        kept.is_present = False
        self._awaited.setdefault(kept.incarnation, {})[CARRIED] = kept

    def park(self, incarnation: int, message_id: int) -> None:
        """Note that a process holds a request that it has not answered."""
        self._parked.setdefault(incarnation, set()).add(message_id)

    def unpark(self, incarnation: int, message_id: int) -> None:
        """Note that a process no longer holds a request."""
        self._parked.get(incarnation, set()).discard(message_id)

    def parked_by(self, incarnation: int) -> tuple[int, ...]:
        """Return the requests that a process holds, and forget them."""
        return tuple(sorted(self._parked.pop(incarnation, ())))

    def lose(self, message_id: int) -> Iterator[Message]:
        """Note that a request will never arrive; yield it if it is not awaited."""
        late = self.late.pop(message_id, None)
        if late is not None:
            self.take(late)
            yield late
        exchange = self.by_request.get(message_id)
        if exchange is not None:
            exchange.is_present = False
