"""RPC 18: the APIs and features that a node supports, and the levels that are finalized.

`kraft.rpc.raft_voters` has the part of it that a leader looks at when it adds a voter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from kraft.rpc.node_description import SupportedFeature

NO_EPOCH: Final = -1
"""The epoch of finalized features that are not known."""


@dataclass(frozen=True, slots=True)
class SupportedApisRequest:
    """RPC 18, with the client's software. Kafka: ApiVersionsRequest. KIP-35, KIP-511."""

    client_software_name: str = ""
    client_software_version: str = ""


class SupportedApi(NamedTuple):
    """An API and its versions that a node supports, both ends included."""

    api_key: int
    min_version: int
    max_version: int


class FinalizedFeature(NamedTuple):
    """The level that a feature has in the cluster; both levels are the same since KIP-584."""

    name: str
    max_version_level: int
    min_version_level: int


@dataclass(frozen=True, slots=True)
class SupportedApisResponse:
    """RPC 18, the answer. The epoch of the finalized features is an offset of the metadata log.

    Kafka: ApiVersionsResponse. KIP-35, KIP-584, KIP-1022.
    """

    error_code: ErrorCode = ErrorCode.NONE
    api_keys: tuple[SupportedApi, ...] = ()
    supported_features: tuple[SupportedFeature, ...] = ()
    finalized_features_epoch: int = NO_EPOCH
    finalized_features: tuple[FinalizedFeature, ...] = ()
    zk_migration_ready: bool = False
