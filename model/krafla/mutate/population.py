"""The mutants of a folder of specs: which definitions are mutated, and which models try them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from krafla.manifest import load
from krafla.mutate.calls import key_of, nodes
from krafla.mutate.candidates import Initial
from krafla.mutate.edits import Source, one_line, without_comments
from krafla.mutate.mutants import OPERATORS, Mutant, Target, mutants_of
from krafla.mutate.scope import Scope, parsed
from krafla.mutate.updates import strings_of_types
from krafla.oracle.syntax import Apply, Let, Name, String, read_module
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from krafla.manifest import Model
    from krafla.mutate.calls import Key
    from krafla.oracle.sources import Place
    from krafla.oracle.syntax import Definition, Module, Node

__all__ = ["Choice", "Population", "narrowed", "population"]

# Bounds of models, what only remembers, what only asks: no mistake in them is the protocol's.
_BOUNDS = "MC"
_APART = ("History", "Properties", "Live")
# The room whose modules all other rooms use.
_SHARED = "lib"
# This many models of each other room, the smallest, try its mutants: nearly all use them.
_SHARED_MODELS = 12


@dataclass(frozen=True, slots=True)
class Choice:
    """A selection of mutants; an empty tuple selects all."""

    tier: str = "smoke"
    rooms: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Population:
    """All mutants, and the models that try them, smallest first within a room.

    ``inputs`` has for each model a digest of all files that its answers rest on.
    """

    specs: Path
    mutants: tuple[Mutant, ...]
    models: tuple[Model, ...]
    inputs: dict[str, str]


def population(
    specs: Path, choice: Choice, progress: Callable[[int, int], None] = lambda _read, _all: None
) -> Population:
    """Return the chosen mutants of the specs in a folder.

    ``progress`` gets the number of models that have been read, and the total. ``KraflaError`` if a
    module does not parse, or nothing has a chosen name.
    """
    specs = specs.resolve()
    models = _models(specs, choice)
    known: dict[str, Module] = {}
    scopes: list[Scope] = []
    for model in models:
        progress(len(scopes), len(models))
        scopes.append(Scope(model, parsed(model, known)))
    targets = list(_targets(specs, scopes))
    _check(choice, targets, models)
    operators = choice.operators or tuple(OPERATORS)
    wanted = [
        target
        for target in targets
        if (not choice.rooms or target.room in choice.rooms)
        and (not choice.modules or target.definition.place.module in choice.modules)
    ]
    inputs = {scope.model.name: _inputs(scope) for scope in scopes}
    return Population(specs, tuple(mutants_of(wanted, operators)), tuple(models), inputs)


def narrowed(specs: Path, choice: Choice, names: Sequence[str]) -> Choice:
    """Return a choice that has all mutants whose ids begin so, and as few others as possible.

    An id begins with its module, which only the models of its room try; the models of all rooms
    try those of ``lib``. ``KraflaError`` for an id that begins with no module.
    """
    modules = {name.partition(".")[0] for name in names}
    places = {path.stem: path.parent.name for path in specs.glob("*/*.tla")}
    for name in sorted(modules):
        if not any(one.startswith(name) for one in places):
            raise KraflaError(f"no mutant is called {name}; --list shows all")
    if choice.rooms or choice.modules:
        return choice
    if not modules <= places.keys() or _SHARED in (rooms := {places[one] for one in modules}):
        return choice
    return replace(choice, rooms=tuple(sorted(rooms)), modules=tuple(sorted(modules)))


def _inputs(scope: Scope) -> str:
    """Return a digest of the cfg, the modules, and what the manifest pins."""
    model = scope.model
    pinned = (model.distinct, model.generated, model.witnesses)
    digest = hashlib.sha256(repr(pinned).encode())
    for path in (model.config, model.module, *scope.files):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _models(specs: Path, choice: Choice) -> list[Model]:
    """Return the models that can kill: those that hold, of the tier, with a number of states."""
    found = [
        model
        for model in load(specs).select((), choice.tier)
        if model.expect == "holds" and model.kind != "simulation" and model.distinct is not None
    ]
    if choice.rooms and _SHARED not in choice.rooms:
        found = [model for model in found if model.room in choice.rooms]
    return sorted(found, key=lambda model: (model.room, model.distinct or 0, model.name))


def _check(choice: Choice, targets: list[Target], models: list[Model]) -> None:
    rooms = {target.room for target in targets}
    modules = {target.definition.place.module for target in targets}
    for what, wanted, known in (
        ("room", choice.rooms, rooms),
        ("module", choice.modules, modules),
        ("operator", choice.operators, set(OPERATORS)),
    ):
        for name in wanted:
            if name not in known:
                there = ", ".join(sorted(known)) or "none"
                raise KraflaError(f"no {what} {name!r} to mutate; there are: {there}")
    if not models:
        raise KraflaError(f"no model of tier {choice.tier} that could notice a mutant")


def _targets(specs: Path, scopes: Sequence[Scope]) -> Iterator[Target]:
    definitions: dict[Key, Definition] = {}
    steps: set[Key] = set()
    for scope in scopes:
        definitions.update((key_of(one), one) for one in scope.behaviour)
        steps |= scope.step_keys
    surroundings: dict[str, _Surroundings] = {}
    for key in sorted(definitions):
        definition = definitions[key]
        path = definition.place.path
        module = definition.place.module
        if path is None or module.startswith(_BOUNDS) or module.endswith(_APART):
            continue
        if not path.resolve().is_relative_to(specs):
            # A module of a library, which many specs use.
            continue
        if module not in surroundings:
            surroundings[module] = _Surroundings(module, path, scopes)
        around = surroundings[module]
        room = path.resolve().relative_to(specs).parts[0]
        yield Target(
            definition=definition,
            owner=around.owner_of(definition),
            room=room,
            file=path.resolve().relative_to(specs).as_posix(),
            source=around.source,
            initial=around.initial,
            siblings=around.siblings,
            is_initial=key not in steps,
            models=tuple(_looking(scopes, key, room)),
        )


def _looking(scopes: Sequence[Scope], key: Key, room: str) -> list[str]:
    """Return the models that try a mutant of a definition, smallest first."""
    using = [scope.model for scope in scopes if key in scope.all_keys]
    if room != _SHARED:
        return [model.name for model in using if model.room == room]
    using.sort(key=lambda model: (model.distinct or 0, model.name))
    mine = [model for model in using if model.room == room]
    others = [model for model in using if model.room != room]
    return [model.name for model in (*mine, *others[:_SHARED_MODELS])]


class _Surroundings:
    """The surroundings that operators may ask about: the text, values of Init, words of a kind."""

    def __init__(self, module: str, path: Path, scopes: Sequence[Scope]) -> None:
        self.source = Source(path.read_text(encoding="utf-8"))
        folders = next(
            (scope.model.search_path for scope in scopes if module in scope.modules), None
        )
        read = read_module(module, path, folders)
        visible = {one.place.module for one in read.operators.values() if "!" not in one.name}
        visible.add(module)
        self.initial = {
            one.variable.name: one
            for scope in scopes
            for one in _initial_values(scope)
            if one.value.place.module in visible and one.text
        }
        self.siblings = _siblings(read)
        mine = [one for one in read.operators.values() if one.place.module == module]
        self._operators = [one for one in mine if "!" not in one.name]

    def owner_of(self, definition: Definition) -> str:
        """Return the operator a definition stands in; a LET's is in that around it."""
        place = definition.place
        for one in self._operators:
            if _begin(one.place) <= _begin(place) and _end(place) <= _end(one.place):
                return one.name
        return definition.name


