"""The columns of a trace: the node to which each part of its state belongs.

``views.toml`` of a room says so for its specs. For other specs it is guessed from the values.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from krafla.project.at_hand import projects_about
from krafla.report.explain.words import Words, short_names
from krafla.traces.changes import is_bag
from krafla.values import Function, ModelValue, Value, fmt, sort_key, sorted_values
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from krafla.traces import Trace

__all__ = ["Column", "Layout", "layout_of"]

VIEWS_NAME = "views.toml"
_OTHER = "other"


@dataclass(frozen=True, slots=True)
class Column:
    """A node: its short name, and what the name stands for if that is longer."""

    name: str
    stands_for: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns, the owner of each part of the state, and the words for values.

    ``of_variable`` gives the column of a variable that one node owns. ``of_argument`` gives the
    columns of a variable that holds a part for each node, by the ``sort_key`` of the argument.
    ``bag`` is the variable of the messages in flight. ``ways`` gives sender and receiver for each
    type of message, as a field of the message or the name of a column. ``lost`` are the actions
    that lose a message, ``world`` the actions that no node takes.
    """

    columns: tuple[Column, ...]
    words: Words
    of_variable: Mapping[str, int]
    of_argument: Mapping[str, Mapping[tuple[Any, ...], int]]
    bag: str | None = None
    ways: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    world: frozenset[str] = frozenset()

    def owner(self, path: tuple[Value, ...]) -> tuple[int, tuple[Value, ...]]:
        """Return the column of a part of the state, and the path to it inside the column."""
        variable = str(path[0])
        arguments = self.of_argument.get(variable)
        if arguments is not None and len(path) > 1:
            column = arguments.get(sort_key(path[1]))
            if column is not None:
                return column, (path[0], *path[2:])
        return self.of_variable.get(variable, len(self.columns) - 1), path

    def column_of_node(self, node: Value | None) -> int | None:
        """Return the column that a value names, or ``None``."""
        # A number is not taken as a node, even if a node has that number as its name.
        if not isinstance(node, str | ModelValue):
            return None
        key = sort_key(node)
        for arguments in self.of_argument.values():
            if key in arguments:
                return arguments[key]
        return self.column_named(node) if isinstance(node, str) else None

    def ends(self, message: Value) -> tuple[int | None, int | None] | None:
        """Return the columns of sender and receiver; ``None`` if this is no known message."""
        if not isinstance(message, Function):
            return None
        way = self.ways.get(str(message.get("type")))
        if way is None:
            return None
        sender, receiver = (
            self.column_of_node(message[end]) if end in message else self.column_named(end)
            for end in way
        )
        return sender, receiver

    def column_named(self, name: str) -> int | None:
        """Return the column with this name, or ``None``."""
        return next((i for i, column in enumerate(self.columns) if column.name == name), None)


@dataclass(frozen=True, slots=True)
class _Group:
    """Variables that one node owns, or (``each``) that hold a part for each of several nodes."""

    name: str
    variables: tuple[str, ...]
    each: bool = False


@dataclass(frozen=True, slots=True)
class _View:
    groups: tuple[_Group, ...]
    bag: str | None = None
    ways: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    world: frozenset[str] = frozenset()
    fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    spec: str = ""

    @property
    def variables(self) -> frozenset[str]:
        """Return all variables that it lays out."""
        return frozenset(name for group in self.groups for name in group.variables)


def layout_of(trace: Trace) -> Layout:
    """Return the layout of a trace; ``KraflaError`` if a ``views.toml`` is wrong."""
    state: Mapping[Value, Value] = trace.steps[0].state if trace.steps else {}
    variables = {str(name) for name in state}
    fitting = [view for view in _known_views(trace.spec) if variables.issuperset(view.variables)]
    # The view of the spec, else the one with the most variables: a small view may fit by chance.
    own = max(
        fitting, key=lambda view: (view.spec == trace.spec, len(view.variables)), default=None
    )
    view = own or _guess(trace, state)
    return _laid_out(view, trace, state)


def _laid_out(view: _View, trace: Trace, state: Mapping[Value, Value]) -> Layout:
    columns: list[Column] = []
    names: dict[tuple[Any, ...], str] = {}
    quoted: list[tuple[str, str]] = []
    of_variable: dict[str, int] = {}
    of_argument: dict[str, dict[tuple[Any, ...], int]] = {}
    for group in view.groups:
        if not group.each:
            of_variable |= dict.fromkeys(group.variables, len(columns))
            columns.append(Column(group.name))
            continue
        nodes = _arguments(state, group.variables)
        short = short_names(nodes, group.name, taken={column.name for column in columns})
        places = {sort_key(node): len(columns) + i for i, node in enumerate(nodes)}
        of_argument |= dict.fromkeys(group.variables, places)
        names |= {sort_key(node): name for node, name in zip(nodes, short, strict=True)}
        quoted += [
            (fmt(node), name)
            for node, name in zip(nodes, short, strict=True)
            if isinstance(node, str)
        ]
        columns += [
            Column(name, _stands_for(node, name, trace))
            for node, name in zip(nodes, short, strict=True)
        ]
    owned = {*of_variable, *of_argument}
    if not columns or any(str(name) not in owned for one in trace.steps for name in one.state):
        columns.append(Column(_OTHER if columns else "state"))
    words = Words(names, view.fields, tuple(quoted))
    return Layout(
        tuple(columns),
        words,
        of_variable,
        of_argument,
        bag=view.bag,
        ways=view.ways,
        lost=view.lost,
        world=view.world,
    )


