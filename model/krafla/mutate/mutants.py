"""Every mutant of the specs: its place, its mistake, and its lasting name."""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from krafla.mutate.calls import key_of
from krafla.mutate.candidates import Spot
from krafla.mutate.edits import Source, one_line
from krafla.mutate.guards import GUARDS
from krafla.mutate.updates import UPDATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from krafla.mutate.calls import Key
    from krafla.mutate.candidates import Candidate, Initial, MutationOperator
    from krafla.oracle.syntax import Definition

__all__ = ["OPERATORS", "Mutant", "Target", "mutants_of"]

OPERATORS: dict[str, MutationOperator] = {**GUARDS, **UPDATES}
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mistake in one module.

    ``id`` is made of the module, the definition, the operator, and a digest of the texts: it
    stays the same as long as these do, wherever they move in their file. ``file`` is relative to
    the specs, ``key`` is the definition it stands in, ``models`` are those that can notice it.
    """

    id: str
    room: str
    module: str
    action: str
    operator: str
    file: str
    line: int
    original: str
    what: str
    key: Key
    models: tuple[str, ...]
    text: str = field(repr=False, compare=False)

    def diff(self, specs: Path) -> str:
        """Return the change as a unified diff of its file."""
        before = (specs / self.file).read_text(encoding="utf-8").splitlines(keepends=True)
        after = self.text.splitlines(keepends=True)
        lines = difflib.unified_diff(before, after, f"a/{self.file}", f"b/{self.file}", n=2)
        return "".join(lines)


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A definition to be mutated: its place, its surroundings, and the models that try it.

    ``owner`` is the operator it stands in: itself, unless a LET defines it.
    """

    definition: Definition
    owner: str
    room: str
    file: str
    source: Source
    initial: Mapping[str, Initial]
    siblings: Mapping[str, str]
    is_initial: bool
    models: tuple[str, ...]


def mutants_of(
    targets: Iterable[Target], operators: Iterable[str] = tuple(OPERATORS)
) -> list[Mutant]:
    """Return every mutant of the definitions, in the order of files, definitions and operators.

    Those that leave the same text are one: the first.
    """
    chosen = [name for name in OPERATORS if name in set(operators)]
    known: set[tuple[str, str]] = set()
    counts: dict[tuple[str, ...], int] = {}
    found = []
    for target in targets:
        known.add((target.file, _digest(target.source.text)))
        for mutant in _of_target(target, chosen, counts):
            text = (mutant.file, _digest(mutant.text))
            if text not in known:
                known.add(text)
                found.append(mutant)
    return found


def _of_target(
    target: Target, operators: Iterable[str], counts: dict[tuple[str, ...], int]
) -> Iterator[Mutant]:
    definition = target.definition
    spot = Spot(definition, target.source, target.initial, target.siblings, target.is_initial)
    for operator in operators:
        for candidate in OPERATORS[operator](spot):
            original = one_line(target.source.at(candidate.place))
            text = target.source.edited(candidate.edit)
            written = _written(target.source, candidate, text)
            # The same mistake at the same text twice in an operator: the second is the second.
            same = (target.file, target.owner, operator, original, written)
            counts[same] = counts.get(same, 0) + 1
            digest = _digest("\n".join((original, written, str(counts[same]))))[:_DIGITS]
            yield Mutant(
                id=f"{definition.place.module}.{target.owner}.{operator}.{digest}",
                room=target.room,
                module=definition.place.module,
                action=target.owner,
                operator=operator,
                file=target.file,
                line=target.source.text.count("\n", 0, candidate.edit.start) + 1,
                original=original,
                what=candidate.what,
                key=key_of(definition),
                models=target.models,
                text=text,
            )


def _written(source: Source, candidate: Candidate, text: str) -> str:
    """Return the new text of the expression that was changed."""
    start = source.start(candidate.place)
    behind = len(source.text) - source.end(candidate.place)
    return one_line(text[start : len(text) - behind])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
