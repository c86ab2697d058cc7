"""The caller of a node, and what no client may ask over a connection of its own.

Kafka: RequestContext, ControllerApis.allowTokenRequests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kraft.errors import ErrorCode
from kraft.rpc.delegation_tokens import (
    NO_TIMESTAMP,
    NO_TIMESTAMPS,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
    TokenExpiryResponse,
)
from kraft.rpc.envelope import ANONYMOUS, ForwardedRequest

if TYPE_CHECKING:
    from kraft.wire.principals import ForwardedPrincipal


class Caller(NamedTuple):
    """A caller: its listener, its address, and the principal that a broker vouches for.

    `forwarded` is None for a request of the connection's own, whose client is anonymous here.
    """

    listener: str
    address: str
    forwarded: ForwardedPrincipal | None = None


def refused_token_request(value: Any, caller: Caller) -> Any:
    """Return the refusal of a request about tokens, None for any other request.

    Only a client that authenticated itself to its broker, and not by a token, may ask.

    Kafka: ControllerApis.allowTokenRequests.
    """
    forwarded = caller.forwarded
    if forwarded is not None and not forwarded.token_authenticated:
        return None
    code = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    if isinstance(value, CreateDelegationTokenRequest):
        requester = ANONYMOUS if forwarded is None else forwarded.principal
        owner = value.owner or requester
        return CreateDelegationTokenResponse(code, owner, requester, *NO_TIMESTAMPS)
    if isinstance(value, (RenewDelegationTokenRequest, ExpireDelegationTokenRequest)):
        return TokenExpiryResponse(code, NO_TIMESTAMP)
    return None


def with_principal(value: Any, caller: Caller) -> Any:
    """Return a request for the controller, with the principal that a broker vouches for."""
    forwarded = caller.forwarded
    return value if forwarded is None else ForwardedRequest(value, forwarded.principal)
