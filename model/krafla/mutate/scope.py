"""The parts of a model: its initial states, its steps, and the text that each part rests on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from krafla.mutate.calls import Calls, has_primes, key_of
from krafla.oracle.syntax import Apply, Call, read_module
from krafla.tlc.config import read_config
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from krafla.manifest import Model
    from krafla.mutate.calls import Key
    from krafla.oracle.syntax import Definition, Module, Node

__all__ = ["Impact", "Scope", "parsed"]

_CONJUNCTIONS = ("\\land", "$ConjList")
# What these name decides which states belong to the model, or which are one and the same.
_SHAPING = ("CONSTRAINT", "CONSTRAINTS", "ACTION_CONSTRAINT", "ACTION_CONSTRAINTS", "VIEW")


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change of one definition can change in a model.

    ``actions`` are those whose steps may differ, ``None`` if any may. With ``is_whole`` the states
    of the model may differ, so nothing known about it counts. ``properties`` are the invariants,
    properties and witnesses whose meaning may differ.
    """

    actions: frozenset[str] | None
    is_whole: bool
    properties: frozenset[str]

    def reaches(self, action: str) -> bool:
        """Return whether the steps of an action may differ."""
        return self.actions is None or action in self.actions


def parsed(model: Model, known: dict[str, Module]) -> Module:
    """Return a model's module as SANY reads it; one that is known is not read again."""
    key = str(model.module)
    if key not in known:
        known[key] = read_module(model.module.stem, model.module, model.search_path)
    return known[key]


class Scope:
    """The definitions behind each part of one model."""

    def __init__(self, model: Model, module: Module) -> None:
        self.model = model
        self.module = module
        self.config = read_config(model.config)
        self.calls = Calls(module, dict(self.config.replacements))
        self._closures: dict[str, frozenset[Key]] = {}

    @cached_property
    def initial(self) -> tuple[Node, ...]:
        """Return the conjuncts that say where behaviours begin."""
        return tuple(self._roots()[0])

    @cached_property
    def following(self) -> tuple[Node, ...]:
        """Return the next-state relation; more than one if a specification has several."""
        return tuple(self._roots()[1])

    @cached_property
    def behaviour(self) -> tuple[Definition, ...]:
        """Return every definition that takes part in where behaviours begin and how they go on."""
        return tuple(self.calls.inside(*self.initial, *self.following))

    @cached_property
    def step_keys(self) -> frozenset[Key]:
        """Return the definitions that take part in steps."""
        return _keys(self.calls.inside(*self.following))

    @cached_property
    def all_definitions(self) -> tuple[Definition, ...]:
        """Return every definition that the model looks at, in its behaviours or its questions."""
        config = self.config
        names = [*config.invariants, *config.properties, *config.words(*_SHAPING)]
        asked = self.calls.named([*names, *self.model.witnesses])
        return (*self.behaviour, *asked, *self.calls.replacements())

    @cached_property
    def all_keys(self) -> frozenset[Key]:
        """Return the keys of all these."""
        return _keys(self.all_definitions)

    @property
    def files(self) -> list[Path]:
        """Return the files in which they stand."""
        return sorted({one.place.path for one in self.all_definitions if one.place.path})

    @cached_property
    def modules(self) -> frozenset[str]:
        """Return the names of the modules in which these definitions stand."""
        return frozenset(key[0] for key in self.all_keys)

    def impact(self, key: Key, actions: Iterable[str], properties: Iterable[str]) -> Impact:
        """Return what may differ in the model if a definition does.

        ``actions`` are the names of the actions of the next-state relation.
        """
        names = frozenset(actions)
        frame = _keys(self.calls.inside(*self.following, cut=names))
        whole = _keys(self.calls.replacements()) | _keys(
            self.calls.named(self.config.words(*_SHAPING))
        )
        touched = (
            None if key in frame else frozenset(name for name in names if self._uses(name, key))
        )
        changed = frozenset(name for name in properties if self._uses(name, key))
        return Impact(touched, key in whole, changed)

    def _uses(self, name: str, key: Key) -> bool:
        if name not in self._closures:
            self._closures[name] = _keys(self.calls.named([name]))
        return key in self._closures[name]

    def _roots(self) -> tuple[list[Node], list[Node]]:
        names = self.config.words("SPECIFICATION")
        if not names:
            first, then = (self.config.words(word) for word in ("INIT", "NEXT"))
            return self._bodies(first), self._bodies(then)
        initial: list[Node] = []
        following: list[Node] = []
        for conjunct in _conjuncts(self._bodies(names)):
            if isinstance(conjunct, Apply) and conjunct.operator == "[]":
                (boxed,) = conjunct.arguments
                if isinstance(boxed, Apply) and boxed.operator == "$SquareAct":
                    following += [one for one in boxed.arguments[:1] if one is not None]
            elif not _is_temporal(conjunct) and not has_primes(conjunct):
                initial.append(conjunct)
        return initial, following

    def _bodies(self, names: Iterable[str]) -> list[Node]:
        missing = [name for name in names if name not in self.module.operators]
        if missing:
            raise KraflaError(
                f"{self.model.config.name} names {missing[0]}, which "
                f"{self.module.name} does not define",
                str(self.model.config),
            )
        return [self.module.operators[name].body for name in names]


def _conjuncts(expressions: Iterable[Node]) -> Iterator[Node]:
    """Yield the conjuncts of a specification, through the definitions it is put together from."""
    for node in expressions:
        if isinstance(node, Apply) and node.operator in _CONJUNCTIONS:
            yield from _conjuncts([one for one in node.arguments if one is not None])
        elif isinstance(node, Call) and _is_temporal(node.definition.body):
            yield from _conjuncts([node.definition.body])
        else:
            yield node


def _is_temporal(node: Node) -> bool:
    if isinstance(node, Apply) and node.operator in _CONJUNCTIONS:
        return any(_is_temporal(one) for one in node.arguments if one is not None)
    if isinstance(node, Call):
        return _is_temporal(node.definition.body)
    return isinstance(node, Apply) and (
        node.operator in {"[]", "<>", "~>", "$WF", "$SF", "$TemporalForall", "$TemporalExists"}
        or (node.operator.startswith("$Bounded") and any(
            _is_temporal(one) for one in node.arguments if one is not None))
    )  # fmt: skip


def _keys(definitions: Iterable[Definition]) -> frozenset[Key]:
    return frozenset(map(key_of, definitions))
