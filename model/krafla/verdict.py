"""The words every tool of this project answers with: verdicts, exit codes and one error."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ExitCode", "KraflaError", "Verdict", "worst", "worst_status"]


class ExitCode(IntEnum):
    """The meaning of a command's exit status. A contract: scripts and CI rely on these numbers."""

    HELD = 0
    VIOLATED = 1
    COULD_NOT_RUN = 2
    INCONCLUSIVE = 3
    CRASHED = 4
    INTERRUPTED = 130

    @property
    def word(self) -> str:
        """Return the words that a command says with this status."""
        return self.name.lower().replace("_", " ")


class Verdict(Enum):
    """The answer to one question: it held within its bounds, it was violated, or it is unknown."""

    HELD = "held"
    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"

    @property
    def exit_code(self) -> ExitCode:
        """Return the exit status that says the same."""
        return ExitCode[self.name]


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict over several questions; over none at all it is inconclusive.

    A violation outweighs a doubt: it was found whatever else remains unknown.
    """
    found = set(verdicts)
    for verdict in (Verdict.VIOLATED, Verdict.INCONCLUSIVE, Verdict.HELD):
        if verdict in found:
            return verdict
    return Verdict.INCONCLUSIVE


def worst_status(statuses: Iterable[ExitCode]) -> ExitCode:
    """Return the exit status over several: the first of 1, 2, 3, 0 that occurs; of none 3."""
    found = set(statuses)
    order = (ExitCode.VIOLATED, ExitCode.COULD_NOT_RUN, ExitCode.INCONCLUSIVE, ExitCode.HELD)
    return next((one for one in order if one in found), ExitCode.INCONCLUSIVE)


class KraflaError(Exception):
    """The question could not be asked: bad input, a missing tool. Exit status 2.

    ``place`` says where the fault lies (``file``, ``file:line``, ``file, byte 17``) and
    leads the printed line.
    """

    exit_code = ExitCode.COULD_NOT_RUN

    def __init__(self, message: str, place: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.place = place

    def __str__(self) -> str:
        return self.message if self.place is None else f"{self.place}: {self.message}"
