"""The messages about configurations, quotas and features.

Kafka: ControllerApis.handleIncrementalAlterConfigs, ConfigHelper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.errors import ErrorCode
from kraft.rpc.client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    ClientQuotaAlteration,
    ClientQuotaResult,
)
from kraft.rpc.configurations import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
    ReplacedConfigs,
)
from kraft.rpc.describe_configs import (
    ConfigSynonym,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribedConfig,
)
from kraft.rpc.update_features import (
    FeatureUpdate,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
    UpgradeType,
)
from kraft.wire.message_map import DEFAULT_TIMEOUT_MS, MessageMap
from kraft.wire.value_maps import (
    ERROR,
    SENTENCE,
    THROTTLE,
    Array,
    Constant,
    Entry,
    Field,
    Scalar,
    Struct,
)

if TYPE_CHECKING:
    from kraft.records.schema import Fields
    from kraft.wire.message_map import (
        FailedRequest,
        ResponseDraft,
    )

_RESOURCE: Final = (Field("resourceType"), Field("resourceName"))

RESOURCE_TYPES: Final = frozenset({2, 4, 8, 16, 32})
"""Topics, brokers, their loggers, client metrics and groups. Kafka: ConfigResource.Type."""
_OPERATIONS: Final = frozenset(ConfigOperation)

_ALTERED: Final = Struct(
    AlterConfigsResponse,
    (
        THROTTLE,
        Field(
            "responses",
            map=Array(Struct(AlterConfigsResourceResponse, (ERROR, SENTENCE, *_RESOURCE))),
        ),
    ),
)


def _refusal_of(resource: Fields) -> AlterConfigsResourceResponse | None:
    """Return why a resource never reaches the controller, None if it does.

    An unknown operation is invalid; Kafka's brokers say so, and its controller fails at it.

    Kafka: ControllerApis.handleIncrementalAlterConfigs, ConfigAdminManager.
    """
    key = resource["resourceType"], resource["resourceName"]
    if resource["resourceType"] not in RESOURCE_TYPES:
        sentence = f"unknown resource type {resource['resourceType']}"
        return AlterConfigsResourceResponse(*key, ErrorCode.UNSUPPORTED_VERSION, sentence)
    for config in resource["configs"]:
        operation = config.get("configOperation", ConfigOperation.SET)
        if operation not in _OPERATIONS:
            sentence = f"unknown operation {operation} for {config['name']}"
            return AlterConfigsResourceResponse(*key, ErrorCode.INVALID_REQUEST, sentence)
    return None


def _known_resources(resource: Struct) -> Scalar:
    """Return the map of the resources that reach the controller.

    The entries of a resource are the same in all versions.
    """

    def decoded(raw: Any) -> Any:
        return tuple(resource.decoded(one, 0) for one in raw if _refusal_of(one) is None)

    return Scalar(decoded, lambda value: tuple(resource.encoded(one, 0) for one in value))


def _with_refused(draft: ResponseDraft) -> Fields:
    """Add the resources that never reached the controller, before the others."""
    refused = (_refusal_of(resource) for resource in draft.request["resources"])
    told = AlterConfigsResponse(tuple(one for one in refused if one is not None))
    draft.fields["responses"] = (
        *_ALTERED.encoded(told, draft.version)["responses"],
        *draft.fields["responses"],
    )
    return draft.fields


def _alter_failed(failed: FailedRequest) -> Fields:
    """Return the failure of each resource. Kafka: AlterConfigsRequest.getErrorResponse."""
    responses = tuple(
        AlterConfigsResourceResponse(
            one["resourceType"], one["resourceName"], failed.error, failed.sentence
        )
        for one in failed.request["resources"]
    )
    return _ALTERED.encoded(AlterConfigsResponse(responses), failed.version)


def _alter_configs(api_key: int, of: Any, resource: Struct) -> MessageMap:
    resources = Field("resources", map=_known_resources(resource))
    return MessageMap(
        api_key,
        Struct(of, (resources, Field("validateOnly"))),
        _ALTERED,
        _alter_failed,
        completion=_with_refused,
    )


ALTER_CONFIGS: Final = _alter_configs(
    33,
    AlterConfigsRequest,
    Struct(ReplacedConfigs, (*_RESOURCE, Field("configs", map=Array(Entry(("name", "value")))))),
)
"""Kafka: AlterConfigsRequest, AlterConfigsResponse. KIP-133."""

_ALTERABLE: Final = Struct(
    AlterableConfig,
    (Field("name"), Field("configOperation", map=Scalar(ConfigOperation, int)), Field("value")),
)
INCREMENTAL_ALTER_CONFIGS: Final = _alter_configs(
    44,
    IncrementalAlterConfigsRequest,
    Struct(AlterConfigsResource, (*_RESOURCE, Field("configs", map=Array(_ALTERABLE)))),
)
"""Kafka: IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse. KIP-339."""

_DESCRIBED: Final = Struct(
    DescribedConfig,
    (
        Field("name"),
        Field("value"),
        Field("readOnly"),
        Field("configSource"),
        Field("isSensitive"),
        Field(
            "synonyms",
            map=Array(Struct(ConfigSynonym, (Field("name"), Field("value"), Field("source")))),
        ),
        Field("configType", since=3),
        Field("documentation", since=3),
    ),
)
_DESCRIPTION: Final = Struct(
    DescribeConfigsResponse,
    (
        THROTTLE,
        Field(
            "results",
            map=Array(
                Struct(
                    DescribeConfigsResult,
                    (ERROR, SENTENCE, *_RESOURCE, Field("configs", map=Array(_DESCRIBED))),
                )
            ),
        ),
    ),
)


def _describe_failed(failed: FailedRequest) -> Fields:
    """Return the failure of each resource, with the error's own sentence.

    Kafka: DescribeConfigsRequest.getErrorResponse.
    """
    results = tuple(
        DescribeConfigsResult(one["resourceType"], one["resourceName"], failed.error)
        for one in failed.request["resources"]
    )
    return _DESCRIPTION.encoded(DescribeConfigsResponse(results), failed.version)


DESCRIBE_CONFIGS: Final = MessageMap(
    32,
    Struct(
        DescribeConfigsRequest,
        (
            Field(
                "resources",
                map=Array(
                    Struct(DescribeConfigsResource, (*_RESOURCE, Field("configurationKeys")))
                ),
            ),
            Field("includeSynonyms"),
            Field("includeDocumentation", since=3, absent=False, ignorable=False),
        ),
    ),
    _DESCRIPTION,
    _describe_failed,
)
"""Kafka: DescribeConfigsRequest, DescribeConfigsResponse. KIP-133, KIP-226, KIP-569."""

_ENTITY: Final = Field("entity", map=Array(Entry(("entityType", "entityName"))))


def _quota_of(raw: Fields) -> tuple[str, float | None]:
    return raw["key"], None if raw["remove"] else raw["value"]


def _raw_quota(quota: tuple[str, float | None]) -> Fields:
    name, value = quota
    return {"key": name, "value": 0.0 if value is None else value, "remove": value is None}


_ALTERED_QUOTAS: Final = Struct(
    AlterClientQuotasResponse,
    (
        THROTTLE,
        Field("entries", map=Array(Struct(ClientQuotaResult, (ERROR, SENTENCE, _ENTITY)))),
    ),
)


def _quotas_failed(failed: FailedRequest) -> Fields:
    """Return the failure of each entity, with the error's own sentence.

    Kafka: AlterClientQuotasRequest.getErrorResponse.
    """
    entries = tuple(
        ClientQuotaResult(_ENTITY.map.decoded(one["entity"], failed.version), failed.error)
        for one in failed.request["entries"]
    )
    return _ALTERED_QUOTAS.encoded(AlterClientQuotasResponse(entries), failed.version)


ALTER_CLIENT_QUOTAS: Final = MessageMap(
    49,
    Struct(
        AlterClientQuotasRequest,
        (
            Field(
                "entries",
                map=Array(
                    Struct(
                        ClientQuotaAlteration,
                        (_ENTITY, Field("ops", map=Array(Scalar(_quota_of, _raw_quota)))),
                    )
                ),
            ),
            Field("validateOnly"),
        ),
    ),
    _ALTERED_QUOTAS,
    _quotas_failed,
)
"""Kafka: AlterClientQuotasRequest, AlterClientQuotasResponse. KIP-546."""


def _upgrade_type(number: int) -> UpgradeType:
    """Return an upgrade type; UNKNOWN is any other number. Kafka: UpgradeType.fromCode."""
    try:
        return UpgradeType(number)
    except ValueError:
        return UpgradeType.UNKNOWN


_MAY_FALL: Final = Scalar(
    lambda raw: UpgradeType.SAFE_DOWNGRADE if raw else UpgradeType.UPGRADE,
    lambda value: value is not UpgradeType.UPGRADE,
)
"""How version 0 says that a level may fall. Kafka: UpdateFeaturesRequest.getFeature."""
_FEATURES: Final = Struct(
    UpdateFeaturesResponse,
    (THROTTLE, ERROR, SENTENCE, Constant("results", (), until=1)),
)


def _features_failed(failed: FailedRequest) -> Fields:
    """Return the failure of the whole. Kafka: UpdateFeaturesRequest.getErrorResponse."""
    return _FEATURES.encoded(UpdateFeaturesResponse(failed.error, failed.sentence), failed.version)


def _with_results(draft: ResponseDraft) -> Fields:
    """Add each feature's success, until version 1. Kafka: QuorumController.updateFeatures."""
    if draft.version <= 1 and draft.value.error_code is ErrorCode.NONE:
        draft.fields["results"] = tuple(
            {"feature": one["feature"], "errorCode": 0, "errorMessage": None}
            for one in draft.request["featureUpdates"]
        )
    return draft.fields


UPDATE_FEATURES: Final = MessageMap(
    57,
    Struct(
        UpdateFeaturesRequest,
        (
            Constant("timeoutMs", DEFAULT_TIMEOUT_MS),
            Field(
                "featureUpdates",
                map=Array(
                    Struct(
                        FeatureUpdate,
                        (
                            Field("feature"),
                            Field("maxVersionLevel"),
                            Field("allowDowngrade", "upgrade_type", _MAY_FALL, until=0),
                            Field("upgradeType", map=Scalar(_upgrade_type, int), since=1),
                        ),
                    )
                ),
            ),
            Field("validateOnly", since=1, absent=False, ignorable=False),
        ),
    ),
    _FEATURES,
    _features_failed,
    completion=_with_results,
)
"""Kafka: UpdateFeaturesRequest, UpdateFeaturesResponse. KIP-584, KIP-778. It has no deadline."""
