"""What TLC says of a cfg that does not fit its spec, in plainer words: the line, and a remedy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from krafla.project.models import meant
from krafla.tlc.comments import without_comments

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["mended"]

_UNDEFINED: Final = re.compile(
    r"The (?P<what>[\w ]*?) ?(?P<name>\w+) specified in the configuration file\s+is not defined"
)
_UNASSIGNED: Final = re.compile(r"constant parameter (?P<name>\w+) is not assigned")
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
    if _NO_BEHAVIOUR.search(message):
        names = _operators(modules)
        example = "SPECIFICATION Spec" if "Spec" in names or "Init" not in names else _INIT_NEXT
        return f"says neither SPECIFICATION nor INIT and NEXT: add a line {example}", str(config)
    found = _UNASSIGNED.search(message)
    if found is not None:
        name = found["name"]
        what = f"gives the constant {name} no value: write {name} = ... under CONSTANT"
        return what, str(config)
    found = _UNDEFINED.search(message)
    if found is not None:
        name = found["name"]
        near = meant(name, _operators(modules))
        return f"no module defines {name}{near}", f"{config}:{_line(config, name)}"
    return None


def _operators(modules: Iterable[Path]) -> set[str]:
    texts = (one.read_text(encoding="utf-8", errors="replace") for one in modules)
    return {name for text in texts for name in _OPERATOR.findall(without_comments(text))}


def _line(config: Path, name: str) -> int:
    lines = config.read_text(encoding="utf-8", errors="replace").splitlines()
    word = re.compile(rf"\b{re.escape(name)}\b")
    return next((number for number, line in enumerate(lines, 1) if word.search(line)), 1)
