"""Requests that a node answers by itself, from what it has replayed.

Kafka: ControllerApis.handleApiVersionsRequest, .handleDescribeCluster, .handleDescribeConfigs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kraft.controller.effects import Failure
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.features import SUPPORTED_FEATURES
from kraft.controller.state import visible
from kraft.errors import ErrorCode
from kraft.ids import NodeId
from kraft.image.versions import IBP_3_7_IV0
from kraft.node.credential_reads import describe_acls, describe_scram_users, describe_tokens
from kraft.node.described_configs import describe_configs
from kraft.rpc.access_control import DescribeAclsRequest
from kraft.rpc.api_versions import (
    FinalizedFeature,
    SupportedApi,
    SupportedApisRequest,
    SupportedApisResponse,
)
from kraft.rpc.delegation_tokens import DescribeDelegationTokenRequest
from kraft.rpc.describe_cluster import (
    ALL_OPERATIONS,
    CONTROLLER_ENDPOINT,
    NOT_TOLD,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribedNode,
)
from kraft.rpc.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from kraft.rpc.node_description import SupportedFeature
from kraft.rpc.scram import DescribeUserScramCredentialsRequest
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.cluster_messages import KRAFT_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kraft.hosting.controller_host import ControllerHost
    from kraft.hosting.process import HostedProcess
    from kraft.image.metadata_image import MetadataImage
    from kraft.node.described_configs import NodeSettings
    from kraft.node.finalized_features import FinalizedFeatures

FEATURES: Final = (
    *(SupportedFeature(name, *levels) for name, levels in SUPPORTED_FEATURES.items()),
    SupportedFeature(KRAFT_VERSION, 0, 1),
)
"""The features that a node supports."""


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node as its local reads see it: its cluster, its controller, its settings.

    `listener` is the one by which the request came.
    """

    cluster_id: str
    listener: str
    host: ControllerHost
    settings: NodeSettings
    features: FinalizedFeatures
    process: HostedProcess

    @property
    def kraft_version(self) -> int:
        """Return the kraft.version of Raft, 0 if the log names none."""
        return self.process.state.controls.version

    @property
    def image(self) -> MetadataImage:
        """Return what any client may read."""
        return visible(self.host.state).image


def supported_apis(view: NodeView, _request: SupportedApisRequest) -> SupportedApisResponse:
    """Return the APIs and features of this node, the finalized levels, and since when they are so.

    Kafka: ControllerApis.handleApiVersionsRequest, SimpleApiVersionManager.
    """
    levels = {**view.image.features, KRAFT_VERSION: view.kraft_version}
    return SupportedApisResponse(
        ErrorCode.NONE,
        tuple(
            SupportedApi(api.key, api.request.oldest, api.request.newest)
            for api in CONTROLLER_APIS.values()
        ),
        FEATURES,
        view.features.epoch,
        tuple(FinalizedFeature(name, level, level) for name, level in sorted(levels.items())),
    )


def describe_cluster(
    view: NodeView, request: DescribeClusterRequest
) -> DescribeClusterResponse | Failure:
    """Return the registered controllers, and the active one if it is one of them.

    Everybody may do everything. Fenced brokers are no matter of controllers.

    Kafka: ControllerApis.handleDescribeCluster, AuthHelper.computeDescribeClusterResponse. KIP-919.
    """
    if (view.image.metadata_version or 0) < IBP_3_7_IV0:
        return Failure(ErrorCode.UNSUPPORTED_VERSION, "controllers do not register at this level")
    nodes = tuple(
        DescribedNode(NodeId(controller_id), endpoint.host, endpoint.port)
        for controller_id, registration in sorted(view.image.controllers.items())
        for endpoint in registration.endpoints
        if endpoint.name == view.listener
    )
    leader = view.host.knows_leader
    may_ask = request.include_cluster_authorized_operations
    return DescribeClusterResponse(
        endpoint_type=CONTROLLER_ENDPOINT,
        cluster_id=view.cluster_id,
        controller_id=leader if any(one.broker_id == leader for one in nodes) else None,
        brokers=nodes,
        cluster_authorized_operations=ALL_OPERATIONS if may_ask else NOT_TOLD,
    )


def _configs(view: NodeView, request: DescribeConfigsRequest) -> DescribeConfigsResponse | Failure:
    try:
        results = describe_configs(view.image, view.settings, request)
    except ControllerError as error:
        return Failure(error.code, error.reason)
    return DescribeConfigsResponse(results)


def _tokens(view: NodeView, request: DescribeDelegationTokenRequest) -> Any:
    secret_key = view.host.state.configuration.defaults.delegation_token_secret_key
    return describe_tokens(view.image, secret_key, request)


LOCAL_READS: Final[Mapping[type[Any], Callable[[NodeView, Any], Any]]] = {
    SupportedApisRequest: supported_apis,
    DescribeClusterRequest: describe_cluster,
    DescribeConfigsRequest: _configs,
    DescribeAclsRequest: lambda view, request: describe_acls(view.image, request),
    DescribeUserScramCredentialsRequest: lambda view, request: describe_scram_users(
        view.image, request
    ),
    DescribeDelegationTokenRequest: _tokens,
}
"""What answers each request that needs neither Raft nor the active controller."""
