"""What a proof of a module would refuse: every construct without a translation, with its place."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from krafla.collector import gc_paused
from krafla.oracle.errors import SpecError
from krafla.oracle.syntax import Apply, Call, children, read_module
from krafla.proofs.declarations import empty_sets
from krafla.proofs.depth import deeply_nested
from krafla.proofs.errors import Untranslatable
from krafla.proofs.specification import INIT, NEXT
from krafla.proofs.theory import RULES, Theory
from krafla.proofs.types import TYPE_INVARIANT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from krafla.oracle.syntax import Module, Node

__all__ = ["refusals"]

# SANY's names of what stands inside an EXCEPT or a record: the rules of those read them.
_PARTS: Final = frozenset({"$Pair", "$Seq"})


@gc_paused()
@deeply_nested()
def refusals(
    module: Path, search_path: Sequence[Path], invariants: Sequence[str]
) -> tuple[Untranslatable, ...]:
    """Return what has no translation in invariants of a module and in its behaviours, by place.

    Empty if all of it has one. ``SpecError`` if the module does not parse, or lacks a name.
    """
    read = read_module(module.stem, module, search_path)
    names = tuple(dict.fromkeys((TYPE_INVARIANT, *invariants)))
    for name in invariants:
        read.operator(name)
    found = [*empty_sets(read), *_unknown_operators(read, (INIT, NEXT, *names))]
    with _collecting(found):
        _translate(Theory(read), names, found)
    known = {str(one): one for one in found}
    return tuple(sorted(known.values(), key=lambda one: _line(str(one.place))))


def _line(place: str) -> tuple[str, int]:
    path, _, line = place.rpartition(":")
    return path, int(line) if line.isdecimal() else 0


@contextmanager
def _collecting(found: list[Untranslatable]) -> Iterator[None]:
    try:
        yield
    except Untranslatable as error:
        found.append(error)


def _translate(theory: Theory, names: Sequence[str], found: list[Untranslatable]) -> None:
    """Translate each part of a module by itself, so that one refusal hides no other."""
    before, after = theory.state("before"), theory.state("after")
    for name in names:
        with _collecting(found):
            theory.conjuncts(name, before)
    with _collecting(found):
        theory.assumptions()
    with _collecting(found):
        theory.misfits(INIT, (), None, after)
    with _collecting(found):
        theory.predicate(INIT, after)
    for action in theory.actions:
        with _collecting(found):
            parameters = theory.parameters(action.name)
            theory.misfits(action.name, parameters, before, after)
            theory.action(action.name, parameters, before, after)


def _unknown_operators(module: Module, names: Sequence[str]) -> Iterator[Untranslatable]:
    """Yield the built-in operators without a rule, in what these definitions use."""
    waiting: list[Node] = []
    for name in names:
        try:
            waiting.append(module.operator(name).body)
        except SpecError:
            # What a proof needs and the module lacks has an error of its own.
            continue
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Apply) and node.operator not in RULES and node.operator not in _PARTS:
            yield Untranslatable.unknown(node.operator, node.place)
        waiting += children(node)
        if isinstance(node, Call):
            waiting.append(node.definition.body)
