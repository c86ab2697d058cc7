"""A client of a node: fields out, fields in, over one connection."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

from kraft.records.encoders import encode_message
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.headers import RequestHeader
from kraft.wire.principals import PRINCIPAL
from kraft.wire.requests import read_response, request_bytes

if TYPE_CHECKING:
    import ssl

    from kraft.records.schema import Fields
    from kraft.wire.principals import ForwardedPrincipal

PATIENCE_SECONDS = 20.0


def request_frame(key: int, version: int, correlation_id: int, fields: Fields) -> bytes:
    """Return a framed request."""
    return request_bytes(RequestHeader(key, version, correlation_id, "test"), fields)


def enveloped(key: int, version: int, principal: ForwardedPrincipal, **fields: Any) -> Fields:
    """Return the fields of an envelope around a request of a principal's client."""
    return {
        "requestData": request_frame(key, version, 77, fields)[4:],
        "requestPrincipal": _principal_bytes(principal),
        "clientHostAddress": b"\x7f\0\0\1",
    }


def _principal_bytes(forwarded: ForwardedPrincipal) -> bytes:
    kind, _, name = forwarded.principal.partition(":")
    fields = {"type": kind, "name": name, "tokenAuthenticated": forwarded.token_authenticated}
    return b"\0\0" + encode_message(PRINCIPAL, 0, fields)


class Client:
    """A connection in an event loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._correlation_id = 0

    @classmethod
    async def connect(cls, port: int, tls: ssl.SSLContext | None = None) -> Client:
        return cls(*await asyncio.open_connection("127.0.0.1", port, ssl=tls))

    async def call(self, key: int, version: int, **fields: Any) -> Fields:
        """Return the response to a request."""
        self._correlation_id += 1
        await self.send(request_frame(key, version, self._correlation_id, fields))
        response = read_response(CONTROLLER_APIS[key], version, await self.frame())
        assert response.header.correlation_id == self._correlation_id
        return response.fields

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def frame(self) -> bytes:
        """Return the next frame. Raises asyncio.IncompleteReadError at the end."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            size = int.from_bytes(await self._reader.readexactly(4), "big")
            return await self._reader.readexactly(size)

    async def is_ended(self) -> bool:
        """Return whether the node closes the connection, with nothing more to read."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self._reader.read(1) == b""

    def close(self) -> None:
        self._writer.close()


def call(port: int, key: int, version: int, **fields: Any) -> Fields:
    """Return the response to one request, over a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection:
        connection.sendall(request_frame(key, version, 1, fields))
        with connection.makefile("rb") as stream:
            size = int.from_bytes(stream.read(4), "big")
            return read_response(CONTROLLER_APIS[key], version, stream.read(size)).fields
