"""A run of choices with a finding: its steps, the smallest run alike, and its files."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from krafla.collector import gc_paused
from krafla.files import write_bytes
from krafla.fuzz.engine.choice_run import Run, trace_of
from krafla.fuzz.engine.choice_shrink import shrink
from krafla.fuzz.engine.run_file import VERSION, format_of
from krafla.fuzz.engine.run_source import Failure, Kept
from krafla.traces import step_changes, write
from krafla.values import fmt
from kraft.sim.common.recording import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["ChoiceFailure", "step_lines"]


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
