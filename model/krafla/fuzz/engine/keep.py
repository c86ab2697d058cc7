"""Keeping a trace: it is judged, stored under a name that says what it is, and listed."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from krafla.files import write_text
from krafla.fuzz.engine.kept_trace import does_not_follow, still_done
from krafla.match.corpus import INDEX_NAME, KINDS, MARK, VERSION, Entry, is_tag, read_index
from krafla.match.corpus_result import objection, violation_of
from krafla.match.trace_check import check_trace
from krafla.oracle.loader import find_module
from krafla.traces import dumps, read, write
from krafla.traces.trace import INITIAL
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.traces import Trace

__all__ = ["AS", "Stored", "keep"]

# What a user calls one trace, and the folder of its kind.
AS = {"accepted": KINDS[0], "rejected": KINDS[1], "counterexample": KINDS[2]}
_, _REJECTED, _COUNTEREXAMPLES = KINDS
_NAMES_MAX = 120
_STILL_DONE = "the implementation does it still: this test fails until it is mended"


@dataclass(frozen=True, slots=True)
class Stored:
    """A trace that is in the corpus now. ``remark`` says what else was found out about it."""

    entry: Entry
    remark: str


def keep(trace: Trace, kind: str, reason: str, tags: tuple[str, ...], root: Path) -> Stored:
    """Store a trace in the corpus ``root`` as one of ``KINDS``, and return its entry.

    ``KraflaError`` if the trace comes to something else than its kind says (with what it comes
    to), if the corpus has it already (with the row), or if the reason or a tag cannot be listed.
    """
    _check_words(reason, tags)
    entries = read_index(root) if (root / INDEX_NAME).exists() else ()
    _refuse_twin(trace, entries, root)
    entry, remark = _judged(trace, Entry(root, kind, reason, tags))
    room = find_module(trace.spec, None).parent.name
    path = root / kind / room / f"{_name(trace, entry)}.ndjson"
    if path.exists():
        raise KraflaError("is there already", str(path))
    entry = replace(entry, path=path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(trace, path)
    try:
        _list(root / INDEX_NAME, _row(entry, root))
    except BaseException:
        path.unlink()
        raise
    return Stored(entry, remark)


def _check_words(reason: str, tags: tuple[str, ...]) -> None:
    if not reason.strip() or not reason.isprintable():
        raise KraflaError(f"a reason is one line of text, not {reason!r}")
    wrong = [tag for tag in tags if not is_tag(tag)]
    if wrong:
        raise KraflaError(f"{wrong[0]!r} is no tag: letters, digits, - and _, a letter first")


def _refuse_twin(trace: Trace, entries: tuple[Entry, ...], root: Path) -> None:
    content = _content(trace)
    for entry in entries:
        if _content(read(entry.path)) == content:
            file = entry.path.relative_to(root).as_posix()
            raise KraflaError(f"has this trace already: {file}: {entry.reason}", str(root))


def _content(trace: Trace) -> str:
    """Return what makes two traces one: not where they came from, nor which model it was."""
    return dumps(replace(trace, origin=None, model=None))


def _judged(trace: Trace, entry: Entry) -> tuple[Entry, str]:
    """Return the entry with what is to be expected of the trace."""
    report = check_trace(trace)
    rejection = report.rejection
    if entry.kind == _REJECTED:
        if rejection is None:
            hint = "" if trace.claim is None else f"; it claims: {trace.claim}"
            raise KraflaError(f"not rejected: the spec has every step{hint}")
        text = next((name for name in rejection.names if name.strip()), rejection.step.action)
        entry = replace(entry, step=rejection.index, names=_piece(text))
        return entry, "" if still_done(trace) is None else _STILL_DONE
    if rejection is not None:
        raise KraflaError(f"not {_one(entry.kind)}: rejected at {rejection}")
    try:
        if entry.kind == _COUNTEREXAMPLES:
            entry = replace(entry, names=_piece(violation_of(trace).reasons[0].text))
        wrong = objection(entry, trace, report)
    except KraflaError as error:
        wrong = str(error)
    if wrong is not None:
        raise KraflaError(f"not {_one(entry.kind)}: {wrong}")
    try:
        lags = does_not_follow(trace)
    except KraflaError as error:
        lags = str(error)
    if lags is None:
        return replace(entry, implementation=True), "the implementation takes the same steps"
    return entry, f"not listed as one that the implementation takes: {lags}"


def _one(kind: str) -> str:
    return next(word for word, folder in AS.items() if folder == kind)


def _piece(text: str) -> str:
    """Return the part of a formula that the index lists: its first line, if need be a part."""
    return text.strip().splitlines()[0][:_NAMES_MAX]


def _name(trace: Trace, entry: Entry) -> str:
    """Return what it shows, how long it is, and the start of its digest."""
    last = trace.steps[-1 if entry.step is None else entry.step].action
    claim = trace.claim
    if entry.kind == _COUNTEREXAMPLES and claim is not None and claim.property is not None:
        last = claim.property
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", "start" if last == INITIAL else last)
    subject = "-".join(word.lower() for word in words)[:40].strip("-") or "trace"
    digest = hashlib.sha256(_content(trace).encode()).hexdigest()[:8]
    return f"{subject}-{len(trace.steps) - 1}-steps-{digest}"


def _row(entry: Entry, root: Path) -> str:
    fields = {
        "file": entry.path.relative_to(root).as_posix(),
        "reason": entry.reason,
        "tags": list(entry.tags) or None,
        "step": entry.step,
        "names": entry.names,
        "implementation": entry.implementation or None,
    }
    # These values are written in TOML as in JSON.
    lines = (
        f"{name} = {json.dumps(value, ensure_ascii=False)}\n"
        for name, value in fields.items()
        if value is not None
    )
    return f"[[trace]]\n{''.join(lines)}"


def _list(index: Path, row: str) -> None:
    """Add a row to the index, whole or not at all; all that it says already stays as it is."""
    try:
        text = index.read_text(encoding="utf-8") if index.exists() else f"{MARK} = {VERSION}\n"
        text = f"{text.rstrip()}\n\n{row}"
        tomllib.loads(text)
        write_text(index, [text])
    except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
        raise KraflaError(f"cannot be added to: {error}", str(index)) from error
