"""A campaign: runs of one system until a finding or the end of the budget, and its report.

Results are taken in the order of their numbers, whichever process played them. So the number of
processes changes nothing.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from krafla.counted import counted
from krafla.fuzz.engine.seen import TALLIES, Seen
from krafla.fuzz.engine.workers import played_by_workers
from krafla.manifest import on_these_specs
from krafla.report.explain.account import Command, account_lines, command_lines
from krafla.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from krafla.fuzz.engine.runs import Failure, Kept, Run, Runs
    from krafla.report.explain.terminal import Styled

__all__ = ["BRIEF_STEPS", "DEFAULT_SECONDS", "Campaign", "Report", "run_campaign"]

DEFAULT_SECONDS: Final = 20.0
# Measured: the optimising compiler of the JVM pays off from about here on.
_BRIEF_SECONDS: Final = 60.0
_WIDTH: Final = 100
BRIEF_STEPS: Final = 100_000
"""A process that judges fewer steps ends before the JVM's optimising compiler pays off."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """What to run. Without ``examples`` and ``seconds`` the budget is ``DEFAULT_SECONDS``.

    ``requires_coverage``: it is inconclusive if an action, a witness or progress was missed.

    The first runs of two campaigns with equal ``runs`` are the same, whatever their budgets.
    """

    runs: Runs
    examples: int | None = None
    seconds: float | None = None
    workers: int = 1
    shrinks: bool = True
    requires_coverage: bool = False

    @property
    def seconds_max(self) -> float | None:
        """Return the seconds after which no further run starts."""
        unbounded = self.seconds is None and self.examples is None
        return DEFAULT_SECONDS if unbounded else self.seconds

    @property
    def is_brief(self) -> bool:
        """Return whether the campaign ends before the JVM's optimising compiler pays off."""
        if self.seconds_max is not None:
            return self.seconds_max < _BRIEF_SECONDS
        assert self.examples is not None, "a campaign has a budget"
        return self.examples * self.runs.judged_steps < BRIEF_STEPS

    def is_spent(self, examples: int, began: float) -> bool:
        """Return whether the budget allows no run after this many; ``began`` is monotonic time."""
        if self.examples is not None and examples >= self.examples:
            return True
        most = self.seconds_max
        return most is not None and time.monotonic() - began >= most


