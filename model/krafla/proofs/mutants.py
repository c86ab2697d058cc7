"""Wrong invariants and wrong specs, each of which a proof must refute."""

from __future__ import annotations

import shutil
import time
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from krafla.collector import gc_paused
from krafla.proofs.depth import deeply_nested
from krafla.proofs.prove import Proofs
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.proofs.prove import Progress

__all__ = ["MUTANTS_NAME", "MutantAnswer", "ProofMutant", "load_mutants", "refute_mutants"]

MUTANTS_NAME = "broken/proof_mutants.toml"


@dataclass(frozen=True, slots=True)
class ProofMutant:
    """A place where ``text`` is replaced in ``file``, and the obligation that it ``refutes``."""

    id: str
    what: str
    file: str
    refutes: str
    text: str
    replacement: str


@dataclass(frozen=True, slots=True)
class MutantAnswer:
    """The result for a mutant: held if the named obligation was refuted, and TLC agreed."""

    id: str
    obligation: str
    verdict: Verdict
    step: str
    seconds: float

    def as_json(self) -> dict[str, object]:
        """Return the answer as plain values."""
        return {
            "id": self.id, "obligation": self.obligation, "verdict": self.verdict.value,
            "step": self.step, "seconds": round(self.seconds, 3),
        }  # fmt: skip


def load_mutants(specs: Path) -> tuple[ProofMutant, ...]:
    """Return the mutants of a folder of specs; ``KraflaError`` if the file does not fit."""
    path = specs / MUTANTS_NAME
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        return tuple(ProofMutant(**entry) for entry in data["mutant"])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise KraflaError(f"no list of mutants: {error}", str(path)) from error


def refute_mutants(
    specs: Path, subject: str, effort: int, progress: Progress, only: str | None = None
) -> tuple[MutantAnswer, ...]:
    """Return for each mutant whether the obligation it names was refuted.

    ``KraflaError`` if a mutant's text is not found once, or no mutant is named ``only``.
    """
    chosen = [one for one in load_mutants(specs) if only is None or fnmatchcase(one.id, only)]
    if not chosen:
        raise KraflaError(f"no mutant is named {only}", str(specs / MUTANTS_NAME))
    answers = []
    for number, mutant in enumerate(chosen):
        progress(f"mutant {mutant.id}", number, len(chosen))
        answers.append(refute_mutant(specs, subject, mutant, effort))
    return tuple(answers)


@gc_paused()
@deeply_nested()
def refute_mutant(specs: Path, subject: str, mutant: ProofMutant, effort: int) -> MutantAnswer:
    """Return the result for a mutant, in a copy of the specs."""
    started = time.perf_counter()
    with scratch_folder("mutant") as scratch:
        folder = (scratch / "specs").resolve()
        shutil.copytree(specs, folder)
        file = folder / mutant.file
        source = file.read_text(encoding="utf-8")
        if source.count(mutant.text) != 1:
            raise KraflaError(f"mutant {mutant.id}: its text does not occur once", str(file))
        file.write_text(source.replace(mutant.text, mutant.replacement), encoding="utf-8")
        report = Proofs(folder, subject, effort=effort).run(mutant.refutes)
    broken = [answer for answer in report.answers if answer.verdict is Verdict.VIOLATED]
    found = broken[0].counterexample if broken else None
    return MutantAnswer(
        mutant.id,
        mutant.refutes,
        Verdict.VIOLATED if found is None else Verdict.HELD,
        "" if found is None else found.step,
        time.perf_counter() - started,
    )
