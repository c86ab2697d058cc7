"""The traces of failures in files, from where the commands show them."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Final

from krafla.counted import counted
from krafla.report.explain.account import Command
from krafla.testing.found_files import file_for, list_file
from krafla.testing.origins import MACHINE
from krafla.testing.project_lookup import listed_name
from krafla.testing.run_end import is_played_again
from krafla.testing.saved_trace import why_not_shown
from krafla.traces import PartialTrace, Trace, write_trace
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.testing.errors import SpecViolation
    from krafla.testing.judge import Judge

__all__ = [
    "FOLDER_VARIABLE",
    "commands_for",
    "note_steps",
    "save",
    "steps_before",
    "while_shrinking",
]

FOLDER_VARIABLE: Final = "KRAFLA_FOUND"
"""The environment variable that names the folder of the traces."""

_HEAD: Final = "krafla: "
_BEFORE: Final = "the steps before it: "

_IS_SHRINKING: Final[ContextVar[bool]] = ContextVar("IS_SHRINKING", default=False)


def save(violation: SpecViolation, machine: type) -> None:
    """Write the trace of a violation to a file named after the machine, and name the commands.

    Its header names the machine, if the project around the class or the one at hand lists it.
    While a smaller example or a shorter trace is looked for nothing is written. The file is judged
    once: a trace that does not show the violation by itself is said to, instead of any command.
    """
    if not _is_final():
        return
    path = file_for(_folder(), machine, violation.trace)
    listed = listed_name(machine)
    failed = _write(violation.trace, listed, machine, path)
    if failed is not None:
        violation.commands = (failed,)
        return
    doubt = why_not_shown(path)
    if doubt:
        violation.remark = f"{_short(path)} was saved, but does not show this by itself: {doubt}"
    else:
        violation.commands = commands_for(path, violation.trace, asks_code=listed is not None)


def note_steps(error: BaseException, what: str, judge: Judge, machine: type) -> None:
    """Add to an error of the code what it was doing, and how its trace up to there is shown."""
    if _IS_SHRINKING.get() or (is_played_again(error) and not _is_final()):
        return
    taken = f"after {counted(judge.steps, 'judged step')}"
    error.add_note(f"krafla: the code raised this in step {judge.steps + 1}, {what}, {taken}")
    if judge.states:
        trace = judge.trace
        path = file_for(_folder(), machine, trace, "-error")
        listed = listed_name(machine)
        shown = _write(trace, listed, machine, path) or commands_for(path, trace)[0]
        error.add_note(f"{_HEAD}{_BEFORE}{shown.line}")


def steps_before(error: BaseException) -> tuple[str, ...]:
    """Return how the steps before an error of the code are shown, if it is noted."""
    notes = getattr(error, "__notes__", ())
    return tuple(one.removeprefix(_HEAD) for one in notes if one.startswith(f"{_HEAD}{_BEFORE}"))


@contextmanager
def while_shrinking() -> Iterator[None]:
    """Write nothing for a while: what fails meanwhile is a trial of a shorter way."""
    token = _IS_SHRINKING.set(True)
    try:
        yield
    finally:
        _IS_SHRINKING.reset(token)


def _is_final() -> bool:
    """Return whether Hypothesis plays its smallest example, or nothing looks for a smaller one."""
    from hypothesis.control import current_build_context
    from hypothesis.errors import InvalidArgument

    with suppress(InvalidArgument):
        return bool(current_build_context().is_final)
    return not _IS_SHRINKING.get()


def _write(
    trace: Trace | PartialTrace, listed: str | None, machine: type, path: Path
) -> Command | None:
    """Write a trace that names its machine as it is listed.

    Return the command to write it elsewhere, if it cannot be written there.
    """
    trace = replace(trace, machine=listed)
    if isinstance(trace, PartialTrace):
        trace = replace(trace, made_by=MACHINE)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_trace(trace, path)
        list_file(path, machine)
    except (KraflaError, OSError) as error:
        # What was found must not be hidden by a full disk.
        elsewhere = shlex.quote(str(Path(gettempdir()) / "found"))
        what = f"then again: the trace could not be written: {error}"
        return Command(f"export {FOLDER_VARIABLE}={elsewhere}", what)
    return None


def commands_for(
    path: Path, trace: Trace | PartialTrace, *, asks_code: bool = False
) -> tuple[Command, ...]:
    """Return the commands that show a trace in a file, judge it again, and ask the code again.

    pytest asks the code if a project lists its machine.
    """
    file = shlex.quote(str(_short(path)))
    judges = ("replay", "the same steps, judged by the spec again")
    if not isinstance(trace, Trace):
        judges = ("validate", "the same observations, judged again")
        if len(trace) == 1:
            # Where it begins is wrong, so there is no behaviour to explain.
            return (Command(f"krafla {judges[0]} {file}", judges[1]),)
    found = (
        Command(f"krafla explain {file}", "every step, node by node; --html FILE: as a page"),
        Command(f"krafla {judges[0]} {file}", judges[1]),
    )
    if not asks_code:
        return found
    return (*found, Command(f"pytest {file}", "the code again; a copy in your tests keeps it"))


def _short(path: Path) -> Path:
    with suppress(ValueError):
        return path.relative_to(Path.cwd())
    return path


def _folder() -> Path:
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen:
        return Path(chosen)
    plugin = sys.modules.get("krafla.pytest_plugin")
    return (getattr(plugin, "root", None) or Path.cwd()) / ".krafla" / "found"