def _arguments(state: Mapping[Value, Value], variables: Iterable[str]) -> list[Value]:
    found = {sort_key(one): one for name in variables for one in _domain(state[name])}
    return [found[key] for key in sorted(found)]


def _domain(value: Value) -> list[Value]:
    if isinstance(value, tuple):
        return list(range(1, len(value) + 1))
    return list(value) if isinstance(value, Function) else []


def _stands_for(node: Value, name: str, trace: Trace) -> str:
    """Return the whole name of a node, and the values to which constants map it."""
    whole = Words().value(node)
    parts = [] if whole == name else [whole]
    for constant, value in trace.constants:
        if isinstance(value, Function) and node in value and constant != name:
            parts.append(f"{Words().text(constant)} {Words().value(value[node])}")
    return ", ".join(parts)


def _guess(trace: Trace, state: Mapping[Value, Value]) -> _View:
    """Return a view guessed from the values: a column for each node of a constant set."""
    sets = [value for _, value in trace.constants if isinstance(value, frozenset) and value]
    groups: list[_Group] = []
    each: dict[tuple[Any, ...], list[str]] = {}
    rest: list[str] = []
    bag = None
    for name, value in state.items():
        domain = _domain(value)
        if any(one.state.get(name) and is_bag(one.state[name]) for one in trace.steps):
            bag = bag or str(name)
        elif domain and (
            frozenset(domain) in sets or _are_model_values(domain) or _is_of_nodes(trace, str(name))
        ):
            each.setdefault(sort_key(tuple(sorted_values(domain))), []).append(str(name))
        else:
            rest.append(str(name))
    if rest and (each or bag):
        groups.append(_Group("shared", tuple(rest)))
    groups += [_Group("n", tuple(names), each=True) for names in each.values()]
    if bag is not None:
        groups.append(_Group("network", (bag,)))
    return _View(tuple(groups), bag)


def _is_of_nodes(trace: Trace, name: str) -> bool:
    """Return whether a tuple has a part for each number up to a constant, in every state.

    TLC writes a function over ``1..N`` as a tuple. One that a step lengthens is a sequence.
    """
    lengths = {
        len(one) if isinstance(one := step.state[name], tuple) else 0 for step in trace.steps
    }
    if len(lengths) != 1:
        return False
    (count,) = lengths
    return count > 1 and any(type(one) is int and one == count for _, one in trace.constants)


def _are_model_values(domain: list[Value]) -> bool:
    return all(isinstance(one, ModelValue) for one in domain)


def _known_views(spec: str) -> tuple[_View, ...]:
    try:
        projects = projects_about(spec)
    except KraflaError:
        return ()
    found: list[_View] = []
    for project in projects:
        found += _views(project.views(), project.listing)
        paths = [room / VIEWS_NAME for room in project.rooms()]
        found += [
            view
            for path in paths
            if path.is_file()
            for view in _read(path, path.stat().st_mtime_ns)
        ]
    return tuple(found)


@lru_cache(maxsize=32)
def _read(path: Path, _modified: int) -> tuple[_View, ...]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise KraflaError(f"cannot be read: {error}", str(path)) from error
    return _views(data.get("view", []), path)


def _views(tables: Iterable[dict[str, Any]], path: Path) -> tuple[_View, ...]:
    try:
        return tuple(map(_view, tables))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise KraflaError(f"a view is not as the comment above says: {error}", str(path)) from error


def _view(table: dict[str, Any]) -> _View:
    ways = {
        kind: (str(sender), str(to)) for kind, (sender, to) in table.get("messages", {}).items()
    }
    groups = tuple(
        _Group(str(one["name"]), tuple(one["variables"]), bool(one.get("each", False)))
        for one in table["node"]
    )
    fields = {name: dict(words) for name, words in table.get("fields", {}).items()}
    return _View(
        groups,
        bag=table.get("bag"),
        ways=ways,
        lost=frozenset(table.get("lost", ())),
        world=frozenset(table.get("world", ())),
        fields=fields,
        spec=str(table.get("spec", "")),
    )
