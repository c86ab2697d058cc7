"""The records of one user's request, limited to the size of one batch.

Kafka: BoundedList, QuorumController.MAX_RECORDS_PER_USER_OP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.controller.operations.errors import ControllerError
from kraft.errors import ErrorCode
from kraft.records.limits import MAX_RECORDS_PER_USER_OP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.records.typed_record import TypedRecord


class UserBatch:
    """The records of a request so far."""

    def __init__(self) -> None:
        self._records: list[TypedRecord] = []

    @property
    def records(self) -> tuple[TypedRecord, ...]:
        """All records, in order."""
        return tuple(self._records)

    def add(self, records: Sequence[TypedRecord]) -> None:
        """Add records without which the whole request fails.

        Raises ControllerError (POLICY_VIOLATION) if they are too many.
        Kafka: EventHandlerExceptionInfo, for BoundedListTooLongException.
        """
        self._add(records, ErrorCode.POLICY_VIOLATION)

    def add_part(self, records: Sequence[TypedRecord]) -> None:
        """Add the records of one part of the request; a part that does not fit fails alone.

        Raises ControllerError (UNKNOWN_SERVER_ERROR, Kafka's code here) if they are too many.
        """
        self._add(records, ErrorCode.UNKNOWN_SERVER_ERROR)

    def check_part(self, count: int) -> None:
        """Check that a part of so many records fits, before they are made. Raises as `add_part`."""
        self._check(count, ErrorCode.UNKNOWN_SERVER_ERROR)

    def _add(self, records: Sequence[TypedRecord], code: ErrorCode) -> None:
        self._check(len(records), code)
        self._records += records

    def _check(self, count: int, code: ErrorCode) -> None:
        many = len(self._records) + count
        if many > MAX_RECORDS_PER_USER_OP:
            reason = f"{many} records, more than {MAX_RECORDS_PER_USER_OP} in one request"
            raise ControllerError(code, reason)
