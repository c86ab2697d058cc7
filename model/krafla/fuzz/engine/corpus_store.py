"""The corpus as a store: a file and its row in the index come together, or not at all."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from krafla.files import write_text
from krafla.match.corpus import INDEX_NAME, MARK, VERSION, Entry, is_tag, read_index
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["Stored", "check_words", "entries_of", "name_of", "stored"]


@dataclass(frozen=True, slots=True)
class Stored:
    """A recording that is in the corpus now. ``remark`` says what else was found out about it."""

    entry: Entry
    remark: str


def check_words(reason: str, tags: tuple[str, ...]) -> None:
    """Raise ``KraflaError`` if the reason or a tag cannot be listed."""
    if not reason.strip() or not reason.isprintable():
        raise KraflaError(f"a reason is one line of text, not {reason!r}")
    wrong = [tag for tag in tags if not is_tag(tag)]
    if wrong:
        raise KraflaError(f"{wrong[0]!r} is no tag: letters, digits, - and _, a letter first")


def entries_of(root: Path) -> tuple[Entry, ...]:
    """Return the entries of a corpus, none if it has no index yet."""
    return read_index(root) if (root / INDEX_NAME).exists() else ()


def name_of(subject: str, more: str) -> str:
    """Return the name of a file: the words of a name of the spec, and something more."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", subject)
    return f"{'-'.join(word.lower() for word in words)[:40].strip('-') or 'trace'}-{more}"


def stored(entry: Entry, path: Path, root: Path, write: Callable[[Path], object]) -> Entry:
    """Write a file into the corpus and list it; ``KraflaError`` if there is one of that name."""
    if path.exists():
        raise KraflaError("is there already", str(path))
    entry = replace(entry, path=path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path)
    try:
        _list(root / INDEX_NAME, _row(entry, root))
    except BaseException:
        path.unlink()
        raise
    return entry


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
