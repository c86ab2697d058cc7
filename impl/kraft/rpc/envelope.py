"""RPC 58: a broker forwards a client's request to the active controller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from kraft.errors import ErrorCode

ANONYMOUS: Final = "User:ANONYMOUS"
"""The principal of a client that did not authenticate. Kafka: KafkaPrincipal.ANONYMOUS."""


@dataclass(frozen=True, slots=True)
class ForwardedRequest:
    """A request out of an envelope, a value of `kraft.rpc`, and the principal of its client.

    Kafka: RequestContext.principal.
    """

    request: Any
    principal: str


@dataclass(frozen=True, slots=True)
class EnvelopeRequest:
    """RPC 58: a request with its header, the client's principal as bytes, and its address.

    The address has 4 or 16 bytes. Kafka: EnvelopeRequest. KIP-590.
    """

    request_data: bytes
    request_principal: bytes | None
    client_host_address: bytes


@dataclass(frozen=True, slots=True)
class EnvelopeResponse:
    """RPC 58, the answer: the response with its header, or an error of the envelope itself.

    Kafka: EnvelopeResponse. KIP-590.
    """

    error_code: ErrorCode = ErrorCode.NONE
    response_data: bytes | None = None
