"""Requests that a node answers by itself, from what it has replayed.

Kafka: ControllerApis.handleApiVersionsRequest, .handleDescribeCluster, .handleDescribeConfigs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kraft.controller.operations.config_definitions import (
    CLIENT_METRICS_CONFIGS,
    CLIENT_METRICS_RESOURCE,
    GROUP_CONFIGS,
    GROUP_RESOURCE,
    TOPIC_CONFIGS,
    ConfigType,
)
from kraft.controller.operations.features import SUPPORTED_FEATURES
from kraft.controller.state import visible
from kraft.errors import ErrorCode
from kraft.ids import NodeId
from kraft.node.credential_reads import describe_acls, describe_scram_users, describe_tokens
from kraft.records.topics import BROKER_RESOURCE, TOPIC_RESOURCE
from kraft.rpc.access_control import DescribeAclsRequest
from kraft.rpc.api_versions import (
    FinalizedFeature,
    SupportedApi,
    SupportedApisRequest,
    SupportedApisResponse,
)
from kraft.rpc.delegation_tokens import DescribeDelegationTokenRequest
from kraft.rpc.describe_cluster import (
    CONTROLLER_ENDPOINT,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribedNode,
)
from kraft.rpc.describe_configs import (
    UNKNOWN_TYPE,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribedConfig,
)
from kraft.rpc.node_description import SupportedFeature
from kraft.rpc.scram import DescribeUserScramCredentialsRequest
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.cluster_messages import KRAFT_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kraft.controller.operations.config_definitions import ConfigDefinition
    from kraft.hosting.controller_host import ControllerHost
    from kraft.hosting.process import HostedProcess
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.describe_configs import DescribeConfigsResource

FEATURES: Final = (
    *(SupportedFeature(name, *levels) for name, levels in SUPPORTED_FEATURES.items()),
    SupportedFeature(KRAFT_VERSION, 0, 1),
)
"""The features that a node supports."""

_DYNAMIC_BROKER: Final = 2
_DYNAMIC_DEFAULT_BROKER: Final = 3
_SOURCES: Final = {TOPIC_RESOURCE: 1, CLIENT_METRICS_RESOURCE: 7, GROUP_RESOURCE: 8}
"""Where a set value comes from. Kafka: DescribeConfigsResponse.ConfigSource."""

_DEFINITIONS: Final[Mapping[int, Mapping[str, ConfigDefinition]]] = {
    TOPIC_RESOURCE: TOPIC_CONFIGS,
    CLIENT_METRICS_RESOURCE: CLIENT_METRICS_CONFIGS,
    GROUP_RESOURCE: GROUP_CONFIGS,
}
_TYPES: Final = {
    ConfigType.BOOLEAN: 1,
    ConfigType.STRING: 2,
    ConfigType.INT: 3,
    ConfigType.LONG: 5,
    ConfigType.DOUBLE: 6,
    ConfigType.LIST: 7,
}
"""Kafka: DescribeConfigsResponse.ConfigType."""


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node as its local reads see it: its cluster, its listener, its replica, its controller."""

    cluster_id: str
    listener: str
    process: HostedProcess
    host: ControllerHost

    @property
    def image(self) -> MetadataImage:
        """Return what any client may read."""
        return visible(self.host.state).image

    @property
    def kraft_version(self) -> int:
        """Return the feature of the quorum itself. Kafka: KafkaRaftClient.kraftVersion."""
        return self.process.state.controls.version


def supported_apis(view: NodeView, _request: SupportedApisRequest) -> SupportedApisResponse:
    """Return the APIs and features of this node, and the finalized levels.

    Kafka: ControllerApis.handleApiVersionsRequest, ApiVersionManager.apiVersionResponse.
    """
    memory = visible(view.host.state)
    finalized = {**memory.image.features, KRAFT_VERSION: view.kraft_version}
    return SupportedApisResponse(
        ErrorCode.NONE,
        tuple(
            SupportedApi(api.key, api.request.oldest, api.request.newest)
            for api in CONTROLLER_APIS.values()
        ),
        FEATURES,
        memory.end - 1,
        tuple(FinalizedFeature(name, level, level) for name, level in sorted(finalized.items())),
    )


def describe_cluster(view: NodeView, _request: DescribeClusterRequest) -> DescribeClusterResponse:
    """Return the registered controllers, and the active one.

    Kafka: ControllerApis.handleDescribeCluster. KIP-919.
    """
    nodes = tuple(
        DescribedNode(NodeId(controller_id), endpoint.host, endpoint.port)
        for controller_id, registration in sorted(view.image.controllers.items())
        for endpoint in registration.endpoints
        if endpoint.name == view.listener
    )
    return DescribeClusterResponse(
        endpoint_type=CONTROLLER_ENDPOINT,
        cluster_id=view.cluster_id,
        controller_id=view.host.knows_leader,
        brokers=nodes,
    )


def describe_configs(view: NodeView, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    """Return the values that are set for each resource; defaults are the brokers' to tell.

    Kafka: ConfigHelper.describeConfigs.
    """
    return DescribeConfigsResponse(tuple(_described(view, one) for one in request.resources))


def _described(view: NodeView, resource: DescribeConfigsResource) -> DescribeConfigsResult:
    kind, name = resource.resource_type, resource.resource_name
    if kind == TOPIC_RESOURCE and name not in view.image.topic_ids:
        return DescribeConfigsResult(kind, name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    wanted = resource.configuration_keys
    values: Mapping[str, str] = view.image.configurations.get((kind, name), {})
    return DescribeConfigsResult(
        kind,
        name,
        configs=tuple(
            _config(kind, name, key, values[key])
            for key in sorted(values)
            if wanted is None or key in wanted
        ),
    )


def _config(kind: int, name: str, key: str, value: str) -> DescribedConfig:
    source = _SOURCES.get(kind, _DYNAMIC_BROKER if name else _DYNAMIC_DEFAULT_BROKER)
    definition = _DEFINITIONS.get(kind, {}).get(key)
    # Of a broker's own key it is not known whether its value is a secret.
    is_sensitive = kind == BROKER_RESOURCE and ("password" in key or "secret" in key)
    return DescribedConfig(
        key,
        None if is_sensitive else value,
        config_source=source,
        is_sensitive=is_sensitive,
        config_type=UNKNOWN_TYPE if definition is None else _TYPES[definition.type],
    )


def _tokens(view: NodeView, request: DescribeDelegationTokenRequest) -> Any:
    secret_key = view.host.state.configuration.defaults.delegation_token_secret_key
    return describe_tokens(view.image, secret_key, request)


LOCAL_READS: Final[Mapping[type[Any], Callable[[NodeView, Any], Any]]] = {
    SupportedApisRequest: supported_apis,
    DescribeClusterRequest: describe_cluster,
    DescribeConfigsRequest: describe_configs,
    DescribeAclsRequest: lambda view, request: describe_acls(view.image, request),
    DescribeUserScramCredentialsRequest: lambda view, request: describe_scram_users(
        view.image, request
    ),
    DescribeDelegationTokenRequest: _tokens,
}
"""What answers each request that needs neither Raft nor the active controller."""
