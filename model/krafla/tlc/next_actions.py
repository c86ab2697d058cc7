"""The names of a spec's actions: what the disjunctions and quantifiers of Next choose among."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.oracle.syntax import Apply, Call, Instance, Let, children, read_module
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krafla.manifest import Model
    from krafla.oracle.syntax import Definition, Node

__all__ = ["NextAction", "actions_of"]

_CHOICES = frozenset({"$DisjList", "\\lor", "$BoundedExists", "$UnboundedExists"})
_PRIMED = frozenset({"'", "UNCHANGED"})


@dataclass(frozen=True, slots=True)
class NextAction:
    """An action by its name, and the module that defines it: an extension has its base's too."""

    name: str
    module: str


def actions_of(model: Model) -> tuple[NextAction, ...]:
    """Return the actions of a model's spec, in the order of Next.

    ``KraflaError`` if the spec has no module of its name, or that has no Next.
    """
    found = (folder / f"{model.spec}.tla" for folder in model.search_path)
    path = next((file for file in found if file.is_file()), None)
    if path is None:
        raise KraflaError(f"spec = {model.spec!r}, but there is no {model.spec}.tla", model.place)
    whole = read_module(model.spec, path, model.search_path).operator("Next")
    while isinstance(whole.body, Call) and not whole.body.arguments:
        whole = whole.body.definition
    return tuple(dict.fromkeys(_actions(whole.body, _named(whole))))


def _named(definition: Definition) -> NextAction:
    return NextAction(definition.name, definition.module)


def _actions(node: Node, owner: NextAction) -> Iterator[NextAction]:
    """Yield the actions that a part of Next chooses among; it belongs to ``owner``."""
    while isinstance(node, Let | Instance):
        node = node.body
    if isinstance(node, Call):
        inner, body = _named(node.definition), node.definition.body
        yield from _actions(body, inner) if _chooses(body, all) else [inner]
    elif _chooses(node):
        assert isinstance(node, Apply), "only operators choose"
        for part in node.arguments:
            if part is not None:
                yield from _actions(part, owner)
    else:
        yield owner


def _chooses(node: Node, among: Callable[[Iterator[bool]], bool] = any) -> bool:
    """Return whether a node chooses among parts of which ``any``, or ``all``, have names."""
    while isinstance(node, Let | Instance):
        node = node.body
    if isinstance(node, Apply) and node.operator in _CHOICES:
        return among(_chooses(part, among) for part in node.arguments if part is not None)
    return isinstance(node, Call) and _is_step(node, set())


def _is_step(node: Node, seen: set[int]) -> bool:
    if isinstance(node, Apply) and node.operator in _PRIMED:
        return True
    parts = list(children(node))
    if isinstance(node, Call) and id(node.definition) not in seen:
        seen.add(id(node.definition))
        parts.append(node.definition.body)
    return any(_is_step(part, seen) for part in parts)
