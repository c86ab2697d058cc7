"""What a controller says about the APIs and versions that it serves.

Kafka: ApiVersionsResponse, ApiVersionManager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.errors import ErrorCode, UnsupportedVersionError
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.headers import API_VERSIONS_KEY, read_request_header
from kraft.wire.message_reader import MessageReader
from kraft.wire.requests import response_bytes

if TYPE_CHECKING:
    from kraft.records.schema import Fields
    from kraft.wire.apis import Api


def api_versions() -> tuple[Fields, ...]:
    """Return the table of APIs and versions, as the field `apiKeys` of ApiVersions has it."""
    return tuple(_row(api) for api in CONTROLLER_APIS.values())


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
    api = CONTROLLER_APIS[API_VERSIONS_KEY]
    fields = {"errorCode": ErrorCode.UNSUPPORTED_VERSION, "apiKeys": (_row(api),)}
    return response_bytes(api, 0, header.correlation_id, fields)


def _row(api: Api) -> Fields:
    versions = api.request
    return {
        "apiKey": versions.api_key,
        "minVersion": versions.oldest,
        "maxVersion": versions.newest,
    }
