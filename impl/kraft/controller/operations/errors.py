"""Refusals and faults of operations."""

from __future__ import annotations

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


def validate_once(times: int, what: str) -> None:
    """Check that a request names something once, else raise ControllerError (INVALID_REQUEST).

    Kafka: ControllerApis.createTopics, deleteTopics, createPartitions, handleLegacyAlterConfigs.
    """
    if times > 1:
        raise ControllerError(ErrorCode.INVALID_REQUEST, f"{what} is named at most once")


class ControllerFaultError(Exception):
    """A fault that makes the controller answer UNKNOWN_SERVER_ERROR and step back.

    Kafka: EventHandlerExceptionInfo, for an exception that is no ApiException.
    """
