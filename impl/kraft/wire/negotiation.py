"""The version of each API that two nodes speak: the newest that both know.

A client asks ApiVersions first on each connection. A node that does not know the version of that
request answers in version 0 which ones it knows, and is asked again.

Kafka: NodeApiVersions, NetworkClient.handleApiVersionsResponse. KIP-35, KIP-511.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode, UnsupportedVersionError
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.headers import API_VERSIONS_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kraft.rpc.api_versions import SupportedApi, SupportedApisResponse
    from kraft.wire.apis import Api


@dataclass(frozen=True, slots=True)
class ServedVersions:
    """The APIs of a node with their versions, by key."""

    by_key: Mapping[int, SupportedApi]

    def newest(self, api: Api) -> int:
        """Return the newest version of an API that this side and the node know.

        Raises UnsupportedVersionError if there is none.
        Kafka: NodeApiVersions.latestUsableVersion.
        """
        served = self.by_key.get(api.key)
        if served is None:
            raise UnsupportedVersionError(f"The node does not support {api.name}")
        newest = min(api.request.newest, served.max_version)
        if newest < max(api.request.oldest, served.min_version):
            raise UnsupportedVersionError(
                f"The node does not support {api.name} with version in range"
                f" [{api.request.oldest},{api.request.newest}]. The supported range is"
                f" [{served.min_version},{served.max_version}]."
            )
        return newest


def negotiated(asked_version: int, response: SupportedApisResponse) -> ServedVersions | int:
    """Return the versions in a response to ApiVersions, or the version in which to ask again.

    Raises UnsupportedVersionError if the node tells no versions. No node is asked more often than
    ApiVersions has versions. Kafka: NetworkClient.handleApiVersionsResponse.
    """
    by_key = {one.api_key: one for one in response.api_keys}
    if response.error_code is ErrorCode.NONE:
        return ServedVersions(by_key)
    if response.error_code is not ErrorCode.UNSUPPORTED_VERSION or asked_version == 0:
        raise UnsupportedVersionError(f"ApiVersions is refused with {response.error_code.name}")
    if API_VERSIONS_KEY not in by_key:
        return 0
    again = ServedVersions(by_key).newest(CONTROLLER_APIS[API_VERSIONS_KEY])
    if again >= asked_version:
        raise UnsupportedVersionError(f"ApiVersions {again} is told to be served, and is refused")
    return again
