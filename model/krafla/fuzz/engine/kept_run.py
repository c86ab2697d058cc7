"""Kept runs on machines, which are no traces: from then on nothing may be found in them.

A run that names a seeded bug must also go on showing that bug.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from krafla.files import write_bytes
from krafla.fuzz.engine.corpus_store import Stored, check_words, entries_of, name_of, stored
from krafla.fuzz.engine.run_file import Header, header_of, read_bytes, system_of, with_bug
from krafla.match.corpus import KINDS, Entry
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["STILL_DONE", "keep_run", "objection_to"]

_STILL = "the implementation does it still"
STILL_DONE = f"{_STILL}: this test fails until it is mended"
_ACCEPTED, _, _COUNTEREXAMPLES = KINDS


def keep_run(source: Path, kind: str, reason: str, tags: tuple[str, ...], root: Path) -> Stored:
    """Store a run on machines in the corpus ``root`` as one of ``KINDS``, and return its entry.

    An accepted run is one in which nothing is found, a rejected one keeps what was found in it from
    coming back. ``KraflaError`` if the run shows something else, if the corpus has it already, or
    if the reason or a tag cannot be listed.
    """
    check_words(reason, tags)
    data, place = read_bytes(source), str(source)
    system, header = system_of(data, place), header_of(data, place)
    for entry in entries_of(root):
        if entry.is_run and read_bytes(entry.path) == data:
            file = entry.path.relative_to(root).as_posix()
            raise KraflaError(f"has this run already: {file}: {entry.reason}", str(root))
    names = _names(header, kind)
    wrong = objection_to(source, names)
    if wrong is not None and (kind == _ACCEPTED or not wrong.startswith(_STILL)):
        raise KraflaError(f"not {kind}: {wrong}")
    subject = name_of(names or "run", hashlib.sha256(data).hexdigest()[:8])
    entry = Entry(root, kind, reason, tags, names=names)
    path = root / kind / system.name / f"{subject}.json"
    entry = stored(entry, path, root, lambda target: write_bytes(target, [data]))
    return Stored(entry, "" if wrong is None else STILL_DONE)


def _names(header: Header, kind: str) -> str | None:
    """Return the property for which a run is kept: the one that was violated in it, if any."""
    if kind == _COUNTEREXAMPLES:
        raise KraflaError("a run on machines is no counterexample of a spec: keep it --as rejected")
    if kind == _ACCEPTED:
        return None
    if not header.failed:
        raise KraflaError("not rejected: nothing was found in it when it was saved")
    return header.failed


def objection_to(path: Path, names: str | None) -> str | None:
    """Return what is found in a run and must not be, or not found and must be; ``None`` if nothing.

    ``names`` is the property that its seeded bug violates, if it names one. ``KraflaError`` for a
    file without a run.
    """
    data, place = read_bytes(path), str(path)
    system, header = system_of(data, place), header_of(data, place)
    case = system.decoded(data, place)
    run = system.play(case)
    if run.finding is not None:
        return f"{_STILL}\n{run.detail}"
    if header.mutant and names is not None:
        with with_bug(system, header, place):
            found = system.play(case).found_by or "nothing"
        if found != names:
            return f"with the seeded bug {header.mutant}, {found} is found, not {names}"
    return None
