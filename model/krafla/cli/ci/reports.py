"""The options ``--junit``, ``--github`` and ``--sarif`` of every command with a verdict.

A command is decorated with ``reported`` and hands its answers to ``tell``. All else is done here:
files that cannot be written are refused before the work, and are written however the command ends.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import time
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from krafla.files import check_writable, write_text
from krafla.interrupted import Terminated
from krafla.report.entries import Entry, places_named
from krafla.verdict import ExitCode, KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["reported", "tell"]

_Junit = Annotated[
    Path | None,
    typer.Option(
        "--junit", metavar="FILE", dir_okay=False,
        help="Also write JUnit XML, in which what is inconclusive is an error.",
    ),
]  # fmt: skip
_Github = Annotated[
    bool | None,
    typer.Option(
        "--github/--no-github",
        help="Annotate a run of GitHub Actions and sum it up; by default wherever that runs.",
        show_default=False,
    ),
]
_Sarif = Annotated[
    Path | None,
    typer.Option(
        "--sarif", metavar="FILE", dir_okay=False, help="Also write SARIF 2.1.0, of code scanning."
    ),
]
_entries: ContextVar[list[Entry] | None] = ContextVar("entries", default=None)


def tell(entries: Callable[..., Entry | Iterable[Entry]], *arguments: Any) -> None:
    """Give the answers of a command to the reports that it was asked for.

    ``entries`` makes one or several of ``arguments``. It is called only if there is a report, and
    so never outside of a ``reported`` command.
    """
    told = _entries.get()
    if told is not None:
        found = entries(*arguments)
        told.extend((found,) if isinstance(found, Entry) else found)


def reported(*, sarif: bool = False) -> Callable[[Callable[..., ExitCode]], Callable[..., Any]]:
    """Return a decorator that gives a command ``--junit`` and ``--github``, and maybe ``--sarif``.

    No report is green unless the command ended with 0: an error that it raises is an entry, and so
    is a status that none of its answers explains. ``KraflaError`` if a report cannot be written.
    """

    def decorated(command: Callable[..., ExitCode]) -> Callable[..., Any]:
        @functools.wraps(command)
        def with_reports(
            *arguments: Any, junit: Path | None = None, github: bool | None = None, **options: Any
        ) -> ExitCode:
            scanned = options.pop("sarif", None) if sarif else None
            reports = _Reports(command, junit, scanned, _is_wanted(github))
            if not reports.are_wanted:
                return command(*arguments, **options)
            return reports.around(functools.partial(command, *arguments, **options))

        given = inspect.signature(command, eval_str=True)
        more = {"junit": _Junit, "github": _Github} | ({"sarif": _Sarif} if sarif else {})
        named = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for name, kind in more.items()
        ]
        # Typer reads both.
        with_reports.__signature__ = given.replace(  # type: ignore[attr-defined]  # as inspect says
            parameters=[*given.parameters.values(), *named]
        )
        with_reports.__annotations__ = {**command.__annotations__, **more}
        return with_reports

    return decorated


def _is_wanted(github: bool | None) -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true" if github is None else github


class _Reports:
    """The reports of one run of a command."""

    def __init__(
        self, command: Callable[..., ExitCode], junit: Path | None, sarif: Path | None, github: bool
    ) -> None:
        self._name = f"krafla {command.__module__.rpartition('.')[2]}"
        self._junit = junit
        self._sarif = sarif
        self._github = github
        self._began = time.monotonic()

    @property
    def are_wanted(self) -> bool:
        """Return whether there is anything to report to."""
        return self._github or self._junit is not None or self._sarif is not None

    def around(self, command: Callable[[], ExitCode]) -> ExitCode:
        """Run the command, write its reports, and return its status or raise what it raised."""
        for path in (self._junit, self._sarif):
            check_writable(path)
        entries: list[Entry] = []
        token = _entries.set(entries)
        try:
            status = command()
        except BaseException as error:
            self._end_by(error, entries)
            raise
        finally:
            _entries.reset(token)
        self._write(entries, status)
        return status

    def _end_by(self, error: BaseException, entries: list[Entry]) -> None:
        """Write the reports of a command that an error has ended, which stays the error to tell."""
        status, reason = _ended_by(error)
        if status is not ExitCode.INTERRUPTED or not entries:
            entries.append(_entry_of(self._name, status, reason))
        try:
            self._write(entries, status)
        except KraflaError as other:
            sys.stderr.write(f"krafla: {other}\n")

    def _write(self, entries: list[Entry], status: ExitCode) -> None:
        is_green = all(one.verdict is Verdict.HELD for one in entries)
        if is_green and status is not ExitCode.HELD:
            reason = f"it ended with status {int(status)}: {status.word}"
            entries.append(_entry_of(self._name, status, reason))
        if self._junit is not None:
            from krafla.report.junit import junit_xml

            seconds = time.monotonic() - self._began
            write_text(self._junit, [junit_xml(self._name, entries, seconds)])
        root = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
        if self._sarif is not None:
            from importlib.metadata import version

            from krafla.report.sarif import sarif_document

            text = sarif_document(version("krafla"), entries, root, int(status))
            write_text(self._sarif, [text])
        if self._github:
            self._tell_github(entries, status, root)

    def _tell_github(self, entries: list[Entry], status: ExitCode, root: Path) -> None:
        from krafla.report.github import annotation_lines, step_summary

        sys.stdout.flush()
        # GitHub reads both; a document on the other stream stays whole.
        sys.stderr.writelines(f"{line}\n" for line in annotation_lines(entries, root))
        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if not summary:
            return
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(step_summary(self._name, status.word, entries))
        except OSError as error:
            sys.stderr.write(f"krafla: no summary, {summary}: {error.strerror}\n")


def _ended_by(error: BaseException) -> tuple[ExitCode, str]:
    """Return the status that an error ends the command with, and what it says."""
    if isinstance(error, KraflaError):
        return error.exit_code, str(error)
    if isinstance(error, KeyboardInterrupt | Terminated):
        return ExitCode.INTERRUPTED, "it was interrupted"
    if isinstance(error, typer.BadParameter):
        return ExitCode.COULD_NOT_RUN, error.format_message()
    return ExitCode.CRASHED, f"{type(error).__name__}: {error}"


def _entry_of(name: str, status: ExitCode, reason: str) -> Entry:
    is_violated = status is ExitCode.VIOLATED
    return Entry(
        "command", name, Verdict.VIOLATED if is_violated else Verdict.INCONCLUSIVE, (reason,),
        could_run=status in {ExitCode.VIOLATED, ExitCode.INCONCLUSIVE},
        places=places_named(reason),
    )  # fmt: skip
