"""A fault after which a process must not go on."""

from __future__ import annotations


class FaultError(Exception):
    """Why the process must end: its memory would differ from what the log says.

    Kafka: FaultHandler, ProcessTerminatingFaultHandler.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
