"""A question, and its row in the closing table: the answer and its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from krafla.verdict import ExitCode, Verdict, worst

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Kind", "Question", "Report", "Row"]


class Kind(Enum):
    """What sort of question a row asks."""

    MODEL = "model"
    EXPECTED_FAILURE = "expected failure"
    FUZZ = "fuzz"
    TRACE = "trace"
    AUDIT = "audit"
    SERVER_LOGS = "server logs"
    PROOF = "proof"


@dataclass(frozen=True, slots=True)
class Row:
    """One answered question of a verification.

    The verdict holds within ``bounds``. ``evidence`` lists counts and observations, ``reasons`` why
    the verdict is not "held". ``reproduce`` is the command that asks this one question again,
    ``seconds`` is wall-clock time. ``could_run`` is false if it could not be asked.
    """

    kind: Kind
    name: str
    verdict: Verdict
    bounds: str
    evidence: tuple[str, ...]
    reasons: tuple[str, ...]
    reproduce: str
    seconds: float
    could_run: bool = True

    def as_json(self) -> dict[str, object]:
        """Return the row with plain values only, for ``--json``."""
        return {
            "kind": self.kind.value,
            "name": self.name,
            "verdict": self.verdict.value,
            "could_run": self.could_run,
            "bounds": self.bounds,
            "evidence": list(self.evidence),
            "reasons": list(self.reasons),
            "reproduce": self.reproduce,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its name, the command that asks it again, and the function that asks it.

    ``ask`` gets a function to report its progress with. Questions with ``beside`` keep one core
    busy each, and may be asked at the same time, from other threads.
    """

    kind: Kind
    name: str
    reproduce: str
    ask: Callable[[Callable[[str], None]], Row]
    beside: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """All rows of one verification, in the order in which they were asked."""

    rows: tuple[Row, ...]
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """Return the worst verdict of all rows; of no rows it is inconclusive."""
        return worst(row.verdict for row in self.rows)

    @property
    def exit_code(self) -> ExitCode:
        """Return 1 if anything is violated, else 2 if anything could not be asked, else 3 or 0."""
        if self.verdict is not Verdict.VIOLATED and not all(row.could_run for row in self.rows):
            return ExitCode.COULD_NOT_RUN
        return self.verdict.exit_code

    def as_json(self) -> dict[str, object]:
        """Return the report with plain values only, for ``--json``."""
        return {
            "format": 1,
            "verdict": self.verdict.value,
            "exit_code": int(self.exit_code),
            "seconds": round(self.seconds, 3),
            "rows": [row.as_json() for row in self.rows],
        }