@dataclass(slots=True)
class Report:
    """The sum of a campaign's runs up to now."""

    campaign: Campaign
    seen: Seen = field(default_factory=lambda: Seen(first_reached={}))
    seconds: float = 0.0
    states: set[int] = field(default_factory=set)
    failure: Failure | None = None
    is_interrupted: bool = False
    _digest: Any = field(default_factory=lambda: blake2b(digest_size=16))

    @property
    def digest(self) -> str:
        """Return a digest of the digests of all runs, in their order."""
        return str(self._digest.hexdigest())

    @property
    def reached(self) -> dict[str, int]:
        """Return for each witness the judged step of the campaign that reached it first."""
        return self.seen.first_reached or {}

    def add(self, run: Run) -> None:
        """Add the next run."""
        judged = self.seen.tallies["totals"]["judged"]
        first = {name: judged + step for name, step in run.first_reached.items()}
        self.seen.first_reached = first | self.reached
        self.seen.add(run.steps, run.tallies)
        self.states |= run.states
        self.seen.states = len(self.states)
        self._digest.update(run.digest.encode())

    @property
    def doubts(self) -> tuple[str, ...]:
        """Return why the campaign shows less than it was asked to."""
        interrupted = ("it was interrupted",) if self.is_interrupted else ()
        required = self.seen.missed if self.campaign.requires_coverage else ()
        return interrupted + self.seen.doubts + required

    @property
    def verdict(self) -> Verdict:
        """Return held only if steps were judged, none was wrong, and nothing required is missed."""
        if self.failure is not None:
            return Verdict.VIOLATED
        return Verdict.INCONCLUSIVE if self.doubts else Verdict.HELD

    @property
    def exit_code(self) -> ExitCode:
        """Return the exit status of the verdict, or that of an interrupt before any finding."""
        ended = self.is_interrupted and self.failure is None
        return ExitCode.INTERRUPTED if ended else self.verdict.exit_code

    @property
    def reproduce(self) -> str:
        """Return the command that runs the same again."""
        runs = self.campaign.runs
        command = f"krafla fuzz {runs.name} --seed {runs.seed} --examples {self.seen.runs}"
        command += runs.arguments + " --require-coverage" * self.campaign.requires_coverage
        return on_these_specs(command) if runs.modules else command

    @property
    def progress(self) -> str:
        """Return one line on how far the campaign is."""
        return f"{counted(self.seen.runs, 'run')}, {self.seen.summary(max(self.seconds, 1e-9))}"

    def lines(
        self, width: int = _WIDTH, *, coverage: bool = False, commands: Iterable[Command] = ()
    ) -> Iterator[Styled]:
        """Yield the verdict, what was found and how, what was played, and how to go on.

        ``coverage`` adds how often each action, witness and fault was met. ``commands`` are those
        about the files that keep the finding.
        """
        failure, properties = self.failure, len(self.campaign.runs.system.properties)
        played = self.progress + (f"; {properties} properties" if properties else "")
        if failure is not None:
            yield f"{self.verdict.name}  {failure.place}", ""
            yield from account_lines(failure.account(), width)
            yield "", ""
            yield f"  played     {played}", ""
        else:
            yield f"{self.verdict.name}  {played}", ""
            yield from ((f"  {doubt}", "") for doubt in self.doubts)
        if self.verdict is Verdict.HELD and self.seen.missed:
            yield f"  missed     {'; '.join(self.seen.missed)}", ""
        if coverage:
            yield from ((line, "") for line in self.seen.lines())
        yield f"  digest     {self.digest}", ""
        if failure is not None:
            again = Command(self.reproduce, "the same runs again")
            yield from command_lines((*commands, again))
        elif self.seen.runs:
            yield f"  reproduce  {self.reproduce}", ""

    def document(self, kept: Kept | None = None) -> dict[str, Any]:
        """Return the report as JSON data; ``kept`` has the files of the finding."""
        runs, seen, failure = self.campaign.runs, self.seen, self.failure
        tallies: dict[str, Any] = {name: dict(seen.counts(name)) for name in TALLIES}
        del tallies["totals"]
        tallies["witnesses"] = {name: self.reached.get(name) for name in seen.counts("witnesses")}
        return {
            "schema": 1,
            "system": runs.name,
            "verdict": self.verdict.value,
            "exit_code": int(self.exit_code),
            "seed": runs.seed,
            "runs": seen.runs,
            "seconds": round(self.seconds, 3),
            **seen.totals,
            "properties": len(runs.system.properties),
            **tallies,
            "doubts": list(self.doubts) if failure is None else [],
            "missed": list(seen.missed),
            "digest": self.digest,
            "failure": None if failure is None else asdict(kept or failure.kept()),
            "reproduce": self.reproduce,
        }


def run_campaign(campaign: Campaign, progress: Callable[[str], object] = lambda _: None) -> Report:
    """Run a campaign until its first finding, which is shrunk, or the end of its budget.

    Ctrl-C ends it, too; the report has what was found until then.
    """
    report, began = Report(campaign), time.monotonic()
    results = _alone(campaign, report, began)
    if campaign.workers > 1:
        results = played_by_workers(campaign, report, began)
    try:
        for run in results:
            report.seconds = time.monotonic() - began
            report.add(run)
            if run.finding is not None:
                _fail(report, run, progress)
                break
            progress(report.progress)
    except KeyboardInterrupt:
        report.is_interrupted = True
    finally:
        results.close()
    report.seconds = time.monotonic() - began
    return report


def _alone(campaign: Campaign, report: Report, began: float) -> Generator[Run, None, None]:
    campaign.runs.load(brief=campaign.is_brief)
    while not campaign.is_spent(report.seen.runs, began):
        yield campaign.runs.play(report.seen.runs, report.reached)


def _fail(report: Report, run: Run, progress: Callable[[str], object]) -> None:
    """Note the failure of the last run; an interrupt while it is shrunk leaves it as it is."""
    campaign, number = report.campaign, report.seen.runs - 1
    report.failure = campaign.runs.failure(number, run)
    if campaign.shrinks:
        report.failure = report.failure.shrunk(progress)
