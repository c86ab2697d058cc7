"""The refusal to start from a log directory: the fault, its place, and the remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.errors import CorruptRecordError

if TYPE_CHECKING:
    from pathlib import Path

REPLACE: Final = (
    "restore the log directory from a copy of this replica, or, while a majority of the other"
    " voters is well, format an empty one, and the log is fetched anew"
)
WRONG_DIRECTORY: Final = "start this replica on its own log directory, or correct its configuration"
FORMAT: Final = "format the log directory first"


class UnusableLogError(CorruptRecordError):
    """Files that a replica must not start from; none of them was changed.

    `remedy` says what can be done. The rest is as in CorruptRecordError.
    """

    def __init__(
        self,
        reason: str,
        *,
        path: Path | None = None,
        position: int | None = None,
        base_offset: int | None = None,
        offset: int | None = None,
        field: str | None = None,
        remedy: str = REPLACE,
    ) -> None:
        super().__init__(
            reason,
            path=path,
            position=position,
            base_offset=base_offset,
            offset=offset,
            field=field,
        )
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{super().__str__()}; {self.remedy}"


def unusable(error: CorruptRecordError) -> UnusableLogError:
    """Return the refusal for an error in a file's bytes."""
    return UnusableLogError(
        error.reason,
        path=error.path,
        position=error.position,
        base_offset=error.base_offset,
        offset=error.offset,
        field=error.field,
    )
