"""The results of mutants so far, in a file of JSON lines from which a later run continues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.json_lines import append_line, read_lines
from krafla.mutate.trial import Answer, Trial

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Results"]


class Results:
    """The trials of mutants on models, and the file that keeps them, if there is one.

    ``inputs`` has a digest for each model of everything that its answers rest on; lines with
    another digest belong to other specs and are ignored. ``KraflaError`` if the file cannot be
    used.
    """

    def __init__(self, path: Path | None, inputs: Mapping[str, str]) -> None:
        self._path = path
        self._inputs = inputs
        self.trials: dict[tuple[str, str], Trial] = {}
        if path is not None:
            read_lines(path, self._take, "results of mutants")
            append_line(path, None)

    def add(self, trial: Trial) -> None:
        """Keep a trial, in the file as well."""
        self.trials[trial.mutant, trial.model] = trial
        if self._path is None:
            return
        record = {
            "mutant": trial.mutant, "model": trial.model, "answer": trial.answer.value,
            "detail": trial.detail, "seconds": trial.seconds,
            "inputs": self._inputs[trial.model],
        }  # fmt: skip
        append_line(self._path, record)

    def of(self, mutant: str) -> list[Trial]:
        """Return the trials of a mutant."""
        return [trial for (name, _), trial in self.trials.items() if name == mutant]

    def _take(self, record: dict[str, Any]) -> None:
        trial = Trial(
            record["mutant"], record["model"], Answer(record["answer"]),
            record["detail"], record["seconds"],
        )  # fmt: skip
        if self._inputs.get(trial.model) == record["inputs"]:
            self.trials[trial.mutant, trial.model] = trial
