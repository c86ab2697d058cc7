"""A request that the controller refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraft.errors import ErrorCode


class ControllerError(Exception):
    """Why a request, or a part of one, is refused: its error code, and a sentence for people.

    Kafka: ApiException, ApiError.
    """

    def __init__(self, code: ErrorCode, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.code.name}: {self.reason}"


class ControllerFaultError(Exception):
    """What no controller goes on after: it answers UNKNOWN_SERVER_ERROR, and resigns.

    Kafka: EventHandlerExceptionInfo, for what is no ApiException.
    """
