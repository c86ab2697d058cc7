"""The messages about the node that is asked: what it serves, its cluster, and what it forwards.

Kafka: ControllerApis.handleApiVersionsRequest, .handleDescribeCluster, EnvelopeUtils.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from kraft.errors import ErrorCode
from kraft.rpc.api_versions import (
    FinalizedFeature,
    SupportedApi,
    SupportedApisRequest,
    SupportedApisResponse,
)
from kraft.rpc.describe_cluster import (
    BROKER_ENDPOINT,
    CONTROLLER_ENDPOINT,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribedNode,
)
from kraft.rpc.envelope import EnvelopeRequest, EnvelopeResponse
from kraft.rpc.node_description import SupportedFeature
from kraft.rpc.raft_voters import ApiVersionsResponse
from kraft.wire.message_map import MessageMap, Refusal
from kraft.wire.value_maps import (
    ERROR,
    NODE_OR_NONE,
    SAME,
    THROTTLE,
    Array,
    Constant,
    Field,
    Struct,
)

if TYPE_CHECKING:
    from kraft.records.schema import Fields
    from kraft.wire.message_map import (
        AskedRequest,
        Check,
        FailedRequest,
        FailureForm,
        ResponseDraft,
    )

KRAFT_VERSION: Final = "kraft.version"
"""The feature of the quorum itself. Kafka: KRaftVersion.FEATURE_NAME."""

_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
"""The name or version of a client's software. Kafka: ApiVersionsRequest. KIP-511."""
_LEVEL_0: Final = 4
"""The first version of ApiVersions whose clients know features with level 0. KIP-1022."""

_SUPPORTED: Final = Struct(
    SupportedApisResponse,
    (
        ERROR,
        Field(
            "apiKeys",
            map=Array(
                Struct(SupportedApi, (Field("apiKey"), Field("minVersion"), Field("maxVersion")))
            ),
        ),
        Constant("throttleTimeMs", 0, since=1),
        Field(
            "supportedFeatures",
            map=Array(
                Struct(
                    SupportedFeature,
                    (
                        Field("name"),
                        Field("minVersion", "minimum"),
                        Field("maxVersion", "maximum"),
                    ),
                )
            ),
            since=3,
        ),
        Field("finalizedFeaturesEpoch", since=3),
        Field(
            "finalizedFeatures",
            map=Array(
                Struct(
                    FinalizedFeature,
                    (Field("name"), Field("maxVersionLevel"), Field("minVersionLevel")),
                )
            ),
            since=3,
        ),
        Field("zkMigrationReady", since=3),
    ),
)


def _versions_failed(failed: FailedRequest) -> Fields:
    """Return the failure; with UNSUPPORTED_VERSION it says the versions of this API itself.

    Kafka: ApiVersionsRequest.getErrorResponse. KIP-511.
    """
    itself = SupportedApi(API_VERSIONS.api_key, API_VERSIONS.versions[0], API_VERSIONS.versions[-1])
    keys = (itself,) if failed.error is ErrorCode.UNSUPPORTED_VERSION else ()
    return _SUPPORTED.encoded(SupportedApisResponse(failed.error, keys), failed.version)


def _check_software(asked: AskedRequest) -> Refusal | None:
    """Refuse a client whose software has no proper name. Kafka: ApiVersionsRequest.isValid."""
    if asked.version < 3:
        return None
    names = asked.fields["clientSoftwareName"], asked.fields["clientSoftwareVersion"]
    if all(_SOFTWARE.fullmatch(name) for name in names):
        return None
    return Refusal(_versions_failed(asked.failed(ErrorCode.INVALID_REQUEST)))


def _features_told(draft: ResponseDraft) -> Fields:
    """Leave out features that the client cannot know, and those that are finalized at level 0.

    Kafka: ApiVersionsResponse.maybeFilterSupportedFeatureKeys, .createFinalizedFeatureKeys.
    """
    if draft.version >= 3:
        draft.fields["supportedFeatures"] = tuple(
            one
            for one in draft.fields["supportedFeatures"]
            if draft.version >= _LEVEL_0 or one["minVersion"] > 0
        )
        draft.fields["finalizedFeatures"] = tuple(
            one for one in draft.fields["finalizedFeatures"] if one["maxVersionLevel"] > 0
        )
    return draft.fields


API_VERSIONS: Final = MessageMap(
    18,
    Struct(
        SupportedApisRequest,
        (Field("clientSoftwareName", since=3), Field("clientSoftwareVersion", since=3)),
    ),
    _SUPPORTED,
    _versions_failed,
    _check_software,
    completion=_features_told,
)
"""Kafka: ApiVersionsRequest, ApiVersionsResponse. KIP-35, KIP-511, KIP-584."""


def kraft_versions(response: SupportedApisResponse) -> ApiVersionsResponse:
    """Return what a leader wants to know of a replica that is to be a voter.

    A replica that does not tell its kraft.versions supports version 0 alone.

    Kafka: AddVoterHandler.handleApiVersionsResponse.
    """
    for feature in response.supported_features:
        if feature.name == KRAFT_VERSION:
            return ApiVersionsResponse(response.error_code, feature.minimum, feature.maximum)
    return ApiVersionsResponse(response.error_code, 0, 0)


