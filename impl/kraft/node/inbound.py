"""Connections of others: requests in, one at a time, and their answers out in that order.

Kafka: SocketServer, Processor, RequestChannel.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.errors import (
    CorruptMessageError,
    LimitExceededError,
    UnsupportedVersionError,
    printable,
)
from kraft.node.admission import Admission, cost_of
from kraft.wire.frames import FrameBuffer

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.node.connections import Connections

_LOG: Final = logging.getLogger("kraft.node.inbound")
_REFUSED: Final = (CorruptMessageError, LimitExceededError, UnsupportedVersionError)


class Listening(NamedTuple):
    """A listener as its connections see it, and what all of a node share."""

    name: str
    max_frame_bytes: int
    connections: Connections
    admission: Admission


class Inbound(asyncio.Protocol):
    """A connection of another process, from when it was accepted.

    `abandon` ends what goes before its first byte, the agreement on TLS.

    `serve` gets each frame, and this connection to `answer` it; it gets the next one only then. A
    client that does not read its answers, or that sends on meanwhile, is not read from. Bytes that
    are no request end the connection, with one log line.
    """

    def __init__(
        self,
        serve: Callable[[bytes, Inbound], None],
        listener: Listening,
        peer: tuple[str, int] = ("", 0),
    ) -> None:
        self._serve = serve
        self._listening = listener
        self.listener = listener.name
        self.host = peer[0]
        self.address = f"{peer[0]}:{peer[1]}"
        self._buffer = FrameBuffer(listener.max_frame_bytes)
        self._transport: asyncio.Transport | None = None
        self._cost: int | None = None
        self._waiting_bytes = 0
        self._is_full = self._is_due = self._is_closed = False
        self.abandon: Callable[[], object] = lambda: None

    @property
    def is_serving(self) -> bool:
        """Return whether a request waits for its answer, or to be let in."""
        return self._cost is not None

    def connection_made(self, transport: Any) -> None:
        """Begin to read; TLS has been agreed on."""
        self._transport = transport
        if self._is_closed:
            transport.abort()

    def connection_lost(self, _error: Exception | None) -> None:
        """Forget the connection; an answer that comes later is dropped."""
        self._is_closed = True
        self._transport = None
        self._listening.connections.forget(self)

    def data_received(self, data: bytes) -> None:
        """Take bytes, and serve the next request if none is being served."""
        if self._is_closed:
            return
        self._buffer.receive_data(data)
        self._pump()
        if self._transport is not None and not (self._is_closed or self._may_serve()):
            self._transport.pause_reading()

    def pause_writing(self) -> None:
        """Serve no more requests while the client does not read."""
        self._is_full = True

    def resume_writing(self) -> None:
        """Serve again."""
        self._is_full = False
        self._go_on()

    def answer(self, framed: bytes) -> None:
        """Answer the request that is being served, and serve the next one."""
        self._leave()
        if self._transport is not None and not self._is_closed:
            self._transport.write(framed)
            self._listening.connections.touch(self)
            self._go_on_later()

    def close(self, reason: str = "", level: int = logging.WARNING) -> None:
        """End the connection, and log the reason; answers that are on their way still leave.

        A second call does not wait for them: the client may never read them.
        """
        if self._is_closed:
            if self._transport is not None:
                self._transport.abort()
            return
        self._is_closed = True
        if reason:
            _LOG.log(level, "Closing the connection from %s: %s", self.address, reason)
        if self._transport is None:
            self.abandon()
        elif self._is_full:
            self._transport.abort()
        else:
            self._transport.close()

    def fail(self) -> None:
        """End the connection for the exception that is being handled, and log that."""
        _LOG.exception("A request from %s could not be served", self.address)
        self._leave()
        self.close()

    def _may_serve(self) -> bool:
        return self._cost is None and not (self._is_full or self._is_due)

    def _pump(self) -> None:
        """Serve the next request, if none is being served; the one after it at a later turn.

        A client that sends many at once and reads their answers keeps no other waiting.
        """
        try:
            if self._may_serve() and not self._is_closed:
                frame = next(self._buffer.frames(), None)
                if frame is not None:
                    self._listening.connections.touch(self)
                    self._cost = cost_of(frame)
                    self._waiting_bytes = len(frame)
                    self._listening.admission.enter(self._cost, partial(self._begin, frame))
        except _REFUSED as error:
            self.close(printable(str(error)))
        self._count_held()

    def _begin(self, frame: bytes) -> None:
        """Serve a request that was let in."""
        self._waiting_bytes = 0
        if self._is_closed:
            self._leave()
            return
        try:
            self._serve(frame, self)
        except _REFUSED as error:
            self._leave()
            self.close(printable(str(error)))
        except Exception:  # noqa: BLE001 - a fault in one request must not end the controller
            self.fail()

    def _leave(self) -> None:
        cost, self._cost = self._cost, None
        if cost is not None:
            self._listening.admission.leave(cost)

    def _count_held(self) -> None:
        size = len(self._buffer) + self._waiting_bytes
        if self._transport is not None and self._is_full:
            size += self._transport.get_write_buffer_size()
        self._listening.connections.hold(self, size)

    def _go_on_later(self) -> None:
        """Go on at the next turn of the event loop, if there is something to do."""
        if self._is_due:
            return
        if len(self._buffer):
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._go_on)
        else:
            self._go_on()

    def _go_on(self) -> None:
        self._is_due = False
        self._pump()
        if self._transport is not None and not self._is_closed and self._may_serve():
            self._transport.resume_reading()
