"""A connection to one node: requests out, each in the newest version that both know.

Kafka: NetworkClient, Selector.
"""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Final, Self

from kraft.errors import CorruptMessageError, LimitExceededError, UnsupportedVersionError
from kraft.rpc.api_versions import SupportedApisRequest
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.cluster_messages import API_VERSIONS
from kraft.wire.frames import FrameBuffer
from kraft.wire.headers import RequestHeader
from kraft.wire.negotiation import ServedVersions, negotiated
from kraft.wire.requests import read_response, request_bytes

if TYPE_CHECKING:
    import ssl

    from kraft.node.configuration import Address
    from kraft.records.schema import Fields

CONNECTION_FAILURES: Final = (OSError, CorruptMessageError, LimitExceededError)
"""What ends a connection: another one may do better."""

_CLIENT_ID: Final = "kraft-tools"
_SOFTWARE: Final = SupportedApisRequest("krafla-tools", "4.1")
_RECEIVE_BYTES: Final = 65536


class Connection:
    """A connection whose node has told its versions: `versions` are the fields that it answered.

    `place` is the node's address, for people. Deadlines are times of `time.monotonic`. After one
    of CONNECTION_FAILURES it can only be closed.
    """

    def __init__(self, stream: socket.socket, place: str) -> None:
        self.place = place
        self._stream = stream
        self._buffer = FrameBuffer()
        self._next_id = 0
        self._served = ServedVersions({})
        self.versions: Fields = {}

    @classmethod
    def to(cls, address: Address, tls: ssl.SSLContext | None, deadline: float) -> Self:
        """Return a new connection to an address. Raises one of CONNECTION_FAILURES."""
        stream = socket.create_connection(address, _seconds_left(deadline))
        try:
            if tls is not None:
                stream = tls.wrap_socket(stream, server_hostname=address.host)
            connection = cls(stream, place_of(address))
            connection._negotiate(deadline)
        except BaseException:
            stream.close()
            raise
        return connection

    def ask(self, api_key: int, fields: Fields, deadline: float) -> Fields:
        """Return the response to a request; what the version lacks of its fields is not sent.

        Raises one of CONNECTION_FAILURES; UnsupportedVersionError if the node does not serve the
        API; UnsupportedFieldError if the version cannot say a field, and any other ValueError for a
        value that no version can say.
        """
        version = self._served.newest(CONTROLLER_APIS[api_key])
        return self._exchange(api_key, version, fields, deadline)

    def close(self) -> None:
        """End the connection."""
        self._stream.close()

    def _negotiate(self, deadline: float) -> None:
        found: ServedVersions | int = API_VERSIONS.versions[-1]
        while isinstance(found, int):
            asked = API_VERSIONS.request_fields(_SOFTWARE, found)
            self.versions = self._exchange(API_VERSIONS.api_key, found, asked, deadline)
            response = API_VERSIONS.response_of(self.versions, found)
            try:
                found = negotiated(found, response)
            except UnsupportedVersionError as error:
                raise ConnectionAbortedError(str(error)) from None
        self._served = found

    def _exchange(self, api_key: int, version: int, fields: Fields, deadline: float) -> Fields:
        self._next_id += 1
        header = RequestHeader(api_key, version, self._next_id, _CLIENT_ID)
        request = request_bytes(header, fields)
        self._stream.settimeout(_seconds_left(deadline))
        self._stream.sendall(request)
        response = read_response(CONTROLLER_APIS[api_key], version, self._frame(deadline))
        if response.header.correlation_id != self._next_id:
            raise CorruptMessageError("a response to another request", position=0)
        return response.fields

    def _frame(self, deadline: float) -> bytes:
        while (frame := next(self._buffer.frames(), None)) is None:
            self._stream.settimeout(_seconds_left(deadline))
            data = self._stream.recv(_RECEIVE_BYTES)
            if not data:
                raise ConnectionResetError("it closed the connection")
            self._buffer.receive_data(data)
        return frame


def _seconds_left(deadline: float) -> float:
    """Return the time that is left. Raises TimeoutError if there is none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("it did not answer in time")
    return left


def place_of(address: Address) -> str:
    """Return an address for people."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
