"""RPC 64: the operator removes the registration of a broker id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from kraft.ids import BrokerId


@dataclass(frozen=True, slots=True)
class UnregisterBrokerRequest:
    """RPC 64. The id to forget, whatever state its registration is in.

    Kafka: UnregisterBrokerRequest.
    """

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class UnregisterBrokerResponse:
    """RPC 64, the answer: whether the id is forgotten, or why not.

    Kafka: UnregisterBrokerResponse.
    """

    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
