"""The meaning of a definition, from the comment above it in its module, and its place."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING

from krafla.project.at_hand import projects_about
from krafla.report.explain.words import inert
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.traces import SpecText

__all__ = ["Meanings"]

_DEFINITION = re.compile(r"^(?P<name>[A-Za-z]\w*)(\([^=]*\))? *==")
_EXTENDS = re.compile(r"^EXTENDS +(?P<modules>[\w, \n]+?)$", re.MULTILINE)
_INSTANCE = re.compile(r"\bINSTANCE +(?P<module>\w+)")
_PROPERTY = re.compile(r"(Inv|Prop|Live|Reach)$")
_FRAME = re.compile(r"^ *(\(\*+|\*+\)$|\\\*+)|\**\) *$")
# A sentence ends at a full stop that something follows, or that ends the paragraph.
_SENTENCE = re.compile(r"^.*?\.(?=\s|$)", re.DOTALL)
# One or two words before a colon, such as the name of a source, are a label and no sentence.
_LABEL = re.compile(r"^\S+( \S+)?:(\s|$)")


class Meanings:
    """The sentences above the definitions of a module, its extended modules and its folder.

    It is no error if the module is missing: a trace may be read where its spec is not.
    """

    def __init__(self, module: str, text: SpecText | None = None) -> None:
        """Take the name of the module, and the text of it that a trace carries, if any."""
        carried = () if text is None else (_in_text(*one) for one in text.modules)
        self._found = _modules(module)
        for definitions in carried:
            self._found |= definitions

    def of(self, name: str) -> str:
        """Return the first sentence above a definition, ended by a full stop; else nothing."""
        found = self._found.get(name)
        return "" if found is None else found[0]

    def place(self, name: str) -> str:
        """Return the place of a definition as ``Module:line``; empty if it is not known."""
        found = self._found.get(name)
        return "" if found is None else found[1]


def _modules(module: str) -> dict[str, tuple[str, str]]:
    try:
        projects = projects_about(module)
    except KraflaError:
        return {}
    files = {path.stem: path for one in reversed(projects) for path in one.modules()}
    found: dict[str, tuple[str, str]] = {}
    # A property may be in a module of the same folder that extends the one of the trace.
    folder = files[module].parent if module in files else None
    near = [name for name, path in files.items() if path.parent == folder]
    wanted, seen = [module], set()
    while wanted or near:
        name = wanted.pop(0) if wanted else near.pop(0)
        path = files.get(name)
        if path is None or name in seen:
            continue
        seen.add(name)
        definitions, others = _definitions(path, path.stat().st_mtime_ns)
        found = {**definitions, **found}
        wanted += others
    return found


@lru_cache(maxsize=64)
def _definitions(path: Path, _modified: int) -> tuple[dict[str, tuple[str, str]], tuple[str, ...]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}, ()
    found = _in_text(path.stem, text)
    others = [name for one in _EXTENDS.finditer(text) for name in one["modules"].split(",")]
    others += [one["module"] for one in _INSTANCE.finditer(text)]
    return found, tuple(name.strip() for name in others)


def _in_text(module: str, text: str) -> dict[str, tuple[str, str]]:
    """Return the sentence and the place of each definition in the text of a module."""
    lines = text.splitlines()
    found: dict[str, tuple[str, str]] = {}
    for index, line in enumerate(lines):
        match = _DEFINITION.match(line)
        if match is not None:
            name = match["name"]
            found[name] = (_sentence(name, lines, index), f"{module}:{index + 1}")
    return found


def _sentence(name: str, lines: list[str], index: int) -> str:
    """Return the first sentence of the comment above a definition, ended by a full stop."""
    above = list(takewhile(str.strip, reversed(lines[:index])))
    if _PROPERTY.search(name):
        # Definitions that only this property uses may stand between it and its sentence.
        above = list(takewhile(lambda line: not _is_property(line), above))
        while above and not _is_comment(above[-1]):
            above.pop()
        above = list(takewhile(_is_comment, reversed(above)))[::-1]
    comment = [
        _FRAME.sub("", line).strip().strip("*").strip()
        for line in reversed(list(takewhile(_is_comment, above)))
    ]
    while comment and not comment[0]:
        comment.pop(0)
    paragraph = " ".join(comment[: comment.index("")] if "" in comment else comment)
    found = _SENTENCE.match(paragraph)
    sentence = found[0] if found else paragraph
    if _LABEL.match(sentence):
        return ""
    return inert(f"{sentence[:-1]}." if sentence.endswith(":") else sentence)


def _is_comment(line: str) -> bool:
    return line.startswith(("(*", "\\*"))


def _is_property(line: str) -> bool:
    found = _DEFINITION.match(line)
    return found is not None and _PROPERTY.search(found["name"]) is not None
