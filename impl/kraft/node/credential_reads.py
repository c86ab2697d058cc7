"""What a node tells of access control, passwords and tokens, from what it has replayed.

Kafka's controllers answer the first of these only with an authorizer, and the others not at all.

Kafka: AclApis.handleDescribeAcls, ScramImage.describe, DelegationTokenManager.getTokens.
"""

from __future__ import annotations

import hmac
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from kraft.controller.operations.access_control import matches
from kraft.errors import ErrorCode
from kraft.rpc.access_control import AclBinding, DescribeAclsRequest, DescribeAclsResponse
from kraft.rpc.delegation_tokens import (
    DescribedDelegationToken,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from kraft.rpc.scram import (
    DescribedScramUser,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    ScramCredentialInfo,
)

if TYPE_CHECKING:
    from kraft.image.metadata_image import MetadataImage


def describe_acls(image: MetadataImage, request: DescribeAclsRequest) -> DescribeAclsResponse:
    """Return the entries that a filter matches."""
    found = sorted(
        msgspec.structs.astuple(entry)
        for entry in image.access_control_entries.values()
        if matches(request.filter, entry)
    )
    return DescribeAclsResponse(acls=tuple(AclBinding(*entry) for entry in found))


def describe_scram_users(
    image: MetadataImage, request: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    """Return the mechanisms of users, whose secrets stay here. Kafka: ScramImage.describe."""
    infos: dict[str, list[ScramCredentialInfo]] = {}
    for (mechanism, user), credential in sorted(image.scram_credentials.items()):
        infos.setdefault(user, []).append(ScramCredentialInfo(mechanism, credential.iterations))
    asked = Counter(request.users or sorted(infos))
    results = []
    for user, times in asked.items():
        if times > 1:
            said = f"user {user} is asked for more than once"
            results.append(DescribedScramUser(user, ErrorCode.DUPLICATE_RESOURCE, said))
        elif user not in infos:
            said = f"user {user} has no credential"
            results.append(DescribedScramUser(user, ErrorCode.RESOURCE_NOT_FOUND, said))
        else:
            results.append(DescribedScramUser(user, credential_infos=tuple(infos[user])))
    return DescribeUserScramCredentialsResponse(results=tuple(results))


def describe_tokens(
    image: MetadataImage, secret_key: str | None, request: DescribeDelegationTokenRequest
) -> DescribeDelegationTokenResponse:
    """Return the tokens of some owners or of all, with their HMACs: every client is a superuser.

    Without a `secret_key` there are none: DELEGATION_TOKEN_AUTH_DISABLED.
    Kafka: DelegationTokenManager.getTokens.
    """
    if not secret_key:
        return DescribeDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    tokens = tuple(
        DescribedDelegationToken(
            token.owner,
            token.requester,
            token.issue_timestamp,
            token.expiration_timestamp,
            token.max_timestamp,
            token_id,
            hmac.digest(secret_key.encode(), token_id.encode(), "sha512"),
            token.renewers,
        )
        for token_id, token in sorted(image.delegation_tokens.items())
        if request.owners is None or token.owner in request.owners
    )
    return DescribeDelegationTokenResponse(tokens=tokens)
