"""Delegation tokens are created, renewed and expired. `now_ms` is the time in ms since 1970.

Kafka: DelegationTokenControlManager. KIP-48, KIP-900.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Final

from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.leader_eligibility import metadata_version_of
from kraft.controller.operations.result import Result
from kraft.errors import ErrorCode
from kraft.image.versions import IBP_3_6_IV2
from kraft.records.security import DelegationTokenRecord, RemoveDelegationTokenRecord
from kraft.rpc.delegation_tokens import CreateDelegationTokenResponse, TokenExpiryResponse

if TYPE_CHECKING:
    from kraft.controller.operations.defaults import Defaults
    from kraft.ids import Uuid
    from kraft.image.entries import DelegationToken
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.typed_record import TypedRecord
    from kraft.rpc.delegation_tokens import (
        CreateDelegationTokenRequest,
        ExpireDelegationTokenRequest,
        RenewDelegationTokenRequest,
    )

MAX_EXPIRED: Final = 1000
"""The most tokens that one sweep removes."""

_USER: Final = "User:"
_FAR_AWAY: Final = 2**63 - 1


def create_delegation_token(
    image: MetadataImage,
    defaults: Defaults,
    request: CreateDelegationTokenRequest,
    principal: str,
    token_id: Uuid,
    now_ms: int,
) -> Result[CreateDelegationTokenResponse]:
    """Return a new token of the owner, requested by `principal`.

    `token_id` is a new id. Only users may renew a token.

    Kafka: DelegationTokenControlManager.createDelegationToken.
    """
    owner = request.owner or principal
    try:
        secret_key = _secret_key(image, defaults)
    except ControllerError as error:
        return Result((), CreateDelegationTokenResponse(error.code, owner, principal))
    if not all(one.startswith(_USER) for one in request.renewers):
        code = ErrorCode.INVALID_PRINCIPAL_TYPE
        return Result((), CreateDelegationTokenResponse(code, owner, principal))
    lifetime = defaults.delegation_token_max_lifetime_ms
    if request.max_lifetime_ms > 0:
        lifetime = min(lifetime, request.max_lifetime_ms)
    last = _after(now_ms, lifetime)
    expiry = min(last, _after(now_ms, defaults.delegation_token_expiry_time_ms))
    record = DelegationTokenRecord(
        owner, principal, request.renewers, now_ms, last, expiry, token_id
    )
    response = CreateDelegationTokenResponse(
        ErrorCode.NONE, owner, principal, now_ms, expiry, last, token_id,
        _hmac(secret_key, token_id),
    )  # fmt: skip
    return Result((record,), response)


def renew_delegation_token(
    image: MetadataImage,
    defaults: Defaults,
    request: RenewDelegationTokenRequest,
    principal: str,
    now_ms: int,
) -> Result[TokenExpiryResponse]:
    """Return a token with a later expiry, but not beyond its maximum lifetime.

    Kafka: DelegationTokenControlManager.renewDelegationToken.
    """
    try:
        token_id, token = _token_of(image, defaults, request.hmac)
        _validate_alive(token, now_ms)
        _validate_allowed(token, principal)
    except ControllerError as error:
        return Result((), TokenExpiryResponse(error.code))
    period = defaults.delegation_token_expiry_time_ms
    if request.renew_period_ms > 0:
        period = min(period, request.renew_period_ms)
    return _expiring_at(token_id, token, min(token.max_timestamp, _after(now_ms, period)))


def expire_delegation_token(
    image: MetadataImage,
    defaults: Defaults,
    request: ExpireDelegationTokenRequest,
    principal: str,
    now_ms: int,
) -> Result[TokenExpiryResponse]:
    """Return a token that expires after the given period, or its removal; it may have expired.

    Kafka: DelegationTokenControlManager.expireDelegationToken.
    """
    try:
        token_id, token = _token_of(image, defaults, request.hmac)
        _validate_allowed(token, principal)
        if request.expiry_time_period_ms >= 0:
            _validate_alive(token, now_ms)
    except ControllerError as error:
        return Result((), TokenExpiryResponse(error.code))
    if request.expiry_time_period_ms < 0:
        response = TokenExpiryResponse(expiry_timestamp_ms=now_ms)
        return Result((RemoveDelegationTokenRecord(token_id),), response)
    expiry = min(token.max_timestamp, _after(now_ms, request.expiry_time_period_ms))
    return _expiring_at(token_id, token, expiry)


def sweep_expired_delegation_tokens(
    image: MetadataImage, now_ms: int, most: int = MAX_EXPIRED
) -> Result[bool]:
    """Return the removal of expired tokens, and whether to sweep again soon.

    At most `most` tokens are removed.

    Kafka: DelegationTokenControlManager.sweepExpiredDelegationTokens.
    """
    expired = [
        token_id
        for token_id, token in sorted(image.delegation_tokens.items())
        if _has_expired(token, now_ms)
    ]
    records: tuple[TypedRecord, ...] = tuple(
        RemoveDelegationTokenRecord(token_id) for token_id in expired[:most]
    )
    return Result(records, response=len(expired) >= most, is_atomic=False)


def _secret_key(image: MetadataImage, defaults: Defaults) -> str:
    """Return the key that signs tokens; raise ControllerError if tokens are disabled."""
    if not defaults.delegation_token_secret_key:
        reason = "the controller has no secret key for delegation tokens"
        raise ControllerError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED, reason)
    if metadata_version_of(image) < IBP_3_6_IV2:
        reason = "the metadata version has no delegation tokens yet"
        raise ControllerError(ErrorCode.UNSUPPORTED_VERSION, reason)
    return defaults.delegation_token_secret_key


def _token_of(
    image: MetadataImage, defaults: Defaults, secret: bytes
) -> tuple[str, DelegationToken]:
    """Return the id and the token of a secret; raise ControllerError if there is none."""
    secret_key = _secret_key(image, defaults)
    for token_id, token in sorted(image.delegation_tokens.items()):
        if hmac.compare_digest(_hmac(secret_key, token_id), secret):
            return token_id, token
    raise ControllerError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND, "no token has this secret")


def _hmac(secret_key: str, token_id: str) -> bytes:
    """Return a token's secret. Kafka: DelegationTokenControlManager.createHmac."""
    return hmac.digest(secret_key.encode(), token_id.encode(), "sha512")


def _has_expired(token: DelegationToken, now_ms: int) -> bool:
    return min(token.max_timestamp, token.expiration_timestamp) < now_ms


def _validate_alive(token: DelegationToken, now_ms: int) -> None:
    if _has_expired(token, now_ms):
        raise ControllerError(ErrorCode.DELEGATION_TOKEN_EXPIRED, "the token has expired")


def _validate_allowed(token: DelegationToken, principal: str) -> None:
    """Check that a principal may renew a token; the requester of a token may not.

    Kafka: DelegationTokenControlManager.allowedToRenew.
    """
    if principal != token.owner and principal not in token.renewers:
        reason = f"{principal} neither owns nor renews the token"
        raise ControllerError(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH, reason)


def _expiring_at(
    token_id: str, token: DelegationToken, expiry_ms: int
) -> Result[TokenExpiryResponse]:
    record = DelegationTokenRecord(
        token.owner, token.requester, token.renewers, token.issue_timestamp,
        token.max_timestamp, expiry_ms, token_id,
    )  # fmt: skip
    return Result((record,), TokenExpiryResponse(expiry_timestamp_ms=expiry_ms))


def _after(now_ms: int, period_ms: int) -> int:
    """Return the end of a period, capped at what a record can hold."""
    return min(now_ms + period_ms, _FAR_AWAY)
