"""What TLC says of a cfg that does not fit its spec, in plainer words: the line, and a remedy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from krafla.project.models import is_like, meant
from krafla.tlc.comments import without_comments
from krafla.tlc.config import read_config

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["foreign", "mended", "undeclared"]

_UNDEFINED: Final = re.compile(
    r"The (?P<what>[\w ]*?) ?(?P<name>\w+) specified in the configuration file\s+is not defined"
)
_UNASSIGNED: Final = re.compile(r"constant parameter (?P<name>\w+) is not assigned")
_DECLARED: Final = re.compile(
    r"\bCONSTANTS?\s+(\w+(?:\s*\([_, ]*\))?(?:\s*,\s*\w+(?:\s*\([_, ]*\))?)*)"
)
_DEFINED: Final = re.compile(r"\b(\w+)\s*==")
_NO_KEYWORD: Final = re.compile(r"at line (?P<line>\d+)\s+It was expecting a keyword")
# Those that a person writes.
_KEYWORDS: Final = (
    "SPECIFICATION", "INIT", "NEXT", "CONSTANTS", "INVARIANTS", "PROPERTIES", "PROPERTY",
    "CONSTRAINTS", "ACTION_CONSTRAINTS", "VIEW", "SYMMETRY", "CHECK_DEADLOCK",
)  # fmt: skip
_NO_BEHAVIOUR: Final = re.compile(
    r"configuration file did not specify the (?:initial state predicate|next state)"
)
_OPERATOR: Final = re.compile(
    r"^[ \t]*(?:LOCAL[ \t]+)?(\w+)[ \t]*(?:\([^=\n]*\))?[ \t]*==", re.MULTILINE
)
_INIT_NEXT: Final = "INIT Init and a line NEXT Next"


def mended(message: str, config: Path, modules: Iterable[Path]) -> tuple[str, str] | None:
    """Return a sentence for TLC's complaint about a cfg, and its place; ``None`` if it is another.

    ``modules`` are the files in which the names of the cfg may be defined.
    """
    found = _NO_KEYWORD.search(message)
    if found is not None:
        number = int(found["line"])
        word = next(iter(_lines(config)[number - 1].split()), "")
        what = f"a keyword is needed, not {word}{meant(word, _KEYWORDS)}"
        return what, f"{config}:{number}"
    if _NO_BEHAVIOUR.search(message):
        names = _operators(modules)
        example = "SPECIFICATION Spec" if "Spec" in names or "Init" not in names else _INIT_NEXT
        return f"says neither SPECIFICATION nor INIT and NEXT: add a line {example}", str(config)
    found = _UNASSIGNED.search(message)
    if found is not None:
        name = found["name"]
        meaning = _meaning(name, config, modules)
        if meaning is not None:
            return meaning
        what = f"gives the constant {name} no value: write {name} = ... under CONSTANT"
        return what, str(config)
    found = _UNDEFINED.search(message)
    if found is not None:
        name = found["name"]
        near = meant(name, {*_operators(modules), *_KEYWORDS})
        return f"no module defines {name}{near}", f"{config}:{_line(config, name)}"
    return None


def foreign(given: Iterable[str], modules: Iterable[Path]) -> Iterator[str]:
    """Yield each of the names that a cfg gives a value or a replacement, and that no module has."""
    texts = [_text(one) for one in modules]
    known = {name for text in texts for name in (*_constants(text), *_DEFINED.findall(text))}
    return (name for name in given if name not in known)


def undeclared(name: str, config: Path, modules: Iterable[Path]) -> tuple[str, str]:
    """Return a sentence about a name of a cfg that no module has, and its place."""
    known = {one for path in modules for one in _constants(_text(path))}
    what = f"no module declares the constant {name}{meant(name, known)}"
    return what, f"{config}:{_line(config, name)}"


def _meaning(name: str, config: Path, modules: Iterable[Path]) -> tuple[str, str] | None:
    """Return what is wrong if the cfg gives a value to a name that is like a constant's."""
    given, files = read_config(config), tuple(modules)
    names = (*given.constant_names, *(one for one, _ in given.replacements))
    found = (one for one in foreign(names, files) if is_like(one, name))
    like = next(found, None)
    return None if like is None else undeclared(like, config, files)


def _constants(text: str) -> Iterator[str]:
    for found in _DECLARED.finditer(text):
        yield from re.findall(r"\b(?!_\b)\w+", found[1])


def _text(module: Path) -> str:
    return without_comments(module.read_text(encoding="utf-8", errors="replace"))


def _operators(modules: Iterable[Path]) -> set[str]:
    return {name for one in modules for name in _OPERATOR.findall(_text(one))}


def _lines(config: Path) -> list[str]:
    return config.read_text(encoding="utf-8", errors="replace").splitlines()


def _line(config: Path, name: str) -> int:
    word = re.compile(rf"\b{re.escape(name)}\b")
    return next((number for number, line in enumerate(_lines(config), 1) if word.search(line)), 1)
