"""The corpus of traces: files that the spec must accept, and files that it must reject, and why.

``index.toml`` in the corpus folder lists every file with its story. A rejected trace names the
step at which it must be rejected, and what the rejection must name.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from krafla.refinement.trace_check import check_trace
from krafla.traces import read
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from krafla.refinement.trace_check import TraceReport

__all__ = ["Corpus", "Entry", "check_corpus", "read_index", "root_of"]

INDEX_NAME: Final = "index.toml"
_KINDS: Final = ("accepted", "rejected")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the corpus; ``step`` and ``names`` are of a trace to be rejected."""

    path: Path
    reason: str
    step: int | None = None
    names: str | None = None

    def objection(self, report: TraceReport) -> str | None:
        """Return what is not as the index says; ``None`` if all is."""
        rejection = report.rejection
        if self.step is None:
            return None if rejection is None else f"{self.path.name}: {rejection}"
        if rejection is None:
            return f"{self.path.name}: accepted, but step {self.step} is to be rejected"
        if rejection.index != self.step:
            return f"{self.path.name}: rejected at step {rejection.index}, not {self.step}"
        if not any(str(self.names) in name for name in rejection.names):
            return f"{self.path.name}: rejected, but not for {self.names}: {rejection}"
        return None


@dataclass(frozen=True, slots=True)
class Corpus:
    """What replaying every trace came to."""

    entries: tuple[Entry, ...]
    steps: int
    reasons: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """Return whether every trace came to what the index says."""
        if self.reasons:
            return Verdict.VIOLATED
        return Verdict.HELD if self.entries else Verdict.INCONCLUSIVE

    @property
    def evidence(self) -> tuple[str, ...]:
        """Return what the verdict rests on."""
        rejected = sum(entry.step is not None for entry in self.entries)
        return (
            f"{len(self.entries) - rejected} accepted, {rejected} rejected at the step and for the "
            "reason listed",
            f"{self.steps:,} steps replayed on the spec",
        )


def root_of(folder: Path) -> Path:
    """Return the corpus that a folder is, or is a part of."""
    for root in (folder, *folder.resolve().parents[:2]):
        if (root / INDEX_NAME).is_file():
            return root
    raise KraflaError(
        f"is no part of a corpus: there is no {INDEX_NAME} in it or above", str(folder)
    )


def check_corpus(
    folder: Path,
    progress: Callable[[str], None] = lambda _: None,
    *,
    within: Path | None = None,
) -> Corpus:
    """Return whether every trace of a corpus, or those within a folder, is as its index says.

    ``KraflaError`` if the index and the files do not match each other.
    """
    chosen = (within or folder).resolve()
    entries = tuple(
        entry for entry in read_index(folder) if entry.path.resolve().is_relative_to(chosen)
    )
    steps, reasons = 0, []
    for entry in entries:
        progress(f"replaying {entry.path.name}")
        report = check_trace(read(entry.path))
        steps += report.steps
        objection = entry.objection(report)
        if objection is not None:
            reasons.append(objection)
    return Corpus(entries, steps, tuple(reasons))


def read_index(folder: Path) -> tuple[Entry, ...]:
    """Return the entries of a corpus.

    ``KraflaError`` for a file that is not listed, or listed and not there, or a rejected trace
    without the step and the name to expect.
    """
    index = folder / INDEX_NAME
    try:
        data = tomllib.loads(index.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise KraflaError(f"cannot be read: {error}", str(index)) from error
    tables = data.get("trace", [])
    entries = tuple(_entry(folder, index, table) for table in tables)
    listed = {entry.path for entry in entries}
    present = {path for kind in _KINDS for path in (folder / kind).rglob("*.ndjson")}
    wrong = sorted(str(path.relative_to(folder)) for path in listed ^ present)
    if wrong or len(listed) != len(entries):
        which = ", ".join(wrong) or "a file"
        raise KraflaError(f"{which}: listed twice, or not both listed and there", str(index))
    return entries


def _entry(folder: Path, index: Path, table: dict[str, Any]) -> Entry:
    file, step, names = table.get("file"), table.get("step"), table.get("names")
    if not isinstance(file, str) or not isinstance(table.get("reason"), str):
        raise KraflaError(f"a trace needs a file and a reason: {table}", str(index))
    kind = file.split("/")[0]
    is_rejected = isinstance(step, int) and isinstance(names, str)
    if kind not in _KINDS or (kind == "rejected") != is_rejected:
        raise KraflaError(f"{file}: a rejected trace, and no other, has step and names", str(index))
    return Entry(folder / file, table["reason"], step, names)
