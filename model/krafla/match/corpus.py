"""The corpus of kept traces: its index, and the verdict on all of them.

``index.toml`` in the corpus folder lists every file with a reason. A file lies in the folder of
its kind. ``accepted``: the spec has the behaviour. ``rejected``: the spec denies the step ``step``,
and the reason contains the text ``names``. ``counterexamples``: the spec has the behaviour, the
property that the trace claims to violate is false at its end, and the false conjunct contains
``names``. A run on machines (``.json``) has no step: nothing is found in it, except with the
seeded bug that it names, by which a rejected one violates the property ``names``.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from krafla.counted import counted
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "INDEX_NAME", "KINDS", "MARK", "VERSION", "Corpus", "Entry", "is_tag", "read_index", "root_of",
]  # fmt: skip

INDEX_NAME: Final = "index.toml"
KINDS: Final = ("accepted", "rejected", "counterexamples")
# The key that tells our index from any other index.toml, and the version that we read.
MARK: Final = "krafla_corpus"
VERSION: Final = 1
RUN_ENDING: Final = ".json"
_TAG = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the corpus, and the result it must have.

    A rejected trace has ``step`` and ``names``, a counterexample has ``names``.
    ``implementation``: the implementation must take the same steps, and reach the same violation
    if the trace claims one.
    """

    path: Path
    kind: str
    reason: str
    tags: tuple[str, ...] = ()
    step: int | None = None
    names: str | None = None
    implementation: bool = False

    @property
    def is_run(self) -> bool:
        """Return whether this is a run on machines, which has no spec that replays it."""
        return self.path.suffix == RUN_ENDING


@dataclass(frozen=True, slots=True)
class Corpus:
    """The results of replaying every trace: what was not as listed, and what could not be told.

    ``refused`` counts the rejected traces whose denied step a machine refused.
    """

    entries: tuple[Entry, ...]
    steps: int
    reasons: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    refused: int = 0

    @property
    def verdict(self) -> Verdict:
        """Return whether every trace had the result that the index lists."""
        if self.reasons:
            return Verdict.VIOLATED
        return Verdict.INCONCLUSIVE if self.doubts or not self.entries else Verdict.HELD

    @property
    def evidence(self) -> tuple[str, ...]:
        """Return what the verdict rests on."""
        runs = sum(entry.is_run for entry in self.entries)
        accepted, rejected, counterexamples = (
            sum(entry.kind == kind and not entry.is_run for entry in self.entries) for kind in KINDS
        )
        followed = sum(entry.implementation for entry in self.entries)
        return (
            f"{accepted} accepted, {rejected} rejected at the step and for the reason listed, "
            f"{counted(counterexamples, 'counterexample')} with the conjunct listed",
            f"{counted(self.steps, 'step')} replayed on the spec, {counted(followed, 'trace')} "
            "followed by the implementation",
            *(
                [f"{counted(self.refused, 'denied step')} refused by a machine"]
                if self.refused
                else []
            ),
            *([f"{counted(runs, 'run')} on machines, with nothing found"] if runs else []),
        )


def root_of(folder: Path) -> Path:
    """Return the corpus folder: the given folder, or one of the two above it."""
    for root in (folder, *folder.resolve().parents[:2]):
        if (root / INDEX_NAME).is_file():
            return root
    raise KraflaError(
        f"is no part of a corpus: there is no {INDEX_NAME} in it or above", str(folder)
    )


def is_tag(text: str) -> bool:
    """Return whether a text can be a tag: a letter, then letters, digits, ``_`` and ``-``."""
    return _TAG.fullmatch(text) is not None


def read_index(folder: Path) -> tuple[Entry, ...]:
    """Return the entries of a corpus.

    ``KraflaError`` if the index has another version, if the listed files and the files in the
    folder differ, or if an entry lacks a key of its kind.
    """
    index = folder / INDEX_NAME
    try:
        data = tomllib.loads(index.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise KraflaError(f"cannot be read: {error}", str(index)) from error
    if data.get(MARK) != VERSION or isinstance(data.get(MARK), bool):
        raise KraflaError(f"must say {MARK} = {VERSION} at its top", str(index))
    tables = data.get("trace", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise KraflaError("each trace is a table [[trace]]", str(index))
    entries = tuple(_entry(folder, index, table) for table in tables)
    listed = {entry.path for entry in entries}
    present = {
        path for kind in KINDS for path in (folder / kind).rglob("*")
        if path.suffix in {".ndjson", RUN_ENDING}
    }  # fmt: skip
    wrong = sorted(str(path.relative_to(folder)) for path in listed ^ present)
    if wrong or len(listed) != len(entries):
        which = ", ".join(wrong) or "a file"
        raise KraflaError(f"{which}: listed twice, not listed, or not there", str(index))
    return entries


def _entry(folder: Path, index: Path, table: dict[str, Any]) -> Entry:
    file, step, names = table.get("file"), table.get("step"), table.get("names")
    if not isinstance(file, str) or not isinstance(table.get("reason"), str):
        raise KraflaError(f"a trace needs a file and a reason: {table}", str(index))
    parts = file.split("/")
    if parts[0] not in KINDS or any(part in {"", ".", ".."} for part in parts):
        raise KraflaError(f"{file}: not a path below {', '.join(KINDS)}", str(index))
    _check_expectation(index, file, step, names)
    tags = table.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(one, str) and is_tag(one) for one in tags):
        raise KraflaError(f"{file}: tags are a list of names, not {tags!r}", str(index))
    implementation = table.get("implementation", False)
    if not isinstance(implementation, bool) or (implementation and parts[0] == "rejected"):
        raise KraflaError(f"{file}: a rejected trace has no implementation = true", str(index))
    return Entry(folder / file, parts[0], table["reason"], tuple(tags), step, names, implementation)


def _check_expectation(index: Path, file: str, step: object, names: object) -> None:
    kind = file.split("/")[0]
    has_step, has_names = type(step) is int, isinstance(names, str) and names != ""
    if file.endswith(RUN_ENDING):
        has_step = True
        if step is not None or kind == "counterexamples":
            raise KraflaError(f"{file}: a run is accepted or rejected, at no step", str(index))
    if kind == "rejected" and not (has_step and has_names):
        raise KraflaError(f"{file}: a rejected trace has step and names", str(index))
    if kind == "counterexamples" and not (step is None and has_names):
        raise KraflaError(f"{file}: a counterexample has names, and no step", str(index))
    if kind == "accepted" and not (step is None and names is None):
        raise KraflaError(f"{file}: an accepted trace has neither step nor names", str(index))
