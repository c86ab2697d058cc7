"""What all trials together say: of each mutant, of each room and operator, and of the whole."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from krafla.counted import counted
from krafla.mutate.trial import Answer
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from krafla.mutate.mutants import Mutant
    from krafla.mutate.results import Results
    from krafla.mutate.survivors import Explained, Explanation
    from krafla.mutate.trial import Trial

__all__ = [
    "Fate",
    "Outcome",
    "Row",
    "Summary",
    "fates",
    "summarize",
]


class Fate(Enum):
    """What became of a mutant on all its models; the words are those of the report."""

    PROPERTY = "by a property"
    WITNESS = "by a witness"
    ERROR = "TLC error"
    NUMBERS = "numbers only"
    UNKNOWN = "unknown"
    SURVIVED = "survived"
    SAME = "no difference"
    EQUIVALENT = "equivalent"
    UNPARSABLE = "unparsable"

    @property
    def is_killed(self) -> bool:
        """Return whether a named property is false, or TLC has no value for something."""
        return self in (Fate.PROPERTY, Fate.WITNESS, Fate.ERROR)


# The first that any model gives decides.
_FATES = (
    (Answer.PROPERTY, Fate.PROPERTY),
    (Answer.ERROR, Fate.ERROR),
    (Answer.UNPARSABLE, Fate.UNPARSABLE),
    (Answer.WITNESS, Fate.WITNESS),
    (Answer.ACTION, Fate.NUMBERS),
    (Answer.COUNT, Fate.NUMBERS),
    (Answer.UNKNOWN, Fate.UNKNOWN),
    (Answer.DIFFERENT, Fate.SURVIVED),
    (Answer.SAME, Fate.SAME),
)
# These answers rest on the numbers that are pinned for a model.
_NUMBERS = frozenset(answer for answer, fate in _FATES if fate is Fate.NUMBERS)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The fate of a mutant, the trial that decided it, and in how many models a step differed."""

    mutant: Mutant
    fate: Fate
    decisive: Trial | None
    differs_in: int

    @property
    def is_of_numbers(self) -> bool:
        """Return whether it survived because the numbers that differ are not pinned."""
        trial = self.decisive
        return self.fate is Fate.SURVIVED and trial is not None and trial.answer in _NUMBERS

    @property
    def because(self) -> str:
        """Return in a few words what decided it."""
        trial = self.decisive
        if trial is None:
            return "no model looks at it"
        if self.fate in (Fate.SAME, Fate.EQUIVALENT):
            return "no step of any model differs"
        if self.is_of_numbers:
            what = "only numbers or the actions taken differ, and no number is pinned"
            return f"{what}: {trial.detail} ({trial.model})"
        if self.fate is Fate.SURVIVED:
            return f"steps differ in {counted(self.differs_in, 'model')}"
        return f"{trial.detail} ({trial.model})"


@dataclass(frozen=True, slots=True)
class Row:
    """How many mutants of a kind had which fate."""

    name: str
    counts: Mapping[Fate, int]

    @property
    def total(self) -> int:
        """Return how many are mistakes: valid TLA+, and other steps within the bounds."""
        none = (Fate.EQUIVALENT, Fate.SAME, Fate.UNPARSABLE)
        return sum(count for fate, count in self.counts.items() if fate not in none)

    @property
    def killed(self) -> int:
        """Return how many were killed by name."""
        return sum(count for fate, count in self.counts.items() if fate.is_killed)

    @property
    def noticed(self) -> int:
        """Return how many were killed, or noticed by numbers."""
        return self.killed + self.counts[Fate.NUMBERS]

    @property
    def killed_share(self) -> float:
        """Return the share of those killed."""
        return self.killed / self.total if self.total else 0.0

    @property
    def noticed_share(self) -> float:
        """Return the share of those noticed."""
        return self.noticed / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Summary:
    """The whole: outcomes, tables, and everything that keeps it from being green."""

    outcomes: tuple[Outcome, ...]
    rooms: tuple[Row, ...]
    operators: tuple[Row, ...]
    whole: Row
    unexplained: tuple[Outcome, ...]
    stale: tuple[tuple[Explanation, str], ...]
    untried: int
    verdict: Verdict


