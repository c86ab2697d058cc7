"""A property tried on a model without editing a file: a formula of state, or an operator by name.

The model gets a module of its own that extends the model's, and its cfg asks nothing else.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from krafla.manifest import meant
from krafla.tlc.comments import without_comments
from krafla.tlc.config import INVARIANT_KEYWORDS, PROPERTY_KEYWORDS, read_config
from krafla.tlc.inputs import modules_of
from krafla.tlc.joined_modules import laid_out
from krafla.tlc.judge import ONLY_SIMULATED, Judgement, judge
from krafla.tlc.model_check import Check, run_of
from krafla.tlc.outcome import EvaluationError, Finished, SpecError, describe, violated_names
from krafla.tlc.scratch import scratch
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from krafla.manifest import Model
    from krafla.tlc.run import RunResult

__all__ = ["Trial"]

_MODULE: Final = "KraflaTrial"
_PLACE: Final = f"{_MODULE}:"
_DEFINED: Final = "TriedInv"
# Lines of the trial's module above the first definition, and blanks before each line of a formula.
_HEAD_LINES: Final = 2
_INDENT: Final = 2
# TLC's complaint may have the whole value of a variable.
_LONGEST: Final = 300
_ONLY: Final = "only this was asked, not the model's own properties, witnesses and pinned numbers"

_NAME: Final = re.compile(r"[A-Za-z]\w*")
_OPERATOR: Final = re.compile(r"^ *(\w+) *==", re.MULTILINE)
# What was tried may tell nodes apart that the model's own properties do not.
_MERGES: Final = ("SYMMETRY", "VIEW")
_LEFT_OUT: Final = (*INVARIANT_KEYWORDS, *PROPERTY_KEYWORDS, *_MERGES)
_CUTS: Final = ("CONSTRAINT", "CONSTRAINTS", "ACTION_CONSTRAINT", "ACTION_CONSTRAINTS")
# A property of steps, which is asked of each step alone.
_OF_EACH_STEP: Final = re.compile(r"\s*\[\]\s*\[")
# What SANY and TLC say of something that cannot be asked.
_ENCOUNTERED: Final = re.compile(r'Encountered (".*") at line \d+, column \d+ and token (".*")')
_EXPECTING: Final = "Was expecting"
_UNKNOWN: Final = re.compile(r"Unknown operator: `(\w+)'")
_NO_BOOLEAN: Final = re.compile(
    rf"TLC expected a boolean value.*line (\d+), col (\d+) to .* of module {_MODULE}"
)
_NO_BOOLEAN_AT_ALL: Final = "TLC expected a boolean value, but did not find one"
_ALWAYS_FALSE: Final = re.compile(r"The invariant of (\w+) is equal to FALSE")
_NOT_OF_STATE: Final = re.compile(r"The invariant (\w+) is not a state predicate")
_UNDEFINED: Final = re.compile(r"no module defines (\w+)")
_MALFORMED: Final = re.compile(r"The property .* is not correctly defined")


@dataclass(frozen=True, slots=True)
class Trial:
    """What a model is asked in place of what its cfg asks.

    ``formulas`` are TLA+ formulas of state, ``names`` operators that the model's module has: state
    predicates, which every state must satisfy, or properties of steps and of behaviours.
    """

    formulas: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not all(formula.strip() for formula in self.formulas):
            raise KraflaError("an empty formula says nothing", "--invariant")
        for name in self.names:
            if not _NAME.fullmatch(name):
                raise KraflaError(
                    f"takes the name of an operator, not {name!r}; --invariant takes a formula",
                    "--property",
                )

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return the options of the command that ask the same."""
        formulas = (("--invariant", one) for one in self.formulas)
        names = (("--property", one) for one in self.names)
        return tuple(word for pair in (*formulas, *names) for word in pair)

    def folder(self) -> AbstractContextManager[Path]:
        """Return a context with a folder for the modules of ``check``."""
        return scratch()

    def check(self, folder: Path, model: Model, **options: Any) -> Check:
        """Ask a model; ``options`` are those of ``check_model``.

        The module of the checked model lies in ``folder``: it can be loaded as long as that is
        there. ``KraflaError`` names the option and the column if a formula does not parse, and the
        operator if there is none of that name.
        """
        question = _Question(self, model, folder / model.name)
        while True:
            tried = question.written()
            result = run_of(tried, coverage=False, **options)
            if not question.learns_from(_complaint(result)):
                break
        words = shlex.join(self.arguments)
        result = replace(result, reproduce=f"{result.reproduce} {words}")
        return Check(tried, result, question.judgement(tried, result))


