"""The runs of a system that is driven by choices, and those of them that have a finding."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import msgspec

from krafla.collector import gc_paused
from krafla.files import write_bytes
from krafla.fuzz.engine.choice_run import play_seed, trace_of
from krafla.fuzz.engine.choice_shrink import shrink
from krafla.fuzz.engine.coverage import Coverage
from krafla.fuzz.engine.run_file import VERSION, format_of
from krafla.fuzz.engine.run_source import Failure, Kept, RunResult, RunSource
from krafla.fuzz.engine.system import find_system
from krafla.oracle.jvm import settle, start
from krafla.traces import step_changes, write
from krafla.values import fmt
from kraft.sim.common.recording import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from krafla.fuzz.engine.choice_run import Run
    from krafla.fuzz.engine.choice_system import ChoiceSystem

__all__ = ["DEFAULT_STEPS", "ChoiceFailure", "ChoiceRuns", "digest_of", "step_lines"]

DEFAULT_STEPS: Final = 600
"""The most steps of a run."""


def digest_of(run: Run) -> str:
    """Return the SHA-256 of the recording of a run."""
    return hashlib.sha256(to_json(run.recording)).hexdigest()


@dataclass(frozen=True, slots=True)
class ChoiceRuns(RunSource):
    """The runs of a system that is driven by choices; run ``n`` takes the ``n``-th profile in turn.

    It names its system, so that it can be sent to other processes.
    """

    name: str
    seed: int
    steps: int
    profiles: tuple[str, ...]
    chunk: ClassVar[int] = 25

    @property
    def _system(self) -> ChoiceSystem:
        return cast("ChoiceSystem", find_system(self.name))

    @property
    def system(self) -> str:
        """Return the name of the system."""
        return self.name

    @property
    def steps_of_a_run(self) -> int:  # type: ignore[override]  # an option, not a constant
        """Return how many steps of a run are judged."""
        return self.steps

    @property
    def modules(self) -> tuple[str, ...]:
        """Return the specs that judge the runs."""
        return self._system.modules

    @property
    def plan(self) -> dict[str, Any]:
        """Return steps and profiles."""
        return {"steps": self.steps, "profiles": list(self.profiles)}

    @property
    def options(self) -> str:
        """Return the options of the command that differ from the defaults."""
        options = "" if self.steps == DEFAULT_STEPS else f" --steps {self.steps}"
        if self.profiles != self._system.default_profiles:
            options += "".join(f" --profile {name}" for name in self.profiles)
        return options

    def profile_of(self, number: int) -> str:
        """Return the name of the profile of run ``number``."""
        return self.profiles[number % len(self.profiles)]

    def load(self, *, brief: bool) -> None:
        """Start a JVM in this process, unless one runs."""
        start(brief=brief)
        settle()

    def play(self, number: int, reached: Collection[str] = ()) -> RunResult:
        """Return the result of run ``number``."""
        coverage = Coverage(reached)
        run = self._run(number, coverage)
        faults = self._system.faults
        counts = {
            fault: coverage.actions[name]
            for name, fault in faults.items()
            if coverage.actions[name]
        }
        return RunResult(
            number=number,
            profile=self.profile_of(number),
            steps=run.steps,
            finding=() if run.finding is None else tuple(run.finding.kind),
            detail="" if run.finding is None else str(run.finding),
            run=digest_of(run),
            tallies={
                "actions": {**dict.fromkeys(coverage.all_actions, 0), **coverage.actions},
                "witnesses": {name: int(name in coverage.first_reached)
                              for name in coverage.all_witnesses},
                "faults": counts,
                "totals": {
                    "judged": coverage.steps,
                    "refused": coverage.steps - coverage.actions.total(),
                },
            },
            states=frozenset(coverage.states),
            first_reached=coverage.first_reached,
        )  # fmt: skip

    def failure(self, number: int) -> Failure:
        """Return the failure of run ``number``."""
        run = self._run(number)
        assert run.finding is not None, f"run {number} has no finding"
        return ChoiceFailure(number, self.profile_of(number), run, run, self._seed_of(number))

    def _run(self, number: int, coverage: Coverage | None = None) -> Run:
        profile = self._system.profile(self.profile_of(number))
        observe = None if coverage is None else coverage.observe
        with gc_paused():
            return play_seed(profile, self._seed_of(number), self.steps, observe)

    def _seed_of(self, number: int) -> str:
        return f"{self.seed} {number}"

    @property
    def bounds(self) -> str:
        """Return how many choices a run has at most."""
        return f"at most {self.steps} steps"


@dataclass(frozen=True, slots=True)
class ChoiceFailure(Failure):
    """A run of choices with a finding, and the smallest one known; ``seed`` made the first."""

    number: int
    profile: str
    run: Run
    smallest: Run
    seed: str

    @property
    def found_by(self) -> str:
        """Return the action at which the two came apart, or the property that was violated."""
        assert self.run.finding is not None
        return str(self.run.finding.kind[1])

    @property
    def detail(self) -> str:
        """Return the finding of the smallest run."""
        return str(self.smallest.finding)

    def shrunk(self, progress: Callable[[str], object]) -> Failure:
        """Return the failure with the shortest run found."""
        with gc_paused():
            result = shrink(self.run, lambda steps: progress(f"found; shrinking: {steps} steps"))
        return replace(self, smallest=result.result)

    def lines(self) -> Iterator[str]:
        """Yield the steps of the smallest run, the finding, and the recording."""
        yield (
            f"run {self.number} ({self.profile}): found at step {self.run.steps}, "
            f"shrunk to {self.smallest.steps}"
        )
        yield from step_lines(self.smallest)
        yield from (f"  {text}" for text in self.detail.splitlines())
        yield f"  plan  {to_json(self.smallest.recording).decode()}"

    def document(self) -> dict[str, Any]:
        """Return the same as JSON data."""
        return {
            "run": self.number,
            "profile": self.profile,
            "steps": self.run.steps,
            "shrunk_steps": self.smallest.steps,
            "finding": self.detail,
            "recording": json.loads(to_json(self.smallest.recording)),
        }

    def save(self, folder: Path, mutant: str = "") -> Kept:
        """Write the smallest run into a folder, as a trace and as a recording."""
        finding, system = self.smallest.finding, self.smallest.system.name
        assert finding is not None
        name = f"{mutant or f'{self.profile}-{self.number}'}-{finding.kind[1]}"
        stem = "".join(letter if letter.isalnum() else "-" for letter in name)[:80]
        trace, recording = folder / f"{stem}.ndjson", folder / f"{stem}.json"
        write(trace_of(self.smallest, profile=self.profile, seed=self.seed), trace)
        header = msgspec.json.encode({"format": format_of(system), "version": VERSION})
        write_bytes(recording, [header[:-1], b",", to_json(self.smallest.recording)[1:]])
        return Kept(
            self.number,
            self.profile,
            self.run.steps,
            self.detail,
            (trace.name, recording.name),
            ("krafla replay", f"krafla fuzz {system} --replay"),
            shrunk_steps=self.smallest.steps,
        )


def step_lines(run: Run) -> Iterator[str]:
    """Yield each step of a run and what it changed, and nothing else."""
    trace = trace_of(run)
    for index, step in enumerate(trace.steps[1:], start=1):
        parameters = ", ".join(map(fmt, step.parameters or ()))
        yield f"  step {index}  {step.action}({parameters})"
        yield from (f"      {change}" for change in step_changes(trace, index))
