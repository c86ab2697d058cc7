"""What the tests of `krafla fuzz` share: the seven systems, each with a seeded bug."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from krafla.cli import application
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.system import RunOptions, System, find_system

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from click.testing import Result

    from krafla.fuzz.engine.campaign import Report
    from krafla.fuzz.engine.mutant import Probe
    from krafla.fuzz.engine.runs import Runs


@dataclass(frozen=True)
class Example:
    """A system, the options of short runs, and a bug that few runs of other options find.

    ``said`` is a piece of what is said of the bug.
    """

    word: str
    short: RunOptions
    bug: str
    examples: int
    where: RunOptions
    said: str

    @property
    def system(self) -> System:
        """Return the system."""
        return find_system(self.word)

    def runs(self, seed: int) -> Runs:
        """Return the short runs of a seed."""
        return self.system.runs(seed, self.short)

    def runs_with_bug(self) -> Runs:
        """Return the runs in which the bug is looked for."""
        return self.system.runs(0, self.where)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return the options of the command that look for the bug."""
        options = self.runs_with_bug().arguments.split()
        return (self.word, "--examples", str(self.examples), *options)

    def broken(self) -> AbstractContextManager[Probe]:
        """Return a context in which the implementation has the bug."""
        return find_mutant(self.bug, self.system).applied()


_CALM = RunOptions(faults=("kill",), chaos=2.0)
CHOICE_DRIVEN = (
    Example("lease", RunOptions(60, ("restless",)), "heartbeat-does-not-renew-session", 50,
            RunOptions(profiles=("restless",)), "contact_age"),
    Example("metadata", RunOptions(40), "answered-when-appended", 40,
            RunOptions(profiles=("failovers",)), "HandleWrite"),
    Example("reassignment", RunOptions(50), "completes-when-added-are-in-sync", 40,
            RunOptions(profiles=("moves",)), "partition.isr"),
    Example("registration", RunOptions(40), "lost-request-is-awaited-forever", 40,
            RunOptions(profiles=("registers",)), "RequestTimeout"),
    Example("cluster", RunOptions(120), "unfencing-wants-end-of-log", 9,
            RunOptions(profiles=("two-and-two",)), "KeepState"),
)  # fmt: skip
ON_MACHINES = (
    Example("raft", _CALM, "boots-unattached", 20, RunOptions(), "RestartProp"),
    Example("stack", _CALM, "keeps-uncommitted", 3, RunOptions(), "RevertsToCommittedProp"),
)
ALL = CHOICE_DRIVEN + ON_MACHINES


def printed(report: Report) -> str:
    """Return what a campaign prints, with its coverage."""
    return "\n".join(text for text, _ in report.lines(coverage=True))


def krafla(*arguments: str) -> Result:
    """Return how a command of krafla ends."""
    return CliRunner().invoke(application(arguments[0]), list(arguments))


def fuzz(*arguments: str) -> Result:
    """Return how `krafla fuzz` ends; it shows no progress."""
    return krafla("fuzz", *arguments, "--quiet")
