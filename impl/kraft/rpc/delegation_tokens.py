"""RPCs 38 to 41: delegation tokens begin, live longer, end, and are described.

A principal is text as in records: its type, `:`, its name. Times are milliseconds since 1970.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kraft.errors import ErrorCode

NO_TIMESTAMP: Final = -1
NO_TIMESTAMPS: Final = (NO_TIMESTAMP, NO_TIMESTAMP, NO_TIMESTAMP)
"""The times in the refusal of a request that no controller has seen."""
BY_DEFAULT: Final = -1
"""A lifetime that is as the controller's configuration says."""


@dataclass(frozen=True, slots=True)
class CreateDelegationTokenRequest:
    """RPC 38. `owner` defaults to the requester. Kafka: CreateDelegationTokenRequest. KIP-48."""

    owner: str | None = None
    renewers: tuple[str, ...] = ()
    max_lifetime_ms: int = BY_DEFAULT


@dataclass(frozen=True, slots=True)
class CreateDelegationTokenResponse:
    """RPC 38, the answer; `hmac` is the secret. Kafka: CreateDelegationTokenResponse."""

    error_code: ErrorCode = ErrorCode.NONE
    owner: str = ""
    requester: str = ""
    issue_timestamp_ms: int = 0
    expiry_timestamp_ms: int = 0
    max_timestamp_ms: int = 0
    token_id: str = ""
    hmac: bytes = b""


@dataclass(frozen=True, slots=True)
class RenewDelegationTokenRequest:
    """RPC 39. Kafka: RenewDelegationTokenRequest. KIP-48."""

    hmac: bytes
    renew_period_ms: int = BY_DEFAULT


@dataclass(frozen=True, slots=True)
class ExpireDelegationTokenRequest:
    """RPC 40. A negative period ends the token at once. Kafka: ExpireDelegationTokenRequest."""

    hmac: bytes
    expiry_time_period_ms: int


@dataclass(frozen=True, slots=True)
class TokenExpiryResponse:
    """RPCs 39 and 40, the answer: until when the token is good.

    Kafka: RenewDelegationTokenResponse, ExpireDelegationTokenResponse.
    """

    error_code: ErrorCode = ErrorCode.NONE
    expiry_timestamp_ms: int = 0


@dataclass(frozen=True, slots=True)
class DescribeDelegationTokenRequest:
    """RPC 41: the tokens of these owners; None is all that the requester may see.

    Kafka: DescribeDelegationTokenRequest. KIP-48.
    """

    owners: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class DescribedDelegationToken:
    """A token with its secret, `hmac`. Kafka: DelegationToken, TokenInformation."""

    owner: str
    requester: str
    issue_timestamp_ms: int
    expiry_timestamp_ms: int
    max_timestamp_ms: int
    token_id: str
    hmac: bytes
    renewers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribeDelegationTokenResponse:
    """RPC 41, the answer. Kafka: DescribeDelegationTokenResponse."""

    error_code: ErrorCode = ErrorCode.NONE
    tokens: tuple[DescribedDelegationToken, ...] = ()
