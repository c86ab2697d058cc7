"""The messages about access control and SCRAM credentials.

Kafka: AclApis, ControllerApis.handleAlterUserScramCredentials.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.rpc.access_control import (
    UNKNOWN,
    AclBinding,
    AclCreationResult,
    AclFilter,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
)
from kraft.rpc.scram import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    DescribedScramUser,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialInfo,
    ScramCredentialUpsertion,
)
from kraft.wire.message_map import Malformed, MessageMap
from kraft.wire.value_maps import (
    ERROR,
    SENTENCE,
    THROTTLE,
    Array,
    Constant,
    Field,
    Grouped,
    Scalar,
    Struct,
    Within,
)

if TYPE_CHECKING:
    from kraft.records.schema import Fields
    from kraft.wire.message_map import (
        AskedRequest,
        Check,
        FailedRequest,
    )

_PERMISSION: Final = (
    Field("principal"),
    Field("host"),
    Field("operation"),
    Field("permissionType"),
)


def _binding(pattern_type: str, *more: Constant) -> Struct:
    pattern = (
        Field("resourceType"),
        Field("resourceName"),
        Field(pattern_type, "pattern_type"),
    )
    return Struct(AclBinding, (*more, *pattern, *_PERMISSION))


_FILTER: Final = Struct(
    AclFilter,
    (
        Field("resourceTypeFilter", "resource_type"),
        Field("resourceNameFilter", "resource_name"),
        Field("patternTypeFilter", "pattern_type"),
        Field("principalFilter", "principal"),
        Field("hostFilter", "host"),
        Field("operation"),
        Field("permissionType"),
    ),
)


def _no_unknown(entries: str | None, types: tuple[str, ...]) -> Check:
    """Return the check that no type in the `entries` of a request is UNKNOWN.

    Numbers beyond the last one are the controller's matter, as in Kafka.

    Kafka: CreateAclsRequest.validate, DeleteAclsRequest.normalizeAndValidate.
    """

    def check(asked: AskedRequest) -> Malformed | None:
        for entry in (asked.fields,) if entries is None else asked.fields[entries]:
            for name in (*types, "operation", "permissionType"):
                if entry[name] == UNKNOWN:
                    return Malformed(f"{name} of an entry of access control is UNKNOWN")
        return None

    return check


_FILTER_TYPES: Final = ("resourceTypeFilter", "patternTypeFilter")
_CREATED: Final = Struct(
    CreateAclsResponse,
    (THROTTLE, Field("results", map=Array(Struct(AclCreationResult, (ERROR, SENTENCE))))),
)


def _create_failed(failed: FailedRequest) -> Fields:
    """Return the failure of each entry. Kafka: CreateAclsRequest.getErrorResponse."""
    results = (AclCreationResult(failed.error, failed.sentence),) * len(failed.request["creations"])
    return _CREATED.encoded(CreateAclsResponse(results), failed.version)


CREATE_ACLS: Final = MessageMap(
    30,
    Struct(CreateAclsRequest, (Field("creations", map=Array(_binding("resourcePatternType"))),)),
    _CREATED,
    _create_failed,
    _no_unknown("creations", ("resourceType", "resourcePatternType")),
)
"""Kafka: CreateAclsRequest, CreateAclsResponse. KIP-140, KIP-290."""

_MATCHING: Final = _binding("patternType", Constant("errorCode", 0), Constant("errorMessage", None))
_DELETED: Final = Struct(
    DeleteAclsResponse,
    (
        THROTTLE,
        Field(
            "filterResults",
            map=Array(
                Struct(
                    DeleteAclsFilterResult,
                    (ERROR, SENTENCE, Field("matchingAcls", map=Array(_MATCHING))),
                )
            ),
        ),
    ),
)


def _delete_failed(failed: FailedRequest) -> Fields:
    """Return the failure of each filter. Kafka: DeleteAclsRequest.getErrorResponse."""
    results = (DeleteAclsFilterResult(failed.error, failed.sentence),) * len(
        failed.request["filters"]
    )
    return _DELETED.encoded(DeleteAclsResponse(results), failed.version)


DELETE_ACLS: Final = MessageMap(
    31,
    Struct(DeleteAclsRequest, (Field("filters", map=Array(_FILTER)),)),
    _DELETED,
    _delete_failed,
    _no_unknown("filters", _FILTER_TYPES),
)
"""Kafka: DeleteAclsRequest, DeleteAclsResponse. KIP-140, KIP-290."""

_DESCRIBED: Final = Struct(
    DescribeAclsResponse,
    (
        THROTTLE,
        ERROR,
        SENTENCE,
        Grouped(
            "resources",
            "acls",
            (Field("resourceType"), Field("resourceName"), Field("patternType")),
            "acls",
            Struct(AclBinding, _PERMISSION),
        ),
    ),
)


def _describe_failed(failed: FailedRequest) -> Fields:
    """Return the failure of the whole. Kafka: DescribeAclsRequest.getErrorResponse."""
    return _DESCRIBED.encoded(DescribeAclsResponse(failed.error, failed.sentence), failed.version)


DESCRIBE_ACLS: Final = MessageMap(
    29,
    Struct(DescribeAclsRequest, (Within("filter", _FILTER),)),
    _DESCRIBED,
    _describe_failed,
    _no_unknown(None, _FILTER_TYPES),
)
"""Kafka: DescribeAclsRequest, DescribeAclsResponse. KIP-140, KIP-290."""

_CREDENTIAL: Final = (Field("name"), Field("mechanism"))
_ALTERED_SCRAM: Final = Struct(
    AlterUserScramCredentialsResponse,
    (
        THROTTLE,
        Field(
            "results",
            map=Array(Struct(AlterUserScramCredentialsResult, (Field("user"), ERROR, SENTENCE))),
        ),
    ),
)


def _alter_scram_failed(failed: FailedRequest) -> Fields:
    """Return the failure of each user, in the order of their names.

    Kafka: AlterUserScramCredentialsRequest.getErrorResponse.
    """
    users = {one["name"] for one in (*failed.request["deletions"], *failed.request["upsertions"])}
    results = tuple(
        AlterUserScramCredentialsResult(user, failed.error, failed.sentence)
        for user in sorted(users)
    )
    return _ALTERED_SCRAM.encoded(AlterUserScramCredentialsResponse(results), failed.version)


ALTER_USER_SCRAM_CREDENTIALS: Final = MessageMap(
    51,
    Struct(
        AlterUserScramCredentialsRequest,
        (
            Field("deletions", map=Array(Struct(ScramCredentialDeletion, _CREDENTIAL))),
            Field(
                "upsertions",
                map=Array(
                    Struct(
                        ScramCredentialUpsertion,
                        (
                            *_CREDENTIAL,
                            Field("iterations"),
                            Field("salt"),
                            Field("saltedPassword"),
                        ),
                    )
                ),
            ),
        ),
    ),
    _ALTERED_SCRAM,
    _alter_scram_failed,
)
"""Kafka: AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse. KIP-554."""

_USER: Final = Scalar(lambda raw: raw["name"], lambda value: {"name": value})
_CREDENTIALS: Final = Array(Struct(ScramCredentialInfo, (Field("mechanism"), Field("iterations"))))
_DESCRIBED_SCRAM: Final = Struct(
    DescribeUserScramCredentialsResponse,
    (
        THROTTLE,
        ERROR,
        SENTENCE,
        Field(
            "results",
            map=Array(
                Struct(
                    DescribedScramUser,
                    (Field("user"), ERROR, SENTENCE, Field("credentialInfos", map=_CREDENTIALS)),
                )
            ),
        ),
    ),
)


def _describe_scram_failed(failed: FailedRequest) -> Fields:
    """Return the failure of the whole and of each user, who is not named.

    Kafka: DescribeUserScramCredentialsRequest.getErrorResponse.
    """
    results = (DescribedScramUser("", failed.error, failed.sentence),) * len(
        failed.request["users"] or ()
    )
    response: Any = DescribeUserScramCredentialsResponse(failed.error, failed.sentence, results)
    return _DESCRIBED_SCRAM.encoded(response, failed.version)


DESCRIBE_USER_SCRAM_CREDENTIALS: Final = MessageMap(
    50,
    Struct(DescribeUserScramCredentialsRequest, (Field("users", map=Array(_USER)),)),
    _DESCRIBED_SCRAM,
    _describe_scram_failed,
)
"""Kafka: DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse. KIP-554."""
