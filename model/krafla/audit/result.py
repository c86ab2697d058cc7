"""The findings of an audit.

A finding is one sentence with its place. Its `weight` decides the verdict; a violation also carries
evidence.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.audit.statements import STATEMENTS
from krafla.verdict import Verdict
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from krafla.report.explain.outcome import Falsehood
    from krafla.values import Value


class Weight(enum.Enum):
    """What a finding means for the verdict; the value is printed."""

    NOTE = "note"
    INCONCLUSIVE = "inconclusive"
    UNREADABLE = "unreadable"
    VIOLATION = "violation"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a record is a violation.

    `rule` is `Module!Name` of the spec or the id of a log invariant, `statement` says it in a
    sentence, `source` cites where it comes from. `record` is the record as Kafka's JSON, secrets
    withheld. `state` is the state just before, by name; `expected` is what would have been legal.
    A log invariant has no action and no parameters. `said` is the text of a server log's line.
    `invariants` are the ids of the invariants broken where a rule of a spec is.
    """

    rule: str
    statement: str
    source: str
    record: str | None = None
    action: str | None = None
    parameters: tuple[tuple[str, Value], ...] = ()
    false: tuple[Falsehood, ...] = ()
    state: tuple[tuple[str, Value], ...] = ()
    expected: str | None = None
    said: str | None = None
    invariants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Invariant:
    """An invariant: its id, and the source of its statement."""

    id: str
    source: str

    @property
    def statement(self) -> str:
        """The sentence that reports and pages print."""
        return STATEMENTS[self.id]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: `position` is a byte position in the file, `offset` an offset of the log.

    `line` counts the lines of a server log from 1. `known_bug` names the bug of Kafka, by id and
    releases, that explains a violation.
    """

    weight: Weight
    kind: str
    detail: str
    path: Path | None = None
    position: int | None = None
    offset: int | None = None
    evidence: Evidence | None = None
    line: int | None = None
    known_bug: str | None = None

    def __str__(self) -> str:
        number = "" if self.line is None else f":{self.line}"
        place = "" if self.path is None else f"{printable(str(self.path))}{number}: "
        numbers = []
        if self.position is not None:
            numbers.append(f"byte {self.position}")
        if self.offset is not None:
            numbers.append(f"offset {self.offset}")
        where = f" ({', '.join(numbers)})" if numbers else ""
        bug = "" if self.known_bug is None else f"; {self.known_bug}"
        return f"{place}{self.name}: {self.detail}{where}{bug}"

    @property
    def name(self) -> str:
        """The kind, with the ids of the invariants in the evidence."""
        ids = () if self.evidence is None else self.evidence.invariants
        return f"{self.kind} ({', '.join(ids)})" if ids else self.kind


def evidence_of(invariant: Invariant, record: str | None = None) -> Evidence:
    """Return the evidence that an invariant is broken, with the text of the record to blame."""
    return Evidence(invariant.id, invariant.statement, invariant.source, record=record)


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """Return the verdict on findings: held unless one is worse than a note."""
    weights = {finding.weight for finding in findings}
    if Weight.VIOLATION in weights:
        return Verdict.VIOLATED
    if weights & {Weight.UNREADABLE, Weight.INCONCLUSIVE}:
        return Verdict.INCONCLUSIVE
    return Verdict.HELD
