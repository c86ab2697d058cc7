"""The digest of a spec: equal digests mean equal texts of every module that counts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from krafla.oracle.loader import find_module, folders_for
from krafla.traces.spec_text import modules_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["digest_of_used", "spec_digest", "spec_files"]

_EXTENDS = re.compile(r"^\s*EXTENDS\s+(\w+(?:\s*,\s*\w+)*)", re.MULTILINE)
_INSTANCE = re.compile(r"\bINSTANCE\s+(\w+)")


def spec_digest(name: str, path: Path | None = None) -> str:
    """Return the SHA-256 over the text of a module and of all modules of ours that it uses.

    ``path`` is the module's file or folder (default: wherever it is in the spec tree). TLC's own
    modules do not count: the jar is pinned.
    """
    return _digest(spec_files(name, path))


def spec_files(name: str, path: Path | None = None) -> dict[str, Path]:
    """Return the file of a module and of all modules of ours that it uses, by their names."""
    module = find_module(name, path)
    folders = [module.parent, *folders_for(module)]
    text = module.read_text(encoding="utf-8")
    return {**_modules_used(text, folders), module.stem: module}


def digest_of_used(text: str, folders: Sequence[Path]) -> str:
    """Return the same digest for all modules that a text uses, which are in some folders."""
    return _digest(_modules_used(text, folders))


def _modules_used(text: str, folders: Sequence[Path]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    waiting = [text]
    while waiting:
        for used in _used(waiting.pop()):
            file = next(
                (one for folder in folders if (one := folder / f"{used}.tla").is_file()), None
            )
            if file is not None and used not in found:
                found[used] = file
                waiting.append(file.read_text(encoding="utf-8"))
    return found


def _digest(files: dict[str, Path]) -> str:
    return modules_digest({used: file.read_bytes() for used, file in files.items()})


def _used(text: str) -> Iterator[str]:
    for names in _EXTENDS.findall(text):
        yield from re.split(r"\s*,\s*", names.strip())
    yield from _INSTANCE.findall(text)