class _Question:
    """What one model is asked, in files of its own."""

    def __init__(self, trial: Trial, model: Model, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._base = model
        self._folder = folder
        self._joined = laid_out(model.module, folder)
        self._names = trial.names
        self._texts = [_text(path) for path in modules_of(model)]
        self._operators = {name for text in self._texts for name in _OPERATOR.findall(text)}
        count = len(trial.formulas)
        numbers = [""] if count == 1 else map(str, range(1, count + 1))
        self._definitions = {
            f"{_DEFINED}{number}": one for number, one in zip(numbers, trial.formulas, strict=True)
        }
        self._asked = dict.fromkeys((*self._definitions, *trial.names))
        self._of_steps: set[str] = set()
        self._model_values: dict[str, None] = {}

    def learns_from(self, complaint: str) -> bool:
        """Learn from TLC's complaint how to ask; return whether `written` differs then."""
        found = _NOT_OF_STATE.search(complaint)
        if found is not None and found[1] in self._names and found[1] not in self._of_steps:
            # An operator that is no state predicate is a property of steps or of behaviours.
            self._of_steps.add(found[1])
            return True
        named = read_config(self._base.config).model_values_unknown_in(complaint)
        new = dict.fromkeys(name for name in named if name not in self._model_values)
        self._model_values |= new
        return bool(new)

    def written(self) -> Model:
        """Write the files of the model that asks this and nothing else, and return it."""
        base = self._base
        module, config = (self._folder / f"{_MODULE}.{ending}" for ending in ("tla", "cfg"))
        extends = f"EXTENDS {base.module.stem}"
        if self._model_values:
            # On the same line: a place in a formula is told by the lines above it.
            extends += f" CONSTANTS {', '.join(self._model_values)}"
        lines = [f"---- MODULE {_MODULE} ----", extends]
        for name, formula in self._definitions.items():
            lines += [f"{name} ==", *(" " * _INDENT + line for line in formula.splitlines())]
        module.write_text("\n".join([*lines, "====", ""]), encoding="utf-8")
        asks = read_config(base.config).without(_LEFT_OUT)
        for name in self._model_values:
            asks = asks.with_model_value(name)
        for name in self._asked:
            asks = asks.with_line(f"{'PROPERTY' if name in self._of_steps else 'INVARIANT'} {name}")
        config.write_text(asks.text, encoding="utf-8")
        return replace(
            base, module=module, config=config,
            search_path=(self._folder, *base.search_path, *self._joined),
            expect="holds", property=None, witnesses=(), untaken=(), distinct=None,
        )  # fmt: skip

    def judgement(self, tried: Model, result: RunResult) -> Judgement:
        """Return the verdict of a run; ``KraflaError`` if what was given cannot be asked."""
        self._refuse(result)
        if (found := _ALWAYS_FALSE.search(_complaint(result))) is not None:
            # TLC reads the constants, and needs no state.
            formula = " ".join(self._definitions.get(found[1], found[1]).split())
            reason = f"{found[1]} is false whatever the state"
            return Judgement(Verdict.VIOLATED, (reason, f"{found[1]} is {formula}", _ONLY))
        if isinstance(result.outcome, Finished):
            doubts = self._doubts(result)
            verdict = Verdict.INCONCLUSIVE if doubts else Verdict.HELD
            told = (*(doubts or (describe(result.outcome),)), _ONLY, *self._merged(result))
            return Judgement(verdict, told)
        judgement = judge(tried, result)
        said = [
            f"{name} is {' '.join(self._definitions[name].split())}"
            for name in violated_names(result.outcome)
            if name in self._definitions
        ]
        return Judgement(judgement.verdict, (*judgement.reasons, *said, _ONLY))

    def _doubts(self, result: RunResult) -> tuple[str, ...]:
        """Return why a run without errors does not show that what was asked holds."""
        doubts = []
        if result.simulation is not None:
            doubts.append(ONLY_SIMULATED)
        cuts = [word for word in _CUTS if read_config(self._base.config).words(word)]
        temporal = sorted(name for name in self._of_steps if not self._is_of_each_step(name))
        if cuts and temporal:
            doubts.append(
                f"the cfg has {cuts[0]}, which cuts behaviours off: {', '.join(temporal)} may hold "
                "because of that"
            )
        return tuple(doubts)

    def _merged(self, result: RunResult) -> tuple[str, ...]:
        """Return why there are more states than pinned, where the cfg takes several for one."""
        merges = [word for word in _MERGES if read_config(self._base.config).words(word)]
        pinned = self._base.distinct
        if not merges or pinned is None or result.distinct in {None, pinned}:
            return ()
        words = " and ".join(merges)
        return (
            f"more states than the {pinned:,} that are pinned: without the cfg's {words}, "
            "no state stands for others",
        )

    def _is_of_each_step(self, name: str) -> bool:
        head = re.compile(rf"^ *{name} *==", re.MULTILINE)
        found = [(text, match) for text in self._texts for match in head.finditer(text)]
        return all(_OF_EACH_STEP.match(text, match.end()) for text, match in found)

    def _refuse(self, result: RunResult) -> None:
        outcome, complaint = result.outcome, _complaint(result)
        if isinstance(outcome, SpecError) and (outcome.file or "").endswith(f"{_MODULE}.tla"):
            raise self._misread(complaint, outcome.line or 0, outcome.column or 0)
        if isinstance(outcome, EvaluationError) and (outcome.location or "").startswith(_PLACE):
            said = complaint if len(complaint) <= _LONGEST else f"{complaint[:_LONGEST]} ..."
            advice = read_config(self._base.config).without_quotes(self._given())
            raise KraflaError(f"some state gives it no value: {said}{advice}", self._given())
        if (found := _NO_BOOLEAN.search(complaint)) is not None:
            raise self._at("is neither true nor false", int(found[1]), int(found[2]))
        if _NO_BOOLEAN_AT_ALL in complaint:
            raise KraflaError("is neither true nor false", self._given())
        if (found := _NOT_OF_STATE.search(complaint)) is not None:
            formula = shlex.quote(self._definitions.get(found[1], found[1]))
            raise KraflaError(
                "speaks of steps, not of a state: define it in a module, and name it by --property",
                f"--invariant {formula}",
            )
        if _MALFORMED.search(complaint) is not None:
            name = " or ".join(sorted(self._of_steps))
            raise KraflaError(
                f"{name} is a formula about one step, not a property; [][{name}]_vars says it of "
                "every step",
                "--property",
            )
        if (found := _UNDEFINED.search(complaint)) is not None:
            near = meant(found[1], self._operators)
            raise KraflaError(f"no operator {found[1]!r}{near}", "--property")

    def _given(self) -> str:
        """Return what was given, as it was typed."""
        given = [f"--invariant {shlex.quote(one)}" for one in self._definitions.values()]
        return " ".join([*given, *(f"--property {name}" for name in self._names)])

    def _misread(self, complaint: str, line: int, column: int) -> KraflaError:
        """Return the error of SANY, in plainer words, as one at a place in a formula."""
        encountered = _ENCOUNTERED.match(complaint)
        unknown = _UNKNOWN.match(complaint)
        if encountered is not None:
            complaint = f"does not parse at {encountered[1]}"
        elif complaint.startswith(_EXPECTING):
            complaint = "does not parse from here on"
        elif unknown is not None:
            names = {name for text in self._texts for name in _NAME.findall(text)}
            names |= read_config(self._base.config).model_values
            near = get_close_matches(unknown[1], sorted(names), n=3)
            complaint += f" Like it: {', '.join(near)}" if near else ""
        elif not complaint[:1].isupper():
            # The end of a message of SANY that began on another line.
            complaint = "does not parse here"
        return self._at(complaint, line, column)

    def _at(self, complaint: str, line: int, column: int) -> KraflaError:
        """Return the error for a place in the trial's module, as a place in a formula."""
        formula, first, head = "", 0, _HEAD_LINES
        for one in self._definitions.values():
            if head + 1 <= line:
                formula, first = one, head + 2
            head += 1 + len(one.splitlines())
        lines = formula.splitlines()
        if line >= first + len(lines):
            line, column = first + len(lines) - 1, len(lines[-1]) + 1 + _INDENT
            complaint = "does not parse: it ends too early"
        where = f"line {line - first + 1}, " if len(lines) > 1 else ""
        place = f"--invariant {shlex.quote(formula)}, {where}column {column - _INDENT}"
        return KraflaError(complaint, place)


def _complaint(result: RunResult) -> str:
    """Return in one line what TLC says against what it was asked; nothing if it says nothing."""
    outcome = result.outcome
    text = getattr(outcome, "message", None) or getattr(outcome, "reason", "")
    return " ".join(str(text).split())


def _text(path: Path) -> str:
    """Return a module without its comments."""
    return without_comments(path.read_text(encoding="utf-8", errors="replace"))
