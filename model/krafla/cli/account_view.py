"""An account on a terminal, and the accounts of a trace that several verbs show."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from krafla.cli import screen
from krafla.manifest import on_these_specs
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rich.console import Console

    from krafla.manifest import Model
    from krafla.report.explain.account import Account, Command
    from krafla.traces import Trace

__all__ = [
    "command", "commands_for", "counterexample", "run_commands", "show_account", "show_commands",
]  # fmt: skip


def show_account(console: Console, account: Account) -> None:
    """Print a failure: what is violated, the false conjunct, the steps, how to go on."""
    from krafla.report.explain.account import account_lines

    screen.styled(console, account_lines(account, console.width))


def show_commands(console: Console, *commands: Command) -> None:
    """Print the commands to go on with."""
    from krafla.report.explain.account import command_lines

    screen.styled(console, command_lines(commands))


def counterexample(trace: Trace, model: Model | None = None) -> Account:
    """Return the account of a behaviour, without commands.

    The spec under the cfg of ``model`` says which conjunct is false. If it cannot be loaded, or
    without a model, the trace says so itself.
    """
    from krafla.match.counterexample import explained
    from krafla.report.explain.account import Account
    from krafla.report.explain.outcome import outcome_by
    from krafla.report.explain.view import view_of

    explanation = None
    try:
        if model is not None:
            trace, explanation = explained(trace, model)
    except KraflaError:
        # What TLC printed stands, with less to say about it.
        pass
    outcome = outcome_by(trace, explanation) if trace.claims_violation else None
    return Account(outcome, view_of(trace, outcome))


def command(line: str, purpose: str) -> Command:
    """Return a command that reads the same specs as this process does."""
    from krafla.report.explain.account import Command
    from krafla.report.explain.words import inert

    return Command(inert(on_these_specs(line)), purpose)


def run_commands(files: Iterable[str | Path]) -> tuple[Command, ...]:
    """Return the commands that show a run kept in files, and play it again."""
    found: list[Command] = []
    for file in map(str, files):
        if file.endswith(".ndjson"):
            found.append(commands_for(file)[0])
        else:
            line = f"krafla replay {shlex.quote(file)}"
            found.append(command(line, "the same run of the implementation, judged again"))
    return tuple(found)


def commands_for(path: Path | str) -> tuple[Command, ...]:
    """Return the commands that show a trace in a file, and play it again."""
    file = shlex.quote(str(path))
    shown = command(f"krafla explain {file}", "every step, node by node; --html FILE: as a page")
    again = command(f"krafla replay {file}", "the same steps, judged by the spec again")
    return shown, again