def _begin(place: Place) -> tuple[int, int]:
    return place.line, place.column


def _end(place: Place) -> tuple[int, int]:
    return place.end_line, place.end_column


def _initial_values(scope: Scope) -> Iterator[Initial]:
    for definition in (None, *scope.calls.inside(*scope.initial)):
        roots = scope.initial if definition is None else (definition.body,)
        for node in (inner for root in roots for inner in nodes(root)):
            if isinstance(node, Apply) and node.operator == "=":
                variable, value = node.arguments
                if isinstance(variable, Name) and variable.symbol.kind == "variable":
                    assert value is not None, "an equation has two sides"
                    yield Initial(variable.symbol, value, _portable(value))


def _portable(value: Node) -> str:
    """Return an expression's text, its bound names changed, so that it clashes with no other.

    Empty where it cannot be written on one line.
    """
    place = value.place
    if place.path is None or any(isinstance(inner, Let) for inner in nodes(value)):
        return ""
    source = Source(place.path.read_text(encoding="utf-8"))
    changed = source.at(place)
    if changed.count("\n") and any(mark in without_comments(changed) for mark in ("/\\", "\\/")):
        return ""
    start = source.start(place)
    for at, name in sorted(_bound_names(value), reverse=True):
        end = source.end(at) - start
        changed = f"{changed[: source.start(at) - start]}{name}_0{changed[end:]}"
    return one_line(changed)


def _bound_names(value: Node) -> Iterator[tuple[Place, str]]:
    applied = [inner for inner in nodes(value) if isinstance(inner, Apply)]
    symbols = [symbol for one in applied for bound in one.bounds for symbol in bound.symbols]
    keys = {symbol.key for symbol in symbols}
    yield from ((symbol.place, symbol.name) for symbol in symbols)
    for inner in nodes(value):
        if isinstance(inner, Name) and inner.symbol.key in keys:
            yield inner.place, inner.symbol.name


def _siblings(module: Module) -> dict[str, str]:
    """Return for each string the next one in the smallest set of strings that lists it."""
    sets: list[list[str]] = []
    for name in sorted(module.operators):
        body = module.operators[name].body
        types = strings_of_types(body)
        for node in nodes(body):
            if isinstance(node, Apply) and node.operator == "$SetEnumerate":
                words = [one.value for one in node.arguments if isinstance(one, String)]
                if len(words) == len(node.arguments) >= 2 and not types & set(
                    map(id, node.arguments)
                ):
                    sets.append(words)
    found: dict[str, str] = {}
    for words in sorted(sets, key=lambda one: (len(one), one)):
        for word, other in zip(words, [*words[1:], words[0]], strict=True):
            found.setdefault(word, other)
    return found
