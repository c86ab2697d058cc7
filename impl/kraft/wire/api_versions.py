"""The answer to a request of an API or a version that is not served.

Kafka: ApiVersionsResponse, ApiVersionManager.
"""

from __future__ import annotations

from kraft.errors import ErrorCode, UnsupportedVersionError
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.cluster_messages import API_VERSIONS
from kraft.wire.headers import API_VERSIONS_KEY, read_request_header
from kraft.wire.message_reader import MessageReader
from kraft.wire.requests import response_bytes


def answer_to_unsupported(frame: bytes) -> bytes | None:
    """Return the framed answer to a request that `read_request` refuses as unsupported.

    A version of ApiVersions that is not served is answered in version 0, with UNSUPPORTED_VERSION
    and the versions of ApiVersions that are; its body is not looked at. Anything else is not
    answered (None): its connection ends. Raises CorruptMessageError for a broken header.
    Kafka: ApiVersionsRequest.getErrorResponse, SocketServer.
    """
    try:
        header = read_request_header(MessageReader(frame))
    except UnsupportedVersionError:
        return None
    if header.api_key != API_VERSIONS_KEY:
        return None
    fields = API_VERSIONS.failure_fields(ErrorCode.UNSUPPORTED_VERSION, None, {}, 0)
    return response_bytes(CONTROLLER_APIS[API_VERSIONS_KEY], 0, header.correlation_id, fields)
