"""Seeded bugs: a function of the implementation, and what a mistaken one does in its place.

The mistake is put in wherever the right function is known by name, for as long as `applied` lasts.
Three probes tell a weak search from a weak check: whether the place was *reached*, whether what it
did there was different (*triggered*), and whether anything was *detected*.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krafla.fuzz.engine.system import System

__all__ = ["Mutant", "Probe", "find_mutant", "seed_bug"]


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
class Mutant:
    """A mistake: its name, where it comes from (KAFKA ids, study), the function it replaces.

    ``place`` is ``module:function`` or ``module:Class.function``. ``wrong`` is given the right
    function and a probe, and returns what takes its place. ``focus`` are faults with the mean
    milliseconds between two of each: every other example of a hunt has these faults instead of
    drawn ones, where the place of the mistake is seldom come by otherwise. ``system`` is what
    is simulated to find it.
    """

    name: str
    source: str
    place: str
    sentence: str
    wrong: Callable[[Any, Probe], Any]
    focus: tuple[tuple[str, int], ...] = ()
    profile: str = ""

    @contextmanager
    def applied(self) -> Iterator[Probe]:
        """Make the implementation wrong in this way, until the end of the block."""
        module_name, _, path = self.place.partition(":")
        module = import_module(module_name)
        owner_name, _, function = path.rpartition(".")
        probe = Probe()
        if owner_name:
            owner = getattr(module, owner_name)
            right = owner.__dict__[function]
            owners = [owner]
        else:
            right = getattr(module, function)
            owners = [
                each
                for name, each in sorted(sys.modules.items())
                if name.startswith("kraft.") and each.__dict__.get(function) is right
            ]
        wrong = self.wrong(right, probe)
        try:
            for owner in owners:
                setattr(owner, function, wrong)
            yield probe
        finally:
            for owner in owners:
                setattr(owner, function, right)


def seed_bug(
    found: list[Mutant],
    name: str,
    source: str,
    place: str,
    sentence: str,
    focus: tuple[tuple[str, int], ...] = (),
) -> Callable[[Callable[[Any, Probe], Any]], Callable[[Any, Probe], Any]]:
    """Note the decorated function as the mistake of a mutant, which a sentence describes."""

    def note(wrong: Callable[[Any, Probe], Any]) -> Callable[[Any, Probe], Any]:
        found.append(Mutant(name, source, place, sentence, wrong, focus))
        return wrong

    return note


def find_mutant(name: str, system: System) -> Mutant:
    """Return the seeded bug of a system by its name; ``KraflaError`` says what may be meant."""
    found = {mutant.name: mutant for mutant in system.mutants}
    if name not in found:
        near = get_close_matches(name, found)
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        hint = f"`krafla fuzz {system.name} --mutants list` shows them"
        raise KraflaError(f"no seeded bug {name!r}; {meant}{hint}")
    return found[name]
