"""What came of mutants so far, in a file of JSON lines that a later run goes on with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from krafla.mutate.trial import Answer, Trial
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Results"]


class Results:
    """The trials of mutants on models, and the file they are kept in, if there is one.

    ``inputs`` has a digest for each model, of all that its answers rest on: lines under another
    digest are of other specs and count for nothing.
    """

    def __init__(self, path: Path | None, inputs: Mapping[str, str]) -> None:
        self._path = path
        self._inputs = inputs
        self.trials: dict[tuple[str, str], Trial] = {}
        if path is not None and path.exists():
            self._read(path)

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
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
        except OSError as error:
            raise KraflaError(error.strerror or str(error), str(self._path)) from error

    def of(self, mutant: str) -> list[Trial]:
        """Return the trials of a mutant."""
        return [trial for (name, _), trial in self.trials.items() if name == mutant]

    def _read(self, path: Path) -> None:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise KraflaError(f"cannot be read: {error}", str(path)) from error
        whole, _, torn = text.rpartition("\n")
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                record = json.loads(line)
                trial = Trial(
                    record["mutant"], record["model"], Answer(record["answer"]),
                    record["detail"], record["seconds"],
                )  # fmt: skip
                inputs = record["inputs"]
            except (ValueError, KeyError, TypeError) as error:
                raise KraflaError(
                    "this is no line of results of mutants", f"{path}:{number}"
                ) from error
            if self._inputs.get(trial.model) == inputs:
                self.trials[trial.mutant, trial.model] = trial
        if torn:
            # The run that wrote it was killed in the middle of a line.
            path.write_text(whole + "\n" if whole else "", encoding="utf-8")
