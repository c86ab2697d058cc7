"""What a command says that asks about the shipped specs only because it found no project."""

from __future__ import annotations

import os
import shlex
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["tell_of_shipped"]

# So many folders below are named.
_TOLD: Final = 3


def tell_of_shipped(command: str, names: Sequence[str] = ()) -> None:
    """Say so if a command, as ``krafla check``, is about the shipped specs for want of a project.

    Nothing is said if one of the names is that of a model of theirs, or inside the checkout of
    these specs, unless its folder has other modules. ``KraflaError`` if there are some and nothing
    is named: whoever has a spec here means that one.
    """
    from krafla.cli import screen
    from krafla.manifest import load
    from krafla.project.at_hand import ENVIRONMENT_VARIABLE, at_hand, installed_specs

    here, shipped = Path.cwd(), installed_specs()
    if os.environ.get(ENVIRONMENT_VARIABLE) or shipped is None or at_hand().folder != shipped:
        return
    has_modules = any(here.glob("*.tla"))
    if here.is_relative_to(shipped if has_modules else shipped.parent):
        return
    models = load().models
    if any(fnmatchcase(one.name, name) for one in models for name in names):
        return
    if has_modules and not names:
        raise KraflaError(
            f"no krafla.toml is here or above: {_instead(command, here, has_modules=True)}; in a "
            f"folder without any it is about the {len(models)} models of Kafka"
        )
    screen.line(
        screen.stderr(),
        f"krafla: no krafla.toml is here or above, so this is about the {len(models)} models of "
        f"Kafka; {_instead(command, here, has_modules=has_modules)}",
    )


def _instead(command: str, here: Path, *, has_modules: bool) -> str:
    """Return the command that asks about what is here, or in a folder here, or how to begin."""
    if has_modules:
        return f"`{command} .` is about the modules in this folder"
    for pattern, what in (("*/krafla.toml", "{}/krafla.toml"), ("*/*.tla", "the modules in {}")):
        below = sorted({path.parent.name for path in here.glob(pattern)})
        if below:
            told = [
                f"`{command} {shlex.quote(one)}` is about {what.format(one)}"
                for one in below[:_TOLD]
            ]
            return ", ".join(told)
    return f"give a path, as `{command} Lock.tla`, or begin a project with `krafla init lock`"
