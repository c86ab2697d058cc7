"""Which cfg configures which module, where nothing but their names and texts says so.

``Lock.cfg`` configures ``Lock.tla`` beside it, and ``LockSmall.cfg`` does if there is no
``LockSmall.tla``. A module that extends the spec may have the cfg instead: ``MC.tla`` in the
folders of the Toolbox, ``MCLock.tla`` in VS Code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Pair", "beside", "extended_by", "module_of", "pair_for", "pairs_in", "search_path_of"]

_EXTENDS: Final = re.compile(r"^\s*EXTENDS\s+(\w+(?:\s*,\s*\w+)*)", re.MULTILINE)
_TOOLBOX: Final = ".toolbox"
_SMALLEST: Final = "a line SPECIFICATION Spec, one INVARIANT Name, a CONSTANT Name = value for each"


class Pair(NamedTuple):
    """A module and the cfg that configures it."""

    module: Path
    config: Path


def pairs_in(folder: Path) -> tuple[Pair, ...]:
    """Return each cfg of a folder, and of the Toolbox's folders in it, with its module.

    ``KraflaError`` if there is none, or if no module fits one of them.
    """
    configs = [*sorted(folder.glob("*.cfg")), *_of_toolbox(folder)]
    if not configs:
        raise KraflaError("no .cfg of TLC is in this folder", str(folder))
    return tuple(Pair(module_of(one), one) for one in configs)


def _of_toolbox(folder: Path) -> list[Path]:
    inside = [folder] if folder.suffix == _TOOLBOX else sorted(folder.glob(f"*{_TOOLBOX}"))
    return [path for one in inside for path in sorted(one.glob("*/MC.cfg"))]


def module_of(config: Path) -> Path:
    """Return the module that a cfg configures; ``KraflaError`` if none beside it fits."""
    beside_it = {path.stem: path for path in sorted(config.parent.glob("*.tla"))}
    fitting = [stem for stem in beside_it if config.stem.startswith(stem)]
    if fitting:
        return beside_it[max(fitting, key=len)]
    if len(beside_it) == 1:
        return next(iter(beside_it.values()))
    what = f"which module does it configure? Beside it are {', '.join(beside_it) or 'none'}"
    raise KraflaError(f"{what}; give it the name of its module", str(config))


def pair_for(module: Path) -> Pair:
    """Return a module with its cfg: of its own name, or the only one that fits.

    That may be the cfg of a module that extends it. ``KraflaError`` tells which there are, or what
    to write.
    """
    own = module.with_suffix(".cfg")
    if own.is_file():
        return Pair(module, own)
    found = beside(module)
    if len(found) == 1:
        return found[0]
    if not found:
        raise KraflaError(f"has no {own.name} beside it: write {_SMALLEST} constant", str(module))
    names = ", ".join(str(one.config.relative_to(module.parent)) for one in found)
    raise KraflaError(
        f"has no {own.name}, and several others fit: {names}; give one of them, or their folder",
        str(module),
    )


def beside(module: Path) -> tuple[Pair, ...]:
    """Return the pairs that are about a module: those of its own, and of what extends it."""
    folder = module.parent
    configs = [*sorted(folder.glob("*.cfg")), *_of_toolbox(folder)]
    found: list[Pair] = []
    for config in configs:
        try:
            pair = Pair(module_of(config), config)
        except KraflaError:
            # A cfg of no module is none of this one.
            continue
        if pair.module == module or module.stem in extended_by(pair.module):
            found.append(pair)
    return tuple(found)


def extended_by(module: Path) -> frozenset[str]:
    """Return the names of the modules that a module extends itself."""
    text = module.read_text(encoding="utf-8", errors="replace")
    lists = _EXTENDS.findall(text)
    return frozenset(name for one in lists for name in re.split(r"\s*,\s*", one))


def search_path_of(module: Path, more: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Return the folders of the modules that a module may use; a model of the Toolbox lies deeper.

    ``more`` are the other folders of the project.
    """
    folder = module.parent
    above = (folder.parent.parent,) if folder.parent.suffix == _TOOLBOX else ()
    return tuple(dict.fromkeys((folder, *above, *more)))