def fates(
    mutants: Iterable[Mutant],
    results: Results,
    equivalent: frozenset[str] = frozenset(),
    unpinned: frozenset[str] = frozenset(),
) -> tuple[Outcome, ...]:
    """Return the fate of each mutant.

    A mutant that is declared ``equivalent`` is so only if no step of any model differs. A mutant
    that only changes numbers survives the models ``unpinned``: no check compares these numbers.
    """
    return tuple(
        _outcome(mutant, results.of(mutant.id), unpinned, is_equivalent=mutant.id in equivalent)
        for mutant in mutants
    )


def _outcome(
    mutant: Mutant, trials: Sequence[Trial], unpinned: frozenset[str], *, is_equivalent: bool
) -> Outcome:
    differs = sum(trial.answer is not Answer.SAME for trial in trials)
    if is_equivalent and trials and not differs:
        return Outcome(mutant, Fate.EQUIVALENT, trials[0], 0)
    silent = [one for one in trials if one.answer in _NUMBERS and one.model in unpinned]
    for answer, fate in _FATES:
        if silent and fate is Fate.SURVIVED:
            return Outcome(mutant, Fate.SURVIVED, silent[0], differs)
        for trial in trials:
            if trial.answer is answer and trial not in silent:
                return Outcome(mutant, fate, trial, differs)
    return Outcome(mutant, Fate.SURVIVED, None, 0)


def summarize(
    outcomes: Sequence[Outcome],
    explained: Explained,
    *,
    known: Mapping[str, Mutant],
    modules: frozenset[str],
    untried: int,
) -> Summary:
    """Return tables and a verdict.

    ``known`` are all mutants of ``modules``: an explanation of a mutant that is gone, was killed,
    or is declared equivalent and differs, is stale. The verdict is held if enough are noticed,
    enough of these by name, and every survivor is explained; it is inconclusive if something is
    unknown. Where no file of explanations is there, no share and no reason is asked.
    """
    silent = (Fate.SURVIVED, Fate.SAME)
    survivors = [one for one in outcomes if one.fate in (*silent, Fate.UNKNOWN)]
    unexplained = tuple(one for one in survivors if explained.reason(one.mutant.id) is None)
    stale = tuple(_stale(outcomes, explained, known, modules))
    whole = _row("all", outcomes)
    verdict = Verdict.HELD
    if untried or any(one.fate is Fate.UNKNOWN for one in survivors):
        verdict = Verdict.INCONCLUSIVE
    is_enough = not whole.total or (
        whole.noticed_share >= explained.noticed_least
        and whole.killed_share >= explained.killed_least
    )
    is_short = not is_enough or stale or any(one.fate in silent for one in unexplained)
    if explained.is_there and is_short:
        verdict = Verdict.VIOLATED
    return Summary(
        outcomes=tuple(outcomes),
        rooms=_rows(outcomes, lambda mutant: mutant.room),
        operators=_rows(outcomes, lambda mutant: mutant.operator),
        whole=whole,
        unexplained=unexplained,
        stale=stale,
        untried=untried,
        verdict=verdict,
    )


def _stale(
    outcomes: Sequence[Outcome],
    explained: Explained,
    known: Mapping[str, Mutant],
    modules: frozenset[str],
) -> Iterable[tuple[Explanation, str]]:
    tried = {one.mutant.id: one for one in outcomes}
    for entry in explained.entries:
        if entry.id.split(".")[0] not in modules:
            continue
        mutant = known.get(entry.id)
        if mutant is None:
            yield entry, "there is no such mutant any more"
        elif mutant.original != entry.text:
            yield entry, f"it changes {mutant.original}"
        elif entry.id in tried:
            outcome = tried[entry.id]
            if outcome.fate.is_killed:
                yield entry, f"it is killed: {outcome.because}"
            elif entry.is_equivalent and outcome.fate is not Fate.EQUIVALENT:
                yield entry, f"it is not equivalent: {outcome.because}"


def _rows(outcomes: Sequence[Outcome], name_of: Callable[[Mutant], str]) -> tuple[Row, ...]:
    names = sorted({name_of(one.mutant) for one in outcomes})
    return tuple(
        _row(name, [one for one in outcomes if name_of(one.mutant) == name]) for name in names
    )


def _row(name: str, outcomes: Sequence[Outcome]) -> Row:
    return Row(name, {fate: sum(one.fate is fate for one in outcomes) for fate in Fate})
