"""Several modules in one file: those behind the first, as files that TLC finds.

A newer TLC looks for a module that is in no folder in the file of the spec itself. The pinned one
does not, nor any for a module of krafla's own that extends the spec.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from krafla.tlc.comments import without_comments

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["at_home", "joined_in", "laid_out"]

_FOLDER: Final = "joined"
_MARK: Final = re.compile(r"^[ \t]*(?:-{4,}[ \t]*MODULE[ \t]+(?P<name>\w+)[ \t]*-{4,}|={4,})")


def joined_in(module: Path) -> dict[str, str]:
    """Return the text of each module that stands behind the first in a file, by name.

    Each text has empty lines in front, so that its lines have the numbers they have in the file. A
    module inside another belongs to that one's text.
    """
    text = module.read_text(encoding="utf-8", errors="replace")
    found: dict[str, str] = {}
    name, start, depth = "", 0, 0
    lines = text.split("\n")
    for number, line in enumerate(without_comments(text).split("\n")):
        mark = _MARK.match(line)
        if mark is None:
            continue
        if mark["name"] is None:
            depth = max(0, depth - 1)
            if not depth and name:
                found.setdefault(name, "\n".join([*[""] * start, *lines[start : number + 1], ""]))
                name = ""
            continue
        depth += 1
        if depth == 1:
            name, start = mark["name"], number
    return {name: text for name, text in found.items() if name != module.stem}


def laid_out(module: Path, scratch: Path) -> tuple[Path, ...]:
    """Return a folder in ``scratch`` with the modules behind the first in a file, if it has any.

    It belongs behind all other folders: a module of its own file comes first.
    """
    found = joined_in(module)
    if not found:
        return ()
    folder = scratch / _FOLDER
    folder.mkdir()
    for name, text in found.items():
        (folder / f"{name}.tla").write_text(text, encoding="utf-8")
    return (folder,)


def at_home(files: Mapping[str, Path], module: Path) -> dict[str, Path]:
    """Return files of modules by name: in place of those that were laid out, that of ``module``."""
    return {
        name: module if path.parent.name == _FOLDER and name in joined_in(module) else path
        for name, path in files.items()
    }
