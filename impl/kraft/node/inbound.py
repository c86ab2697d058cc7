"""Connections of others: requests in, one at a time, and their answers out in that order.

Kafka: SocketServer, Processor, RequestChannel.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from kraft.errors import (
    CorruptMessageError,
    LimitExceededError,
    UnsupportedVersionError,
    printable,
)
from kraft.wire.frames import FrameBuffer

if TYPE_CHECKING:
    from collections.abc import Callable

_LOG: Final = logging.getLogger("kraft.node.inbound")
_REFUSED: Final = (CorruptMessageError, LimitExceededError, UnsupportedVersionError)


class Inbound(asyncio.Protocol):
    """A connection of another process.

    `serve` gets each frame, and this connection to `answer` it; it gets the next one only then. A
    client that does not read its answers, or that sends on meanwhile, is not read from. Bytes that
    are no request end the connection, with one log line.
    """

    def __init__(
        self,
        serve: Callable[[bytes, Inbound], None],
        listener: str,
        max_frame_bytes: int,
        connections: set[Inbound],
    ) -> None:
        self._serve = serve
        self.listener = listener
        self.address = ""
        self._buffer = FrameBuffer(max_frame_bytes)
        self._connections = connections
        self._transport: asyncio.Transport | None = None
        self._is_serving = self._is_full = self._is_pumping = False

    def connection_made(self, transport: Any) -> None:
        """Remember the connection."""
        self._transport = transport
        peer = transport.get_extra_info("peername")
        host, port = peer[:2] if isinstance(peer, tuple) else (peer, "")
        self.address = f"{host}:{port}"
        self._connections.add(self)

    def connection_lost(self, _error: Exception | None) -> None:
        """Forget the connection; an answer that comes later is dropped."""
        self._transport = None
        self._connections.discard(self)

    def data_received(self, data: bytes) -> None:
        """Take bytes, and serve the next request if none is being served."""
        self._buffer.receive_data(data)
        self._pump()
        if (self._is_serving or self._is_full) and self._transport is not None:
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
        self._is_serving = False
        if self._transport is not None:
            self._transport.write(framed)
            self._go_on()

    def close(self, reason: str = "") -> None:
        """End the connection; a reason is logged."""
        transport, self._transport = self._transport, None
        if transport is None:
            return
        if reason:
            _LOG.warning("Closing the connection from %s: %s", self.address, reason)
        transport.close()

    def fail(self) -> None:
        """End the connection for the exception that is being handled, and log that."""
        _LOG.exception("A request from %s could not be served", self.address)
        self.close()

    def _pump(self) -> None:
        """Serve requests until one waits for its answer."""
        if self._is_pumping:
            return
        self._is_pumping = True
        try:
            while self._transport is not None and not (self._is_serving or self._is_full):
                frame = next(self._buffer.frames(), None)
                if frame is None:
                    break
                self._is_serving = True
                self._serve(frame, self)
        except _REFUSED as error:
            self.close(printable(str(error)))
        except Exception:  # noqa: BLE001 - a fault in one request must not end the controller
            self.fail()
        finally:
            self._is_pumping = False

    def _go_on(self) -> None:
        self._pump()
        if self._transport is not None and not (self._is_serving or self._is_full):
            self._transport.resume_reading()
