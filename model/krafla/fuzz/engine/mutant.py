"""Seeded bugs: a function of the implementation, and what a mistaken one does in its place.

The mistake is put in wherever the right function is known by name, for as long as `applied` lasts.
Three probes tell a weak search from a weak check: whether the place was *reached*, whether what it
did there was different (*triggered*), and whether anything was *detected*.
"""

from __future__ import annotations

import functools
import sys
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krafla.fuzz.engine.system import System

__all__ = ["Killer", "Mutant", "Probe", "find_mutant", "seed_bug", "wrong_answer", "wrong_turn"]


@dataclass(slots=True)
class Probe:
    """How often the place of a mistake was reached, and how often it did something else there."""

    reached: int = 0
    triggered: int = 0

    def choose(self, right: Any, wrong: Any) -> Any:
        """Return the wrong answer, after noting whether it is another."""
        self.reached += 1
        self.triggered += bool(right != wrong)
        return wrong

    def trigger(self, *, different: bool = True) -> None:
        """Note that the place was reached, and whether something different is done there."""
        self.reached += 1
        self.triggered += different


@dataclass(frozen=True, slots=True)
class Killer:
    """What must notice a bug of a system that is driven by choices: a step the spec denies.

    The step is one of ``actions``. ``variable`` must differ from what the spec says; it is None
    where the spec does not enable the action. ``conjunct`` is part of the text of the conjunct
    that is false. ``breaks`` is a property that the state after the step must violate.
    """

    actions: tuple[str, ...]
    variable: str | None = None
    conjunct: str | None = None
    breaks: str | None = None


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mistake: its name, where it comes from (KAFKA ids, study), the function it replaces.

    ``place`` is ``module:function``, ``module:Class.function``, or ``module:Class`` for a class
    that this module makes values of. ``wrong`` is given the right function and a probe, and returns
    what takes its place. ``focus`` are faults with the mean milliseconds between two of each: every
    other run of a search on machines has these faults instead of drawn ones, where runs seldom
    reach the place of the mistake otherwise. ``profile`` is the kind of run, and ``killer`` what
    must notice the bug, in a system driven by choices. With ``everywhere`` the checks use the wrong
    function, too, where they use the right one.
    """

    name: str
    source: str
    place: str
    sentence: str
    wrong: Callable[[Any, Probe], Any]
    focus: tuple[tuple[str, int], ...] = ()
    profile: str = ""
    killer: Killer | None = None
    everywhere: bool = False

    @contextmanager
    def applied(self) -> Iterator[Probe]:
        """Make the implementation wrong in this way, until the end of the block."""
        module_name, _, path = self.place.partition(":")
        module = import_module(module_name)
        owner_name, _, function = path.rpartition(".")
        owner = getattr(module, owner_name) if owner_name else module
        right, probe = owner.__dict__[function], Probe()
        wrong = self.wrong(right, probe)
        packages = ("kraft.", "krafla.fuzz.") if self.everywhere else ("kraft.",)

        # Elsewhere a class may be asked for by isinstance; here it makes values.
        is_of_one_place = owner is not module or isinstance(right, type)

        def put(old: Any, new: Any) -> None:
            if is_of_one_place:
                setattr(owner, function, new)
                return
            for name, known in sorted(sys.modules.items()):
                if name.startswith(packages) and known.__dict__.get(function) is old:
                    setattr(known, function, new)

        try:
            put(right, wrong)
            yield probe
        finally:
            # A module that was imported meanwhile knows only the wrong function.
            put(wrong, right)


def seed_bug(
    found: list[Mutant],
    name: str,
    source: str,
    place: str,
    sentence: str,
    focus: tuple[tuple[str, int], ...] = (),
    *,
    profile: str = "",
    killer: Killer | None = None,
    everywhere: bool = False,
) -> Callable[[Callable[[Any, Probe], Any]], Callable[[Any, Probe], Any]]:
    """Note the decorated function as the mistake of a mutant, which a sentence describes."""

    def note(wrong: Callable[[Any, Probe], Any]) -> Callable[[Any, Probe], Any]:
        found.append(
            Mutant(name, source, place, sentence, wrong, focus, profile, killer, everywhere)
        )
        return wrong

    return note


def wrong_answer(answer: Callable[..., Any]) -> Callable[[Any, Probe], Any]:
    """Return the mistake of a function that answers so, given the right one before its arguments.

    It is triggered where the right function would answer, or raise, something else.
    """

    def wrong(right: Any, probe: Probe) -> Any:
        @functools.wraps(right)
        def mistaken(*arguments: Any, **options: Any) -> Any:
            expected = _outcome(right, *arguments, **options)
            found = _outcome(answer, right, *arguments, **options)
            probe.trigger(different=_told(found) != _told(expected))
            return _given(found)

        return mistaken

    return wrong


def wrong_turn(change: Callable[..., Any]) -> Callable[[Any, Probe], Any]:
    """Return the mistake of a handler that changes a turn so, given the right one first.

    It is triggered where the right handler would leave another state, effects or answer.
    """

    def wrong(right: Any, probe: Probe) -> Any:
        @functools.wraps(right)
        def mistaken(turn: Any, *arguments: Any) -> Any:
            other = copy(turn)
            other.effects = list(turn.effects)
            expected = _outcome(right, other, *arguments)
            found = _outcome(change, right, turn, *arguments)
            left = (_told(found), turn.state, turn.effects)
            probe.trigger(different=left != (_told(expected), other.state, other.effects))
            return _given(found)

        return mistaken

    return wrong


def _outcome(function: Any, *arguments: Any, **options: Any) -> tuple[Any, Exception | None]:
    """Return what a function answers, or the error that it raises."""
    try:
        return function(*arguments, **options), None
    except Exception as error:  # noqa: BLE001 - `_given` raises it again
        return (type(error), error.args), error


def _told(outcome: tuple[Any, Exception | None]) -> tuple[Any, bool]:
    return outcome[0], outcome[1] is None


def _given(outcome: tuple[Any, Exception | None]) -> Any:
    answer, error = outcome
    if error is not None:
        raise error
    return answer


def find_mutant(name: str, system: System) -> Mutant:
    """Return the seeded bug of a system by its name; ``KraflaError`` says what may be meant."""
    found = {mutant.name: mutant for mutant in system.mutants}
    if name not in found:
        near = get_close_matches(name, found)
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        hint = f"`krafla fuzz {system.name} --mutants list` shows them"
        raise KraflaError(f"no seeded bug {name!r}; {meant}{hint}")
    return found[name]
