"""Schemas of the requests about credentials: SASL, SCRAM and delegation tokens.

Kafka: ApiMessageType, from `common/message/*.json` in kafka-clients-4.1.0.jar.
"""

from __future__ import annotations

from typing import Final

from kraft.records.schema import FieldType as T
from kraft.records.schema import Schema, array, field

SASL_HANDSHAKE_REQUEST: Final = Schema(
    "SaslHandshakeRequest", 17, 1, flexible_since=None, fields=(field("mechanism", T.STRING),)
)
SASL_HANDSHAKE_RESPONSE: Final = Schema(
    "SaslHandshakeResponse",
    17,
    1,
    flexible_since=None,
    fields=(field("errorCode", T.INT16), array("mechanisms", T.STRING)),
)
SASL_AUTHENTICATE_REQUEST: Final = Schema(
    "SaslAuthenticateRequest", 36, 2, flexible_since=2, fields=(field("authBytes", T.BYTES),)
)
SASL_AUTHENTICATE_RESPONSE: Final = Schema(
    "SaslAuthenticateResponse",
    36,
    2,
    flexible_since=2,
    fields=(
        field("errorCode", T.INT16),
        field("errorMessage", T.STRING, nullable=True),
        field("authBytes", T.BYTES),
        field("sessionLifetimeMs", T.INT64, since=1, ignorable=True),
    ),
)
DESCRIBE_USER_SCRAM_CREDENTIALS_REQUEST: Final = Schema(
    "DescribeUserScramCredentialsRequest",
    50,
    0,
    fields=(array("users", nullable=True, default=(), element=(field("name", T.STRING),)),),
)
DESCRIBE_USER_SCRAM_CREDENTIALS_RESPONSE: Final = Schema(
    "DescribeUserScramCredentialsResponse",
    50,
    0,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        field("errorMessage", T.STRING, nullable=True),
        array(
            "results",
            (
                field("user", T.STRING),
                field("errorCode", T.INT16),
                field("errorMessage", T.STRING, nullable=True),
                array(
                    "credentialInfos", (field("mechanism", T.INT8), field("iterations", T.INT32))
                ),
            ),
        ),
    ),
)
ALTER_USER_SCRAM_CREDENTIALS_REQUEST: Final = Schema(
    "AlterUserScramCredentialsRequest",
    51,
    0,
    fields=(
        array("deletions", (field("name", T.STRING), field("mechanism", T.INT8))),
        array(
            "upsertions",
            (
                field("name", T.STRING),
                field("mechanism", T.INT8),
                field("iterations", T.INT32),
                field("salt", T.BYTES),
                field("saltedPassword", T.BYTES),
            ),
        ),
    ),
)
ALTER_USER_SCRAM_CREDENTIALS_RESPONSE: Final = Schema(
    "AlterUserScramCredentialsResponse",
    51,
    0,
    fields=(
        field("throttleTimeMs", T.INT32),
        array(
            "results",
            (
                field("user", T.STRING),
                field("errorCode", T.INT16),
                field("errorMessage", T.STRING, nullable=True),
            ),
        ),
    ),
)
CREATE_DELEGATION_TOKEN_REQUEST: Final = Schema(
    "CreateDelegationTokenRequest",
    38,
    3,
    oldest=1,
    flexible_since=2,
    fields=(
        field("ownerPrincipalType", T.STRING, since=3, nullable=True),
        field("ownerPrincipalName", T.STRING, since=3, nullable=True),
        array("renewers", (field("principalType", T.STRING), field("principalName", T.STRING))),
        field("maxLifetimeMs", T.INT64),
    ),
)
CREATE_DELEGATION_TOKEN_RESPONSE: Final = Schema(
    "CreateDelegationTokenResponse",
    38,
    3,
    oldest=1,
    flexible_since=2,
    fields=(
        field("errorCode", T.INT16),
        field("principalType", T.STRING),
        field("principalName", T.STRING),
        field("tokenRequesterPrincipalType", T.STRING, since=3),
        field("tokenRequesterPrincipalName", T.STRING, since=3),
        field("issueTimestampMs", T.INT64),
        field("expiryTimestampMs", T.INT64),
        field("maxTimestampMs", T.INT64),
        field("tokenId", T.STRING),
        field("hmac", T.BYTES),
        field("throttleTimeMs", T.INT32),
    ),
)
RENEW_DELEGATION_TOKEN_REQUEST: Final = Schema(
    "RenewDelegationTokenRequest",
    39,
    2,
    oldest=1,
    flexible_since=2,
    fields=(field("hmac", T.BYTES), field("renewPeriodMs", T.INT64)),
)
RENEW_DELEGATION_TOKEN_RESPONSE: Final = Schema(
    "RenewDelegationTokenResponse",
    39,
    2,
    oldest=1,
    flexible_since=2,
    fields=(
        field("errorCode", T.INT16),
        field("expiryTimestampMs", T.INT64),
        field("throttleTimeMs", T.INT32),
    ),
)
EXPIRE_DELEGATION_TOKEN_REQUEST: Final = Schema(
    "ExpireDelegationTokenRequest",
    40,
    2,
    oldest=1,
    flexible_since=2,
    fields=(field("hmac", T.BYTES), field("expiryTimePeriodMs", T.INT64)),
)
EXPIRE_DELEGATION_TOKEN_RESPONSE: Final = Schema(
    "ExpireDelegationTokenResponse",
    40,
    2,
    oldest=1,
    flexible_since=2,
    fields=(
        field("errorCode", T.INT16),
        field("expiryTimestampMs", T.INT64),
        field("throttleTimeMs", T.INT32),
    ),
)
DESCRIBE_DELEGATION_TOKEN_REQUEST: Final = Schema(
    "DescribeDelegationTokenRequest",
    41,
    3,
    oldest=1,
    flexible_since=2,
    fields=(
        array(
            "owners",
            nullable=True,
            default=(),
            element=(field("principalType", T.STRING), field("principalName", T.STRING)),
        ),
    ),
)
DESCRIBE_DELEGATION_TOKEN_RESPONSE: Final = Schema(
    "DescribeDelegationTokenResponse",
    41,
    3,
    oldest=1,
    flexible_since=2,
    fields=(
        field("errorCode", T.INT16),
        array(
            "tokens",
            (
                field("principalType", T.STRING),
                field("principalName", T.STRING),
                field("tokenRequesterPrincipalType", T.STRING, since=3),
                field("tokenRequesterPrincipalName", T.STRING, since=3),
                field("issueTimestamp", T.INT64),
                field("expiryTimestamp", T.INT64),
                field("maxTimestamp", T.INT64),
                field("tokenId", T.STRING),
                field("hmac", T.BYTES),
                array(
                    "renewers", (field("principalType", T.STRING), field("principalName", T.STRING))
                ),
            ),
        ),
        field("throttleTimeMs", T.INT32),
    ),
)
