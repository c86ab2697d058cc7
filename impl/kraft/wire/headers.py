"""Headers: what stands before the body in the frame of a request or a response.

Kafka: RequestHeader, ResponseHeader.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.records.codec import decode_struct
from kraft.records.layouts import Layout
from kraft.records.limits import MAX_STRING_BYTES
from kraft.records.primitives import NULL
from kraft.records.schema import UNKNOWN_TAGGED_FIELDS
from kraft.wire.apis import CONTROLLER_APIS, api_of

if TYPE_CHECKING:
    from kraft.records.schema import Schema
    from kraft.wire.message_reader import MessageReader

API_VERSIONS_KEY: Final = 18

_REQUEST_START: Final = struct.Struct(">hhi")
_CORRELATION_ID: Final = struct.Struct(">i")
_NO_TAGGED_FIELDS: Final = b"\x00"
_TAGS: Final = Layout((), (), {}, {}, {}, is_flexible=True, least_bytes=1, element_bytes={})

TaggedFields = tuple[tuple[int, bytes], ...]


class RequestHeader(NamedTuple):
    """Which API and version a request is of, and which answer is its own.

    A header has `client_id` None if the client gave none. No tagged field of a header is known.
    """

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None = None
    unknown_tagged_fields: TaggedFields = ()


class ResponseHeader(NamedTuple):
    """Which request is answered."""

    correlation_id: int
    unknown_tagged_fields: TaggedFields = ()


def request_header_version(request: Schema, version: int) -> int:
    """Return the version of the header before a request; 0 ended with Kafka 4.0.

    Kafka: ApiMessageType.requestHeaderVersion.
    """
    return 2 if request.is_flexible(version) else 1


def response_header_version(response: Schema, version: int) -> int:
    """Return the version of the header before a response.

    It is 0 before every response of ApiVersions: the client does not know yet what is served.
    Kafka: ApiMessageType.responseHeaderVersion.
    """
    if response.api_key == API_VERSIONS_KEY:
        return 0
    return 1 if response.is_flexible(version) else 0


def read_request_header(reader: MessageReader) -> RequestHeader:
    """Return the header of a request, and leave the reader before its body.

    The version may be one that is not served. Raises CorruptMessageError, and
    UnsupportedVersionError if the API is not served.
    Kafka: RequestHeader.parse.
    """
    reader.require(_REQUEST_START.size, "the header")
    key, version, correlation_id = _REQUEST_START.unpack_from(reader.data, reader.position)
    if key not in CONTROLLER_APIS:
        api_of(key, version)
    reader.position += _REQUEST_START.size
    client_id = _read_client_id(reader)
    is_flexible = request_header_version(CONTROLLER_APIS[key].request, version) > 1
    tags = _read_tagged_fields(reader) if is_flexible else ()
    return RequestHeader(key, version, correlation_id, client_id, tags)


def request_header_bytes(header: RequestHeader, request: Schema) -> bytes:
    """Return the bytes of a header before a request of a schema.

    Raises ValueError for a client id of more than 32,767 bytes.
    """
    start = _REQUEST_START.pack(header.api_key, header.api_version, header.correlation_id)
    is_flexible = request_header_version(request, header.api_version) > 1
    return start + _client_id_bytes(header.client_id) + _NO_TAGGED_FIELDS * is_flexible


def read_response_header(reader: MessageReader, response: Schema, version: int) -> ResponseHeader:
    """Return the header before a response, and leave the reader before its body.

    Raises CorruptMessageError.
    """
    reader.require(_CORRELATION_ID.size, "the header")
    (correlation_id,) = _CORRELATION_ID.unpack_from(reader.data, reader.position)
    reader.position += _CORRELATION_ID.size
    is_flexible = response_header_version(response, version) > 0
    return ResponseHeader(correlation_id, _read_tagged_fields(reader) if is_flexible else ())


def response_header_bytes(correlation_id: int, response: Schema, version: int) -> bytes:
    """Return the bytes of the header before a response of a schema."""
    is_flexible = response_header_version(response, version) > 0
    return _CORRELATION_ID.pack(correlation_id) + _NO_TAGGED_FIELDS * is_flexible


# The client id has the old encoding in every version: a server must read the header of an
# ApiVersions request that is newer than itself.
def _read_client_id(reader: MessageReader) -> str | None:
    reader.path.append(".clientId")
    length = reader.length("a length of string", is_flexible=False, is_string=True)
    client_id = None if length == NULL else reader.text(length)
    reader.path.pop()
    return client_id


def _client_id_bytes(client_id: str | None) -> bytes:
    if client_id is None:
        return b"\xff\xff"
    raw = client_id.encode()
    if len(raw) > MAX_STRING_BYTES:
        raise ValueError(f"a client id of {len(raw)} bytes, {MAX_STRING_BYTES} at most")
    return len(raw).to_bytes(2, "big") + raw


def _read_tagged_fields(reader: MessageReader) -> TaggedFields:
    # Nearly every header has none.
    if reader.position < reader.end and not reader.data[reader.position]:
        reader.position += 1
        return ()
    unknown: TaggedFields = decode_struct(_TAGS, reader).get(UNKNOWN_TAGGED_FIELDS, ())
    return unknown