_CLUSTER: Final = Struct(
    DescribeClusterResponse,
    (
        THROTTLE,
        ERROR,
        Field("errorMessage"),
        Field("endpointType", since=1),
        Field("clusterId"),
        Field("controllerId", map=NODE_OR_NONE),
        Field(
            "brokers",
            map=Array(
                Struct(
                    DescribedNode,
                    (
                        Field("brokerId"),
                        Field("host"),
                        Field("port"),
                        Field("rack"),
                        Field("isFenced", since=2),
                    ),
                )
            ),
        ),
        Field("clusterAuthorizedOperations"),
    ),
)


def _cluster_failed(failed: FailedRequest) -> Fields:
    """Return the failure of the whole. Kafka: DescribeClusterRequest.getErrorResponse."""
    return _CLUSTER.encoded(DescribeClusterResponse(failed.error, failed.sentence), failed.version)


def _check_endpoint(asked: AskedRequest) -> Refusal | None:
    """Refuse to describe anything but controllers; before version 1 nothing else can be asked for.

    Kafka: AuthHelper.computeDescribeClusterResponse. KIP-919.
    """
    endpoint_type = asked.fields["endpointType"] if asked.version >= 1 else BROKER_ENDPOINT
    if endpoint_type == CONTROLLER_ENDPOINT:
        return None
    if endpoint_type == BROKER_ENDPOINT:
        error, sentence = ErrorCode.MISMATCHED_ENDPOINT_TYPE, "this is a controller, not a broker"
    else:
        error, sentence = (
            ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            f"unknown endpoint type {endpoint_type}",
        )
    if asked.version == 0:
        error = ErrorCode.INVALID_REQUEST
    return Refusal(_cluster_failed(asked.failed(error, sentence)))


DESCRIBE_CLUSTER: Final = MessageMap(
    60,
    Struct(
        DescribeClusterRequest,
        (
            Field("includeClusterAuthorizedOperations"),
            Field("endpointType", since=1, absent=BROKER_ENDPOINT, ignorable=False),
            Field("includeFencedBrokers", since=2, absent=False, ignorable=False),
        ),
    ),
    _CLUSTER,
    _cluster_failed,
    _check_endpoint,
)
"""Kafka: DescribeClusterRequest, DescribeClusterResponse. KIP-700, KIP-919, KIP-1073."""

_ENVELOPED: Final = Struct(EnvelopeResponse, (Field("responseData"), ERROR))


def _envelope_failed(failed: FailedRequest) -> Fields:
    """Return the failure of the envelope. Kafka: EnvelopeRequest.getErrorResponse."""
    return _ENVELOPED.encoded(EnvelopeResponse(failed.error), failed.version)


def _check_address(asked: AskedRequest) -> Refusal | None:
    """Refuse an address of no known kind. Kafka: EnvelopeUtils.parseForwardedClientAddress."""
    if len(asked.fields["clientHostAddress"]) in (4, 16):
        return None
    return Refusal(_envelope_failed(asked.failed(ErrorCode.INVALID_REQUEST)))


ENVELOPE: Final = MessageMap(
    58,
    Struct(
        EnvelopeRequest,
        (Field("requestData"), Field("requestPrincipal"), Field("clientHostAddress")),
    ),
    _ENVELOPED,
    _envelope_failed,
    _check_address,
)
"""Kafka: EnvelopeRequest, EnvelopeResponse. KIP-590."""


def says_not_controller(api_key: int, response: Fields) -> bool:
    """Return whether a forwarded response has to become a NOT_CONTROLLER of its envelope.

    The broker that forwards looks for another controller then.

    Kafka: RequestChannel.Request.shouldReturnNotController.
    """
    error = ErrorCode.NOT_LEADER_OR_FOLLOWER if api_key == 55 else ErrorCode.NOT_CONTROLLER
    return _has_error(response, error)


def _has_error(raw: Any, error: ErrorCode) -> bool:
    if isinstance(raw, dict):
        return raw.get("errorCode") == error or any(_has_error(one, error) for one in raw.values())
    return isinstance(raw, tuple) and any(_has_error(one, error) for one in raw)


def _no_handshake(failed: FailedRequest) -> Fields:
    """Return the failure of a SaslHandshake. Kafka: SaslHandshakeRequest.getErrorResponse."""
    return {"errorCode": int(failed.error), "mechanisms": ()}


def _no_authentication(failed: FailedRequest) -> Fields:
    """Return the failure of a SaslAuthenticate. Kafka: SaslAuthenticateRequest.getErrorResponse."""
    response: Fields = {"errorCode": int(failed.error), "errorMessage": failed.sentence}
    response["authBytes"] = b""
    return response | ({"sessionLifetimeMs": 0} if failed.version >= 1 else {})


def _too_late(failure_form: FailureForm) -> Check:
    """Return the check that refuses to authenticate a connection that already serves requests.

    Kafka: ControllerApis.handleSaslHandshakeRequest, .handleSaslAuthenticateRequest.
    """

    def check(asked: AskedRequest) -> Refusal:
        sentence = "this connection is past its authentication"
        return Refusal(failure_form(asked.failed(ErrorCode.ILLEGAL_SASL_STATE, sentence)))

    return check


SASL_HANDSHAKE: Final = MessageMap(17, SAME, SAME, _no_handshake, _too_late(_no_handshake))
"""Kafka: SaslHandshakeRequest, SaslHandshakeResponse: no value, as it is always refused here."""

SASL_AUTHENTICATE: Final = MessageMap(
    36, SAME, SAME, _no_authentication, _too_late(_no_authentication)
)
"""Kafka: SaslAuthenticateRequest, SaslAuthenticateResponse: no value, as for SaslHandshake."""
