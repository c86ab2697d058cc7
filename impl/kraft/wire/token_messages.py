"""The messages about delegation tokens. A value has each principal as one text, type and name.

Kafka: ControllerApis.handleCreateDelegationTokenRequest, DelegationTokenControlManager. KIP-48.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kraft.errors import ErrorCode
from kraft.rpc.delegation_tokens import (
    NO_TIMESTAMPS,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DescribedDelegationToken,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
    TokenExpiryResponse,
)
from kraft.rpc.envelope import ANONYMOUS
from kraft.wire.message_map import MessageMap, Refusal
from kraft.wire.value_maps import (
    ERROR,
    THROTTLE,
    Array,
    Field,
    Scalar,
    Struct,
    refuse_loss,
)

if TYPE_CHECKING:
    from kraft.records.schema import Fields
    from kraft.wire.message_map import AskedRequest, FailedRequest


@dataclass(frozen=True, slots=True)
class Principal:
    """A principal's type and name, in two entries, as one attribute; else it is `absent`.

    Kafka: KafkaPrincipal.toString.
    """

    type_name: str
    name: str
    attribute: str
    since: int = 0
    absent: str | None = None
    ignorable: bool = True

    def take(self, fields: Fields, version: int, attributes: dict[str, Any]) -> None:
        """Add the attribute."""
        is_there = version >= self.since and fields[self.name]
        attributes[self.attribute] = (
            f"{fields[self.type_name]}:{fields[self.name]}" if is_there else self.absent
        )

    def put(self, value: Any, version: int, fields: Fields) -> None:
        """Add the two entries, null for None; a text without a colon is a name without a type."""
        if version < self.since:
            if not self.ignorable:
                refuse_loss(self.name, getattr(value, self.attribute), self.absent)
            return
        principal = getattr(value, self.attribute)
        if principal is None:
            fields[self.type_name] = fields[self.name] = None
        else:
            fields[self.type_name], fields[self.name] = _split(principal)


def _split(principal: str) -> tuple[str, str]:
    principal_type, colon, name = principal.partition(":")
    return (principal_type, name) if colon else ("", principal)


def _joined(raw: Fields) -> str:
    return f"{raw['principalType']}:{raw['principalName']}"


def _raw(principal: str) -> Fields:
    principal_type, name = _split(principal)
    return {"principalType": principal_type, "principalName": name}


_PRINCIPALS: Final = Array(Scalar(_joined, _raw))
_OWNER: Final = Principal("principalType", "principalName", "owner", 0, "")
_REQUESTER: Final = Principal(
    "tokenRequesterPrincipalType", "tokenRequesterPrincipalName", "requester", 3, ""
)
_CREATED: Final = Struct(
    CreateDelegationTokenResponse,
    (
        ERROR,
        _OWNER,
        _REQUESTER,
        Field("issueTimestampMs"),
        Field("expiryTimestampMs"),
        Field("maxTimestampMs"),
        Field("tokenId"),
        Field("hmac"),
        THROTTLE,
    ),
)


def _create_failed(failed: FailedRequest) -> Fields:
    """Return the failure, which names no principal.

    Kafka: CreateDelegationTokenRequest.getErrorResponse.
    """
    response = CreateDelegationTokenResponse(failed.error, ANONYMOUS, ANONYMOUS, *NO_TIMESTAMPS)
    return _CREATED.encoded(response, failed.version)


def _check_owner(asked: AskedRequest) -> Refusal | None:
    """Refuse an owner that has a name and no type, at which Kafka's handler fails.

    Kafka: ControllerApis.handleCreateDelegationTokenRequest.
    """
    if asked.fields.get("ownerPrincipalName") and asked.fields["ownerPrincipalType"] is None:
        return Refusal(_create_failed(asked.failed(ErrorCode.UNKNOWN_SERVER_ERROR)))
    return None


CREATE_DELEGATION_TOKEN: Final = MessageMap(
    38,
    Struct(
        CreateDelegationTokenRequest,
        (
            Principal(
                "ownerPrincipalType", "ownerPrincipalName", "owner", since=3, ignorable=False
            ),
            Field("renewers", map=_PRINCIPALS),
            Field("maxLifetimeMs"),
        ),
    ),
    _CREATED,
    _create_failed,
    _check_owner,
)
"""Kafka: CreateDelegationTokenRequest, CreateDelegationTokenResponse. KIP-48, KIP-373."""

_EXPIRY: Final = Struct(TokenExpiryResponse, (ERROR, Field("expiryTimestampMs"), THROTTLE))


def _expiry_failed(failed: FailedRequest) -> Fields:
    """Return the failure, of time 0. Kafka: RenewDelegationTokenRequest.getErrorResponse."""
    return _EXPIRY.encoded(TokenExpiryResponse(failed.error), failed.version)


RENEW_DELEGATION_TOKEN: Final = MessageMap(
    39,
    Struct(RenewDelegationTokenRequest, (Field("hmac"), Field("renewPeriodMs"))),
    _EXPIRY,
    _expiry_failed,
)
"""Kafka: RenewDelegationTokenRequest, RenewDelegationTokenResponse."""

EXPIRE_DELEGATION_TOKEN: Final = MessageMap(
    40,
    Struct(ExpireDelegationTokenRequest, (Field("hmac"), Field("expiryTimePeriodMs"))),
    _EXPIRY,
    _expiry_failed,
)
"""Kafka: ExpireDelegationTokenRequest, ExpireDelegationTokenResponse."""

_DESCRIBED: Final = Struct(
    DescribeDelegationTokenResponse,
    (
        ERROR,
        Field(
            "tokens",
            map=Array(
                Struct(
                    DescribedDelegationToken,
                    (
                        _OWNER,
                        _REQUESTER,
                        Field("issueTimestamp", "issue_timestamp_ms"),
                        Field("expiryTimestamp", "expiry_timestamp_ms"),
                        Field("maxTimestamp", "max_timestamp_ms"),
                        Field("tokenId"),
                        Field("hmac"),
                        Field("renewers", map=_PRINCIPALS),
                    ),
                )
            ),
        ),
        THROTTLE,
    ),
)


def _describe_failed(failed: FailedRequest) -> Fields:
    """Return the failure. Kafka: DescribeDelegationTokenRequest.getErrorResponse."""
    return _DESCRIBED.encoded(DescribeDelegationTokenResponse(failed.error), failed.version)


DESCRIBE_DELEGATION_TOKEN: Final = MessageMap(
    41,
    Struct(DescribeDelegationTokenRequest, (Field("owners", map=_PRINCIPALS),)),
    _DESCRIBED,
    _describe_failed,
)
"""Kafka: DescribeDelegationTokenRequest, DescribeDelegationTokenResponse. KIP-48, KIP-373."""
