"""Requests and responses as frames: a header and a body each, in a version of an API.

Kafka: AbstractRequest, AbstractResponse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.errors import CorruptMessageError
from kraft.records.encoders import encode_message
from kraft.records.layouts import layout_of
from kraft.wire.apis import Api, api_of
from kraft.wire.element_count import check_element_count
from kraft.wire.frames import framed
from kraft.wire.headers import (
    API_VERSIONS_KEY,
    RequestHeader,
    ResponseHeader,
    read_request_header,
    read_response_header,
    request_header_bytes,
    response_header_bytes,
)
from kraft.wire.message_reader import MessageReader
from kraft.wire.messages import decode_message

if TYPE_CHECKING:
    from kraft.records.schema import Fields

_SENTENCE: Final = "errorMessage"
_LONGEST_SENTENCE: Final = 1000


class ReceivedRequest(NamedTuple):
    """A request as a controller reads it."""

    api: Api
    header: RequestHeader
    fields: Fields


class ReceivedResponse(NamedTuple):
    """A response as the process that asked reads it."""

    header: ResponseHeader
    fields: Fields


def read_request(frame: bytes) -> ReceivedRequest:
    """Return the request in a frame (without its size).

    Raises CorruptMessageError with position and field for bytes that are none. Raises
    UnsupportedVersionError for an API or version that a controller does not serve; then
    `api_versions.answer_to_unsupported` says what to answer. Raises LimitExceededError for one of
    more elements than `element_count` allows.
    """
    reader = MessageReader(frame)
    header = read_request_header(reader)
    api = api_of(header.api_key, header.api_version)
    check_element_count(layout_of(api.request, header.api_version), frame, reader.position)
    fields = decode_message(api.request, header.api_version, frame, reader.position)
    return ReceivedRequest(api, header, fields)


def request_bytes(header: RequestHeader, fields: Fields) -> bytes:
    """Return the frame of a request, its size included.

    Raises UnsupportedVersionError, and ValueError as `messages.encode_message` does.
    """
    request = api_of(header.api_key, header.api_version).request
    start = request_header_bytes(header, request)
    return framed(start + encode_message(request, header.api_version, fields))


def read_response(api: Api, version: int, frame: bytes) -> ReceivedResponse:
    """Return the response in a frame (without its size) to a request of an API and version.

    A server that does not serve this version of ApiVersions answers in version 0; that is read
    with its error code and the default of every field that version 0 lacks.
    Raises CorruptMessageError with position and field for bytes that are none.
    Kafka: ApiVersionsResponse.parse.
    """
    reader = MessageReader(frame)
    header = read_response_header(reader, api.response, version)
    try:
        fields = decode_message(api.response, version, frame, reader.position)
    except CorruptMessageError:
        if api.key != API_VERSIONS_KEY or not version:
            raise
        oldest = decode_message(api.response, 0, frame, reader.position)
        fields = layout_of(api.response, version).default() | oldest
    return ReceivedResponse(header, fields)


def response_bytes(api: Api, version: int, correlation_id: int, fields: Fields) -> bytes:
    """Return the frame of a response, its size included.

    A sentence that is longer than a string may be is cut: it repeats a long name of the request,
    at which Kafka closes the connection.
    Raises UnsupportedVersionError, and ValueError as `messages.encode_message` does.
    """
    start = response_header_bytes(correlation_id, api.response, version)
    try:
        body = encode_message(api.response, version, fields)
    except ValueError:
        body = encode_message(api.response, version, _with_short_sentences(fields))
    return framed(start + body)


def _with_short_sentences(fields: Fields) -> Fields:
    return {name: _shortened(name, value) for name, value in fields.items()}


def _shortened(name: str, value: Any) -> Any:
    if name == _SENTENCE and isinstance(value, str):
        return value[:_LONGEST_SENTENCE]
    if isinstance(value, dict):
        return _with_short_sentences(value)
    if isinstance(value, tuple):
        return tuple(_shortened(name, one) for one in value)
    return value
