"""Refusals and faults of operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraft.errors import ErrorCode


class ControllerError(Exception):
    """The refusal of a request, or of a part of one: its error code and a sentence for people.

    Kafka: ApiException, ApiError.
    """

    def __init__(self, code: ErrorCode, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.code.name}: {self.reason}"


class ControllerFaultError(Exception):
    """A fault that makes the controller answer UNKNOWN_SERVER_ERROR and step back.

    Kafka: EventHandlerExceptionInfo, for an exception that is no ApiException.
    """
