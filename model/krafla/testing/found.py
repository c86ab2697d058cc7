"""The traces of violations in files, from where the commands show them."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.report.explain.account import Command
from krafla.traces import Trace, write

if TYPE_CHECKING:
    from krafla.testing.errors import SpecViolation

__all__ = ["FOLDER_VARIABLE", "save"]

FOLDER_VARIABLE: Final = "KRAFLA_FOUND"
"""The environment's word for the folder of the traces."""


def save(violation: SpecViolation, name: str) -> None:
    """Write the trace of a violation to a file named after the machine, and name the commands.

    While Hypothesis looks for a smaller example nothing is written.
    """
    if not _is_final():
        return
    path = _folder() / f"{name}.trace.ndjson"
    path.parent.mkdir(parents=True, exist_ok=True)
    write(violation.trace, path)
    violation.commands = _commands(path, violation)


def _is_final() -> bool:
    from hypothesis.control import current_build_context
    from hypothesis.errors import InvalidArgument

    with suppress(InvalidArgument):
        return bool(current_build_context().is_final)
    return True


def _folder() -> Path:
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen:
        return Path(chosen)
    plugin = sys.modules.get("krafla.pytest_plugin")
    return (getattr(plugin, "root", None) or Path.cwd()) / ".krafla" / "found"


def _commands(path: Path, violation: SpecViolation) -> tuple[Command, ...]:
    with suppress(ValueError):
        path = path.relative_to(Path.cwd())
    file = shlex.quote(str(path))
    if isinstance(violation.trace, Trace):
        return (
            Command(f"krafla explain {file}", "every step, node by node; --html FILE: as a page"),
            Command(f"krafla replay {file}", "the same steps, judged by the spec again"),
        )
    return (Command(f"krafla validate {file}", "the same observations, judged again"),)
