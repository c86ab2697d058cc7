"""The acceptor of a listener: sockets in, connections out.

asyncio's own one logs each accept that fails for want of descriptors, a hundred times a second.

Kafka: Acceptor.acceptNewConnections.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from typing import TYPE_CHECKING, Final

from kraft.errors import printable

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from kraft.node.connections import Connections
    from kraft.node.inbound import Inbound

HANDSHAKE_SECONDS: Final = 10.0
"""How long a client may take to agree on TLS."""
_BACKLOG: Final = 128
_RETRY_SECONDS: Final = 1.0
_OUT_OF: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_LOG: Final = logging.getLogger("kraft.node.acceptor")


async def listening_sockets(host: str, port: int) -> list[socket.socket]:
    """Return sockets that listen on each address of a host. Raises OSError if one cannot."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    try:
        for family, address in dict.fromkeys((one[0], one[4]) for one in found):
            sockets.append(socket.create_server(address, family=family, backlog=_BACKLOG))
            sockets[-1].setblocking(False)
    except OSError:
        for one in sockets:
            one.close()
        raise
    return sockets


class Acceptor:
    """Accepts on a socket until it is closed; `make` makes the connection from a peer's address."""

    def __init__(
        self,
        listening: socket.socket,
        make: Callable[[tuple[str, int]], Inbound],
        connections: Connections,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._listening = listening
        self._make = make
        self._connections = connections
        self._tls = tls
        self._is_out = False
        self._beginning: set[asyncio.Task[None]] = set()
        self._task = asyncio.get_running_loop().create_task(self._run())

    def close(self) -> None:
        """Accept no more. Connections that have begun go on."""
        self._task.cancel()
        for task in self._beginning:
            task.cancel()
        self._listening.close()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            # What ended to make room gives its descriptor back only now.
            await asyncio.sleep(0)
            try:
                accepted, peer = await loop.sock_accept(self._listening)
            except OSError as error:
                await self._rest(error)
                continue
            self._is_out = False
            connection = self._make((str(peer[0]), int(peer[1])))
            if not self._connections.admit(connection):
                accepted.close()
                continue
            task = loop.create_task(self._begin(accepted, connection))
            connection.abandon = task.cancel
            self._beginning.add(task)
            task.add_done_callback(self._beginning.discard)

    async def _rest(self, error: OSError) -> None:
        """Wait a moment if nothing can be accepted now; that is logged once."""
        if error.errno not in _OUT_OF:
            # A client that went away before it was accepted.
            return
        if not self._is_out:
            self._is_out = True
            _LOG.error("Connections cannot be accepted: %s", (error.strerror or "").lower())
        await asyncio.sleep(_RETRY_SECONDS)

    async def _begin(self, accepted: socket.socket, connection: Inbound) -> None:
        """Agree on TLS, if the listener speaks it, and let the connection go on by itself."""
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        timeout = None if self._tls is None else HANDSHAKE_SECONDS
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(
                lambda: connection, accepted, ssl=self._tls, ssl_handshake_timeout=timeout
            )
        except OSError as error:
            connection.close(f"no TLS was agreed on: {printable(str(error))}")
            self._connections.forget(connection)
