"""A question, and its row in the closing table: the answer and its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from krafla.verdict import ExitCode, Verdict, worst

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["InterruptedWithRow", "Kind", "Question", "Report", "Row"]


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
    ``seconds`` is wall-clock time. ``could_run`` is false if it could not be asked. ``kept_on`` is
    the day of the earlier run that gave this answer; nothing that it depends on has changed since.
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
    kept_on: str | None = None

    @property
    def word(self) -> str:
        """Return the verdict in a word, or that the question could not be asked."""
        return self.verdict.value if self.could_run else ExitCode.COULD_NOT_RUN.word

    @property
    def remark(self) -> str:
        """Return the seconds that the answer took, or the day it was kept."""
        if self.kept_on is not None:
            return f"held on {self.kept_on}, same digest"
        return f"{self.seconds:.1f} s"

    def as_json(self) -> dict[str, object]:
        """Return the row with plain values only, for ``--json``."""
        return {
            "kind": self.kind.value,
            "name": self.name,
            "verdict": self.verdict.value,
            "could_run": self.could_run,
            "kept_on": self.kept_on,
            "bounds": self.bounds,
            "evidence": list(self.evidence),
            "reasons": list(self.reasons),
            "reproduce": self.reproduce,
            "seconds": round(self.seconds, 3),
        }


class InterruptedWithRow(KeyboardInterrupt):
    """Ctrl-C, which ends all questions, when a question had its answer already."""

    def __init__(self, row: Row) -> None:
        super().__init__()
        self.row = row


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its name, the command that asks it again, and the function that asks it.

    ``ask`` gets a function to report its progress with. Questions with ``beside`` keep one core
    busy each, and may be asked at the same time, from other threads. Questions with ``at_end`` need
    the answers of all others. ``weight`` is about the seconds it takes. ``rests_on`` returns a
    digest of all that the answer depends on; if it is None, the answer is not kept. If a kept
    answer is used, ``recall`` is called instead of ``ask``.
    """

    kind: Kind
    name: str
    reproduce: str
    ask: Callable[[Callable[[str], None]], Row]
    beside: bool = False
    at_end: bool = False
    weight: float = 1.0
    rests_on: Callable[[], str] | None = None
    recall: Callable[[], object] = lambda: None

    @property
    def title(self) -> str:
        """Return the kind and the name, which no other question of one depth has together."""
        return f"{self.kind.value} {self.name}"

    @property
    def key(self) -> str:
        """Return what is asked, with its options: equal keys ask the same, at any depth."""
        return f"{self.title}: {self.reproduce}"


@dataclass(frozen=True, slots=True)
class Report:
    """The answers of one verification, in the order of its questions.

    ``unanswered`` questions were left when it was interrupted.
    """

    rows: tuple[Row, ...]
    seconds: float
    unanswered: int = 0

    @property
    def verdict(self) -> Verdict:
        """Return the worst verdict of all rows; without all of them it is never held."""
        missing = (Verdict.INCONCLUSIVE,) * bool(self.unanswered)
        return worst((*(row.verdict for row in self.rows), *missing))

    @property
    def exit_code(self) -> ExitCode:
        """Return 1 if anything is violated, 130 if interrupted, 2 if some could not be asked."""
        if self.verdict is Verdict.VIOLATED:
            return ExitCode.VIOLATED
        if self.unanswered:
            return ExitCode.INTERRUPTED
        if not all(row.could_run for row in self.rows):
            return ExitCode.COULD_NOT_RUN
        return self.verdict.exit_code

    def as_json(self) -> dict[str, object]:
        """Return the report with plain values only, for ``--json``."""
        return {
            "format": 1,
            "verdict": self.verdict.value,
            "exit_code": int(self.exit_code),
            "seconds": round(self.seconds, 3),
            "unanswered": self.unanswered,
            "rows": [row.as_json() for row in self.rows],
        }
