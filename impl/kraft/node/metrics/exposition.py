"""The metrics over HTTP, for Prometheus and for people with curl: GET /metrics.

The text is made by a thread, and a scraper has ten seconds, so that none can hold the node up.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final, NamedTuple

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from kraft.node.configuration import ConfigurationError
from kraft.node.failures import failure_text

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_LOG: Final = logging.getLogger("kraft.node.metrics")
_PATH: Final = "/metrics"
_PATIENCE_SECONDS: Final = 10.0
_MOST_CONNECTIONS: Final = 32
"""More scrapers at a time are turned away: each holds a connection and a text."""
_MOST_HEADER_BYTES: Final = 16_384
_HEADER_END: Final = b"\r\n\r\n"
_HOST: Final = "127.0.0.1"


class MetricsAddress(NamedTuple):
    """Where metrics are served."""

    host: str
    port: int


def metrics_address(text: str) -> MetricsAddress:
    """Return the address in `HOST:PORT`; without a host it is 127.0.0.1.

    Raises ConfigurationError.
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise ConfigurationError(f"--metrics: {text!r} is not HOST:PORT, as in 127.0.0.1:9404")
    return MetricsAddress(host or _HOST, int(port))


class Exposition:
    """Serves the metrics of a registry, once it has started, until it is closed."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def start(self, address: MetricsAddress) -> None:
        """Listen. Raises ConfigurationError if the address cannot be had."""
        try:
            self._server = await asyncio.start_server(
                self._serve, *address, limit=_MOST_HEADER_BYTES
            )
        except OSError as error:
            raise ConfigurationError(
                f"--metrics cannot be bound to {address.host}:{address.port}: {failure_text(error)}"
            ) from None
        for socket in self._server.sockets:
            host, port = socket.getsockname()[:2]
            _LOG.info("Metrics are served at http://%s:%s%s", host, port, _PATH)

    def close(self) -> None:
        """Stop at once; a scraper that waits is cut off."""
        if self._server is not None:
            self._server.close()
        for writer in tuple(self._open):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= _MOST_CONNECTIONS:
            writer.transport.abort()
            return
        self._open.add(writer)
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                header = await reader.readuntil(_HEADER_END)
                writer.write(await self._answer(header))
                await writer.drain()
                writer.close()
                await writer.wait_closed()
        except (OSError, EOFError, asyncio.LimitOverrunError):
            # A scraper that is too slow or speaks no HTTP is none of the node's business.
            pass
        finally:
            writer.transport.abort()
            self._open.discard(writer)

    async def _answer(self, header: bytes) -> bytes:
        method, _, rest = header.partition(b"\r\n")[0].partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0].decode("latin-1")
        if method != b"GET":
            return _response("405 Method Not Allowed", b"only GET is served\n")
        if path != _PATH:
            return _response("404 Not Found", f"the metrics are at {_PATH}\n".encode())
        try:
            text = await asyncio.to_thread(generate_latest, self._registry)
        except Exception:  # noqa: BLE001 - told with its trace; a fault here is none of the node
            _LOG.exception("The metrics could not be read")
            return _response("500 Internal Server Error", b"the log of the node says why\n")
        return _response("200 OK", text, CONTENT_TYPE_LATEST)


def _response(status: str, body: bytes, content_type: str = "text/plain") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
