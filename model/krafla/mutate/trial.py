"""One mutant on one model: whether the model notices, and by what."""

from __future__ import annotations

import gc
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from krafla.mutate.baseline import Baseline, load_model
from krafla.mutate.scope import Scope, parsed
from krafla.mutate.search import Limits, search
from krafla.oracle.errors import EvaluationError, SpecError
from krafla.oracle.syntax import read_module
from krafla.tlc.outcome import (
    ActionPropertyViolated,
    AssertionFailed,
    Deadlock,
    Finished,
    Interrupted,
    InvariantViolated,
    Killed,
    OutOfDisk,
    OutOfMemory,
    TemporalPropertyViolated,
    Unknown,
    describe,
    violated_names,
)
from krafla.tlc.run import run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from krafla.manifest import Model
    from krafla.mutate.mutants import Mutant
    from krafla.mutate.search import SearchResult
    from krafla.oracle.syntax import Module

__all__ = ["Answer", "Bench", "Trial"]

# A mutant that makes this many times the pinned states is noticed by their number.
STATES_FACTOR = 1
# How much longer than the model as it stands a mutant may take, and the least that is granted.
TIME_FACTOR = 4.0
TIME_LEAST_SECONDS = 30.0
_COLLECT_EACH = 8


class Answer(Enum):
    """How a model responds to a mutant, from certain to uncertain.

    ``PROPERTY``: an invariant or a property is false. ``ERROR``: TLC has no value for something.
    ``WITNESS``: a witness is not reached. ``ACTION``: another set of actions is taken. ``COUNT``:
    only the number of states differs. ``UNKNOWN``: out of time. ``DIFFERENT``: steps differ, and
    nothing notices. ``SAME``: every state, and every step that changes anything, is as before.
    """

    PROPERTY = "property"
    ERROR = "error"
    WITNESS = "witness"
    ACTION = "action"
    COUNT = "count"
    UNKNOWN = "unknown"
    DIFFERENT = "different"
    SAME = "same"
    UNPARSABLE = "unparsable"

    @property
    def is_last(self) -> bool:
        """Return whether no other model need be asked, because a named property failed."""
        return self in (Answer.PROPERTY, Answer.ERROR, Answer.WITNESS, Answer.UNPARSABLE)


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one mutant on one model; ``detail`` names the property, or says what differs."""

    mutant: str
    model: str
    answer: Answer
    detail: str
    seconds: float


class Bench:
    """Tries mutants on models, in a copy of the specs that is its own."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self._modules: dict[str, Module] = {}
        self._baseline: Baseline | None = None
        self._scope: Scope | None = None
        self._tried = 0

    def prepare(self, model: Model) -> Baseline:
        """Return a model's graph as it stands; only the last one asked for is kept."""
        if self._baseline is None or self._baseline.model.name != model.name:
            self._baseline = None
            self._scope = Scope(model, parsed(model, self._modules))
            gc.collect()
            self._baseline = Baseline.of(model)
            gc.collect()
            # What stays need not be looked through at each collection.
            gc.freeze()
        return self._baseline

    def try_on(self, mutant: Mutant, model: Model) -> Trial:
        """Try a mutant on a model; ``KraflaError`` if the model does not hold without it."""
        baseline = self.prepare(model)
        began = time.monotonic()
        with self._mutated(mutant):
            answer, detail = self._answer(baseline, mutant)
        self._tried += 1
        if self._tried % _COLLECT_EACH == 0:
            gc.collect()
        return Trial(mutant.id, model.name, answer, detail, round(time.monotonic() - began, 3))

    @contextmanager
    def _mutated(self, mutant: Mutant) -> Iterator[None]:
        file = self.tree / mutant.file
        original = file.read_text(encoding="utf-8")
        file.write_text(mutant.text, encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(original, encoding="utf-8")

    def _answer(self, baseline: Baseline, mutant: Mutant) -> tuple[Answer, str]:
        model, scope = baseline.model, self._scope
        assert scope is not None, "prepared with the baseline"
        try:
            spec = load_model(model, baseline.classes)
        except SpecError as error:
            return self._refused(mutant, error)
        except EvaluationError as error:
            return Answer.ERROR, self._told(error)
        config = scope.config
        impact = scope.impact(
            mutant.key,
            baseline.actions,
            [*config.invariants, *config.properties, *model.witnesses],
        )
        pinned = len(baseline.states)
        seconds = max(TIME_LEAST_SECONDS, TIME_FACTOR * baseline.seconds)
        try:
            found = search(baseline, spec, impact, Limits(STATES_FACTOR * pinned, seconds))
        except EvaluationError as error:
            return Answer.ERROR, self._told(error)
        answer, detail = _judge(baseline, found)
        if baseline.temporal and answer not in (Answer.PROPERTY, Answer.WITNESS, Answer.SAME):
            return _by_tlc(model, seconds, (answer, detail))
        return answer, detail

    def _refused(self, mutant: Mutant, error: SpecError) -> tuple[Answer, str]:
        """Tell a mutant that is not TLA+ from one whose constants have no value."""
        try:
            read_module(mutant.module, self.tree / mutant.file, None)
        except SpecError as complaint:
            return Answer.UNPARSABLE, self._told(complaint)
        return Answer.ERROR, self._told(error)

    def _told(self, error: Exception) -> str:
        """Return an error with files as mutants name them, not by where this copy lies."""
        return str(error).replace(f"{self.tree}/", "")


def _judge(baseline: Baseline, found: SearchResult) -> tuple[Answer, str]:
    """Return the manifest's judgement of a search, the gravest first."""
    if found.violated is not None:
        return Answer.PROPERTY, found.violated
    model = baseline.model
    pinned = model.distinct or 0
    if found.cut is not None:
        grown = found.distinct > pinned
        return (Answer.COUNT if grown else Answer.UNKNOWN), found.cut
    if found.is_same:
        return Answer.SAME, ""
    # TLC asks the states beside the bounds too, which no search keeps: a witness that is true
    # only there says nothing about a mutant.
    missed = [
        name for name in model.witnesses
        if name not in found.witnessed and any(baseline.witnessed[name])
    ]  # fmt: skip
    if missed:
        return Answer.WITNESS, ", ".join(missed)
    if found.taken != baseline.taken:
        more, fewer = (
            ", ".join(sorted(names))
            for names in (found.taken - baseline.taken, baseline.taken - found.taken)
        )
        parts = [f"takes {more}" if more else "", f"never takes {fewer}" if fewer else ""]
        return Answer.ACTION, "; ".join(filter(None, parts))
    if found.distinct != pinned:
        return Answer.COUNT, f"{found.distinct:,} states for {pinned:,}"
    if model.generated is not None and found.generated != model.generated:
        return Answer.COUNT, f"{found.generated:,} generated for {model.generated:,}"
    return Answer.DIFFERENT, ""


def _by_tlc(model: Model, seconds: float, before: tuple[Answer, str]) -> tuple[Answer, str]:
    """Return TLC's verdict on the temporal properties of a mutant that breaks no other."""
    outcome = run(replace(model, witnesses=()), coverage=False, timeout=seconds).outcome
    match outcome:
        case Finished():
            return before
        case InvariantViolated() | ActionPropertyViolated() | TemporalPropertyViolated():
            names = violated_names(outcome)
            return Answer.PROPERTY, ", ".join(names) or describe(outcome)
        case Deadlock() | AssertionFailed():
            return Answer.PROPERTY, describe(outcome)
        case Interrupted():
            return before if before[0] is not Answer.DIFFERENT else (Answer.UNKNOWN, "")
        case Killed() | OutOfDisk() | OutOfMemory() | Unknown():
            # TLC itself failed: that says nothing about the mutant.
            return Answer.UNKNOWN, describe(outcome)
    return Answer.ERROR, describe(outcome)
